package recording

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/internal/wiretest"
	"moonfarm/sim/codecraft/wire/protocol"
)

// distance returns the distance of two entities by the text of the rules.
func distance(r *codecraft.Rules, a, b *protocol.Entity) int32 {
	d := func(a, b, asize, bsize int32) int32 {
		switch {
		case b >= a+asize:
			return b - (a + asize - 1)
		case a >= b+bsize:
			return a - (b + bsize - 1)
		}
		return 0
	}
	as, bs := r.Types[a.Type].Size, r.Types[b.Type].Size
	return d(a.X, b.X, as, bs) + d(a.Y, b.Y, as, bs)
}

// slack returns by how much entity e is nearer than the sight of an entity of player id; it is
// below 0 if no entity of the player sees e.
func slack(r *codecraft.Rules, list []protocol.Entity, e *protocol.Entity, id int32) int32 {
	most := int32(-1 << 20)
	for i := range list {
		if f := &list[i]; f.PlayerID == protocol.Some(id) {
			most = max(most, r.Types[f.Type].Sight-distance(r, f, e))
		}
	}
	return most
}

// TestView converts states of all presets to views and back, and checks which entities players
// see under fog.
func TestView(t *testing.T) {
	for seed, name := range []string{"round1-3", "round2", "round2-3", "finals"} {
		rules, _ := codecraft.Preset(name)
		g, s := wiretest.Battle(t, rules, uint64(seed))
		var whole, again World
		var view protocol.PlayerView
		whole.Fill(g, s)
		for p := range sim.Player(rules.Players) {
			protocol.View(&view, g, s, p)
			if view.MyID != int32(p)+1 || view.FogOfWar != rules.Fog || view.CurrentTick != s.Tick || len(view.Players) != int(rules.Players) {
				t.Errorf("%s: %+v", name, view)
			}
			want := 0
			for i := range whole.Entities {
				if !rules.Fog || slack(&rules, whole.Entities, &whole.Entities[i], view.MyID) >= 0 {
					if want < len(view.Entities) && view.Entities[want].ID != whole.Entities[i].ID {
						t.Fatalf("%s, player %d: entity %d is %d, want %d", name, p+1, want, view.Entities[want].ID, whole.Entities[i].ID)
					}
					want++
				}
			}
			if want != len(view.Entities) {
				t.Errorf("%s, player %d: %d entities, want %d", name, p+1, len(view.Entities), want)
			}
			var pos codecraft.Position
			if err := view.Position(&pos, &rules); err != nil {
				t.Fatal(err)
			}
			back := new(codecraft.State)
			if err := g.Restore(back, &pos); err != nil {
				t.Fatal(err)
			}
			again.Fill(g, back)
			for i := range again.Entities {
				if e, ok := FindEntity(whole.Entities, again.Entities[i].ID); !ok || *e != again.Entities[i] {
					t.Fatalf("%s, player %d: back in the world there is %+v", name, p+1, again.Entities[i])
				}
			}
		}
	}
}

// sameView makes a state of a view and checks that the player has the same view of the state.
func sameView(t *testing.T, v *protocol.PlayerView) (*codecraft.Game, *codecraft.State) {
	t.Helper()
	g, s, err := StateOfView(v, codecraft.DefaultRules())
	require.NoError(t, err)
	assert.Truef(t, shows(v, g, s), "tick %d: the state shows another view", v.CurrentTick)
	return g, s
}

// shows reports whether the player of a view has the same view of a state. The order of
// entities and properties does not matter.
func shows(v *protocol.PlayerView, g *codecraft.Game, s *codecraft.State) bool {
	var seen protocol.PlayerView
	protocol.View(&seen, g, s, sim.Player(v.MyID-1))
	if len(v.EntityProperties) == 0 {
		seen.EntityProperties = nil
	}
	want := *v
	want.Entities, want.EntityProperties = slices.Clone(v.Entities), slices.Clone(v.EntityProperties)
	SortEntities(want.Entities)
	slices.SortFunc(want.EntityProperties, func(a, b protocol.TypeProperties) int { return int(a.Type) - int(b.Type) })
	return bytes.Equal(want.Append(nil), seen.Append(nil))
}

