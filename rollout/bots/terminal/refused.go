package terminal

import (
	"fmt"
	"slices"
	"strings"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/frame"
)

// Refused counts the parts of a bot's answers that had no effect. The rest of an answer
// counts.
type Refused struct {
	// Lines and Commands count the refusals of frame.ParseAnswer, at most 100 of an
	// answer: lines that are not lists of commands, and entries that are not commands,
	// such as those with unknown units or cells outside the arena.
	Lines, Commands int
	// Rules counts units that the rules refuse, such as units that the bot cannot
	// pay for, or on occupied cells.
	Rules int
	// Unread is the first refusal that Lines and Commands count, Refused the first that
	// Rules counts.
	Unread, Refused FirstRefusal
	// First has the first refusals that differ in more than their turn, at most 20
	// lines of text, in the bot's own coordinates.
	First []string

	report func(turn int, text string) // called for each refusal in First; may be nil
}

// FirstRefusal is the first refusal of a kind. Text is "" if there was none.
type FirstRefusal struct {
	Turn int
	Text string // in the bot's own coordinates
}

// maxFirst bounds Refused.First.
const maxFirst = 20

// note keeps a refusal as the first of its kind, and in First unless First already has the
// same text for another turn.
func (r *Refused) note(first *FirstRefusal, turn int, format string, args ...any) {
	if first.Text != "" && len(r.First) == maxFirst {
		return
	}
	text := fmt.Sprintf(format, args...)
	if first.Text == "" {
		*first = FirstRefusal{turn, text}
	}
	same := func(line string) bool {
		_, rest, _ := strings.Cut(line, ": ") // without the turn
		return rest == text
	}
	if len(r.First) < maxFirst && !slices.ContainsFunc(r.First, same) {
		r.First = append(r.First, fmt.Sprintf("turn %d: %s", turn, text))
		if r.report != nil {
			r.report(turn, text)
		}
	}
}

// unread counts the parts of an answer that could not be read.
func (r *Refused) unread(turn int, refused []frame.Refusal) {
	for _, one := range refused {
		if one.Entry == 0 {
			r.Lines++
		} else {
			r.Commands++
		}
		r.note(&r.Unread, turn, "%v", one)
	}
}

// beyond counts orders beyond those that can be carried out in a turn.
func (r *Refused) beyond(turn int, orders []sim.Order) {
	if len(orders) == 0 {
		return
	}
	for _, o := range orders {
		r.Rules += units(terminal.Decode(o))
	}
	r.note(&r.Refused, turn, "the last %d commands are more than can be carried out in a turn", len(orders))
}

// rules counts the orders of player p that the rules did not carry out. The player's spawn
// events are the orders that were carried out, in the order in which they were given. If
// an order is given twice and carried out once, it is taken to be the first of the two,
// because the reason for refusing the first would also refuse the second, unless
// another order of the player comes between.
func (r *Refused) rules(turn int, orders []sim.Order, done []terminal.SpawnEvent, p sim.Player, names *[8]string) {
	for _, o := range orders {
		c := terminal.Decode(o)
		k := kindOf(c)
		wanted, got := units(c), 0
		for got < wanted {
			for len(done) > 0 && done[0].Player != p {
				done = done[1:]
			}
			if len(done) == 0 || done[0].Kind != k || done[0].At != (terminal.Pos{X: c.X, Y: c.Y}) {
				break
			}
			got, done = got+1, done[1:]
		}
		if got == wanted {
			continue
		}
		r.Rules += wanted - got
		x, y := int(c.X), int(c.Y)
		if p == 1 {
			x, y = terminal.Side-1-x, terminal.Side-1-y
		}
		if wanted > 1 {
			r.note(&r.Refused, turn, "the rules refuse %d of %d [%q, %d, %d]", wanted-got, wanted, names[k], x, y)
		} else {
			r.note(&r.Refused, turn, "the rules refuse [%q, %d, %d]", names[k], x, y)
		}
	}
}

// units returns the number of units that an order is for.
func units(c terminal.Command) int {
	if c.Op == terminal.OpSpawn {
		return int(c.Count)
	}
	return 1
}

// kindOf returns the kind of an order's spawn events.
func kindOf(c terminal.Command) terminal.Kind {
	switch c.Op {
	case terminal.OpUpgrade:
		return terminal.Upgrade
	case terminal.OpRemove:
		return terminal.Removal
	}
	return c.Kind
}
