package codecraft_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
)

// mustGame returns the game of a preset after change, unless change is nil.
func mustGame(t testing.TB, preset string, change func(r *codecraft.Rules)) *codecraft.Game {
	t.Helper()
	rules, ok := codecraft.Preset(preset)
	require.Truef(t, ok, "no preset %q", preset)
	if change != nil {
		change(&rules)
	}
	g, err := codecraft.New(rules)
	require.NoError(t, err)
	return g
}

// startArea is the end of a player's cleared area in its own frame; the area begins at 2.
func startArea(preset string) int {
	if preset[:6] == "round1" {
		return 21
	}
	return 11
}

// TestMaps checks the known properties of maps: their symmetry outside of cleared areas; cleared
// areas without resources, only for existing players; the share of resources; and the full health
// of resources.
func TestMaps(t *testing.T) {
	for _, base := range codecraft.Presets() {
		for players := 1; players <= sim.MaxPlayers; players++ {
			name := fmt.Sprintf("%s-%d", base, players)
			g := mustGame(t, name, nil)
			var s codecraft.State
			least, most := codecraft.Cells, 0
			for seed := range uint64(40) {
				g.Reset(&s, seed)
				cleared := clearedCells(players, startArea(name))
				checkSymmetry(t, name, &s, players, &cleared)
				n := s.Resources.Count()
				share := n * 1000 / (codecraft.Cells - cleared.Count())
				least, most = min(least, share), max(most, share)
				if s.NextID != s.FirstID+uint32(n) {
					t.Errorf("%s seed %d: %d resources from id %d, the next is %d", name, seed, n, s.FirstID, s.NextID)
				}
			}
			if least < 220 || most > 501 || least > 280 || most < 440 {
				t.Errorf("%s: shares of %d to %d in a thousand", name, least, most)
			}
		}
	}
}

// clearedCells returns the cleared areas of the players.
func clearedCells(players, last int) (cells bitboard.Square) {
	for p := range sim.Player(players) {
		for y := 2; y <= last; y++ {
			for x := 2; x <= last; x++ {
				cells.Add(codecraft.TurnBack(p, x, y, 1))
			}
		}
	}
	return cells
}

// checkSymmetry checks every cell of a map against its image.
func checkSymmetry(t *testing.T, name string, s *codecraft.State, players int, cleared *bitboard.Square) {
	t.Helper()
	for y := range codecraft.Side {
		for x := range codecraft.Side {
			has := s.Resources.Has(x, y)
			if has && cleared.Has(x, y) {
				t.Fatalf("%s seed %d: a resource on %d,%d", name, s.Seed, x, y)
			}
			want := uint8(0)
			if has {
				want = 30
			}
			if got := s.Health[codecraft.CellOf(x, y)]; got != want {
				t.Fatalf("%s seed %d: health %d on %d,%d, want %d", name, s.Seed, got, x, y, want)
			}
			p := sim.Player(1) // 180°
			if players != 2 {
				p = 2 // 90°
			}
			ix, iy := codecraft.Turn(p, x, y, 1)
			if has != s.Resources.Has(ix, iy) && !cleared.Has(x, y) && !cleared.Has(ix, iy) {
				t.Fatalf("%s seed %d: %d,%d and its image %d,%d differ", name, s.Seed, x, y, ix, iy)
			}
		}
	}
}

// TestMapExtremes makes maps with the least and the greatest values of the generator.
func TestMapExtremes(t *testing.T) {
	for _, c := range []struct {
		name      string
		generator codecraft.Generator
		least     int
		most      int
	}{
		{"no resources", codecraft.Generator{MinShare: 0, MaxShare: 0, Octaves: 3, MinWave: 140, MaxWave: 180, Persistence: 500}, 0, 0},
		{"all resources", codecraft.Generator{MinShare: 1000, MaxShare: 1000, Octaves: 3, MinWave: 140, MaxWave: 180, Persistence: 500}, 6200, 6200},
		{"eight octaves of long waves", codecraft.Generator{MinShare: 300, MaxShare: 300, Octaves: 8, MinWave: 800, MaxWave: 800, Persistence: 1000}, 1860, 1862},
		{"eight octaves of short waves", codecraft.Generator{MinShare: 300, MaxShare: 300, Octaves: 8, MinWave: 20, MaxWave: 20, Persistence: 1000}, 1860, 1862},
		{"one octave of short waves", codecraft.Generator{MinShare: 300, MaxShare: 300, Octaves: 1, MinWave: 20, MaxWave: 21, Persistence: 0}, 1860, 1862},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := mustGame(t, "finals", func(r *codecraft.Rules) { r.Generator = c.generator })
			var s codecraft.State
			for seed := range uint64(20) {
				g.Reset(&s, seed)
				n := s.Resources.Count()
				assert.Truef(t, n >= c.least && n <= c.most, "%+v seed %d: %d resources, want %d to %d", c.generator, seed, n, c.least, c.most)
			}
		})
	}
	// Without start entities nothing is cleared.
	g := mustGame(t, "finals", func(r *codecraft.Rules) {
		r.Start, r.Generator.MinShare, r.Generator.MaxShare = codecraft.TypeList{}, 1000, 1000
	})
	var s codecraft.State
	g.Reset(&s, 1)
	n := s.Resources.Count()
	assert.Truef(t, n == codecraft.Cells && s.FirstID == 3 && s.NextID == 3+codecraft.Cells, "%d resources, ids from %d to before %d", n, s.FirstID, s.NextID)
}

// TestMapsOfSeeds checks that different seeds give different maps, and compares a checksum of maps,
// which must be the same on every machine. If it changes, RulesVersion must rise.
const goldenMaps = 0xfe43348d9e9fa46a

func TestMapsOfSeeds(t *testing.T) {
	sum := uint64(0)
	var s codecraft.State
	for _, name := range []string{"finals", "round2", "round1-3", "round1-1"} {
		g := mustGame(t, name, nil)
		seen := map[bitboard.Square]bool{}
		for seed := range uint64(50) {
			g.Reset(&s, seed<<32|seed)
			if seen[s.Resources] {
				t.Errorf("%s: the map of seed %d appears twice", name, seed)
			}
			seen[s.Resources] = true
			for _, w := range s.Resources {
				sum = sum*0x9e3779b97f4a7c15 + w
			}
		}
	}
	assert.Equal(t, uint64(goldenMaps), sum, "the maps have another sum")
}
