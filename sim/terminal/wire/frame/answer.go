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
	a.name.Loose = true
	a.parse(0, first)
	a.parse(1, second)
	return a.orders, a.refused
}

// answer is the state of ParseAnswer.
type answer struct {
	names   *[8]string
	view    view
	orders  []sim.Order
	count   int // of commands
	refused []Refusal

	line, entry, name jsonscan.Scanner // of the texts of a line, of an entry, of its shorthand
	fields            [3][]byte        // of the entry
}

func (a *answer) refuse(line, entry int, why string) {
	if len(a.refused) < maxRefusals {
		a.refused = append(a.refused, Refusal{line + 1, entry, why})
	}
}

// parse reads a line. Its work grows with the length of the line, whatever the line has.
func (a *answer) parse(line int, text []byte) {
	if len(text) > maxAnswerLine {
		a.refuse(line, 0, fmt.Sprintf("expected at most %d bytes, found %d", maxAnswerLine, len(text)))
		return
	}
	orders, refused, count := len(a.orders), len(a.refused), a.count
	beyond, found := 0, 0 // the number of the first command beyond maxAnswerCommands, and of the last command
	ok := a.line.Entries(text, func(i int, entry []byte) {
		found = i + 1
		if a.count++; a.count <= maxAnswerCommands {
			a.add(line, found, orders, entry)
		} else if beyond == 0 {
			beyond = found
		}
	})
	if !ok {
		a.orders, a.refused, a.count = a.orders[:orders], a.refused[:refused], count
		a.refuse(line, 0, "expected a JSON list of commands, found "+excerpt(text))
	} else if beyond > 0 {
		a.refuse(line, beyond, fmt.Sprintf("expected at most %d commands, found %d in this line", maxAnswerCommands, found))
	}
}

// add adds one command of a line, whose orders begin at begin.
func (a *answer) add(line, entry, begin int, text []byte) {
	o, f := a.command(line, text)
	if f != 0 {
		if len(a.refused) < maxRefusals {
			a.refuse(line, entry, a.explain(f, text))
		}
		return
	}
	if last := len(a.orders) - 1; last >= begin {
		if merged, ok := oneMore(a.orders[last], o); ok {
			a.orders[last] = merged
			return
		}
	}
	a.orders = append(a.orders, o)
}

// fault is what an entry of a line lacks to be a command; 0 is nothing.
type fault uint8

const (
	noCommand fault = iota + 1
	noColumn
	noRow
	noCell
	noUnit
)

// command reads one command of a line into fields.
func (a *answer) command(line int, text []byte) (sim.Order, fault) {
	n := 0
	if text[0] == '[' {
		a.entry.Entries(text, func(i int, field []byte) {
			if n = i + 1; i < len(a.fields) {
				a.fields[i] = field
			}
		})
	}
	if n < len(a.fields) || a.fields[0][0] != '"' {
		return 0, noCommand
	}
	column, ok := wholeNumber(a.fields[1])
	if !ok {
		return 0, noColumn
	}
	row, ok := wholeNumber(a.fields[2])
	if !ok {
		return 0, noRow
	}
	x, y := a.view.xy(column, row)
	if !terminal.Inside(x, y) {
		return 0, noCell
	}
	a.name.Reset(a.fields[0])
	given := a.name.Quoted("a string")
	for k, shorthand := range a.names {
		if shorthand != string(given) || shorthand == "" {
			continue
		}
		k := terminal.Kind(k)
		o := terminal.SpawnEvent{At: terminal.Pos{X: uint8(x), Y: uint8(y)}, Kind: k}.Order(1)
		if k.Mobile() != (line == 1) {
			o = terminal.Swap(o)
		}
		return o, 0
	}
	return 0, noUnit
}

// explain says what was expected instead of an entry, the last that command has read.
func (a *answer) explain(f fault, text []byte) string {
	switch f {
	case noColumn, noRow:
		return "expected a whole number, found " + excerpt(a.fields[1+f-noColumn])
	case noCell:
		column, _ := wholeNumber(a.fields[1])
		row, _ := wholeNumber(a.fields[2])
		return fmt.Sprintf("expected a cell of the arena, found (%d, %d)", column, row)
	case noUnit:
		return fmt.Sprintf("expected one of the shorthands %q, found %s", *a.names, excerpt(a.fields[0]))
	}
	return "expected [shorthand, x, y], found " + excerpt(text)
}

// wholeNumber reads a number that is whole, such as 13, 13.0 or 1.3e1.
func wholeNumber(text []byte) (n int, ok bool) {
	if text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(text), 64)
	return int(v), err == nil && math.Abs(v) <= 1<<20 && v == math.Trunc(v)
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
