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

	"moonfarm/sim"
	"moonfarm/sim/texts"
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
		if err == nil {
			err = v.render(&r)
		}
		if err != nil {
			return fmt.Errorf("recording %s: line %d: a render: %w", v.in.name, v.in.line, err)
		}
	}
}

// render compares a render with the position that it shows. Which player's command was
// carried out first in its game, it does not tell: the order with fewer differences
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

// startOf reads the energies and healths of A and B in a state.json.
func startOf(state []byte) (energy, health [2]int, err error) {
	var start struct {
		Players []struct{ Energy, Health int }
	}
	if err := json.Unmarshal(texts.Unmarked(state), &start); err != nil {
		return energy, health, err
	}
	if n := len(start.Players); n != 2 {
		return energy, health, fmt.Errorf("want 2 players, found %d", n)
	}
	for p, player := range start.Players {
		energy[p], health[p] = player.Energy, player.Health
	}
	return energy, health, nil
}

// renderDifference is the first display of a render that is not as the original made it,
// with the surroundings of the difference. reordered tells that displays differ in
// the order of missiles only, which a position does not always tell: see Round.Position.
type renderDifference struct {
	field, want, got string
	reordered        bool
}

// position makes the position of a render from the round line in it. At the
// start of a game there is none: energies and healths are then those of the
// first state.
func (r *render) position(rules towerdefence.Rules, first sim.Player) (*Position, error) {
	if string(r.After) == "null" || len(r.After) == 0 {
		energy, health, err := startOf([]byte(r.StateA))
		if err != nil {
			return nil, fmt.Errorf("stateA: %w", err)
		}
		rules.SetStart(energy, health)
		return NewReferee(rules).Position(), nil
	}
	after := RecordingReader{last: RoundLine, scanner: newScanner()}
	after.Round.Number = r.Round - 2 // the lines before are not there
	if err := after.parse(r.After); err != nil {
		return nil, fmt.Errorf("after: %w", err)
	}
	if after.last != RoundLine {
		return nil, errors.New("after: want a round line")
	}
	return after.Round.Position(rules, first), nil
}

// differs writes all displays of the position and compares them.
func (r *render) differs(p *Position) (found renderDifference) {
	for _, d := range []struct{ field, want, got string }{
		{"stateA", withoutChance(r.StateA), withoutChance(string(p.AppendState(nil, seatA)))},
		{"stateB", withoutChance(r.StateB), withoutChance(string(p.AppendState(nil, seatB)))},
		{"textA", r.TextA, string(p.AppendTextMap(nil, seatA))},
		{"textB", r.TextB, string(p.AppendTextMap(nil, seatB))},
		{"console", r.Console, string(p.AppendConsole(nil))},
	} {
		switch {
		case d.want == d.got:
		case missilesSorted(d.want) == missilesSorted(d.got):
			found.reordered = true
		default:
			want, got := aroundDifference(d.want, d.got)
			return renderDifference{field: d.field, want: want, got: got}
		}
	}
	return found
}

// missilesSorted sorts the missiles of a display: those of each cell of a state.json
// without ids, or the missile data of a text map, its last part.
func missilesSorted(text string) string {
	if strings.HasPrefix(text, "{") {
		return stateMissiles.ReplaceAllStringFunc(text, func(list string) string {
			missiles := stateMissile.FindAllString(list, -1)
			slices.Sort(missiles)
			return strings.Join(missiles, "")
		})
	}
	rest, missiles, found := strings.Cut(text, textMissiles)
	if !found {
		return text
	}
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

// The missiles of a cell in a state.json, and one of them.
var stateMissiles = regexp.MustCompile(`"missiles":\[\{[^]]*\]`)
var stateMissile = regexp.MustCompile(`\{[^}]*\}`)

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
