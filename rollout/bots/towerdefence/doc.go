// Package towerdefence lets bots of the Entelect Challenge 2018 play: programs that
// read state.json and textMap.txt in their folder, write command.txt there, and end.
// It is their runner.
//
//   - Program is a bot in its folder, with the original's bot.json (Open) or as a bare
//     command line (Command).
//   - Match plays one game between bots, built-in policies and players that do
//     nothing, in any mixture, and writes the match log of the original.
//
// What bots decide depends on the machine and its clock, so a Match is no part of a
// shard: it is reproducible only if its bots are.
//
// # A round
//
// Before a round a bot's command.txt is deleted and both files are written, in its own
// view. Then its program is started in its folder, without arguments or input, and
// when it has ended, or was killed at the limit, the first line of command.txt is its
// command, whatever happened. All that it has started is killed with it (see package
// child), so a file does not change any more when it is read.
//
// None of what a bot does wrong ends the match: a command that is missing, garbled or
// refused is what the rules make of it, and a late or failed program is counted
// (Record). A command.txt without any text is how bots do nothing, and no fault. A bot
// has crashed only when its program cannot be started any more: it is gone, its folder
// is, or its limits for the whole match are used up. Then it does nothing in all
// further rounds.
//
// Player A is asked first, then B, as in the original. Asking both side by side makes
// matches shorter, but a bot that looks at the clock may then decide otherwise: it
// shares processors, memory and disk with the other one. It is up to Match.SideBySide.
//
// # Folders
//
// Bots may keep files of their own from round to round, and from game to game. So no
// two games play in one folder at the same time: a Match waits until no other one has
// it, of any process (see package filelock). Both bots of
// one match can have the same folder, as in the original; they are asked one after
// the other then. With Seat.Copy a bot works in a copy, made at the start of the match
// in the folder for temporary files and thrown away at its end. So games can go on at
// once, and none knows of another. A copy has at most 1 GiB and 100,000 files. If this
// program is killed, its copies (moonfarm-bot-…) are left.
//
// # Differences from the original
//
//   - What a bot prints is in the match log also if it failed or was killed; of a
//     round at most 64 KiB, of a match 4 MiB.
//   - A command.txt counts with its first 16 KiB. One that is no file (a pipe, a
//     folder, a device, a link to one of these) is missing; the original would wait.
//   - Processes that a bot leaves behind are killed; the original would wait for them
//     until the limit if they have its output, and leave them alone if not.
//   - A bot that cannot be shown a round, since its folder is gone, is not asked again.
//   - "python" is the program of the right version that is there: python2, python2.7 or
//     python, python3 or python.
//   - Players at the console do not exist.
//   - Match.Tournament takes over what the original's mode of that name makes of a
//     command that is missing. It started bots in containers, of which there are none.
package towerdefence
