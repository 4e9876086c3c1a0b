package wire

import (
	"bytes"
	"io"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// Plays plays the game again from a seed with the orders that the replay tells,
// and reports whether every state is as recorded; status is that after the last
// tick. What an entity was told in the tick of its death is in no replay: where
// it matters, the Orders get what does the same as is recorded.
func (x *Replay) Plays(g *codecraft.Game, seed uint64) (status sim.Status, same bool) {
	in, err := NewRecording("replay", bytes.NewReader(x.File))
	if err != nil || !x.Start.startsWith(g, seed) {
		return sim.Running, false
	}
	p := &replayPlayer{game: g, in: in, turn: sim.NewTurn(0)}
	g.Record(&p.record)
	defer g.Record(nil)
	g.Reset(&p.state, seed)
	orders, ends := []sim.Order(nil), []int32(nil)
	players := sim.Player(len(x.Start.Players))
	for tick := range x.Ticks() {
		if status != sim.Running || in.Next() != nil {
			return status, false
		}
		for q := range players {
			p.turn.Set(q, x.OrdersOf(tick, q))
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
	x.Orders, x.OrderEnds = orders, ends
	return status, true
}

// replayPlayer plays a replay again.
type replayPlayer struct {
	game   *codecraft.Game
	in     *Recording
	turn   *sim.Turn // orders of the tick in hand
	record codecraft.Record

	state, before codecraft.State
	played, after World // the state, and what it should be
}

// tick plays the tick that was read last. The turn becomes one that leads to
// the recorded state; same is false if none is found.
func (p *replayPlayer) tick() (status sim.Status, same bool) {
	p.in.World.copyTo(&p.after)
	if p.after.Apply(&p.in.Delta) != nil {
		return sim.Running, false
	}
	p.before = p.state
	if status, same = p.try(p.turn); same {
		return status, true
	}
	dying := p.dying()
	if len(dying) == 0 {
		return status, false
	}
	tries := 0
	return p.search(dying, &tries)
}

// try plays the tick with these orders.
func (p *replayPlayer) try(t *sim.Turn) (status sim.Status, same bool) {
	p.state = p.before
	status = p.game.Step(&p.state, t)
	p.played.Fill(p.game, &p.state)
	return status, p.played.sameState(&p.after)
}

// last is an entity that dies in the tick, and the last orders that it may have
// got, besides none that are new.
type last struct {
	id      uint32
	owner   sim.Player
	actions []codecraft.Action
}

// dying lists who dies and what they may have been told, by what is recorded
// and by what they did without last orders. Chance does not depend on orders,
// so the others do what they did.
func (p *replayPlayer) dying() (list []last) {
	want, got := map[uint32]uint32{}, map[uint32]uint32{}
	for _, e := range p.in.Events {
		want[uint32(e.Attacker)] = uint32(e.Victim)
	}
	for _, h := range p.record.Attacks {
		got[h.Attacker] = h.Victim
	}
	for _, id := range p.in.Delta.Entities.Removed {
		i := p.before.Find(uint32(id))
		if i < 0 {
			continue
		}
		u := &p.before.Units[i]
		l := last{id: u.ID, owner: u.Owner}
		switch victim := want[u.ID]; {
		case victim != 0 && victim == got[u.ID]:
			continue
		case victim != 0:
			l.actions = append(l.actions, codecraft.Action{Parts: codecraft.Given | codecraft.HasTarget, Target: victim})
		default:
			l.actions = append(p.works(u), codecraft.Action{Parts: codecraft.Given})
		}
		list = append(list, l)
	}
	return list
}

// works are the builds and repairs that unit u may have been told: what was
// built, a build that fails, for it takes an id, too, and what was repaired by
// more than without it.
func (p *replayPlayer) works(u *codecraft.Unit) (actions []codecraft.Action) {
	rules := p.game.Rules()
	k := &rules.Types[u.Type]
	build := func(t codecraft.Type, x, y int) {
		var a codecraft.Action
		a.AddBuild(t, x, y)
		actions = append(actions, a)
	}
	if k.CanBuild {
		for i := range p.in.Delta.Entities.New {
			if e := &p.in.Delta.Entities.New[i]; e.PlayerID == Some(int32(u.Owner)+1) && k.Builds.Set().Has(e.Type) {
				build(e.Type, int(e.X), int(e.Y))
			}
		}
		if all := k.Builds.All(); len(all) > 0 {
			build(all[0], int(u.X), int(u.Y)) // where it stands itself
		}
	}
	if !k.CanRepair {
		return actions
	}
	for i := range p.after.Entities {
		e := &p.after.Entities[i]
		if f, ok := find(p.played.Entities, e.ID); ok && f.Health < e.Health && k.Repairs.Set().Has(e.Type) {
			actions = append(actions, codecraft.Action{Parts: codecraft.Given | codecraft.HasRepair, Repair: uint32(e.ID)})
		}
	}
	return actions
}

// search tries the last orders of all who die, and leaves in turn what leads to
// the recorded state.
func (p *replayPlayer) search(dying []last, tries *int) (status sim.Status, same bool) {
	if len(dying) == 0 {
		*tries++
		return p.try(p.turn)
	}
	l := dying[0]
	had := len(p.turn.Orders(l.owner))
	for k := -1; k < len(l.actions) && *tries < maxTries; k++ {
		if k >= 0 {
			var buffer [codecraft.PartsOfAction]sim.Order
			for _, o := range l.actions[k].AppendOrders(buffer[:0], l.id) {
				p.turn.Add(l.owner, o)
			}
		}
		if status, same = p.search(dying[1:], tries); same {
			return status, true
		}
		p.turn.Set(l.owner, p.turn.Orders(l.owner)[:had])
	}
	return status, false
}
