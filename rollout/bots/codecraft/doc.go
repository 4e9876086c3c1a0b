// Package codecraft lets clients of CodeCraft 2020 play: programs that speak its
// protocol over a socket. It is their server.
//
//   - Port listens for clients and checks their tokens.
//   - Folder finds the program of a client in its folder.
//   - Match plays one game between clients, built-in policies and players that
//     do nothing, in any mixture.
//
// What clients decide depends on the machine and its clock, so a Match is no
// part of a shard: it is not reproducible unless its clients are.
//
// A client that breaks the protocol or exceeds a limit has crashed, as the
// original says: it is not asked any more, its entities go on with their last
// actions, and the results say why. The game goes on whatever a client does.
//
// # Differences from the original
//
// From the local runner:
//
//   - A seed gives another game: the generator of the original is not known.
//     State files begin the same game on both.
//   - Clients are asked side by side, not one after the other; the results do
//     not depend on it.
//   - A limit of time (timeout) is for an answer as a whole, not for each read
//     and write. There is one for all answers of a game, too, if it is asked for.
//   - An answer is bounded by what the game can hold: protocol.MaxAction bytes and
//     protocol.MaxDebug for each of its debug messages, 17.3 MB in all. A token has 4 KiB,
//     and a client must send its token within ten seconds. These bounds are our own.
//   - A client with the wrong token is disconnected, and another one can connect
//     until the limit for connecting. If more than 64 connections have given no
//     token, or more than 256 clients wait for games, the oldest is disconnected.
//   - On Linux a client on this machine must be a process of the user who plays the
//     match, and one that was started here must be a process of its own seat, or a
//     descendant of it: the token stands in its command line, which others can read,
//     its opponents too. Where that cannot be known (on other systems, or without
//     /proc) and for clients of other machines the token alone decides.
//   - There is no window, so there is no Keyboard player: a config with one is
//     refused. As in the batch mode of the original, clients are told that there is
//     no debug interface, and debug messages are read and dropped; but a client that
//     asks for the debug state nevertheless gets an empty one: a window of size 0,
//     no keys, a camera of zeros, and its own index. There it would crash.
//   - With Match.Debug clients are told that there is one, and get DebugUpdate once
//     before every tick, as the original's window sends it once or more often. After
//     the last tick there is none. Limits of time hold for its answer, too.
//   - Match.Repeat shows a saved game to clients, whose actions have no effect, as
//     the original's window does. Built-in policies are not asked then. The original
//     knows the recording alone; here the clients' crashes are told besides.
//   - Behind "Player crashed: " the comment of the results has words of its own:
//     the tick, the reason, and how a client that was started here ended.
//   - Besides waiting for clients, a Match can start them, and kills them after
//     the game, with all that they have started (package child).
//
// From the contest's site:
//
//   - A game goes on when all clients have crashed, to its last tick, as in the
//     local runner; the site could stop it, as Match.StopWhenCrashed does: before the
//     tick after the last crash.
//   - The site allowed 1 s of real time for an answer, 40 s of processor time for
//     a game, and 256 MB of memory. Here the limits of Seat.Limits are real time;
//     Seat.Process limits processor time and memory of clients that were started.
package codecraft
