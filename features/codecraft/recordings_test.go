package codecraft

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features"
	"moonfarm/features/featuretest"
	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
	"moonfarm/sim/codecraft/wire/recording"
	"moonfarm/sim/simtest"
)

// inMessage returns the entities in a view.
func inMessage(v *protocol.PlayerView, r *cc.Rules) (list []entity) {
	for _, w := range v.Entities {
		e := entity{Unit: cc.Unit{Type: w.Type, Health: int16(w.Health), Active: w.Active}, x: int(w.X), y: int(w.Y), size: int(r.Types[w.Type].Size)}
		if w.PlayerID.Given {
			e.rival = rival(sim.Player(w.PlayerID.Value-1), sim.Player(v.MyID-1))
		}
		list = append(list, e)
	}
	return list
}

// TestRecordedViews makes states of recorded views. Their observations must show the recorded
// views, in the same frame.
func TestRecordedViews(t *testing.T) {
	views, fromView := 0, [sim.MaxPlayers]int{}
	for _, name := range simtest.SharedFiles(t, "traces", "codecraft", "view-*.jsonl.gz") {
		s := new(cc.State)
		for r := recording.NewViewReader(filepath.Base(name), bytes.NewReader(simtest.Text(t, name))); ; {
			if err := r.Next(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			v := &r.Message.View
			var p cc.Position
			given, err := v.Rules(cc.DefaultRules())
			if err == nil {
				err = v.Position(&p, &given)
			}
			if err != nil {
				t.Fatalf("%s line %d: %v", name, r.Line(), err)
			}
			g := newGame(t, given)
			if err := g.Restore(s, &p); err != nil {
				t.Fatalf("%s line %d: %v", name, r.Line(), err)
			}
			e, seat := NewEncoder(g), sim.Player(v.MyID-1)
			want := plainPlanes(&given, seat, inMessage(v, &given))
			featuretest.SamePlanes(t, e, fmt.Sprintf("%s line %d", name, r.Line()), featuretest.Planes(e, s, seat), want)
			views++
			fromView[v.MyID-1]++
		}
	}
	t.Logf("%d views, by seat %v", views, fromView)
	assert.True(t, views >= 30 && fromView[1] != 0, "that is too few, or of too few seats")
}

// TestRecordedActions finds the choices for the orders in the recorded game. A
// tick played by the choices must go as the tick played by the orders, but for stored actions and ids.
func TestRecordedActions(t *testing.T) {
	file := simtest.Shared(t, "traces", "codecraft", "replay-round1-3p-ticks0-106.jsonl.gz")
	r, err := recording.NewReader(filepath.Base(file), bytes.NewReader(simtest.Text(t, file)))
	require.NoError(t, err)
	given, err := r.World.Rules(cc.DefaultRules())
	require.NoError(t, err)
	g := newGame(t, given)
	a, s, after := NewActions(g), new(cc.State), new(cc.State)
	action, how := make([]int32, slots), make([]agreement, slots)
	byOrders, byChoices := sim.NewTurn(g.Info().MaxOrders), sim.NewTurn(g.Info().MaxOrders)
	var counts [exactly + 1]int
	rows, full := 0, 0
	for {
		if err := r.Next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		var before cc.Position
		require.NoError(t, r.World.Position(&before, &given))
		require.NoError(t, g.Restore(s, &before))
		*after = *s
		for p, orders := range recordedOrders(s, &r.Delta, &given) {
			for _, list := range orders {
				for slot := range how {
					how[slot] = -1
				}
				a.label(action, how, list, s, sim.Player(p))
				for _, h := range how {
					if h >= 0 {
						counts[h]++
					}
				}
			}
			all := slices.Concat(orders...)
			byOrders.Set(sim.Player(p), all)
			byChoices.Set(sim.Player(p), all)
			if rows++; a.Action(action, all, s, sim.Player(p)) {
				full++
				byChoices.Set(sim.Player(p), a.AppendOrders(nil, action, s, sim.Player(p)))
			}
		}
		g.Step(s, byOrders)
		g.Step(after, byChoices)
		if s.NextID == after.NextID && (s.At != after.At || s.Health != after.Health || s.Score != after.Score || s.Resource != after.Resource) {
			t.Fatalf("tick %d: the choices lead to another state", s.Tick)
		}
	}
	t.Logf("choices do the same for ever: %d and %d orders of entities, in this tick: %d, not at all: %d; %d of %d rows as a whole",
		counts[exactly], counts[fromNow], counts[thisTick], counts[differs], full, rows)
	said := counts[exactly] + counts[fromNow] + counts[thisTick]
	assert.True(t, said >= 300 && said*1000 >= (said+counts[differs])*995 && full*100 >= rows*99, "too few orders, or too few of them with choices")
}

// recordedOrders returns the orders that players gave before a tick, by seat and entity.
func recordedOrders(s *cc.State, d *recording.Delta, r *cc.Rules) (orders [sim.MaxPlayers][][]sim.Order) {
	for _, list := range [][]protocol.EntityOrder{d.Actions.New, d.Actions.Changed} {
		for _, o := range list {
			if i := s.Find(uint32(o.ID)); i >= 0 {
				told := protocol.ActionOf(&o.EntityAction, 0, r)
				p := s.Units[i].Owner
				orders[p] = append(orders[p], told.AppendOrders(nil, uint32(o.ID)))
			}
		}
	}
	return orders
}

// TestRecordedFrames draws the ticks of the recorded game with their events. The scenes have the entities
// of the state after the tick. The random draws, and so the victims, are others than in the recording,
// but the same entities attack.
func TestRecordedFrames(t *testing.T) {
	file := simtest.Shared(t, "traces", "codecraft", "replay-round1-3p-ticks0-106.jsonl.gz")
	r, err := recording.NewReader(filepath.Base(file), bytes.NewReader(simtest.Text(t, file)))
	require.NoError(t, err)
	given, err := r.World.Rules(cc.DefaultRules())
	require.NoError(t, err)
	g := newGame(t, given)
	k, s := Kit(g), new(cc.State)
	turn := sim.NewTurn(g.Info().MaxOrders)
	recorded, same, drawn := 0, 0, 0
	for {
		if err := r.Next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		var before cc.Position
		require.NoError(t, r.World.Position(&before, &given))
		require.NoError(t, g.Restore(s, &before))
		for p, orders := range recordedOrders(s, &r.Delta, &given) {
			turn.Set(sim.Player(p), slices.Concat(orders...))
		}
		dst, after := framesOf(t, &k, s, turn, features.Spectator)
		require.Equal(t, visibleEntities(g, after, features.Spectator), featuretest.CountEntities(&dst), "tick %d", s.Tick)
		from := map[[2]float32]bool{}
		for _, e := range dst.Events {
			if e.Kind == "attack" || e.Kind == "collect" {
				from[[2]float32{e.X1, e.Y1}] = true
				drawn++
			}
		}
		for _, e := range r.Events {
			u := &s.Units[s.Find(uint32(e.Attacker))]
			half := float32(given.Types[u.Type].Size) / 2
			if recorded++; from[[2]float32{float32(u.X) + half, float32(u.Y) + half}] {
				same++
			}
		}
	}
	assert.True(t, recorded >= 300 && same == recorded && drawn == recorded, "%d recorded attacks, %d drawn, of %d attackers in both", recorded, drawn, same)
}
