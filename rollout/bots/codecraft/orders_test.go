package codecraft

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
)

// stored returns the action of unit 0 after the orders.
func stored(t testing.TB, g *codecraft.Game, s *codecraft.State, p sim.Player, orders []sim.Order) codecraft.Action {
	t.Helper()
	var a codecraft.Action
	for _, o := range orders {
		c := codecraft.Decode(o)
		i := s.Find(c.ID)
		require.Truef(t, i >= 0 && s.Units[i].Owner == p, "player %d: an order for entity %d", p, c.ID)
		if i == 0 {
			a.Take(o)
		}
	}
	return a
}

// worldOf returns the start of a game in which unit 0 belongs to player p.
func worldOf(t testing.TB, p sim.Player) (*codecraft.Game, *codecraft.Rules, *codecraft.State) {
	t.Helper()
	r := rules(t, "round2", 1000)
	g, err := codecraft.New(r)
	require.NoError(t, err)
	s := new(codecraft.State)
	g.Reset(s, 1)
	for i := range s.Units[:s.N] { // unit 0 belonged to player 0
		s.Units[i].Owner = (s.Units[i].Owner + p) % 4
	}
	return g, &r, s
}

// TestAnswers: a policy's orders as the message of a client, at every seat, lead to the same
// state as the orders themselves.
func TestAnswers(t *testing.T) {
	r := rules(t, "round2", 1000)
	game, err := catalog.Find("codecraft")
	require.NoError(t, err)
	v, err := game.New(string(r.AppendText(nil)), env.Settings{N: 1})
	require.NoError(t, err)
	p, err := maker(t, "mix(0.5*quickstart,0.3*econ,0.2*random)")(v.Spec())
	require.NoError(t, err)
	g, err := codecraft.New(r)
	require.NoError(t, err)
	b := env.NewBatch(v.Spec(), 1, p.Wants()|env.WantAction)
	states, _ := env.States[codecraft.State](v)
	v.Reset(0, 5)
	x := new(translator)
	own, answered, given := sim.NewTurn(v.Spec().Info.MaxOrders), sim.NewTurn(v.Spec().Info.MaxOrders), 0
	for tick := range 60 {
		before := states[0]
		v.Observe(b)
		p.Act(v, b, []int32{0, 1, 2, 3})
		v.Step(b)
		for q := range sim.Player(4) {
			orders := b.Orders[int(q)*v.Spec().Info.MaxOrders:][:max(b.OrderLen[q], 0)]
			var m protocol.ClientMessage
			if err := protocol.NewReader(bytes.NewReader(protocol.AppendAnswer(nil, g, &before, q, orders))).ClientMessage(&m); err != nil {
				t.Fatal(err)
			}
			own.Set(q, orders)
			answered.Set(q, x.appendOrders(nil, &r, &before, q, &m.Action))
			given += len(m.Action.EntityActions)
		}
		want, got := before, before
		g.Step(&want, own)
		g.Step(&got, answered)
		require.Truef(t, got == want, "tick %d: another state", tick)
	}
	assert.GreaterOrEqualf(t, given, 100, "%d actions of entities", given)
}

