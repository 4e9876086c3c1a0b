package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"moonfarm/sim/towerdefence"
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

// holdsRenders looks at the first bytes of a recording.
func (r *RecordingReader) holdsRenders() bool {
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
		var p *Position
		if err == nil {
			p, err = r.position(v.rules)
		}
		if err != nil {
			return fmt.Errorf("recording %s: line %d: a render: %w", v.in.name, v.in.line, err)
		}
		v.report.Renders++
		field, want, got, reordered := r.differs(p)
		if field != "" {
			v.differ(r.Render, r.Round, field, want, got)
		} else if reordered {
			v.report.Reordered++
		}
	}
}

// position makes the position of a render from the round line in it. At the
// start of a game there is none: energies and healths are then those of the
// first state.
func (r *render) position(rules towerdefence.Rules) (*Position, error) {
	if string(r.After) == "null" || len(r.After) == 0 {
		energy, health, err := startOf([]byte(r.StateA))
		if err != nil {
			return nil, fmt.Errorf("stateA: %w", err)
		}
		rules.SetStart(energy, health)
		return NewReferee(rules).Position(), nil
	}
	after := RecordingReader{last: RoundLine}
	after.Round.Number = r.Round - 2 // the lines before are not there
	if err := after.parse(r.After); err != nil {
		return nil, fmt.Errorf("after: %w", err)
	}
	if after.last != RoundLine {
		return nil, errors.New("after: want a round line")
	}
	return after.Round.Position(rules), nil
}

// differs writes all displays of the position and returns the first that is not
// as the original made it, with the surroundings of the first difference.
// reordered is true if the text maps list the missiles in another order: it
// cannot always be told from one position, see Round.Position.
func (r *render) differs(p *Position) (field, want, got string, reordered bool) {
	for _, d := range []struct{ field, want, got string }{
		{"stateA", withoutChance(r.StateA), withoutChance(string(p.AppendState(nil, seatA)))},
		{"stateB", withoutChance(r.StateB), withoutChance(string(p.AppendState(nil, seatB)))},
		{"textA", r.TextA, string(p.AppendTextMap(nil, seatA))},
		{"textB", r.TextB, string(p.AppendTextMap(nil, seatB))},
		{"console", r.Console, string(p.AppendConsole(nil))},
	} {
		switch {
		case d.want == d.got:
		case d.field[:4] == "text" && missilesSorted(d.want) == missilesSorted(d.got):
			reordered = true
		default:
			want, got := aroundDifference(d.want, d.got)
			return d.field, want, got, false
		}
	}
	return "", "", "", reordered
}

// missilesSorted sorts the missile data of a text map, its last part.
func missilesSorted(text string) string {
	rest, missiles, _ := strings.Cut(text, textMissiles)
	lines := strings.SplitAfter(missiles, "\n")
	slices.Sort(lines)
	return rest + textMissiles + strings.Join(lines, "")
}

// aroundDifference cuts two texts to the surroundings of their first difference.
func aroundDifference(a, b string) (string, string) {
	const before, after = 30, 30
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	cut := func(s string) string {
		return fmt.Sprintf("%q (from byte %d)", s[max(0, i-before):min(len(s), i+after)], max(0, i-before))
	}
	return cut(a), cut(b)
}

var missileID = regexp.MustCompile(`"id":"[0-9a-f-]{36}"`)
var kindEntry = regexp.MustCompile(`"(ATTACK|DEFENSE|ENERGY|TESLA)":(\d+|\{[^}]*\}),?`)

// withoutChance takes out of a state.json what the original leaves to chance:
// the ids of missiles and the order of the types of buildings.
func withoutChance(state string) string {
	state = missileID.ReplaceAllString(state, `"id":""`)
	for _, name := range []string{`"buildingPrices":{`, `"buildingsStats":{`} {
		head, rest, ok := strings.Cut(state, name)
		if !ok {
			continue
		}
		var sorted strings.Builder
		last := 0
		found := kindEntry.FindAllStringIndex(rest, len(displayKinds))
		for _, kind := range displayKinds {
			for _, at := range found {
				if entry := rest[at[0]:at[1]]; strings.HasPrefix(entry, `"`+kind.String()) {
					sorted.WriteString(strings.TrimSuffix(entry, ",") + ",")
				}
				last = at[1]
			}
		}
		state = head + name + strings.TrimSuffix(sorted.String(), ",") + rest[last:]
	}
	return state
}
