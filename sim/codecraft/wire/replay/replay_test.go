package replay

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/internal/wiretest"
	"moonfarm/sim/codecraft/wire/recording"
	"moonfarm/sim/prng"
)

// playedReplay plays some ticks of a preset from its start, with orders of all kinds, and returns
// the replay file.
func playedReplay(t testing.TB, preset string, seed uint64, ticks int) (*codecraft.Game, []byte) {
	t.Helper()
	rules, ok := codecraft.Preset(preset)
	require.Truef(t, ok, "no preset %s", preset)
	g, s, random := wiretest.NewGame(t, rules), new(codecraft.State), prng.New(seed)
	g.Reset(s, seed)
	return g, recorded(t, g, s, &random, ticks)
}

// TestSeedOfReplay reads seeds from the order of the entities; another order must give no seed.
func TestSeedOfReplay(t *testing.T) {
	for _, preset := range []string{"finals", "round2-4", "round1-3"} {
		for _, seed := range []uint64{0, 1, 3, 1<<63 | 5, 1<<64 - 1, 0xdeadbeefcafef00d} {
			g, file := playedReplay(t, preset, seed, 2)
			r, err := Read(preset, bytes.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := r.Start.Seed(g); !ok || got != seed {
				t.Errorf("%s: seed %d, %v, want %d", preset, got, ok, seed)
			}
			if !bytes.Equal(r.File, file) {
				t.Errorf("%s: read and written again it has other bytes", preset)
			}
			w := r.Start
			w.Entities = slices.Clone(w.Entities)
			w.Entities[0], w.Entities[1] = w.Entities[1], w.Entities[0]
			if got, ok := w.Seed(g); ok {
				t.Errorf("%s: another order tells seed %d", preset, got)
			}
			w.Entities = w.Entities[:10]
			if got, ok := w.Seed(g); ok {
				t.Errorf("%s: ten entities tell seed %d", preset, got)
			}
		}
	}
	// A game with another first state gives no seed.
	rules, _ := codecraft.Preset("finals")
	g, s := wiretest.Battle(t, rules, 9)
	r, err := Read("battle", bytes.NewReader(recorded(t, g, s, nil, 0)))
	require.NoError(t, err)
	got, ok := r.Start.Seed(g)
	assert.Falsef(t, ok, "a battle tells seed %d", got)
}

// TestReplayPlays plays recorded games again, and checks that other seeds, orders and changed files
// are found.
func TestReplayPlays(t *testing.T) {
	g, file := playedReplay(t, "round1-3", 77, 30)
	r, err := Read("x", bytes.NewReader(file))
	if err != nil || r.Ticks() != 30 || len(r.OrderEnds) != 90 || len(r.Orders) == 0 {
		t.Fatalf("%d ticks, %d ends, %d orders, %v", r.Ticks(), len(r.OrderEnds), len(r.Orders), err)
	}
	status, same := r.PlayAgain(g, 77)
	assert.Truef(t, same && status == sim.Running, "played again: %v, %v", status, same)
	_, same = r.PlayAgain(g, 78)
	assert.False(t, same, "another seed plays the same")
	r.Orders[len(r.Orders)/2] = 0
	_, same = r.PlayAgain(g, 77)
	assert.False(t, same, "other orders play the same")
	r, _ = Read("x", bytes.NewReader(file))
	r.Cut(10)
	_, same = r.PlayAgain(g, 77)
	assert.Truef(t, same && r.Ticks() == 10 && len(r.OrderEnds) == 30, "cut: %d ticks", r.Ticks())
	// A file that ends in the middle of a tick has the ticks before.
	torn, err := Read("x", bytes.NewReader(file[:len(file)-3]))
	assert.Truef(t, err != nil && torn.Ticks() == 29, "torn: %d ticks, error %v", torn.Ticks(), err)
	_, same = torn.PlayAgain(g, 77)
	assert.True(t, same, "torn: it plays otherwise")
	none, err := Read("x", bytes.NewReader(file[:100]))
	assert.Truef(t, none == nil && err != nil, "no start: %v", err)
}

// TestRecordedGame goes through the states of a battle, and refuses a battle that breaks the rules.
func TestRecordedGame(t *testing.T) {
	rules, file := smallBattle(t)
	r, err := Read("battle", bytes.NewReader(file))
	require.NoError(t, err)
	g, good, err := r.Check(rules)
	require.NoErrorf(t, err, "%d ticks good", good)
	require.Truef(t, good == 20 && g.Status == sim.Running, "%d ticks good", good)
	in, err := recording.NewReader("battle", bytes.NewReader(file))
	require.NoError(t, err)
	for range 2 { // as often as one likes
		s := new(codecraft.State)
		g.Reset(s, 5)
		for range 20 {
			g.Step(s, nil)
		}
		assert.Truef(t, s.Tick == 20 && g.Hash(s) == g.Hash(&g.Last), "tick %d, or another state", s.Tick)
	}
	s := new(codecraft.State)
	g.Reset(s, 0)
	for tick := 0; ; tick++ {
		end := in.Next()
		_, want := wiretest.Restore(t, &in.World)
		require.Equalf(t, g.Hash(want), g.Hash(s), "tick %d is not as recorded", tick)
		if end != nil {
			break
		}
		g.Step(s, nil)
	}

	// The score of a player is changed in tick 7.
	in, _ = recording.NewReader("battle", bytes.NewReader(file))
	changed := in.World.Append(nil)
	for in.Next() == nil {
		if in.Delta.CurrentTick == 8 {
			in.Delta.Players.Changed = append(in.Delta.Players.Changed, recording.PlayerRecord{ID: 1, Score: 1 << 20})
		}
		changed = in.Delta.Append(changed, in.Events)
	}
	r, err = Read("changed", bytes.NewReader(changed))
	require.NoError(t, err)
	_, good, err = r.Check(rules)
	var d *Difference
	assert.Truef(t, errors.As(err, &d) && d.Tick == 7 && good == 7, "changed: %d ticks good, error %v", good, err)
	r.Cut(7)
	_, good, err = r.Check(rules)
	require.NoErrorf(t, err, "cut before it: %d ticks good", good)
	assert.Equalf(t, 7, good, "cut before it: %d ticks good", good)
	assert.Equal(t, len(r.File), r.Ends[6], "the file does not end there")
}

// TestReadReplayDropsATickThatCannotBeApplied damages the last tick in ways that only applying it
// shows.
func TestReadReplayDropsATickThatCannotBeApplied(t *testing.T) {
	_, file := playedReplay(t, "round1-2", 3, 4)
	for name, damage := range map[string]func(d *recording.Delta, w *recording.World){
		"other rules":                   func(d *recording.Delta, _ *recording.World) { d.MaxPathfindNodes++ },
		"a new entity that is there":    func(d *recording.Delta, w *recording.World) { d.Entities.New = w.Entities[:1] },
		"a removed entity that was not": func(d *recording.Delta, _ *recording.World) { d.Entities.Removed = []int32{1 << 30} },
		"a player changes, an entity fails": func(d *recording.Delta, w *recording.World) {
			d.Players.Changed = []recording.PlayerRecord{{ID: w.Players[0].ID, Score: 99}}
			d.Entities.Removed = []int32{1 << 30}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := recording.NewReader("damaged", bytes.NewReader(file))
			require.NoError(t, err)
			bad := r.World.Append(nil)
			ticks := 0
			for ; ; ticks++ {
				if err := r.Next(); err == io.EOF {
					break
				}
				require.NoError(t, err)
				d := r.Delta
				if ticks == 3 {
					damage(&d, &r.World)
				}
				bad = d.Append(bad, r.Events)
			}
			require.Equal(t, 4, ticks)
			x, err := Read("damaged", bytes.NewReader(bad))
			require.Error(t, err)
			require.Equal(t, 3, x.Ticks())
			again, err := Read("again", bytes.NewReader(x.File))
			require.NoError(t, err)
			require.Equal(t, x.File, again.File)
			require.Equal(t, x.Scores(), again.Scores())
		})
	}
}
