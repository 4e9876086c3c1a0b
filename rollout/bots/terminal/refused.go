package terminal

import (
	"fmt"
	"slices"
	"strings"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/frame"
)

// Refused tells of the commands of a bot that had no effect. They are no fault: the
// rest of the answer counts.
type Refused struct {
	// Lines are lines of answers that are no lists of commands, Commands those
	// that name none, such as unknown units or cells outside the arena: the
	// refusals of frame.ParseAnswer, at most 100 of an answer.
	Lines, Commands int
	// Rules are commands that the rules do not carry out, such as those that the
	// bot cannot pay for, or for occupied cells: one for each unit.
	Rules int
	// Unread is the first refusal that Lines and Commands count, Refused the first that
	// Rules counts.
	Unread, Refused FirstRefusal
	// First are the first refusals that differ in more than their turn, at most 20
	// lines of text, in the bot's own coordinates.
	First []string

	told func(turn int, text string) // of each of First; nil: nobody is
}

// FirstRefusal tells of the first refusal of a kind. Without one its Text is "".
type FirstRefusal struct {
	Turn int
	Text string // in the bot's own coordinates
}

// maxFirst bounds Refused.First.
const maxFirst = 20

// note keeps a refusal, as one of the first and as the first of its kind. A bot that
// repeats itself in every turn is to leave room for what else it does.
func (r *Refused) note(first *FirstRefusal, turn int, format string, args ...any) {
	if first.Text != "" && len(r.First) == maxFirst {
		return
	}
	text := fmt.Sprintf(format, args...)
	if first.Text == "" {
		*first = FirstRefusal{turn, text}
	}
	same := func(line string) bool {
		_, rest, _ := strings.Cut(line, ": ") // behind the turn
		return rest == text
	}
	if len(r.First) < maxFirst && !slices.ContainsFunc(r.First, same) {
		r.First = append(r.First, fmt.Sprintf("turn %d: %s", turn, text))
		if r.told != nil {
			r.told(turn, text)
		}
	}
}

// unread counts what could not be read in an answer.
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

// beyond counts orders that are too many.
func (r *Refused) beyond(turn int, orders []sim.Order) {
	if len(orders) == 0 {
		return
	}
	for _, o := range orders {
		r.Rules += units(terminal.Decode(o))
	}
	r.note(&r.Refused, turn, "the last %d commands are more than can be carried out in a turn", len(orders))
}

// rules counts the orders of player p that the rules did not carry out. Those that
// were carried out are the player's spawn events, in the order of the orders; where
// an order is given twice and carried out once, that is the first: what refuses it
// then refuses it later as well, unless another order of the player comes between.
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

// units are how many units an order of a bot is for.
func units(c terminal.Command) int {
	if c.Op == terminal.OpSpawn {
		return int(c.Count)
	}
	return 1
}

// kindOf is the kind of the spawn events of a bot's order.
func kindOf(c terminal.Command) terminal.Kind {
	switch c.Op {
	case terminal.OpUpgrade:
		return terminal.Upgrade
	case terminal.OpRemove:
		return terminal.Removal
	}
	return c.Kind
}
