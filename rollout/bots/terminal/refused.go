package terminal

import (
	"fmt"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/frame"
)

// Refused counts the parts of a bot's answers that had no effect. The rest of an answer
// counts.
type Refused struct {
	// Unread counts the refusals of frame.ParseAnswer, at most 100 of an answer: lines that
	// are not lists of commands, and entries that are not commands, such as those with
	// unknown units or cells outside the arena.
	Unread Refusals
	// Rules counts units that the rules refuse, such as units that the bot cannot pay for,
	// or on occupied cells.
	Rules Refusals

	told []string                    // different texts, at most maxTold
	tell func(turn int, text string) // called for each of them; may be nil
}

// Refusals are the refusals of a kind.
type Refusals struct {
	Count int
	Turn  int    // of the first
	Text  string // of the first, in the bot's own coordinates
}

// maxTold bounds the refusals that are told.
const maxTold = 20

// note counts n refusals with a text, and tells it if it was not told in another turn.
func (r *Refused) note(kind *Refusals, n, turn int, format string, args ...any) {
	kind.Count += n
	if kind.Text != "" && len(r.told) == maxTold {
		return
	}
	text := fmt.Sprintf(format, args...)
	if kind.Text == "" {
		kind.Turn, kind.Text = turn, text
	}
	if len(r.told) < maxTold && !slices.Contains(r.told, text) {
		r.told = append(r.told, text)
		if r.tell != nil {
			r.tell(turn, text)
		}
	}
}

// unread counts the parts of an answer that could not be read.
func (r *Refused) unread(turn int, refused []frame.Refusal) {
	for _, one := range refused {
		r.note(&r.Unread, 1, turn, "%v", one)
	}
}

// beyond counts orders beyond those that can be carried out in a turn.
func (r *Refused) beyond(turn int, orders []sim.Order) {
	if len(orders) == 0 {
		return
	}
	n := 0
	for _, o := range orders {
		n += units(terminal.Decode(o))
	}
	r.note(&r.Rules, n, turn, "the last %d commands are more than can be carried out in a turn", len(orders))
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
		missed := wanted - got
		x, y := int(c.X), int(c.Y)
		if p == 1 {
			x, y = terminal.Side-1-x, terminal.Side-1-y
		}
		if wanted > 1 {
			r.note(&r.Rules, missed, turn, "the rules refuse %d of %d [%q, %d, %d]", missed, wanted, names[k], x, y)
		} else {
			r.note(&r.Rules, missed, turn, "the rules refuse [%q, %d, %d]", names[k], x, y)
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
