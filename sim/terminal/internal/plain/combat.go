package plain

import (
	"cmp"
	"fmt"
	"slices"

	"moonfarm/sim/terminal"
)

// explode lets the units that decided to self-destruct explode (3.9).
func (g *Game) explode() {
	for _, u := range g.Mobile {
		if !u.doomed {
			continue
		}
		living := g.alive(u)
		if u.Moves >= u.values.BlastSteps && (living || g.Rules.DoomedExplode) {
			g.blast(u)
		}
		if g.Rules.DoomedTargets {
			u.gone = true
		} else {
			u.Base, u.Shields = 0, nil
		}
		if living || g.Rules.DoomedExplode {
			g.died(u)
		}
	}
}

// blast damages every enemy in range, also those that died in this frame: mobile units, then
// structures, both in the order of ids. A class against which the damage is 0 has no targets.
func (g *Game) blast(u *Unit) {
	v := u.values
	var mobile, structures []*Unit
	if v.BlastMobile != 0 {
		mobile = inBlast(u, g.Mobile)
	}
	if v.BlastStruct != 0 {
		structures = inBlast(u, g.Structures)
	}
	if v.BlastMobile == v.BlastStruct {
		g.selfDestruct(u, slices.Concat(mobile, structures), v.BlastMobile)
		return
	}
	g.selfDestruct(u, mobile, v.BlastMobile)
	g.selfDestruct(u, structures, v.BlastStruct)
}

// inBlast returns the units that are enemies of u in the range of its explosion.
func inBlast(u *Unit, among []*Unit) (reached []*Unit) {
	for _, e := range among {
		if e.Player != u.Player && within(distance(u.At, e.At), u.values.BlastRange, 0) {
			reached = append(reached, e)
		}
	}
	return reached
}

func (g *Game) selfDestruct(u *Unit, targets []*Unit, damage float32) {
	g.Events.SelfDestructs = append(g.Events.SelfDestructs, terminal.SelfDestructEvent{
		At: u.At.event(), Kind: u.Kind, Player: u.Player, ID: u.ID, Damage: damage,
		First: int32(len(g.Events.Targets)), Count: int32(len(targets))})
	for _, e := range targets {
		g.Events.Targets = append(g.Events.Targets, e.At.event())
		g.hit(e, damage)
	}
}

// hit damages a unit and records its death if it was alive before.
func (g *Game) hit(u *Unit, damage float32) {
	living := g.alive(u)
	u.lose(damage)
	g.Events.Damages = append(g.Events.Damages, terminal.DamageEvent{
		At: u.At.event(), Kind: u.Kind, Player: u.Player, ID: u.ID, Damage: damage})
	if living && !g.alive(u) {
		g.died(u)
	}
}

// lose subtracts damage (3.10): from the shields, oldest first, if their sum is greater than the
// damage; otherwise it removes all shields and subtracts the rest from the unit's own health.
func (u *Unit) lose(damage float32) {
	if sum := u.shielding(); damage >= sum {
		u.Shields = nil
		rest := damage - sum
		u.Base -= rest
		return
	}
	for len(u.Shields) > 0 && damage > 0 {
		if u.Shields[0] > damage {
			u.Shields[0] -= damage
			return
		}
		damage -= u.Shields[0]
		u.Shields = u.Shields[1:]
	}
}

// attack lets every unit shoot once (3.11), also units killed in this frame.
func (g *Game) attack() {
	for _, u := range g.inOrder() {
		target := g.target(u)
		if target == nil {
			continue
		}
		damage := u.values.DamageStruct
		if target.Kind.Mobile() {
			damage = u.values.DamageMobile
		}
		g.Events.Attacks = append(g.Events.Attacks, terminal.AttackEvent{
			From: u.At.event(), To: target.At.event(), Kind: u.Kind, Player: u.Player, ID: u.ID, Target: target.ID, Damage: damage})
		g.hit(target, damage)
	}
}

// target returns the unit that u shoots at, or nil if no enemy is in range. Six rules choose it one
// after the other (3.12).
func (g *Game) target(u *Unit) *Unit {
	if u.values.AttackRange <= 0 {
		return nil
	}
	var left []*Unit
	if u.values.DamageMobile != 0 {
		left = g.inReach(u, g.Mobile)
	}
	if len(left) == 0 && u.Kind.Mobile() && u.values.DamageStruct != 0 { // 1: mobile units before structures
		left = g.inReach(u, g.Structures)
	}
	left = least(left, func(t *Unit) float32 { return float32(distance(u.At, t.At)) }) // 2: the nearest
	left = least(left, g.strength)                                                     // 3: the weakest
	left = least(left, func(t *Unit) float32 {                                         // 4: the nearest to the shooter's side
		if u.Player == 0 {
			return float32(t.At.Y)
		}
		return float32(-t.At.Y)
	})
	left = least(left, func(t *Unit) float32 { return -float32(max(2*t.At.X-27, 27-2*t.At.X)) }) // 5: the nearest to a side edge
	if len(left) == 0 {
		return nil
	}
	if g.Rules.TiesByText {
		return slices.MaxFunc(left, func(a, b *Unit) int { return cmp.Compare(fmt.Sprint(a.ID), fmt.Sprint(b.ID)) })
	}
	return left[len(left)-1] // 6: the youngest
}

// strength returns the health by which the weakest target is chosen.
func (g *Game) strength(u *Unit) float32 {
	if g.Rules.BareWeakest {
		return u.Base
	}
	return u.Health()
}

// inReach returns the units that are living enemies of u in its range, in the order of ids.
func (g *Game) inReach(u *Unit, among []*Unit) (reached []*Unit) {
	for _, t := range among {
		if t.Player != u.Player && within(distance(u.At, t.At), u.values.AttackRange, t.values.HitRadius) && g.alive(t) {
			reached = append(reached, t)
		}
	}
	return reached
}

// least returns the units with the least measure, in their order.
func least(units []*Unit, measure func(*Unit) float32) (kept []*Unit) {
	if len(units) < 2 {
		return units
	}
	best := measure(units[0])
	for _, u := range units {
		m := measure(u)
		if m < best {
			best, kept = m, kept[:0]
		}
		if m == best {
			kept = append(kept, u)
		}
	}
	return kept
}
