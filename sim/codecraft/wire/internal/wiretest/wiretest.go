// Package wiretest makes games and states for the tests of the formats of CodeCraft, and reads
// recordings for them.
package wiretest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
)

// NewGame returns a game by rules.
func NewGame(t testing.TB, rules codecraft.Rules) *codecraft.Game {
	t.Helper()
	g, err := codecraft.New(rules)
	check(t, err)
	return g
}

// Battle returns a state in which much happens: players with resources, buildings of all types
// and crowds of units in the middle of the map.
func Battle(t testing.TB, rules codecraft.Rules, seed uint64) (*codecraft.Game, *codecraft.State) {
	t.Helper()
	g := NewGame(t, rules)
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
	check(t, g.Restore(s, p))
	return g, s
}

// Scribble gives a third of the units new actions of all kinds.
func Scribble(turn *sim.Turn, rules *codecraft.Rules, s *codecraft.State, r *prng.Rand) {
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

// neighbour returns the id of a random unit or building within three cells, 0 if it finds none.
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

// RecordedGame is the recorded game of the official runner.
const RecordedGame = "replay-round1-3p-ticks0-106.jsonl.gz"

// Unpack returns the uncompressed text of a recording.
func Unpack(t testing.TB, file string) []byte {
	t.Helper()
	return simtest.Text(t, simtest.Shared(t, "traces", "codecraft", file))
}

// Round1 returns the rules of the preset round1.
func Round1() codecraft.Rules {
	r, _ := codecraft.Preset("round1")
	return r
}

// OneTick returns a recorded game of one tick with few fields, as JSON Lines.
func OneTick() string {
	props := make([]string, 0, codecraft.Types)
	for k := range codecraft.Type(codecraft.Types) {
		props = append(props, fmt.Sprintf(`"%s":{"size":1,"max_health":10}`, k))
	}
	return `{"kind":"initial","next_id":5,"map_size":80,"max_tick_count":1000,"max_pathfind_nodes":1000,"tick":0,` +
		`"properties":{` + strings.Join(props, ",") + `},"players":[{"id":1,"index":0},{"id":2,"index":1}],` +
		`"entities":[{"id":3,"player":1,"type":"House","x":4,"y":5,"health":9,"active":false},` +
		`{"id":4,"player":null,"type":"Resource","x":7,"y":8,"health":9,"active":true}],"actions":{}}` + "\n" +
		`{"kind":"tick","tick":1,"next_id":6,"players":[{"id":1,"index":0,"score":5}],"events":[{"type":"attack","attacker":3,"target":4}],` +
		`"actions_set":{"3":{"build":{"type":"House","position":[7,8]}}},"entities_removed":[4],` +
		`"entities_updated":[{"id":3,"player":1,"type":"House","x":4,"y":5,"health":8,"active":false}],` +
		`"entities_new":[{"id":5,"player":2,"type":"House","x":9,"y":9,"health":8,"active":true}]}` + "\n"
}

// ViewFiles returns the names of the recorded views.
func ViewFiles(t testing.TB) []string {
	t.Helper()
	all := simtest.SharedFiles(t, "traces", "codecraft", "view-*.jsonl.gz")
	for i := range all {
		all[i] = filepath.Base(all[i])
	}
	return all
}

// Restore makes a game and a state of a view or a recorded world.
func Restore(t testing.TB, w interface {
	Rules(base codecraft.Rules) (codecraft.Rules, error)
	Position(p *codecraft.Position, r *codecraft.Rules) error
}) (*codecraft.Game, *codecraft.State) {
	t.Helper()
	rules, err := w.Rules(Round1())
	check(t, err)
	g := NewGame(t, rules)
	var p codecraft.Position
	s := new(codecraft.State)
	check(t, w.Position(&p, &rules))
	check(t, g.Restore(s, &p))
	return g, s
}

// Play plays ticks with orders of Scribble and records them. It closes the recorder.
func Play(t testing.TB, g *codecraft.Game, s *codecraft.State, random *prng.Rand, ticks int, recorder interface {
	Tick(s *codecraft.State) error
	Close() error
}) {
	t.Helper()
	rules, turn := g.Rules(), sim.NewTurn(1000)
	for range ticks {
		Scribble(turn, &rules, s, random)
		g.Step(s, turn)
		check(t, recorder.Tick(s))
	}
	check(t, recorder.Close())
}

// check fails the test for an error.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