// TestStateOfView makes states of views. The view of such a state must be the same, and under fog
// the other players must have their assumed entities at unseen cells.
func TestStateOfView(t *testing.T) {
	for _, preset := range []string{"round1", "round2", "finals"} {
		r, _ := codecraft.Preset(preset)
		g, s := wiretest.NewGame(t, r), new(codecraft.State)
		g.Reset(s, 9)
		for p := range sim.Player(r.Players) {
			var v protocol.PlayerView
			protocol.View(&v, g, s, p)
			made, state := sameView(t, &v)
			if made.Over(state) {
				t.Errorf("%s: the game of player %d is over", preset, p+1)
			}
			for q := range sim.Player(r.Players) {
				if !made.Lives(state, q) {
					t.Errorf("%s: to player %d, player %d is not in the game", preset, p+1, q+1)
				}
				x, y := r.StartPlace(codecraft.BuilderBase, q)
				if !state.Occupied.Has(x, y) {
					t.Errorf("%s: to player %d nothing stands at the start of player %d", preset, p+1, q+1)
				}
			}
			if made.Step(state, new(sim.Turn)) != sim.Running {
				t.Errorf("%s: the game ends after a tick", preset)
			}
		}
	}
}

// TestStateOfViewStartSeen has a player whose start is in sight and empty. StateOfView must assume
// a unit of this player on the nearest unseen cell.
func TestStateOfViewStartSeen(t *testing.T) {
	r, _ := codecraft.Preset("finals")
	g := wiretest.NewGame(t, r)
	p := codecraft.Position{NextID: 4, Units: []codecraft.Unit{
		{ID: 1, Health: 10, X: 72, Y: 72, Type: codecraft.BuilderUnit, Owner: 0, Active: true},
		{ID: 2, Health: 10, X: 70, Y: 66, Type: codecraft.BuilderUnit, Owner: 0, Active: true},
	}}
	s := new(codecraft.State)
	require.NoError(t, g.Restore(s, &p))
	var v protocol.PlayerView
	protocol.View(&v, g, s, 0)
	_, state := sameView(t, &v)
	if state.N != 3 || state.Units[2].Type != codecraft.BuilderUnit || state.Units[2].Owner != 1 || state.Units[2].X < 70 || state.Units[2].Y < 70 {
		t.Errorf("%d units, the last %+v, want a builder unit of player 2 near its corner", state.N, state.Units[state.N-1])
	}
}

// TestStateOfSharedViews makes states of all recorded views.
func TestStateOfSharedViews(t *testing.T) {
	views := 0
	for _, file := range append(wiretest.ViewFiles(t), "raw-getaction-messages.jsonl.gz") {
		err := eachView(file, bytes.NewReader(wiretest.Unpack(t, file)), func(v *protocol.PlayerView) error {
			g, s := sameView(t, v)
			assert.Falsef(t, g.Over(s), "%s, tick %d: the game is over", file, v.CurrentTick)
			views++
			return nil
		})
		assert.NoError(t, err, file)
	}
	assert.Equalf(t, 92, views, "%d views, want 92", views)
}

