package frame

import (
	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// View sets dst to the frame f as the bot of player p is shown it. Every bot sees itself as
// player 1, at the bottom. For player 2, View turns the arena by 180°, so that (x, y)
// becomes (27−x, 27−y), and swaps the players, also in the events and in the totals of the
// end frame. For player 1 it copies f. Lists keep their order. View reuses the memory of
// dst's lists; dst must not be f.
//
// The rotation is confirmed for the answers of bots. The original probably turns events and
// their player numbers in the same way.
func View(dst, f *Frame, p sim.Player) {
	v := view{p}
	dst.Phase, dst.Turn, dst.Number, dst.Index = f.Phase, f.Turn, f.Number, f.Index
	for q := range sim.Player(2) {
		own := v.player(q)
		dst.Stats[own] = f.Stats[q]
		for k, list := range f.Units[q] {
			to := dst.Units[own][k][:0]
			for _, u := range list {
				u.At = v.pos(u.At)
				to = append(to, u)
			}
			if to == nil && list != nil {
				to = []Unit{}
			} else if list == nil {
				to = nil
			}
			dst.Units[own][k] = to
		}
	}
	v.events(&dst.Events, &f.Events)
	dst.End = v.end(f.End)
}

// view converts cells and players between the arena and the viewer's view, in which the viewer
// is player 1 at the bottom. Its methods are their own inverses.
type view struct{ viewer sim.Player }

// player returns the number that the viewer sees for a player.
func (v view) player(p sim.Player) sim.Player { return p ^ v.viewer }

// xy returns the cell that the viewer sees for (x, y).
func (v view) xy(x, y int) (int, int) {
	if v.viewer == 1 {
		return terminal.Side - 1 - x, terminal.Side - 1 - y
	}
	return x, y
}

func (v view) pos(at terminal.Pos) terminal.Pos {
	x, y := v.xy(int(at.X), int(at.Y))
	return terminal.Pos{X: uint8(x), Y: uint8(y)}
}

// turned copies src into the memory of dst and calls turn for each entry.
func turned[E any](dst, src []E, turn func(e *E)) []E {
	dst = append(dst[:0], src...)
	for i := range dst {
		turn(&dst[i])
	}
	return dst
}

// events turns the lists of events.
func (v view) events(dst, src *Events) {
	dst.Spawns = turned(dst.Spawns, src.Spawns, func(e *terminal.SpawnEvent) {
		e.At, e.Player = v.pos(e.At), v.player(e.Player)
	})
	dst.Moves = turned(dst.Moves, src.Moves, func(e *terminal.MoveEvent) {
		e.From, e.To, e.Player = v.pos(e.From), v.pos(e.To), v.player(e.Player)
	})
	dst.Breaches = turned(dst.Breaches, src.Breaches, func(e *terminal.BreachEvent) {
		e.At, e.Player = v.pos(e.At), v.player(e.Player)
	})
	dst.Shields = turned(dst.Shields, src.Shields, func(e *terminal.ShieldEvent) {
		e.From, e.To, e.Player = v.pos(e.From), v.pos(e.To), v.player(e.Player)
	})
	dst.SelfDestructs = turned(dst.SelfDestructs, src.SelfDestructs, func(e *terminal.SelfDestructEvent) {
		e.At, e.Player = v.pos(e.At), v.player(e.Player)
	})
	dst.Targets = turned(dst.Targets, src.Targets, func(at *terminal.Pos) { *at = v.pos(*at) })
	dst.Damages = turned(dst.Damages, src.Damages, func(e *terminal.DamageEvent) {
		e.At, e.Player = v.pos(e.At), v.player(e.Player)
	})
	dst.Deaths = turned(dst.Deaths, src.Deaths, func(e *terminal.DeathEvent) {
		e.At, e.Player = v.pos(e.At), v.player(e.Player)
	})
	shot := func(e *terminal.AttackEvent) {
		e.From, e.To, e.Player = v.pos(e.From), v.pos(e.To), v.player(e.Player)
	}
	dst.Attacks = turned(dst.Attacks, src.Attacks, shot)
	dst.Melees = turned(dst.Melees, src.Melees, shot)
	dst.Planned = turned(dst.Planned, src.Planned, func(at *terminal.Pos) { *at = v.pos(*at) })
	dst.Unflagged = src.Unflagged
}

// end returns a copy of the totals with the players as the viewer numbers them.
func (v view) end(e *EndStats) *EndStats {
	if e == nil {
		return nil
	}
	t := *e
	if v.viewer == 1 {
		t.Players[0], t.Players[1] = e.Players[1], e.Players[0]
		if e.Winner == 1 || e.Winner == 2 {
			t.Winner = 3 - e.Winner
		}
	}
	return &t
}