// TestOrders: the orders of an action store the same action in the state.
func TestOrders(t *testing.T) {
	for p := range sim.Player(sim.MaxPlayers) {
		g, r, s := worldOf(t, p)
		id := int32(s.Units[0].ID)
		last, size := codecraft.Side-1, int(r.Types[codecraft.House].Size)
		all := protocol.EntityAction{
			Move:   protocol.Some(protocol.MoveAction{X: 3, Y: 4, BreakThrough: true}),
			Build:  protocol.Some(protocol.BuildAction{Type: codecraft.House, X: 10, Y: 20}),
			Attack: protocol.Some(protocol.AttackAction{Target: protocol.Some[int32](1<<31 - 1), Auto: protocol.Some(protocol.AutoAttack{PathfindRange: 1 << 30, ValidTargets: []codecraft.Type{8, 8, 1}})}),
			Repair: protocol.Some(protocol.RepairAction{Target: 77}),
		}
		mx, my := codecraft.TurnBack(p, 3, 4, 1)
		bx, by := codecraft.TurnBack(p, 10, 20, size)
		whole := codecraft.Action{
			Parts: codecraft.Given | codecraft.HasMove | codecraft.BreakThrough | codecraft.HasBuild | codecraft.HasTarget | codecraft.HasAuto | codecraft.HasRepair,
			MoveX: uint8(mx), MoveY: uint8(my), BuildType: codecraft.House, BuildX: uint8(bx), BuildY: uint8(by),
			Target: 1<<31 - 1, Valid: 1<<8 | 1<<1, Range: 1<<16 - 1, Repair: 77,
		}
		outside := protocol.EntityAction{Move: protocol.Some(protocol.MoveAction{X: 100, Y: 7})}
		ox, oy := codecraft.TurnBack(p, last, 7, 1)
		beyond := codecraft.Action{Parts: codecraft.Given | codecraft.HasMove | codecraft.MoveOutside, MoveX: uint8(ox), MoveY: uint8(oy)}
		auto := protocol.EntityAction{Attack: protocol.Some(protocol.AttackAction{Auto: protocol.Some(protocol.AutoAttack{PathfindRange: 5})})}
		any := codecraft.Action{Parts: codecraft.Given | codecraft.HasAuto, Valid: codecraft.EveryType &^ (1 << codecraft.Resource), Range: 5}
		nothing := protocol.EntityAction{Attack: protocol.Some(protocol.AttackAction{})}
		for name, c := range map[string]struct {
			list []protocol.EntityOrder
			want codecraft.Action
		}{
			"all parts":       {[]protocol.EntityOrder{{ID: id, EntityAction: all}}, whole},
			"outside":         {[]protocol.EntityOrder{{ID: id, EntityAction: outside}}, beyond},
			"no valid target": {[]protocol.EntityOrder{{ID: id, EntityAction: auto}}, any},
			"nothing":         {[]protocol.EntityOrder{{ID: id}}, codecraft.Action{Parts: codecraft.Given}},
			"empty attack":    {[]protocol.EntityOrder{{ID: id, EntityAction: nothing}}, codecraft.Action{Parts: codecraft.Given}},
			"the last counts": {[]protocol.EntityOrder{{ID: id, EntityAction: all}, {ID: id, EntityAction: auto}}, any},
			"not named":       {[]protocol.EntityOrder{{ID: id + 1<<24, EntityAction: all}, {ID: 0, EntityAction: all}, {ID: 1 << 30, EntityAction: all}}, codecraft.Action{}},
		} {
			t.Run(fmt.Sprintf("player %d, %s", p, name), func(t *testing.T) {
				var tr translator
				orders := tr.appendOrders(nil, r, s, p, &protocol.Action{EntityActions: c.list})
				got := stored(t, g, s, p, orders)
				assert.Truef(t, got == c.want, "player %d, %s: %+v, want %+v", p, name, got, c.want)
			})
		}
	}
}

// FuzzOrders reads any message as the action of any player: its orders are for own
// entities, at most as many as a seat may give, and store the action that replay files
// would have.
func FuzzOrders(f *testing.F) {
	seed := protocol.ClientMessage{Kind: protocol.ActionMessage}
	for id := range int32(30) {
		seed.Action.EntityActions = append(seed.Action.EntityActions, protocol.EntityOrder{ID: id, EntityAction: protocol.EntityAction{
			Move:   protocol.Some(protocol.MoveAction{X: id * 7, Y: id, FindClosestPosition: true}),
			Build:  protocol.Some(protocol.BuildAction{Type: codecraft.Type(id % 10), X: id * 3, Y: 70}),
			Attack: protocol.Some(protocol.AttackAction{Auto: protocol.Some(protocol.AutoAttack{PathfindRange: id, ValidTargets: []codecraft.Type{8}})}),
		}})
	}
	f.Add(uint8(0), seed.Append(nil))
	f.Add(uint8(3), seed.Append(nil))
	var worlds [sim.MaxPlayers]*codecraft.State
	g, r, _ := worldOf(f, 0)
	for p := range worlds {
		_, _, worlds[p] = worldOf(f, sim.Player(p))
	}
	f.Fuzz(func(t *testing.T, player uint8, data []byte) {
		p := sim.Player(player % sim.MaxPlayers)
		s := worlds[p]
		in := protocol.NewReader(bytes.NewReader(data))
		var m protocol.ClientMessage
		if in.ClientMessage(&m) != nil || m.Kind != protocol.ActionMessage {
			return
		}
		var tr translator
		orders := tr.appendOrders(nil, r, s, p, &m.Action)
		if len(orders) > g.Info().MaxOrders {
			t.Fatalf("%d orders, want at most %d", len(orders), g.Info().MaxOrders)
		}
		got := stored(t, g, s, p, orders)
		want := codecraft.Action{}
		for i := range m.Action.EntityActions {
			if e := &m.Action.EntityActions[i]; uint32(e.ID) == s.Units[0].ID {
				want = protocol.ActionOf(&e.EntityAction, p, r)
			}
		}
		if got != want {
			t.Errorf("player %d: stored %+v, as a replay tells it %+v", p, got, want)
		}
	})
}
