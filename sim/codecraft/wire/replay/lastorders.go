package replay

import (
	"bytes"
	"io"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
	"moonfarm/sim/codecraft/wire/recording"
)

// maxTries bounds the combinations of last orders that are tried in a tick.
const maxTries = 2000

// PlayAgain plays the game from a seed with the orders of the replay. It returns the status
// after the last tick, and reports whether every state is as recorded. A replay does not have
// the order to an entity in the tick of its death: where such an order matters, PlayAgain finds
// one that leads to the recorded state and adds it to Orders.
func (r *Replay) PlayAgain(g *codecraft.Game, seed uint64) (status sim.Status, same bool) {
	in, err := recording.NewReader("replay", bytes.NewReader(r.File))
	if err != nil || !r.Start.IsStart(g, seed) {
		return sim.Running, false
	}
	p := &replayPlayer{game: g, in: in, turn: sim.NewTurn(0)}
	g.Record(&p.record)
	defer g.Record(nil)
	g.Reset(&p.state, seed)
	orders, ends := []sim.Order(nil), []int32(nil)
	players := sim.Player(len(r.Start.Players))
	for tick := range r.Ticks() {
		if status != sim.Running || in.Next() != nil {
			return status, false
		}
		for q := range players {
			p.turn.Set(q, r.OrdersOf(tick, q))
		}
		if status, same = p.tick(); !same {
			return status, false
		}
		for q := range players {
			orders = append(orders, p.turn.Orders(q)...)
			ends = append(ends, int32(len(orders)))
		}
	}
	if in.Next() != io.EOF {
		return status, false
	}
	r.Orders, r.OrderEnds = orders, ends
	return status, true
}

// replayPlayer holds the data of one call of PlayAgain.
type replayPlayer struct {
	game   *codecraft.Game
	in     *recording.Reader
	turn   *sim.Turn // the orders of the current tick
	record codecraft.Record

	state, before codecraft.State
	played, after recording.World // the played state, and the recorded state
}

// tick plays the tick that was read last. It sets the turn to orders that lead to the recorded
// state; same is false if it finds no such orders.
func (r *replayPlayer) tick() (status sim.Status, same bool) {
	r.in.World.CopyTo(&r.after)
	if r.after.Apply(&r.in.Delta) != nil {
		return sim.Running, false
	}
	r.before = r.state
	if status, same = r.try(r.turn); same {
		return status, true
	}
	dying := r.dying()
	if len(dying) == 0 {
		return status, false
	}
	tries := 0
	return r.search(dying, &tries)
}

// try plays the tick with the orders of t, and reports whether this leads to the recorded state.
func (r *replayPlayer) try(t *sim.Turn) (status sim.Status, same bool) {
	r.state = r.before
	status = r.game.Step(&r.state, t)
	r.played.Fill(r.game, &r.state)
	return status, r.played.SameState(&r.after)
}

// lastActions has the actions that an entity may have received in the tick of its death, besides
// no new action.
type lastActions struct {
	id      uint32
	owner   sim.Player
	actions []codecraft.Action
}

// dying returns the entities that die in the tick with their possible last actions. It compares
// the recorded attacks with the attacks of the tick played without last orders. Random choices
// do not depend on orders, so all other entities act as recorded.
func (r *replayPlayer) dying() (list []lastActions) {
	want, got := map[uint32]uint32{}, map[uint32]uint32{}
	for _, e := range r.in.Events {
		want[uint32(e.Attacker)] = uint32(e.Victim)
	}
	for _, h := range r.record.Attacks {
		got[h.Attacker] = h.Victim
	}
	for _, id := range r.in.Delta.Entities.Removed {
		i := r.before.Find(uint32(id))
		if i < 0 {
			continue
		}
		u := &r.before.Units[i]
		l := lastActions{id: u.ID, owner: u.Owner}
		switch victim := want[u.ID]; {
		case victim != 0 && victim == got[u.ID]:
			continue
		case victim != 0:
			l.actions = append(l.actions, codecraft.Action{Parts: codecraft.Given | codecraft.HasTarget, Target: victim})
		default:
			l.actions = append(r.works(u), codecraft.Action{Parts: codecraft.Given})
		}
		list = append(list, l)
	}
	return list
}

// works returns the builds and repairs that unit u may have been ordered: each new entity, a
// build that fails, because it also takes an id, and each entity with more recorded health than
// in the played state.
func (r *replayPlayer) works(u *codecraft.Unit) (actions []codecraft.Action) {
	rules := r.game.Rules()
	k := &rules.Types[u.Type]
	build := func(t codecraft.Type, x, y int) {
		var a codecraft.Action
		a.AddBuild(t, x, y)
		actions = append(actions, a)
	}
	if k.CanBuild {
		for i := range r.in.Delta.Entities.New {
			if e := &r.in.Delta.Entities.New[i]; e.PlayerID == protocol.Some(int32(u.Owner)+1) && k.Builds.Set().Has(e.Type) {
				build(e.Type, int(e.X), int(e.Y))
			}
		}
		if all := k.Builds.All(); len(all) > 0 {
			build(all[0], int(u.X), int(u.Y)) // on its own cell, where it fails
		}
	}
	if !k.CanRepair {
		return actions
	}
	for i := range r.after.Entities {
		e := &r.after.Entities[i]
		if f, ok := recording.FindEntity(r.played.Entities, e.ID); ok && f.Health < e.Health && k.Repairs.Set().Has(e.Type) {
			actions = append(actions, codecraft.Action{Parts: codecraft.Given | codecraft.HasRepair, Repair: uint32(e.ID)})
		}
	}
	return actions
}

// search tries the last actions of all dying entities. If they lead to the recorded state, it
// leaves their orders in turn.
func (r *replayPlayer) search(dying []lastActions, tries *int) (status sim.Status, same bool) {
	if len(dying) == 0 {
		*tries++
		return r.try(r.turn)
	}
	l := dying[0]
	had := len(r.turn.Orders(l.owner))
	for k := -1; k < len(l.actions) && *tries < maxTries; k++ {
		if k >= 0 {
			var buffer [codecraft.PartsOfAction]sim.Order
			for _, o := range l.actions[k].AppendOrders(buffer[:0], l.id) {
				r.turn.Add(l.owner, o)
			}
		}
		if status, same = r.search(dying[1:], tries); same {
			return status, true
		}
		r.turn.Set(l.owner, r.turn.Orders(l.owner)[:had])
	}
	return status, false
}
