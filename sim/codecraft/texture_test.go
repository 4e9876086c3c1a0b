package codecraft_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/simtest"
)

// recordedMaps has the complete maps of the recordings, with their players.
var recordedMaps = map[string]int{
	"replay-round1-3p-ticks0-106.jsonl.gz": 3, "view-round1-sample01.jsonl.gz": 2, "view-beta-world-fullmap.jsonl.gz": 2,
}

// recordedMap reads the resources of the first line of a recording.
func recordedMap(t *testing.T, name string) (b bitboard.Square) {
	t.Helper()
	line, _, _ := bytes.Cut(simtest.Text(t, simtest.Shared(t, "traces", "codecraft", name)), []byte("\n"))
	var state struct {
		Entities []struct {
			Type string
			X, Y int
		}
	}
	require.NoError(t, json.Unmarshal(line, &state))
	for _, e := range state.Entities {
		if e.Type == codecraft.Resource.String() {
			b.Add(e.X, e.Y)
		}
	}
	return b
}

// texture returns, for distances of 1, 2, 3, 4, 6 and 8 along an axis, how often only one of two
// cells has a resource, divided by the expected frequency for independent cells: near 0 in large
// patches, 1 without any pattern.
func texture(b, cleared *bitboard.Square) (curve [6]float64) {
	share := float64(b.Count()) / float64(codecraft.Cells-cleared.Count())
	for i, d := range [6]int{1, 2, 3, 4, 6, 8} {
		pairs, differ := 0, 0
		for y := range codecraft.Side {
			for x := range codecraft.Side {
				for _, n := range [2][2]int{{x + d, y}, {x, y + d}} {
					if n[0] >= codecraft.Side || n[1] >= codecraft.Side || cleared.Has(x, y) || cleared.Has(n[0], n[1]) {
						continue
					}
					pairs++
					if b.Has(x, y) != b.Has(n[0], n[1]) {
						differ++
					}
				}
			}
		}
		curve[i] = float64(differ) / float64(pairs) / (2 * share * (1 - share))
	}
	return curve
}

// TestMapsLikeRecorded compares the texture of generated maps, averaged over many, with the average
// texture of the recorded maps.
func TestMapsLikeRecorded(t *testing.T) {
	var recorded, ours, smooth [6]float64
	for name, players := range recordedMaps {
		b := recordedMap(t, name)
		n := b.Count()
		require.Truef(t, n >= 1400 && n <= 2200, "%s has %d resources", name, n)
		cleared := clearedCells(players, 21)
		for i, c := range texture(&b, &cleared) {
			recorded[i] += c / float64(len(recordedMaps))
		}
	}
	const maps = 30
	measure := func(sum *[6]float64, change func(r *codecraft.Rules)) {
		g := mustGame(t, "round1-2", change)
		cleared := clearedCells(2, 21)
		var s codecraft.State
		for seed := range uint64(maps) {
			g.Reset(&s, seed)
			for i, c := range texture(&s.Resources, &cleared) {
				sum[i] += c / maps
			}
		}
	}
	measure(&ours, nil)
	measure(&smooth, func(r *codecraft.Rules) { r.Generator.Persistence = 500 })
	t.Logf("differing at 1, 2, 3, 4, 6, 8: recorded %.2f, ours %.2f, with a persistence of 500 %.2f", recorded, ours, smooth)
	far := apart(&ours, &recorded)
	assert.LessOrEqualf(t, far, 0.06, "recorded %.2f, ours %.2f: %.2f apart", recorded, ours, far)
	assert.GreaterOrEqualf(t, apart(&smooth, &recorded), 0.06, "recorded %.2f, with a persistence of 500 %.2f: the test does not tell them apart", recorded, smooth)
}

// apart returns the greatest difference of two curves.
func apart(a, b *[6]float64) (most float64) {
	for i := range a {
		most = max(most, math.Abs(a[i]-b[i]))
	}
	return most
}
