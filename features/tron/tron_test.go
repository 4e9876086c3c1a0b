package tron_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features/featuretest"
	kit "moonfarm/features/tron"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/tron"
)

func TestConformance(t *testing.T) {
	for _, torus := range []bool{false, true} {
		g, _ := tron.New(tron.Rules{Torus: torus})
		featuretest.Run(t, func() sim.Game[tron.State] { return g }, kit.Kit(g))
	}
}

// TestPlanes checks the planes of both seats in a position.
func TestPlanes(t *testing.T) {
	s, err := tron.ParseText("turn 2\nA right\nB up\naaA.....\n" + strings.Repeat("........\n", 4) + ".......B\n.......b\n.......b\n")
	require.NoError(t, err)
	g, _ := tron.New(tron.DefaultRules())
	e := kit.Kit(g).Encoder
	for p, want := range []string{
		"own_trail 0 1 2, enemy_trail 47 55 63, own_head 2, enemy_head 47, own_ahead 3, enemy_ahead 39, ",
		"own_trail 0 8 16, enemy_trail 61 62 63, own_head 16, enemy_head 61, own_ahead 24, enemy_ahead 60, ",
	} {
		t.Run(fmt.Sprintf("seat %d", p), func(t *testing.T) {
			got := ""
			featuretest.EachPlane(e, &s, sim.Player(p), func(name string, plane []uint8) {
				got += name
				for cell, v := range plane {
					if v != 0 {
						got += fmt.Sprintf(" %d", cell)
					}
				}
				got += ", "
			})
			assert.Equalf(t, want, got, "seat %d", p)
		})
	}
}

// TestFeaturesPage compares FEATURES.md with Description, Doc and Shape.
func TestFeaturesPage(t *testing.T) {
	g, _ := tron.New(tron.DefaultRules())
	k := kit.Kit(g)
	out := []byte("# Light cycles: observations and actions\n\n" +
		"Written by `go test ./features/tron -update` from the documentation in the code; a test compares the two.\n\n" +
		"Every observation shows the board from the side of one seat, whose cycle starts to the right in the left half: the board of seat 1\n" +
		"is turned by half a turn. Row 0 is the top. \"Scale\" is the largest usual value.\n")
	out = featuretest.AppendFields(out, "##", k, "the planes as bits")
	out = fmt.Appendf(out, "\n## Actions\n\nHeads: %v. %s The mask is one uint64 word, in which all three bits are set.\n%s\n", k.Actions.Heads(), k.Actions.Doc(), featuretest.Ended(k))
	simtest.Golden(t, "FEATURES.md", featuretest.AppendMeasures(out, k))
}
