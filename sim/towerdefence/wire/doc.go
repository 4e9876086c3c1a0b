// Package wire has no code. It lists the packages below it, which read and write the formats
// of the original Tower Defence (Entelect Challenge 2018, release 3.0.2):
//
//   - command: the texts of commands, and a bot's command.txt
//   - display: what bots and spectators see: state.json, textMap.txt and the console map
//   - referee: plays matches as the original does and shows their positions
//   - recording: recordings of matches as JSON Lines, and files of renders
//   - matchlog: the folder that the original's runner leaves of a match
//
// They work on bytes, readers, writers and fs.FS; none of them opens a file by itself. The
// configuration file is read by towerdefence.ParseRules.
package wire
