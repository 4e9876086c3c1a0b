// Package wire has no code. It lists the packages below it, which read and write the formats
// of the original CodeCraft 2020:
//
//   - protocol: the local runner's results files, and the binary messages between
//     the runner and its clients; their conversion from and to states
//   - recording: replay files and state files of the original, and recordings of games, views
//     and messages as JSON Lines
//   - replay: verifies recordings by the rules, and plays recorded games again
//
// They work on bytes, readers and writers; none of them opens a file by itself.
package wire
