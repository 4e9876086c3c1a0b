package frame

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/texts/jsonscan"
)

// Refusal describes a command of an answer, or a whole line, that was ignored.
type Refusal struct {
	Line  int // 1 or 2
	Entry int // in the line, from 1; 0: the whole line
	Why   string
}

// String returns the refusal as one line of text.
func (r Refusal) String() string {
	if r.Entry == 0 {
		return fmt.Sprintf("line %d: %s", r.Line, r.Why)
	}
	return fmt.Sprintf("line %d, command %d: %s", r.Line, r.Entry, r.Why)
}

// ParseAnswer reads the two lines with which the bot of player p answers a deploy frame, and
// appends the orders to dst. Each line is a JSON list of commands [shorthand, x, y], with
// coordinates as the bot sees the arena. Orders have absolute coordinates; consecutive
// equal mobile units become one order.
//
// It is not known how the original treats invalid commands. ParseAnswer skips them,
// describes them in the refusals (at most 100), and reads the rest of the line. It skips
//
//   - a whole line that is not a JSON list or is longer than 1 MiB
//   - an entry that is not a list of a string and two numbers (further fields are ignored)
//   - a shorthand that is not spelled exactly as in names
//   - a number that is not whole (13.0 and 1.3e1 are whole)
//   - a cell outside the arena
//   - commands after the first 16384 of an answer
//
// A command in the other line than usual (a structure, upgrade or removal in the second, a
// mobile unit in the first) keeps its line: see terminal.Swap. ParseAnswer does not check
// orders against the rules.
func ParseAnswer(dst []sim.Order, first, second []byte, names *[8]string, p sim.Player) ([]sim.Order, []Refusal) {
	a := answer{names: names, view: view{p}, orders: dst}
	a.parse(0, first)
	a.parse(1, second)
	return a.orders, a.refused
}

// answer is the state of ParseAnswer.
type answer struct {
	names   *[8]string
	view    view
	orders  []sim.Order
	count   int
	refused []Refusal
}

func (a *answer) refuse(line, entry int, format string, args ...any) {
	if len(a.refused) < maxRefusals {
		a.refused = append(a.refused, Refusal{line + 1, entry, fmt.Sprintf(format, args...)})
	}
}

// parse reads a line.
func (a *answer) parse(line int, text []byte) {
	if len(text) > maxAnswerLine {
		a.refuse(line, 0, "want at most %d bytes, found %d", maxAnswerLine, len(text))
		return
	}
	entries, ok := jsonscan.Entries(text)
	if !ok {
		a.refuse(line, 0, "want a JSON list of commands, found %s", excerpt(text))
		return
	}
	begin := len(a.orders)
	for i, entry := range entries {
		if a.count++; a.count > maxAnswerCommands {
			a.refuse(line, i+1, "want at most %d commands, found %d in this line", maxAnswerCommands, len(entries))
			return
		}
		o, err := a.command(line, entry)
		if err != nil {
			a.refuse(line, i+1, "%v", err)
			continue
		}
		if last := len(a.orders) - 1; last >= begin {
			if merged, ok := oneMore(a.orders[last], o); ok {
				a.orders[last] = merged
				continue
			}
		}
		a.orders = append(a.orders, o)
	}
}

// command reads one command of a line.
func (a *answer) command(line int, text []byte) (sim.Order, error) {
	fields, ok := jsonscan.Entries(text)
	if !ok || len(fields) < 3 || fields[0][0] != '"' {
		return 0, fmt.Errorf("want [shorthand, x, y], found %s", excerpt(text))
	}
	var at [2]int
	for i := range at {
		n, err := strconv.ParseFloat(string(fields[1+i]), 64)
		if err != nil || math.Abs(n) > 1<<20 || n != math.Trunc(n) {
			return 0, fmt.Errorf("want a whole number, found %s", excerpt(fields[1+i]))
		}
		at[i] = int(n)
	}
	x, y := a.view.xy(at[0], at[1])
	if !terminal.Inside(x, y) {
		return 0, fmt.Errorf("want a cell of the arena, found (%d, %d)", at[0], at[1])
	}
	name := jsonscan.Scanner{Text: fields[0], Loose: true}
	given := string(name.Quoted("a string"))
	for k, shorthand := range a.names {
		if shorthand != given || shorthand == "" {
			continue
		}
		k := terminal.Kind(k)
		o := terminal.SpawnEvent{At: terminal.Pos{X: uint8(x), Y: uint8(y)}, Kind: k}.Order(1)
		if k.Mobile() != (line == 1) {
			o = terminal.Swap(o)
		}
		return o, nil
	}
	return 0, fmt.Errorf("want one of the shorthands %q, found %s", *a.names, excerpt(fields[0]))
}

// oneMore adds one unit to the order o if next is for the same unit on the same cell.
func oneMore(o, next sim.Order) (sim.Order, bool) {
	c := terminal.Decode(o)
	if c.Op != terminal.OpSpawn || uint32(o) != uint32(next) {
		return o, false
	}
	o = terminal.Spawn(c.Kind, int(c.X), int(c.Y), int(c.Count)+1)
	if c.Swapped {
		o = terminal.Swap(o)
	}
	return o, true
}

// excerpt returns the beginning of a text, quoted.
func excerpt(text []byte) string {
	text = bytes.TrimSpace(text)
	if len(text) > maxRefusalText {
		return strconv.Quote(string(text[:maxRefusalText])) + "…"
	}
	return strconv.Quote(string(text))
}

// AppendAnswer appends the two lines, each with its end of line, in which the bot of player
// p gives these orders; ParseAnswer reads them. It skips clocks, penalties and orders that
// are no commands.
func AppendAnswer(dst []byte, orders []sim.Order, names *[8]string, p sim.Player) []byte {
	for line := range 2 {
		empty := true
		dst = append(dst, '[')
		for _, o := range orders {
			c := terminal.Decode(o)
			k, ok := commandKind(c)
			if !ok || (k.Mobile() != c.Swapped) != (line == 1) {
				continue
			}
			n := uint32(1)
			if k.Mobile() {
				n = min(c.Count, maxAnswerCommands)
			}
			for range n {
				if !empty {
					dst = append(dst, ',')
				}
				dst, empty = appendCommand(dst, names[k], view{p}, c), false
			}
		}
		dst = append(dst, ']', '\n')
	}
	return dst
}

// commandKind returns the kind of unit that a command places, or Removal or Upgrade. It
// returns false for all other commands.
func commandKind(c terminal.Command) (terminal.Kind, bool) {
	inside := terminal.Inside(int(c.X), int(c.Y))
	switch c.Op {
	case terminal.OpPlace:
		return c.Kind, inside && c.Kind.Structure()
	case terminal.OpSpawn:
		return c.Kind, inside && c.Kind.Mobile()
	case terminal.OpUpgrade:
		return terminal.Upgrade, inside
	case terminal.OpRemove:
		return terminal.Removal, inside
	}
	return 0, false
}

func appendCommand(dst []byte, name string, v view, c terminal.Command) []byte {
	x, y := v.xy(int(c.X), int(c.Y))
	dst = append(jsonscan.AppendString(append(dst, '['), name), ',')
	dst = append(config.AppendInt(dst, int64(x)), ',')
	return append(config.AppendInt(dst, int64(y)), ']')
}
