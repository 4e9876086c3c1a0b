package wire

import (
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// Orders makes t the orders that give the entities of w the actions which are
// new in this tick, from their players. With the seed of the game they play it
// again, but for one thing: what an entity was told in the tick of its death is
// in no recording.
func (d *Delta) Orders(t *sim.Turn, w *World, r *codecraft.Rules) {
	t.Clear()
	var orders [codecraft.PartsOfAction]sim.Order
	for _, list := range [2][]EntityOrder{d.Actions.New, d.Actions.Changed} {
		for i := range list {
			at, ok := findByID(w.Entities, list[i].ID, entityID)
			if !ok || !w.Entities[at].PlayerID.Given {
				continue
			}
			p := w.Entities[at].PlayerID.Value - 1
			if p < 0 || p >= r.Players {
				continue
			}
			a := ActionOf(&list[i].EntityAction, 0, r)
			for _, o := range a.AppendOrders(orders[:0], uint32(list[i].ID)) {
				t.Add(sim.Player(p), o)
			}
		}
	}
}
