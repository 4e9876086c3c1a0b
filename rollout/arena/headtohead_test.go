package arena_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/arena"
	"moonfarm/sim/prng"
)

// versus adds games of two players on the given number of seeds, with the seats exchanged; the
// first wins all games but those of the last `lost` seeds.
func versus(games []arena.Played, a, b, seeds, lost int) []arena.Played {
	for seed := range seeds {
		result := float32(1)
		if seed >= seeds-lost {
			result = -1
		}
		n := prng.Digest(len(games))
		games = append(games, game(seed, n, []int{a, b}, result, -result), game(seed, n+1, []int{b, a}, -result, result))
	}
	return games
}

func evaluate(t *testing.T, names []string, games []arena.Played) *arena.Report {
	t.Helper()
	r, err := arena.Evaluate(names, games, -1)
	require.NoError(t, err)
	return r
}

// TestHeadToHead: a pair's Elo follows from its own score, whatever the fit to all games gives: here a
// beats b, b beats c, and c beats a.
func TestHeadToHead(t *testing.T) {
	r := evaluate(t, []string{"a", "b", "c"}, versus(versus(versus(nil, 0, 1, 40, 10), 1, 2, 40, 10), 2, 0, 40, 10))
	want := 400 * math.Log10(3) // a score of ¾
	for i, sign := range []float64{1, -1, 1} {
		p := r.Pairs[i] // a–b, a–c, b–c
		assert.Truef(t, p.Elo != nil && math.Abs(*p.Elo-sign*want) <= 0.01 && *p.EloLow < *p.Elo && *p.Elo < *p.EloHigh, "%s against %s: elo %v, want %v", p.A, p.B, p.Elo, sign*want)
		assert.Truef(t, math.Abs(p.FitElo) <= 0.01 && p.FitLow != nil && *p.FitLow < 0 && 0 < *p.FitHigh, "%s against %s: %+.2f by the fit, want 0 of a circle", p.A, p.B, p.FitElo)
		// The interval of the Elo belongs to the score's interval, and Superior to the same test.
		for _, c := range []struct {
			score float64
			elo   *float64
		}{{p.ScoreLow, p.EloLow}, {p.ScoreHigh, p.EloHigh}} {
			if math.Abs(1/(1+math.Pow(10, -*c.elo/400))-c.score) > 1e-4 {
				t.Errorf("%s against %s: elo %v for a score of %v", p.A, p.B, *c.elo, c.score)
			}
		}
		if above := *p.Superior > 0.975; above != (*p.EloLow > 0) || (*p.Superior < 0.025) != (*p.EloHigh < 0) {
			t.Errorf("%s against %s: superior %v in %v…%v", p.A, p.B, *p.Superior, *p.EloLow, *p.EloHigh)
		}
	}
}

// TestSayNothing: a few games, or games with equal outcomes, give no interval; the bounds that they
// do give are reported.
func TestSayNothing(t *testing.T) {
	names := []string{"a", "b"}
	few := evaluate(t, names, versus(nil, 0, 1, arena.LeastSeeds-1, 2))
	if p := few.Pairs[0]; p.Elo != nil || p.EloLow != nil || p.EloHigh != nil || p.Superior != nil || p.FitLow != nil || p.FitHigh != nil {
		t.Errorf("four seeds: %+v", p)
	}
	if s := few.Players[0]; s.EloLow != nil || s.EloHigh != nil || s.EloError != nil {
		t.Errorf("four seeds: %+v", s)
	}
	enough := evaluate(t, names, versus(nil, 0, 1, arena.LeastSeeds, 2))
	if p, s := enough.Pairs[0], enough.Players[0]; p.Elo == nil || p.EloLow == nil || p.EloHigh == nil || p.Superior == nil || p.FitLow == nil || s.EloLow == nil {
		t.Errorf("five seeds: %+v, %+v", p, s)
	}
	repeats := versus(nil, 0, 1, 50, 25)
	for i := range repeats {
		repeats[i].Sum = prng.Digest(i%2 + 2*(i/50))
	}
	if p := evaluate(t, names, repeats).Pairs[0]; p.Elo != nil || p.Superior != nil {
		t.Errorf("two games, 25 times each: %+v", p)
	}
	all := evaluate(t, names, versus(nil, 0, 1, 50, 0))
	if p := all.Pairs[0]; p.Elo != nil || p.EloHigh != nil || p.EloLow == nil || *p.EloLow < 200 || *p.Superior < 0.999 || p.FitHigh != nil || p.FitLow != nil {
		t.Errorf("all won: %+v", p)
	}
	none := evaluate(t, names, versus(nil, 0, 1, 50, 50))
	if p := none.Pairs[0]; p.Elo != nil || p.EloLow != nil || p.EloHigh == nil || *p.EloHigh > -200 || *p.Superior > 0.001 {
		t.Errorf("all lost: %+v", p)
	}
	text, err := json.Marshal(all)
	require.NoError(t, err)
	var got struct {
		Players, Pairs []map[string]any
	}
	require.NoError(t, json.Unmarshal(text, &got))
	for _, key := range []string{"low", "high", "error"} {
		x, there := got.Players[0][key]
		assert.Truef(t, there && x == nil, "players: %s is %v, want null", key, x)
	}
	for _, key := range []string{"elo", "elo_high", "fit_elo_low", "fit_elo_high"} {
		x, there := got.Pairs[0][key]
		assert.Truef(t, there && x == nil, "pairs: %s is %v, want null", key, x)
	}
}
