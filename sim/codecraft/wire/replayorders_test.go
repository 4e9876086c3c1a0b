package wire

import (
	"bytes"
	"io"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
)

// TestOrdersOfReplay plays recorded games of ours again, tick by tick from the
// recorded state with the orders that the file tells: with the seed comes what
// is recorded, wherever nobody died.
func TestOrdersOfReplay(t *testing.T) {
	played, skipped := 0, 0
	for seed, name := range []string{"round1-2", "round1-4", "round2-3", "finals"} {
		random := prng.New(uint64(seed))
		rules, _ := codecraft.Preset(name)
		g, s := battle(t, rules, uint64(seed))
		r, err := NewRecording(name, bytes.NewReader(recorded(t, g, s, &random, 30)))
		if err != nil {
			t.Fatal(err)
		}
		want, turn := codecraft.State{}, sim.NewTurn(1000)
		for end := error(nil); end == nil; {
			if end = r.Next(); end != nil && end != io.EOF {
				t.Fatal(end)
			}
			_, at := restore(t, &r.World)
			if want.N > 0 && g.Hash(&want) != g.Hash(withSeed(at, s.Seed)) {
				t.Fatalf("%s: tick %d is not as recorded", name, at.Tick-1)
			}
			if end != nil {
				break
			}
			if want.N = 0; unitsDie(r) {
				skipped++
				continue
			}
			played++
			want = *withSeed(at, s.Seed)
			r.Delta.Orders(turn, &r.World, &rules)
			g.Step(&want, turn)
		}
	}
	t.Logf("%d ticks played again, %d with deaths", played, skipped)
	if played < 20 {
		t.Errorf("only %d ticks played again", played)
	}
}

// unitsDie reports whether the tick removes more than resources.
func unitsDie(r *Recording) bool {
	for _, id := range r.Delta.Entities.Removed {
		if e, ok := find(r.World.Entities, id); ok && e.PlayerID.Given {
			return true
		}
	}
	return false
}

// TestOrdersOfNobody gives no orders for what is not there, or is nobody's.
func TestOrdersOfNobody(t *testing.T) {
	rules := round1()
	w := World{Entities: []Entity{{ID: 5, Type: codecraft.Resource}, {ID: 6, PlayerID: Some(int32(9)), Type: codecraft.House}, {ID: 7, PlayerID: Some(int32(2))}}}
	d := Delta{Actions: Changes[EntityOrder]{New: []EntityOrder{{ID: 4}, {ID: 5}}, Changed: []EntityOrder{{ID: 6}, {ID: 7}}}}
	turn := sim.NewTurn(4)
	d.Orders(turn, &w, &rules)
	for p := range sim.Player(4) {
		if orders := turn.Orders(p); p != 1 && len(orders) > 0 || p == 1 && (len(orders) != 1 || orders[0] != codecraft.Stop(7)) {
			t.Errorf("player %d: %v", p+1, orders)
		}
	}
}
