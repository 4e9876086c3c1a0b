// Package towerdefence is a runner for bots of the Entelect Challenge 2018: programs that
// read state.json and textMap.txt in their folder, write command.txt there, and end.
//
//   - Program is a bot in its folder, with the original's bot.json (Open) or as a bare
//     command line (Command).
//   - Match plays one game between bots, built-in policies and players that do
//     nothing, in any mixture, and writes the match log of the original.
//
// # A round
//
// Before a round the runner deletes a bot's command.txt and writes state.json and
// textMap.txt from the bot's own side. Then it starts the bot's program in its folder,
// without arguments or input. When the program has ended, or was killed at the limit, the
// first line of command.txt is its command, also if the program failed. Descendants of the
// program are killed with it (see package child), so the file does not change while it is
// read.
//
// No fault of a bot ends the match: the rules say what a missing, garbled or refused
// command does, and the Record counts rounds of late and failed programs. An empty
// command.txt means that the bot does nothing; it is not a fault. A bot has crashed only
// when its program cannot be started any more: the program or its folder does not exist,
// or the limits for the whole match are used up. Then it does nothing in all later rounds.
//
// Player A is asked first, then B, as in the original.
//
// # Folders
//
// In a box with namespaces (package child) a bot has a copy of its folder, which is kept in memory for the match.
//
// Without one bots may keep files of their own from round to round, and from game to game. So no
// two games use one folder at the same time: a Match waits until no other match, of any
// process, uses it (see package filelock). Both bots of one match can have the same
// folder, as in the original. With Seat.Copy a bot works in a copy, made at the start of the match in the folder for temporary files
// and deleted at its end, so games can be played at the same time and do not affect each
// other. A copy has at most 1 GiB and 100,000 files. If this program is killed, its copies
// (moonfarm-bot-…) are left.
//
// # Differences from the original
//
//   - The match log has a bot's output also if the bot failed or was killed: at most
//     64 KiB of a round and 4 MiB of a match.
//   - Only the first 16 KiB of a command.txt are read. If it is not a file (a pipe, a
//     folder, a device, or a link to one of these), it counts as missing; the original
//     would wait.
//   - Processes that a bot leaves behind are killed. The original waits for them until
//     the limit if they have its output open, and otherwise leaves them running.
//   - A bot whose folder no longer exists, or is another one by now, is not asked again. The
//     files of a round are written into the folder itself: links in their places are deleted.
//   - "python" is the installed program of the right version: python2, python2.7 or
//     python; python3 or python.
//   - There are no players at the console.
//   - Match.Tournament treats a missing command as the original's tournament mode does,
//     but does not start bots in containers.
package towerdefence
