// Package codecraft is a server for clients of CodeCraft 2020: programs that speak
// its protocol over a socket.
//
//   - Port listens for clients and checks their tokens.
//   - Folder finds the program of a client in its folder.
//   - Match plays one game between clients, built-in policies and players that
//     do nothing, in any mixture.
//
// A client that breaks the protocol or exceeds a limit crashes, in the word of the
// original: it is not asked again, its entities go on with their last actions, and
// the results give the reason. No fault of a client ends the game.
//
// # Differences from the original
//
// From the local runner:
//
//   - A seed gives another game: the generator of the original is not known.
//   - Clients are asked at the same time, not one after the other; the results do
//     not depend on it.
//   - A limit of time (timeout) is for a whole answer, not for each read and write.
//     A second limit is for all answers of a game; it is off unless set.
//   - The size of an answer is bounded by what the game can hold: protocol.MaxAction bytes
//     and protocol.MaxDebug for each of its debug messages, 17.3 MB in all. A token has at
//     most 4 KiB, and a client must send its token within ten seconds. The original has
//     no such bounds.
//   - A client with the wrong token is disconnected, and another one can connect
//     until the limit for connecting. If more than 64 connections have given no
//     token, or more than 256 clients wait for games, the oldest is disconnected.
//   - In a box (package child) a client reaches its own port alone. Otherwise other
//     processes, opponents included, can read the token in its command line and take its
//     seat, but on Linux not those of other users. Clients of other machines cannot connect.
//   - There are no config files: match has flags for what they say. There is no
//     window, and so neither a Keyboard player nor saved games that are shown again. As in the batch mode of the original, clients are told that there is
//     no debug interface, and debug messages are read and dropped. A client that
//     asks for the debug state nevertheless gets an empty one: a window of size 0,
//     no keys, a camera of zeros, and its own index. In the original it would crash.
//   - With Match.Debug clients are told that there is a debug interface, and get
//     DebugUpdate once before every tick but not after the last one; the original's
//     window sends it once or more often. Limits of time hold for its answer, too.
//   - Match.Drawn gets what clients draw and log. Drawings are turned from the frame of
//     the player to the frame of the world, have bounds (drawing.go), and are forgotten
//     after the tick. Commands that wait for Flush are kept, and SetAutoFlush(true)
//     carries them out. Places on the screen are in pixels from the lower left corner of
//     the board's picture. Bots compute those near the upper edge from the window's size,
//     which is 0 here, so a negative offset counts from the upper or the right edge.
//   - After "Player crashed: " the comment of the results has a text of our own:
//     the tick, the reason, and how a started client ended.
//   - A Match can start clients; it kills them after the game, with all their
//     descendants (package child).
//
// From the contest's site:
//
//   - If all clients have crashed, the game goes on to its last tick, as in the
//     local runner. The site could stop it, as Match.StopWhenCrashed does: before the
//     tick after the last crash.
//   - The site allowed 1 s of real time for an answer, 40 s of processor time for
//     a game, and 256 MB of memory. Seat.Limits are limits of real time; Seat.Process
//     limits processor time and memory of started clients.
package codecraft
