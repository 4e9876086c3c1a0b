package replay

import (
	"fmt"

	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
	"moonfarm/sim/codecraft/wire/recording"
)

// moves checks the move phase. A unit that moved must have entered a cell that was free, or that
// another unit left before. A unit that stayed must have wanted a cell that is occupied after
// the phase.
func (t *tick) moves() *Difference {
	left := map[int]int{} // the cells that units left, and the indices of these units
	for i := range t.units {
		if b := &t.units[i]; b.moves {
			left[codecraft.CellOf(int(b.X), int(b.Y))] = i
		}
	}
	for i := range t.units[:t.state.N] {
		b := &t.units[i]
		d := t.stays(i)
		if b.moves {
			d = t.moved(i, left)
		}
		if d != nil {
			return d
		}
	}
	for i := range t.units {
		if b := &t.units[i]; b.moves && t.turnsRound(i, left) {
			return t.difference(int32(b.ID), "move", fmt.Sprintf("to (%d, %d)", b.toX, b.toY), "none: all in the circle would have had to wait")
		}
	}
	return nil
}

// moved checks the step of unit i.
func (t *tick) moved(i int, left map[int]int) *Difference {
	b := &t.units[i]
	to := fmt.Sprintf("to (%d, %d)", b.toX, b.toY)
	switch {
	case !b.Active || !t.rules.Types[b.Type].CanMove:
		return t.difference(int32(b.ID), "move", to, "none: it cannot")
	case b.acted:
		return t.difference(int32(b.ID), "move", to, "none: it has done something else")
	case !t.steps(i, func(x, y int) bool { return x == b.toX && y == b.toY }):
		return t.difference(int32(b.ID), "move", to, "to one of "+t.cells(i))
	}
	_, free := left[codecraft.CellOf(b.toX, b.toY)]
	if at := t.state.At[codecraft.CellOf(b.toX, b.toY)]; at > 0 && t.units[at-1].dies {
		free = t.rules.DeadMove // the dying unit may have moved away before
	}
	if t.occupied.Has(b.toX, b.toY) && !free {
		return t.difference(int32(b.ID), "move", to, "none: the cell is occupied")
	}
	t.counts[CountMoves]++
	return nil
}

// stays checks a unit that has not moved.
func (t *tick) stays(i int) *Difference {
	b := &t.units[i]
	k := &t.rules.Types[b.Type]
	if b.dies || b.acted || !b.Active || t.game.Steps(i) == 0 {
		return nil
	}
	if !t.steps(i, func(x, y int) bool {
		return (t.end.Has(x, y) || t.rules.DeadMove) && (!k.CanAttack || t.foreign(x, y, b.Owner) == 0)
	}) {
		return t.difference(int32(b.ID), "move", "none", "to one of "+t.cells(i))
	}
	t.counts[CountStays]++
	return nil
}

// cells returns the text of the cells to which unit i may step.
func (t *tick) cells(i int) (list string) {
	t.steps(i, func(x, y int) bool {
		list += fmt.Sprintf(" (%d, %d)", x, y)
		return false
	})
	if list == "" {
		return "none"
	}
	return list[1:]
}

// turnsRound reports whether unit i moves in a circle of units that enter each other's cells.
func (t *tick) turnsRound(i int, left map[int]int) bool {
	at := i
	for range t.units {
		next, ok := left[codecraft.CellOf(t.units[at].toX, t.units[at].toY)]
		if !ok {
			return false
		}
		if at = next; at == i {
			return true
		}
	}
	return false
}

// cleanUp removes dead entities, activates completed ones, and compares everything with the
// recorded state.
func (t *tick) cleanUp() *Difference {
	seen := 0
	for i := range t.units {
		b := &t.units[i]
		e, ok := recording.FindEntity(t.after.Entities, int32(b.ID))
		if b.health == 0 {
			if t.counts[CountDeaths]++; ok {
				return t.difference(int32(b.ID), "health", e.Health, "0, and removed")
			}
			continue
		}
		if seen++; !ok {
			return t.difference(int32(b.ID), "entity", "removed", fmt.Sprintf("%s with health %d", b.Type, b.health))
		}
		if missed := e.Health - b.health; missed > 0 && missed <= b.missed {
			b.health = e.Health
		}
		if !b.Active && b.health == t.rules.Types[b.Type].MaxHealth {
			b.Active = true
			t.score[b.Owner] += t.rules.Types[b.Type].BuildScore
			t.counts[CountCompletions]++
		}
		want := protocol.Entity{
			ID: int32(b.ID), PlayerID: protocol.Some(int32(b.Owner) + 1), Type: b.Type,
			X: int32(b.toX), Y: int32(b.toY), Health: b.health, Active: b.Active,
		}
		if d := t.compare(e, &want); d != nil {
			return d
		}
	}
	for c, h := range t.health {
		if t.state.Health[c] == 0 {
			continue
		}
		x, y := c%codecraft.Side, c/codecraft.Side
		id := int32(t.state.ResourceID(x, y))
		e, ok := recording.FindEntity(t.after.Entities, id)
		switch {
		case h == 0 && ok:
			return t.difference(id, "health", e.Health, "0, and removed")
		case h == 0:
			t.counts[CountDeaths]++
			continue
		case !ok:
			return t.difference(id, "entity", "removed", fmt.Sprintf("Resource with health %d", h))
		}
		seen++
		want := protocol.Entity{ID: id, Type: codecraft.Resource, X: int32(x), Y: int32(y), Health: h, Active: true}
		if d := t.compare(e, &want); d != nil {
			return d
		}
	}
	if seen != len(t.after.Entities) {
		return t.difference(0, "entities", len(t.after.Entities), seen)
	}
	return t.comparePlayers()
}

// compare returns the first field in which a recorded entity differs, nil if there is none.
func (t *tick) compare(e, want *protocol.Entity) *Difference {
	switch {
	case *e == *want:
		return nil
	case e.Type != want.Type:
		return t.difference(e.ID, "type", e.Type, want.Type)
	case e.PlayerID != want.PlayerID:
		return t.difference(e.ID, "player", e.PlayerID.Value, want.PlayerID.Value)
	case e.X != want.X || e.Y != want.Y:
		return t.difference(e.ID, "position", fmt.Sprintf("(%d, %d)", e.X, e.Y), fmt.Sprintf("(%d, %d)", want.X, want.Y))
	case e.Health != want.Health:
		return t.difference(e.ID, "health", e.Health, want.Health)
	}
	return t.difference(e.ID, "active", e.Active, want.Active)
}

// comparePlayers compares scores and resources. The score of the last player left may have the
// bonus or not: a recording does not have the preset.
func (t *tick) comparePlayers() *Difference {
	left, last := 0, int32(0)
	best := int32(0)
	for p := range t.rules.Players {
		for i := range t.units {
			if b := &t.units[i]; int32(b.Owner) == p && b.health > 0 {
				left, last = left+1, p
				break
			}
		}
	}
	for p, score := range t.score[:t.rules.Players] {
		if int32(p) != last {
			best = max(best, score+t.rules.BonusOver)
		}
	}
	for _, p := range t.after.Players {
		switch i := p.Index; {
		case left == 1 && i == last && p.Score == max(best, t.score[i]):
		case p.Score != t.score[i]:
			return t.difference(0, fmt.Sprintf("score of player %d", p.ID), p.Score, t.score[i])
		}
		if p.Resource != t.resource[p.Index] {
			return t.difference(0, fmt.Sprintf("resource of player %d", p.ID), p.Resource, t.resource[p.Index])
		}
	}
	return nil
}
