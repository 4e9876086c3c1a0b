package recording

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/towerdefence/wire/display"
	"moonfarm/sim/towerdefence/wire/internal/wiretest"
	"moonfarm/sim/towerdefence/wire/referee"
)

// TestOrderInRecordings verifies recordings with both orders of the commands,
// with and without the order in the header.
func TestOrderInRecordings(t *testing.T) {
	for _, first := range []string{"", "A", "B"} {
		t.Run(fmt.Sprintf("first %q", first), func(t *testing.T) {
			var b bytes.Buffer
			h := Header{Game: "g", First: first}
			_, err := WriteMatch(NewWriter(&b), h, wiretest.RichRules(), wiretest.TwinTowers()[:14])
			require.NoError(t, err)
			text := b.String()
			if strings.Contains(text, `"first"`) != (first != "") {
				t.Errorf("%q first: the header is %s", first, strings.SplitN(text, "\n", 2)[0])
			}
			untold := strings.Replace(text, `,"first":"`+first+`"`, "", 1)
			lie := strings.Replace(text, `"first":"`+first, `"first":"`+map[string]string{"A": "B", "B": "A"}[first], 1)
			for _, c := range []struct {
				text string
				same bool
			}{{text, true}, {untold, true}, {lie, first == ""}} {
				report, err := Verify("x", strings.NewReader(c.text), wiretest.RichRules())
				require.NoErrorf(t, err, "%q first: %+v, first %v", first, report, report.First)
				assert.Equalf(t, c.same, report.First == nil, "%q first: %+v, first %v\n%s", first, report, report.First, c.text[:100])
			}
		})
	}
	bad := strings.Replace(okHeader, `"health"`, `"first":"C","health"`, 1)
	err := verifyText(bad)
	assert.ErrorContains(t, err, `"A"`, "first C")
}

// TestOrderInRenders: neither the displays of a game of the other order are
// differences, nor the order of both players' missiles on one cell.
func TestOrderInRenders(t *testing.T) {
	r := referee.New(wiretest.RichRules())
	r.First(display.SeatB)
	for _, c := range wiretest.TwinTowers()[:4] {
		r.Play(c[0], c[1])
	}
	p := r.Position()
	shared := slices.ContainsFunc(p.Missiles, func(m display.Missile) bool {
		return slices.ContainsFunc(p.Missiles, func(o display.Missile) bool { return m.X == o.X && m.Y == o.Y && m.Owner != o.Owner })
	})
	require.True(t, shared, "no cell has missiles of both")
	for reordered := range 2 {
		if reordered == 1 {
			slices.Reverse(p.Missiles)
		}
		report, err := Verify("x", bytes.NewReader(renderOf(t, p)), wiretest.RichRules())
		require.NoErrorf(t, err, "missiles reversed %d times: %+v, first %v", reordered, report, report.First)
		assert.Truef(t, report.First == nil && report.Reordered == reordered, "missiles reversed %d times: %+v, first %v", reordered, report, report.First)
	}
}