// TestStateOfViewRefused has views that no state has.
func TestStateOfViewRefused(t *testing.T) {
	good := func() protocol.PlayerView {
		r, _ := codecraft.Preset("round2")
		g, s := wiretest.NewGame(t, r), new(codecraft.State)
		g.Reset(s, 9)
		var v protocol.PlayerView
		protocol.View(&v, g, s, 0)
		return v
	}
	for want, change := range map[string]func(v *protocol.PlayerView){
		"my_id is 7":              func(v *protocol.PlayerView) { v.MyID = 7 },
		"map_size is 79":          func(v *protocol.PlayerView) { v.MapSize = 79 },
		"has id 9":                func(v *protocol.PlayerView) { v.Players[1].ID = 9 },
		"tick -5":                 func(v *protocol.PlayerView) { v.CurrentTick = -5 },
		"health -3":               func(v *protocol.PlayerView) { v.Entities[0].Health = -3 },
		"lies outside of the map": func(v *protocol.PlayerView) { v.Entities[0].X = 80 },
		"player 5, expected 1 to": func(v *protocol.PlayerView) { v.Entities[0].PlayerID = protocol.Some[int32](5) },
		"expected ids up to":      func(v *protocol.PlayerView) { v.Entities[0].ID = 1 << 30 },
		"overlaps":                func(v *protocol.PlayerView) { v.Entities[1] = v.Entities[0]; v.Entities[1].ID++ },
		"max_tick_count is 0":     func(v *protocol.PlayerView) { v.MaxTickCount = 0 },
		"score -1":                func(v *protocol.PlayerView) { v.Players[0].Score = -1 },
		"does not see it": func(v *protocol.PlayerView) {
			last := &v.Entities[len(v.Entities)-1]
			last.X, last.Y = 79, 79
		},
	} {
		t.Run(want, func(t *testing.T) {
			v := good()
			change(&v)
			_, _, err := StateOfView(&v, codecraft.DefaultRules())
			assert.ErrorContains(t, err, want)
		})
	}
}

// TestReadView reads a view in all forms in which clients have it.
func TestReadView(t *testing.T) {
	r, _ := codecraft.Preset("finals")
	g, s := wiretest.NewGame(t, r), new(codecraft.State)
	g.Reset(s, 3)
	m := protocol.ServerMessage{Kind: protocol.GetAction}
	protocol.View(&m.View, g, s, 1)
	base := base64.StdEncoding.EncodeToString(m.Append(nil))
	for name, text := range map[string][]byte{
		"a message":           m.Append(nil),
		"a debug update":      (&protocol.ServerMessage{Kind: protocol.DebugUpdate, View: m.View}).Append(nil),
		"a view alone":        m.View.Append(nil),
		"a line":              m.View.AppendLine(nil),
		"a line of a message": []byte(`{"kind":"raw_get_action","base64":"` + base + `"}`),
	} {
		t.Run(name, func(t *testing.T) {
			v, err := ReadView(text)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			assert.Truef(t, bytes.Equal(v.Append(nil), m.View.Append(nil)), "%s: another view", name)
			_, err = ReadView(append(bytes.Clone(text), text...))
			assert.Errorf(t, err, "%s: two are taken for one", name)
			_, err = ReadView(text[:len(text)*2/3])
			assert.Errorf(t, err, "%s: the beginning is taken for the whole", name)
		})
	}
	for text, want := range map[string]string{
		"": "view: byte 0: my_id: EOF", "\x01\x00\x00\x00": "view: byte 0: my_id: ", `{"kind":"tick"}`: "expected \"raw_get_action\"",
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			_, err := ReadView([]byte(text))
			assert.Errorf(t, err, "%q is taken, want %s", text, want)
		})
	}
}

// FuzzStateOfView makes states of the views in any bytes. Each state must show its view and can be
// played.
func FuzzStateOfView(f *testing.F) {
	rules := codecraft.DefaultRules()
	rules.Generator.MinShare, rules.Generator.MaxShare = 1, 1 // a small map
	game, start := wiretest.NewGame(f, rules), new(codecraft.State)
	game.Reset(start, 3)
	m := protocol.ServerMessage{Kind: protocol.GetAction}
	protocol.View(&m.View, game, start, 1)
	f.Add(m.Append(nil))
	f.Fuzz(func(t *testing.T, text []byte) {
		eachView("x", bytes.NewReader(text), func(v *protocol.PlayerView) error {
			g, s, err := StateOfView(v, codecraft.DefaultRules())
			if err != nil {
				return nil
			}
			if !shows(v, g, s) {
				t.Errorf("tick %d: the state shows another view", v.CurrentTick)
			}
			if s.Tick < g.Rules().MaxTurns {
				g.Step(s, new(sim.Turn))
			}
			return nil
		})
	})
}
