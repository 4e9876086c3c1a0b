package towerdefence

import (
	"fmt"
	"math/bits"
	"strings"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/texts"
	td "moonfarm/sim/towerdefence"
)

// sceneFrames draws rounds moment by moment. Events follow from the states before
// and after a moment, which are so near to each other that each change has one
// cause. Two things have no event: which of two tesla towers of a player destroyed a
// building that both reach, and which of the missiles that step onto a building
// together hit it.
type sceneFrames struct {
	game   *td.Game
	before td.State // the moment before
	dst    features.Scene
}

// play implements features.Kit.Frames: a scene for each moment that changes
// anything, and the state after the round.
func (f *sceneFrames) play(s *td.State, t *sim.Turn, _ int, frame func(*features.Scene)) {
	f.before = *s
	steps := 0
	f.game.Moments(s, t, func(m td.Moment, now *td.State) {
		if m == td.Moved {
			steps++
		}
		if f.before == *now {
			return
		}
		scene(&f.dst, f.game, now)
		switch m {
		case td.Commanded:
			f.dst.Title += ", after the commands"
			f.commands(now)
		case td.Fired:
			f.dst.Title += ", after the shots"
			f.shots(now)
		case td.Moved:
			f.dst.Title += fmt.Sprintf(", after step %d of the missiles", steps)
			f.steps(now)
		}
		frame(&f.dst)
		f.before = *now
	})
	scene(&f.dst, f.game, s)
	for p := range sim.Player(2) {
		f.buildings("finished", p, s, s.Half[p].Live&^f.before.Half[p].Live, "")
	}
	frame(&f.dst)
}

// event adds an event at one place.
func (f *sceneFrames) event(kind string, p sim.Player, x, y, amount float32, note string) {
	f.dst.AddEvent(features.Event{Kind: kind, Owner: int8(p), X1: x, Y1: y, X2: x, Y2: y, Amount: amount, Note: note})
}

// buildings adds an event for each of the cells of player p, with the kind of the
// building that s has there.
func (f *sceneFrames) buildings(event string, p sim.Player, s *td.State, cells uint64, note string) {
	for ; cells != 0; cells &= cells - 1 {
		cell := bits.TrailingZeros64(cells)
		kind, _ := s.Half[p].Kind(cell)
		x, y := middle(p, cell)
		f.event(event, p, x, y, 1, strings.ToLower(kind.String())+note)
	}
}

// commands adds what the commands did.
func (f *sceneFrames) commands(now *td.State) {
	for p := range sim.Player(2) {
		a, b := &f.before.Half[p], &now.Half[p]
		f.buildings("build", p, now, b.Occupied&^a.Occupied, "")
		f.buildings("deconstruct", p, &f.before, a.Occupied&^b.Occupied, "")
		if up(now, p) && !up(&f.before, p) {
			n := now.CurtainTime(p)
			f.event("iron curtain", p, column(p, td.Width-1)+0.5, td.Height/2, float32(n), "protects for "+texts.Plural(n, "round"))
		}
	}
}

// up reports whether the curtain of player p protects in the round of s.
func up(s *td.State, p sim.Player) bool { return s.CurtainTime(p) > 0 }

// shots adds the shots of tesla towers, and what lightning destroyed.
func (f *sceneFrames) shots(now *td.State) {
	for p := range sim.Player(2) {
		h := &f.before.Half[p]
		energy := h.Energy
		for _, t := range h.Tesla[:h.Teslas] { // 3.7 to 3.9
			if price := int32(f.game.Rules().TeslaEnergyPerShot); int32(t.Ready) <= now.Round && energy >= price {
				energy -= price
				f.shot(now, p, int(t.Cell))
			}
		}
		f.buildings("destroyed", p, &f.before, h.Live&^now.Half[p].Live, ", by lightning")
	}
}

// shot adds a shot of a tesla tower of player p, along its row to the end of its
// range (3.10), and the hit of the base by a tower on the front column (3.11).
func (f *sceneFrames) shot(now *td.State, p sim.Player, cell int) {
	r := f.game.Rules().Buildings[td.Tesla]
	x, y := middle(p, cell)
	far := float32(min(cell%td.Width+r.Range, 2*td.Width-1))
	if p == 1 {
		far = 2*td.Width - 1 - far
	}
	e := features.Event{Kind: "tesla shot", Owner: int8(p), X1: x, Y1: y, X2: far + 0.5, Y2: y}
	if up(now, p^1) {
		e.Note = "stopped by the curtain"
	}
	f.dst.AddEvent(e)
	if cell%td.Width == td.Width-1 && !up(now, p^1) {
		f.event("base hit", p, base(p^1), y, float32(r.Damage), "by lightning")
	}
}

// steps adds what the missiles of both players did in a step. The amount of a hit is
// the damage, which may exceed the health that was left of a base.
func (f *sceneFrames) steps(now *td.State) {
	damage := f.game.Rules().Buildings[td.Attack].Damage
	for p := range sim.Player(2) {
		q := p ^ 1
		h, enemy := &f.before.Half[p], &f.before.Half[q]
		for row := range td.Height {
			y := float32(row) + 0.5
			if n := h.MissilesFar(row * td.Width); n > 0 {
				f.event("base hit", p, base(q), y, float32(n*damage), "by "+texts.Plural(n, "missile"))
			}
			if n := h.MissilesOwn(row*td.Width + td.Width - 1); n > 0 && up(now, q) {
				f.event("stopped", q, td.Width, y, float32(n), texts.Plural(n, "missile")+" stopped by the curtain")
			}
		}
		for live := enemy.Live; live != 0; live &= live - 1 {
			cell := bits.TrailingZeros64(live)
			if lost := f.game.HealthOf(&f.before, q, cell) - f.game.HealthOf(now, q, cell); lost > 0 {
				kind, _ := enemy.Kind(cell)
				x, y := middle(q, cell)
				f.event("hit", p, x, y, float32(lost), strings.ToLower(kind.String()))
			}
		}
		f.buildings("destroyed", q, &f.before, enemy.Live&^now.Half[q].Live, ", by missiles")
	}
}

// middle returns the middle of a cell of half p.
func middle(p sim.Player, cell int) (x, y float32) {
	return column(p, cell) + 0.5, float32(cell/td.Width) + 0.5
}

// base returns the side of the map at the base of player p.
func base(p sim.Player) float32 { return float32(p) * 2 * td.Width }
