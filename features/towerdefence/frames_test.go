package towerdefence

import (
	"math/bits"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features"
	"moonfarm/features/featuretest"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
	td "moonfarm/sim/towerdefence"
)

// filming plays all turns of simtest.Play by Frames and balances the events of each
// round with the states before and after it.
type filming struct {
	sim.Game[td.State]
	game  *td.Game
	t     *testing.T
	kinds map[string]int
}

// sums are the sums of amounts, by owner and kind.
type sums map[featuretest.OwnedKind]int

// Step plays a round.
func (f *filming) Step(s *td.State, t *sim.Turn) sim.Status {
	before, drawn := *s, *s
	status := f.game.Step(s, t)
	n := sums{}
	lightning, shots := [2]int{}, map[[2]float32]bool{}
	Kit(f.game).Frames(&drawn, t, features.Spectator, func(dst *features.Scene) {
		for _, e := range dst.Events {
			f.kinds[e.Kind]++
			n[featuretest.OwnedKind{Owner: int(e.Owner), Kind: e.Kind}] += int(e.Amount)
			switch {
			case e.Kind == "tesla shot":
				n[featuretest.OwnedKind{Owner: int(e.Owner), Kind: "shots"}]++
				shots[[2]float32{e.X1, e.Y1}] = true
			case e.Kind == "base hit" && e.Note == "by lightning":
				lightning[e.Owner]++
			}
		}
	})
	require.Equal(f.t, *s, drawn)
	f.balance(&before, s, n, lightning)
	for p := range sim.Player(2) { // the towers that still stand show whether they shot
		for _, tower := range s.Half[p].Tesla[:s.Half[p].Teslas] {
			x, y := middle(p, int(tower.Cell))
			shot := int32(tower.Ready) == before.Round+int32(f.game.Rules().Buildings[td.Tesla].Cooldown)+1
			require.Equal(f.t, shot, shots[[2]float32{x, y}], "round %d: the tower at %v,%v", before.Round, x, y)
		}
	}
	return status
}

// balance checks the sums of a round.
func (f *filming) balance(before, s *td.State, n sums, lightning [2]int) {
	r := f.game.Rules()
	for p := range 2 {
		q := p ^ 1
		own := func(kind string) int { return n[featuretest.OwnedKind{Owner: p, Kind: kind}] }
		a, b, enemy := &before.Half[p], &s.Half[p], &s.Half[q]
		missile := r.Buildings[td.Attack].Damage
		byMissiles := (own("base hit") - lightning[p]*r.Buildings[td.Tesla].Damage) / missile
		require.Equal(f.t, enemy.Hits()-before.Half[q].Hits(), byMissiles+lightning[p], "round %d: hits of the base", before.Round)
		require.Equal(f.t, bits.OnesCount64(a.Occupied)+own("build")-own("deconstruct")-own("destroyed"), bits.OnesCount64(b.Occupied), "round %d: buildings", before.Round)
		fired := 0
		for cell := range td.Cells {
			kind, _ := a.Kind(cell)
			if a.Live>>cell&1 != 0 && kind == td.Attack && f.game.Cooldown(before, sim.Player(p), cell) == 0 {
				fired++
			}
		}
		if own("deconstruct") > 0 {
			continue // perhaps of a building that would have fired
		}
		stopped := n[featuretest.OwnedKind{Owner: q, Kind: "stopped"}]
		require.Equal(f.t, missiles(a)+fired, missiles(b)+byMissiles+stopped+own("hit")/missile, "round %d: missiles of player %d", before.Round, p)
	}
}

// missiles returns the number of missiles of a player.
func missiles(h *td.Half) (n int) {
	for cell := range td.Cells {
		n += h.MissilesOwn(cell) + h.MissilesFar(cell)
	}
	return n
}

// TestFrames balances the events of random games, of the release and of another
// rhythm of shots.
func TestFrames(t *testing.T) {
	for name, change := range map[string]func(r *td.Rules){
		"release": func(r *td.Rules) { r.StartEnergy = 3000 },
		"rhythm": func(r *td.Rules) {
			r.StartEnergy, r.StartHealth, r.CurtainResetPeriod = 3000, 400, 10
			r.Buildings[td.Attack].Speed, r.Buildings[td.Attack].Cooldown = 3, 1
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGame(t, change)
			f := &filming{Game: g, game: g, t: t, kinds: map[string]int{}}
			for seed := range uint64(15) {
				simtest.Play(f, seed, func(int, *td.State, sim.Status) bool { return true })
			}
			t.Log(f.kinds)
			for _, kind := range []string{"build", "deconstruct", "iron curtain", "tesla shot", "destroyed", "base hit", "hit", "stopped", "finished"} {
				assert.Positive(t, f.kinds[kind], kind)
			}
		})
	}
}

// TestFramesMoments follows a missile and a shot of a tesla tower through a round.
func TestFramesMoments(t *testing.T) {
	g := newGame(t, func(*td.Rules) {})
	var s td.State
	g.Reset(&s, 0)
	turn := sim.NewTurn(1)
	g.SetStart(&s, 0, 500, 100)
	play := func(a, b sim.Order) (titles []string, events []features.Event) {
		turn.SetOne(0, a)
		turn.SetOne(1, b)
		Kit(g).Frames(&s, turn, features.Spectator, func(dst *features.Scene) {
			titles, events = append(titles, dst.Title), append(events, dst.Events...)
		})
		return titles, events
	}
	titles, events := play(td.Build(td.Attack, 7, 2), 0)
	assert.Equal(t, []string{"round 0, after the commands", "round 1"}, titles, "only moments that change the board")
	assert.Equal(t, []features.Event{
		{Kind: "build", X1: 7.5, Y1: 2.5, X2: 7.5, Y2: 2.5, Amount: 1, Note: "attack"},
		{Kind: "finished", X1: 7.5, Y1: 2.5, X2: 7.5, Y2: 2.5, Amount: 1, Note: "attack"},
	}, events)
	titles, events = play(td.Build(td.Tesla, 7, 4), 0)
	assert.Equal(t, []string{"round 1, after the commands", "round 1, after the shots", "round 1, after step 1 of the missiles", "round 1, after step 2 of the missiles", "round 2"}, titles)
	assert.Len(t, events, 1, "the missile comes to the enemy's half: %v", events)
	for s.Round < 12 {
		_, events = play(0, 0)
	}
	assert.Contains(t, events, features.Event{Kind: "tesla shot", X1: 7.5, Y1: 4.5, X2: 15.5, Y2: 4.5})
	assert.Contains(t, events, features.Event{Kind: "base hit", X1: 16, Y1: 4.5, X2: 16, Y2: 4.5, Amount: 20, Note: "by lightning"})
}
