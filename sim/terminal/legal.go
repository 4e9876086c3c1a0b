package terminal

import (
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// Legal holds the commands that the rules accept from a player in a state, each as the only
// command: by command the cells, which are empty if the player cannot pay.
type Legal struct {
	Place   [Structures]bitboard.Diamond // by Kind
	Upgrade bitboard.Diamond
	Remove  bitboard.Diamond
	Spawn   [MobileKinds]bitboard.Diamond // by Kind − Scout
}

// halves holds the cells of each player's half.
var halves = func() (t [2]bitboard.Diamond) {
	for p := range t {
		for _, cell := range localCell[p][:HalfCells] {
			t[p].Add(int(cell))
		}
	}
	return t
}()

// Legal fills l with the commands that seat p may give in s.
func (g *Game) Legal(l *Legal, s *State, p sim.Player) {
	var can [Structures]uint64 // by kind: all ones if the player can upgrade it
	for k := range Structures {
		place := all(s.Cores[p] >= g.rules.Units[k].Cores)
		can[k] = all(g.rules.Upgradable[k] && s.Cores[p] >= g.rules.Upgraded[k].Cores)
		for w := range l.Place[k] {
			l.Place[k][w] = halves[p][w] &^ s.Own[p][w] & place
		}
	}
	for w := range l.Upgrade {
		own, supports, turrets := s.Own[p][w], s.Supports[w], s.Turrets[w]
		l.Remove[w] = own &^ s.Marked[w]
		l.Upgrade[w] = own &^ s.Upgraded[w] &
			(can[Wall]&^(supports|turrets) | can[Support]&supports | can[Turret]&turrets)
	}
	for i := range l.Spawn {
		spawn := all(s.Bits[p] >= g.rules.Units[Scout+Kind(i)].Bits)
		for w := range l.Spawn[i] {
			l.Spawn[i][w] = ownEdges[p][w] &^ s.Own[p][w] & spawn
		}
	}
}

// all returns a word of ones if the condition holds, else 0.
func all(condition bool) uint64 {
	if condition {
		return ^uint64(0)
	}
	return 0
}

// AppendOrders appends the orders that the rules accept from seat p in s, each as the only order:
// Nothing; for every own cell in the order of Local the placements by kind, the upgrade and the
// removal; for every cell of the own edges, in the order of Local, one spawn of each kind.
func (g *Game) AppendOrders(dst []sim.Order, s *State, p sim.Player) []sim.Order {
	var l Legal
	g.Legal(&l, s, p)
	dst = append(dst, Nothing)
	for _, c := range localCell[p][:HalfCells] {
		cell, at := int(c), positions[c]
		x, y := int(at.X), int(at.Y)
		for k := range Kind(Structures) {
			if l.Place[k].Has(cell) {
				dst = append(dst, Place(k, x, y))
			}
		}
		if l.Upgrade.Has(cell) {
			dst = append(dst, UpgradeAt(x, y))
		}
		if l.Remove.Has(cell) {
			dst = append(dst, RemoveAt(x, y))
		}
	}
	for _, c := range localCell[p][:HalfCells] {
		at := positions[c]
		for i := range l.Spawn {
			if l.Spawn[i].Has(int(c)) {
				dst = append(dst, Spawn(Scout+Kind(i), int(at.X), int(at.Y), 1))
			}
		}
	}
	return dst
}
