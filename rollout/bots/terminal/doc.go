// Package terminal is the engine for original C1 Terminal bots (algos): programs that
// read the engine's lines on standard input and answer on standard output.
//
//   - Folder returns the program of a bot.
//   - SiteLimits and LocalLimits return Limits, such as the time for an answer.
//   - Match plays one game between bots, built-in policies and players that do
//     nothing, in any mixture.
//
// # The protocol
//
// A bot gets the config as one line, then one line for every frame: the deploy
// frame of each turn, the frames of each action phase, and at the end the end
// frame. It answers each deploy frame with two lines, each a JSON list of commands
// [shorthand, x, y]: first structures, upgrades and removals, then mobile units. Each
// bot sees itself as player 1: player 2 gets all frames turned by 180° (see
// frame.View). A bot's standard error goes to a log.
//
// # Thinking
//
// The time of an answer is counted in whole milliseconds, from writing the deploy frame
// until both lines are read. The frames and the end frame contain the times as the
// original writes them. If both players have the same health at the end, the shorter
// time wins. The times of policies are 0.
//
// The original waits before it sends the first frame (waitTimeStartGame), so that
// interpreters can start: in its recordings the answers of turn 0 take no longer
// than others. Here a bot gets the first frame at once, and the time of its first
// answer begins only waitTimeStartGame after its start.
//
// RULES.md of sim/terminal, 5.5, defines Limits.Soft and Limits.Hard. A bot that does
// not answer within Hard, or does not read its frames, has timed out. A bot that ends,
// closes a pipe, prints too long a line, or exceeds another limit has crashed. Both lose
// the game: the other player's commands of that turn are carried out, and the game ends
// after the first frame of its action phase.
//
// # Assumptions
//
// How the original treats the following cases is not known:
//
//   - An entry of an answer that cannot be read is left out, and the bot plays on:
//     see frame.ParseAnswer. A line that is not a list, such as a message of a bot
//     to its programmer, is an empty list.
//   - Lines are taken in their order: if a bot answers twice, its second answer is
//     for the next turn.
//   - A crash costs Rules.CrashPenalty without any time penalty, and the whole answer
//     of that turn is ignored.
//   - A program that cannot be started has crashed in turn 0.
//   - The exit of a program after the last deploy frame that it answered has no
//     consequences.
//
// One known difference: at most Info.MaxOrders − 2 orders of an answer are read, more
// than the rules can accept in one turn. Consecutive equal mobile units are one order.
package terminal
