// Package codecraft lets clients of CodeCraft 2020 play: programs that speak its
// protocol over a socket. It is their server.
//
//   - Port listens for clients and checks their tokens.
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
//   - An answer has at most 64 MiB (Limits.Bytes), a token 4 KiB, and a client
//     must send its token within ten seconds: bounds of our own.
//   - A client with the wrong token is disconnected, and another one can connect
//     until the limit for connecting.
//   - There is no window. So there is no Keyboard player (a config with one is
//     refused), and no debug interface: debug messages are read and dropped, and
//     a client that asks for the debug state crashes, as it does in the batch
//     mode of the original.
//   - A saved game cannot be repeated before clients, who would see it with
//     their actions ignored. moonfarm replay show prints what a client was sent
//     in any tick, and replay verify checks all ticks.
//   - Behind "Player crashed: " the comment of the results has words of its own:
//     the tick, the reason, and how a client that was started here ended.
//   - Besides waiting for clients, a Match can start them, and kills them after
//     the game, with all that they have started (package child).
//
// From the contest's site:
//
//   - A game goes on when all clients have crashed, to its last tick, as in the
//     local runner; the site could stop it.
//   - The site allowed 1 s of real time for an answer, 40 s of processor time for
//     a game, and 256 MB of memory. Here the limits of Seat.Limits are real time;
//     Seat.Uses limits processor time and memory of clients that were started.
package codecraft
