// Package terminal lets original C1 Terminal bots (algos) play: programs that read
// the engine's lines on standard input and answer on standard output. It is their
// engine.
//
//   - Folder and Program say which program a bot is.
//   - Limits say how long bots may think, and SiteLimits and LocalLimits fill them.
//   - Match plays one game between bots, built-in policies and players that do
//     nothing, in any mixture.
//
// # The protocol
//
// A bot gets the config as one line, then one line for every frame: the deploy
// frame of each turn, the frames of each action phase, and at the end the end
// frame. It answers each deploy frame with two lines, each a JSON list of commands
// [shorthand, x, y]: structures, upgrades and removals, then mobile units. Every
// bot believes to be player 1: player 2 is shown everything turned by 180° (see
// frame.View). What it prints on standard error goes to a log.
//
// # Thinking
//
// The clock of an answer runs from when the deploy frame is written to when both
// lines are read, in whole milliseconds. The times stand in the frames and in the
// end frame as the original writes them, and where health is equal at the end they
// decide. Those of policies are 0.
//
// The original waits before it sends the first frame (waitTimeStartGame), so that
// interpreters can start: in its recordings the answers of turn 0 take no longer
// than others. Here a bot gets the first frame at once, and what it answers within
// that time of its start took 0 ms.
//
// Limits.Soft, Limits.Hard: RULES.md, 5.5, of sim/terminal. A bot that does not
// answer within Hard, or does not read what it is sent, has timed out; one that
// ends, closes a pipe, prints a line of more bytes than may be, or exceeds another
// limit has crashed. Both cost it the game: the other's commands of that turn are carried out, and the game
// ends after the first frame of its action phase.
//
// # What is assumed
//
// Of the original these are not known:
//
//   - What cannot be read in an answer is left out by itself, and the bot plays on:
//     see frame.ParseAnswer. A whole line that is no list, such as a message of a bot
//     to its programmer, is an empty list.
//   - Lines are taken as they come: of a bot that answers twice the second answer is
//     that to the next turn.
//   - A crash costs Rules.CrashPenalty and nothing for the time before it, and
//     nothing of that turn's answer counts.
//   - A program that cannot be started has crashed in turn 0.
//   - How a program ends after the last deploy frame that it answered is not looked
//     at.
//
// And this is different: at most Info.MaxOrders − 2 orders of an answer are looked
// at, more than all that the rules can accept in one turn; equal mobile units one
// after the other are one order.
package terminal
