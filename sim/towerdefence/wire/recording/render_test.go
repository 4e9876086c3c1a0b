package recording

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/display"
)

// TestRenders compares all displays of 36 positions with those of the original
// engine, byte for byte except for its random parts.
func TestRenders(t *testing.T) {
	f, err := os.Open(simtest.Shared(t, "traces", "towerdefence", "renders.jsonl.gz"))
	require.NoError(t, err)
	defer f.Close()
	report, err := Verify("renders", f, towerdefence.DefaultRules())
	require.NoError(t, err)
	assert.Truef(t, report == (Report{Renders: 36}), "error, report %+v, first difference %v", report, report.First)
}

// goldenRender returns the render of the position of the golden displays, as a
// line.
func goldenRender(t *testing.T) []byte {
	t.Helper()
	_, p := playGolden()
	return renderOf(t, p)
}

// renderOf returns the render of a position, as a line.
func renderOf(t *testing.T, p *display.Position) []byte {
	t.Helper()
	round := RoundOf(p, [2]string{"", ""})
	line, err := json.Marshal(render{
		Render: "golden", Round: p.Round, After: round.AppendLine(nil),
		StateA: string(p.AppendState(nil, sim.Player(0))), StateB: string(p.AppendState(nil, sim.Player(1))),
		TextA: string(p.AppendTextMap(nil, sim.Player(0))), TextB: string(p.AppendTextMap(nil, sim.Player(1))),
		Console: string(p.AppendConsole(nil)),
	})
	require.NoError(t, err)
	return append(line, '\n')
}

// TestRenderDifference changes each display of a render. (Its missiles are in
// an order that cannot be inferred from the position.)
func TestRenderDifference(t *testing.T) {
	line := string(goldenRender(t))
	check := func(field, text string) {
		t.Helper()
		report, err := Verify("golden", strings.NewReader(text), towerdefence.DefaultRules())
		switch {
		case err != nil || report.Renders != 1:
			t.Errorf("%q: error %v, report %+v", field, err, report)
		case report.Reordered != 0 && field != "":
			t.Errorf("%s: reordered", field)
		case field == "" && report.First != nil:
			t.Errorf("difference %v, want none", report.First)
		case field != "" && (report.First == nil || report.First.Field != field || report.Different != 1):
			t.Errorf("difference %v, want one of %s", report.First, field)
		}
	}
	check("", line)
	check("", strings.ReplaceAll(line, `\"id\":\"0`, `\"id\":\"f`))
	for _, field := range []string{"stateA", "stateB", "textA", "textB", "console"} {
		t.Run(field, func(t *testing.T) {
			var keys map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &keys))
			text := []byte(keys[field].(string))
			at := bytes.LastIndexByte(text, '0')
			text[at] = '7'
			keys[field] = string(text)
			changed, _ := json.Marshal(keys)
			// The first key decides the kind of a file.
			changed = append([]byte(`{"render":"golden",`), bytes.Replace(changed[1:], []byte(`"render":"golden",`), nil, 1)...)
			check(field, string(changed))
		})
	}
}

// TestRenderErrors checks the errors of invalid renders.
func TestRenderErrors(t *testing.T) {
	simtest.Refuses(t, strings.HasPrefix, verifyText, map[string]string{
		`{"render":"x"`:                                     "recording x: line 1: a render: unexpected EOF",
		`{"render":"x","other":1}`:                          `recording x: line 1: a render: json: unknown field "other"`,
		`{"render":"x","stateA":1}`:                         "recording x: line 1: a render: json: cannot unmarshal",
		`{"render":"x","after":null,"stateA":"{}"}`:         "recording x: line 1: a render: stateA: expected 2 players, found 0",
		`{"render":"x","after":{"r":3}}`:                    `recording x: line 1: a render: after: expected the key "c"`,
		`{"render":"x","round":2,"after":` + okRound + `}`:  "recording x: line 1: a render: after: expected round 1, found round 0",
		`{"render":"x","round":1,"after":` + okEnd + `}`:    "recording x: line 1: a render: after: expected a round line",
		`{"render":"` + strings.Repeat("x", maxLine) + `"}`: "recording x: line 1: a render: expected at most",
		string(goldenRender(t)) + `{"game":"g"}`:            `recording x: line 2: a render: json: unknown field "game"`,
	})
}
