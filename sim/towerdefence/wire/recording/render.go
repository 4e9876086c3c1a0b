package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/display"
	"moonfarm/sim/towerdefence/wire/referee"
)

// render is a line of a file of renders: a position with the five displays the
// original engine made of it.
type render struct {
	Render  string          `json:"render"` // name
	Round   int             `json:"round"`  // the number shown to the bots
	After   json.RawMessage `json:"after"`  // the round line that led here; null for a start
	StateA  string          `json:"stateA"`
	StateB  string          `json:"stateB"`
	TextA   string          `json:"textA"`
	TextB   string          `json:"textB"`
	Console string          `json:"console"`
}

// rendersHead begins every line of a file of renders.
const rendersHead = `{"render":`

// holdsRenders reports whether the first bytes of a recording begin a render.
func (r *Reader) holdsRenders() bool {
	head, _ := r.in.Peek(len(rendersHead))
	return string(head) == rendersHead
}

// renders compares a file of renders.
func (v *verifier) renders() error {
	for {
		line, err := v.in.readLine()
		if err == io.EOF {
			return nil
		}
		v.in.line++
		var r render
		if err == nil {
			d := json.NewDecoder(bytes.NewReader(line))
			d.DisallowUnknownFields()
			err = d.Decode(&r)
		}
		if err == nil {
			err = v.render(&r)
		}
		if err != nil {
			return fmt.Errorf("recording %s: line %d: a render: %w", v.in.name, v.in.line, err)
		}
	}
}

// render compares a render with the position that it shows. A render lacks which
// player's command was carried out first in its game: the order with fewer differences
// counts.
func (v *verifier) render(r *render) error {
	v.report.Renders++
	var found [2]renderDifference
	for first := range sim.Player(2) {
		p, err := r.position(v.rules, first)
		if err != nil {
			return err
		}
		found[first] = r.differs(p)
		if found[first] == (renderDifference{}) {
			return nil
		}
	}
	switch d := found[0]; {
	case d.field == "" || found[1].field == "":
		v.report.Reordered++
	default:
		v.differ(r.Render, r.Round, d.field, d.want, d.got)
	}
	return nil
}

// renderDifference is the first display of a render that differs from the original's, with
// the text around the difference. reordered means that displays differ only in the order of
// missiles, which a position does not always determine: see Round.Position.
type renderDifference struct {
	field, want, got string
	reordered        bool
}

// position makes the position of a render from the round line in it. A render of the start
// of a game has no such line; it takes the energies and healths from the first state.
func (r *render) position(rules towerdefence.Rules, first sim.Player) (*display.Position, error) {
	if string(r.After) == "null" || len(r.After) == 0 {
		energy, health, err := display.StartOf([]byte(r.StateA))
		if err != nil {
			return nil, fmt.Errorf("stateA: %w", err)
		}
		rules.SetStart(energy, health)
		return referee.New(rules).Position(), nil
	}
	after := Reader{last: RoundLine, scanner: newScanner()}
	after.Round.Number = r.Round - 2 // as if the line before had been read
	if err := after.parse(r.After); err != nil {
		return nil, fmt.Errorf("after: %w", err)
	}
	if after.last != RoundLine {
		return nil, errors.New("after: expected a round line")
	}
	return after.Round.Position(rules, first), nil
}

// differs writes all displays of the position and compares them.
func (r *render) differs(p *display.Position) (found renderDifference) {
	for _, d := range []struct{ field, want, got string }{
		{"stateA", display.WithoutChance(r.StateA), display.WithoutChance(string(p.AppendState(nil, display.SeatA)))},
		{"stateB", display.WithoutChance(r.StateB), display.WithoutChance(string(p.AppendState(nil, display.SeatB)))},
		{"textA", r.TextA, string(p.AppendTextMap(nil, display.SeatA))},
		{"textB", r.TextB, string(p.AppendTextMap(nil, display.SeatB))},
		{"console", r.Console, string(p.AppendConsole(nil))},
	} {
		switch {
		case d.want == d.got:
		case display.MissilesSorted(d.want) == display.MissilesSorted(d.got):
			found.reordered = true
		default:
			want, got := display.AroundDifference(d.want, d.got)
			return renderDifference{field: d.field, want: want, got: got}
		}
	}
	return found
}
