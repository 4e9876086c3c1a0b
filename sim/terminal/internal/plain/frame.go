package plain

import (
	"slices"

	"moonfarm/sim/terminal"
)

// Frame plays one action frame (3.1 to 3.15) and reports whether another follows. Events then has
// its events; those of the first frame begin with the events of Deploy.
func (g *Game) Frame() bool {
	if g.frames > 0 {
		g.Events = terminal.Events{}
	}
	g.frames++
	g.move()
	g.decay()
	g.shield()
	g.explode()
	g.attack()
	g.removeDead()
	return len(g.Mobile) > 0 && !g.over()
}

// move lets every mobile unit step, breach or decide to self-destruct.
func (g *Game) move() {
	for _, u := range g.Mobile {
		u.Charge += u.values.Speed
		if u.Charge < 1 {
			continue
		}
		u.Charge--
		switch {
		case g.distanceOf(u) > 0:
			g.step(u)
		case u.Target.on(u.At):
			g.breach(u)
		default:
			u.doomed = true
		}
	}
	g.Mobile = slices.DeleteFunc(g.Mobile, func(u *Unit) bool { return u.gone })
}

func (g *Game) step(u *Unit) {
	from := u.At
	u.At, u.Last = g.next(u)
	u.Moves++
	g.Events.Moves = append(g.Events.Moves, terminal.MoveEvent{
		From: from.event(), To: u.At.event(), Kind: u.Kind, Player: u.Player, ID: u.ID})
}

func (g *Game) breach(u *Unit) {
	g.Players[1-u.Player].Health -= u.values.BreachDamage
	g.Players[u.Player].Cores += u.values.BreachCores
	u.gone = true
	g.Events.Breaches = append(g.Events.Breaches, terminal.BreachEvent{
		At: u.At.event(), Kind: u.Kind, Player: u.Player, ID: u.ID, Damage: u.values.BreachDamage})
	g.died(u)
}

// died records the death of a unit. The frame may have an earlier death of the same unit.
func (g *Game) died(u *Unit) {
	again := slices.ContainsFunc(g.Events.Deaths, func(d terminal.DeathEvent) bool { return d.ID == u.ID })
	g.Events.Deaths = append(g.Events.Deaths, terminal.DeathEvent{At: u.At.event(), Kind: u.Kind, Player: u.Player, ID: u.ID, Repeated: again})
}

// decay lets every shield decay and removes the shields that are used up (3.7).
func (g *Game) decay() {
	loss := g.Rules.Units[terminal.Support].ShieldDecay
	if loss == 0 {
		return
	}
	for _, u := range g.Mobile {
		for i := range u.Shields {
			u.Shields[i] -= loss
		}
		u.Shields = slices.DeleteFunc(u.Shields, func(s float32) bool { return s <= 0 })
	}
}

// within reports whether a squared distance is in range. The sum of the two lengths is exact in
// float64, and the error of its square is far below one cell.
func within(squared int, reach, radius float32) bool {
	r := float64(reach) + float64(radius)
	r *= r
	return float64(squared) <= r
}

// shield lets every support shield the mobile units of its owner in range, each once (3.8).
func (g *Game) shield() {
	for _, s := range g.Structures {
		v := s.values
		if v.Shield == 0 && v.ShieldPerY == 0 {
			continue
		}
		rows := s.At.Y
		if s.Player == 1 {
			rows = side - 1 - s.At.Y
		}
		amount := v.Shield + float32(v.ShieldPerY*float32(rows))
		for _, u := range g.Mobile {
			if u.Player != s.Player || u.doomed && !g.Rules.DoomedShielded ||
				!within(distance(s.At, u.At), v.ShieldRange, u.values.HitRadius) || slices.Contains(u.ShieldedBy, s.ID) {
				continue
			}
			u.Shields = append(u.Shields, amount)
			u.ShieldedBy = append(u.ShieldedBy, s.ID)
			g.Events.Shields = append(g.Events.Shields, terminal.ShieldEvent{
				From: s.At.event(), To: u.At.event(), Kind: s.Kind, Player: s.Player, ID: s.ID, Unit: u.ID, Amount: amount})
		}
	}
}

// removeDead removes dead units from the board (3.14).
func (g *Game) removeDead() {
	g.Mobile = slices.DeleteFunc(g.Mobile, func(u *Unit) bool { return u.gone || !g.alive(u) })
	g.Structures = slices.DeleteFunc(g.Structures, func(u *Unit) bool {
		dead := !g.alive(u)
		if dead {
			g.grid[u.At.Y][u.At.X] = nil
			g.forgetFields()
		}
		return dead
	})
}
