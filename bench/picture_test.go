package bench_test

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/features"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/view/picture"
	"moonfarm/rollout/view/picture/raster"
	"moonfarm/sim"
)

// BenchmarkPicture draws the board alone, as learners see it, 256 pixels wide, of states of one game in turn. It prints
// the number of things on the largest, and a checksum of the pixels of the last.
func BenchmarkPicture(b *testing.B) {
	for _, c := range []struct {
		game, policy string
		turns        []int
	}{
		{"tron", "safe", []int{0, 4, 8}},
		{"towerdefence", "econ", []int{20, 40, 60, 75}},
		{"terminal", "maze", []int{5, 15, 25, 35}},
		{"codecraft", "squads", []int{150, 300, 500, 700}},
	} {
		b.Run(c.game, func(b *testing.B) {
			scenes := playedScenes(b, c.game, c.policy, c.turns)
			p, err := raster.New(picture.Settings{Width: 256})
			require.NoError(b, err)
			things := 0
			for _, s := range scenes {
				things = max(things, len(s.Entities)+len(s.Ranges)+len(s.Lines))
				_, err := p.Draw(s, "")
				require.NoError(b, err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				_, _ = p.Draw(scenes[i%len(scenes)], "")
			}
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pictures/s")
			b.ReportMetric(float64(things), "things")
			m, err := p.Draw(scenes[len(scenes)-1], "")
			require.NoError(b, err)
			b.Logf("%s %s %v: %x", c.game, c.policy, c.turns, sha256.Sum256(m.Pix))
		})
	}
}

// playedScenes plays a game of a policy against itself and returns the scenes of some turns, or of the last.
func playedScenes(b *testing.B, game, text string, turns []int) (scenes []*features.Scene) {
	b.Helper()
	g, err := catalog.Find(game)
	require.NoError(b, err)
	v, err := g.New("", env.Settings{N: 1})
	require.NoError(b, err)
	maker, err := policy.NewReproducible(game, text)
	require.NoError(b, err)
	player, err := maker(v.Spec())
	require.NoError(b, err)
	batch := env.NewBatch(v.Spec(), 1, player.Wants())
	var rows []int32
	for p := range v.Spec().Info.Players {
		rows = append(rows, int32(p))
	}
	v.Reset(0, 7)
	for turn := 0; len(scenes) < len(turns); turn++ {
		v.Observe(batch)
		if turn >= turns[len(scenes)] || batch.Status[0] != sim.Running {
			s := &features.Scene{}
			require.True(b, env.Unwrap(v).(env.Painter).Scene(s, 0, features.Spectator), fmt.Sprint(game))
			scenes = append(scenes, s)
		}
		if batch.Status[0] == sim.Running {
			player.Act(v, batch, rows)
			v.Step(batch)
		}
	}
	return scenes
}
