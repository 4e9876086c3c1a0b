package wire

import (
	"bytes"
	"os"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
)

// newGame is a game by rules.
func newGame(t testing.TB, rules codecraft.Rules) *codecraft.Game {
	t.Helper()
	g, err := codecraft.New(rules)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// recorded plays ticks with orders for whatever is there, and returns the replay file.
func recorded(t testing.TB, g *codecraft.Game, s *codecraft.State, random *prng.Rand, ticks int) []byte {
	t.Helper()
	var file bytes.Buffer
	rec, rules, turn := NewRecorder(&file, g, s), g.Rules(), sim.NewTurn(1000)
	for range ticks {
		scribble(turn, &rules, s, random)
		g.Step(s, turn)
		if err := rec.Tick(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// battle is a state in which much happens: players with a purse, buildings of
// all kinds and crowds of units in the middle of the map.
func battle(t testing.TB, rules codecraft.Rules, seed uint64) (*codecraft.Game, *codecraft.State) {
	t.Helper()
	g := newGame(t, rules)
	s, p := new(codecraft.State), new(codecraft.Position)
	g.Reset(s, seed)
	s.Position(p)
	r := prng.New(seed)
	taken := s.Occupied
	for p2 := range rules.Players {
		p.Resource[p2] = int32(r.IntN(3000))
	}
	for range 150 * rules.Players {
		u := codecraft.Unit{
			ID: p.NextID, Type: codecraft.Type(r.IntN(codecraft.Types)), Owner: sim.Player(r.IntN(int(rules.Players))),
			X: uint8(24 + r.IntN(28)), Y: uint8(24 + r.IntN(28)), Active: r.IntN(5) > 0,
		}
		k := &rules.Types[u.Type]
		if u.Type == codecraft.Resource || taken.MeetsSquare(int(u.X), int(u.Y), int(k.Size)) || k.Size > 2 && r.IntN(6) > 0 {
			continue
		}
		taken.AddSquare(int(u.X), int(u.Y), int(k.Size))
		u.Health = int16(1 + r.IntN(int(k.MaxHealth)))
		p.Units = append(p.Units, u)
		p.NextID++
	}
	p.Acts = nil
	if err := g.Restore(s, p); err != nil {
		t.Fatal(err)
	}
	return g, s
}

// scribble gives a third of the units new actions of all kinds.
func scribble(turn *sim.Turn, rules *codecraft.Rules, s *codecraft.State, r *prng.Rand) {
	turn.Clear()
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		if r.IntN(3) > 0 {
			continue
		}
		near := func(n int) int { return max(min(int(u.X)+r.IntN(2*n+1)-n, codecraft.Side-1), 0) }
		nearY := func(n int) int { return max(min(int(u.Y)+r.IntN(2*n+1)-n, codecraft.Side-1), 0) }
		other := s.Units[r.IntN(int(s.N))].ID
		turn.Add(u.Owner, codecraft.Stop(u.ID))
		if r.IntN(3) > 0 {
			n := []int{2, 10, 80}[r.IntN(3)]
			turn.Add(u.Owner, codecraft.And(codecraft.Move(u.ID, near(n), nearY(n), r.IntN(4) > 0, r.IntN(3) == 0)))
		}
		if options := rules.Types[u.Type].Builds; options.N > 0 && r.IntN(2) == 0 {
			k := options.T[r.IntN(int(options.N))]
			n := int(max(rules.Types[u.Type].Size, rules.Types[k].Size))
			turn.Add(u.Owner, codecraft.And(codecraft.Build(u.ID, k, near(n), nearY(n))))
		}
		switch r.IntN(6) {
		case 0:
			turn.Add(u.Owner, codecraft.And(codecraft.Attack(u.ID, other)))
		case 1, 2:
			turn.Add(u.Owner, codecraft.And(codecraft.Auto(u.ID, r.IntN(30), codecraft.TypeSet(r.IntN(1<<codecraft.Types)))))
		case 3:
			turn.Add(u.Owner, codecraft.And(codecraft.Auto(u.ID, 5+r.IntN(30), 1<<codecraft.Resource)))
		}
		if v := neighbour(rules, s, u, r); v != 0 && r.IntN(2) == 0 {
			turn.Add(u.Owner, codecraft.And(codecraft.Repair(u.ID, v)))
		}
	}
}

// neighbour is the id of a unit or building within three cells, 0 if none is
// found.
func neighbour(rules *codecraft.Rules, s *codecraft.State, u *codecraft.Unit, r *prng.Rand) uint32 {
	size := int(rules.Types[u.Type].Size)
	for range 12 {
		x, y := int(u.X)+r.IntN(size+6)-3, int(u.Y)+r.IntN(size+6)-3
		if codecraft.OnMap(x, y, 1) {
			if at := s.At[codecraft.CellOf(x, y)]; at > 0 && s.Units[at-1].ID != u.ID {
				return s.Units[at-1].ID
			}
		}
	}
	return 0
}

// TestVerifyOwnGames records games of all presets and choices, reads the replay
// files and finds every tick as the rules have it. It also holds the states
// read against those that were played.
func TestVerifyOwnGames(t *testing.T) {
	games, ticks := 12, 40
	if os.Getenv("MOONFARM_LONG") != "" {
		games, ticks = 400, 60
	}
	var sum Report
	for seed := range uint64(games) {
		r := prng.New(seed)
		rules, _ := codecraft.Preset([]string{"round1-1", "round1-2", "round1-3", "round1-4", "round2-3", "finals"}[seed%6])
		if seed >= 6 {
			choose(&rules, &r)
			rules.Types[codecraft.Resource].DestroyScore = 7 // which nobody ever gets
		}
		g, s := battle(t, rules, seed)
		file := recorded(t, g, s, &r, ticks)
		report, err := Verify("own", bytes.NewReader(file), rules)
		if err != nil || report.First != nil {
			t.Errorf("seed %d: error %v, %d different, first %v", seed, err, report.Different, report.First)
		}
		for i, n := range report.Counts {
			sum.Counts[i] += n
		}
		sum.Ticks += report.Ticks
		end, err := NewRecording("own", bytes.NewReader(file))
		for err == nil {
			err = end.Next()
		}
		_, last := restore(t, &end.World)
		if g.Hash(s) != g.Hash(withSeed(last, s.Seed)) {
			last.FirstID, last.Veins, last.Before = s.FirstID, s.Veins, s.Before // where resources were is not in files
			t.Errorf("seed %d: the last state that is read is not that which was played: %s", seed, simtest.Diff(last, s))
		}
	}
	t.Logf("%d ticks: %v %v", sum.Ticks, CountNames, sum.Counts)
	for i, n := range sum.Counts {
		if n < sum.Ticks/20 {
			t.Errorf("only %d %s", n, CountNames[i])
		}
	}
}

// choose flips some of the choices that recordings do not tell.
func choose(r *codecraft.Rules, random *prng.Rand) {
	for _, c := range []*bool{
		&r.DeadRest, &r.NearestVictim, &r.RangeGates, &r.ChaseUnseen, &r.OutsideIgnored, &r.BreakFloor, &r.UnableTakeID,
		&r.DeadAreFree, &r.PopulationAll, &r.RepairFull, &r.RepairOthers, &r.DeadMove, &r.WallsDoNotLive, &r.SoloEnds,
	} {
		*c = random.IntN(2) == 0
	}
}

func withSeed(s *codecraft.State, seed uint64) *codecraft.State {
	s.Seed = seed
	return s
}
