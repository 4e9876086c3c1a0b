package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/towerdefence"
)

// render is a position with the displays the original engine made of it.
type render struct {
	Render  string          `json:"render"`
	Round   int             `json:"round"`
	After   json.RawMessage `json:"after"`
	StateA  string          `json:"stateA"`
	StateB  string          `json:"stateB"`
	TextA   string          `json:"textA"`
	TextB   string          `json:"textB"`
	Console string          `json:"console"`
}

// position makes the position of a render from the round line in it.
func (r *render) position(t *testing.T) *Position {
	t.Helper()
	if r.Round == 0 {
		rules := towerdefence.DefaultRules()
		referee := NewReferee(rules)
		energy := map[string]int{"g0": 1500, "g1": 400, "g2": 20}[r.Render[:2]]
		referee.Handicap([2]int{energy, energy}, [2]int{100, 100})
		return referee.Position()
	}
	const header = `{"game":"render","seed":"","policy":["",""],"energy":[0,0],"health":[0,0]}`
	in, err := NewRecordingReader(r.Render, strings.NewReader(header+"\n"+string(r.After)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = in.Next(); err != nil {
		t.Fatal(err)
	}
	in.Round.Number, in.last = r.Round-2, RoundLine // the lines before are not there
	if _, err = in.Next(); err != nil {
		t.Fatal(err)
	}
	return in.Round.Position(towerdefence.DefaultRules())
}

var missileID = regexp.MustCompile(`"id":"[0-9a-f-]{36}"`)
var kindEntry = regexp.MustCompile(`"(ATTACK|DEFENSE|ENERGY|TESLA)":(\d+|\{[^}]*\}),?`)

// comparable takes out of a state.json what the original leaves to chance:
// the ids of missiles and the order of the types of buildings.
func comparable(state string) string {
	state = missileID.ReplaceAllString(state, `"id":""`)
	for _, name := range []string{`"buildingPrices":{`, `"buildingsStats":{`} {
		head, rest, ok := strings.Cut(state, name)
		if !ok {
			continue
		}
		sorted, last := "", 0
		found := kindEntry.FindAllStringIndex(rest, 4)
		for _, kind := range displayKinds {
			for _, at := range found {
				if entry := rest[at[0]:at[1]]; strings.HasPrefix(entry, `"`+kind.String()) {
					sorted += strings.TrimSuffix(entry, ",") + ","
				}
				last = at[1]
			}
		}
		state = head + name + strings.TrimSuffix(sorted, ",") + rest[last:]
	}
	return state
}

// TestRenders holds all displays of 36 positions against what the original
// engine wrote, byte for byte but for what it leaves to chance.
func TestRenders(t *testing.T) {
	count := 0
	for line := range bytes.Lines(unpack(t, simtest.Shared(t, "traces", "towerdefence", "renders.jsonl.gz"))) {
		var r render
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		count++
		p := r.position(t)
		if p.Round != r.Round {
			t.Errorf("%s: round %d, want %d", r.Render, p.Round, r.Round)
		}
		for seat, want := range []struct{ state, text string }{{r.StateA, r.TextA}, {r.StateB, r.TextB}} {
			viewer := sim.Player(seat)
			where := fmt.Sprintf("%s for %c", r.Render, letters[seat])
			sameText(t, where+" state.json", comparable(string(p.AppendState(nil, viewer))), comparable(want.state))
			sameText(t, where+" textMap.txt", string(p.AppendTextMap(nil, viewer)), want.text)
		}
		sameText(t, r.Render+" console", string(p.AppendConsole(nil)), r.Console)
	}
	if count != 36 {
		t.Errorf("%d renders, want 36", count)
	}
}

// sameText reports the first place where two texts differ.
func sameText(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	from := max(0, i-60)
	t.Errorf("%s: first difference at byte %d\n got …%q\nwant …%q", what, i,
		got[from:min(len(got), i+60)], want[from:min(len(want), i+60)])
}
