package wire

import (
	"cmp"
	"fmt"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/terminal"
)

// The bits of terminal.Cell.Mark that are written here.
const (
	markUpgraded   = 1 << 2
	markPlayer     = 1 << 3
	markTurnsShift = 4
	markIDShift    = 8
	maxRemoveIn    = 15
)

// StateOf returns the state that a deploy frame shows under the given rules.
// What the frame does not tell has to be set by those who know: NextID, here
// the id after the greatest on the board, and the Time thought in the turns
// before the last.
//
// It fails if f is no deploy frame, or shows what cannot be: mobile units, a
// structure outside its owner's half or on an occupied cell, marks and upgrades
// where no such structure stands, ids or counts out of range.
func StateOf(f *Frame, rules *terminal.Rules) (terminal.State, error) {
	s := terminal.State{Turn: uint32(f.Turn), NextID: 1}
	if f.Phase != PhaseDeploy || f.Turn < 0 {
		return s, fmt.Errorf("turnInfo: want a deploy frame, found [%d, %d, %d]", f.Phase, f.Turn, f.Number)
	}
	for p := range sim.Player(2) {
		stats := &f.Stats[p]
		s.Health[p], s.Cores[p], s.Bits[p] = stats.Health, stats.Cores, stats.Bits
		s.Time[p] = uint32(min(max(stats.Time, 0), 1<<31))
		if err := readUnits(&s, f, rules, p); err != nil {
			return s, fmt.Errorf("p%dUnits: %w", p+1, err)
		}
	}
	return s, nil
}

// readUnits puts the structures of player p on the board.
func readUnits(s *terminal.State, f *Frame, rules *terminal.Rules, p sim.Player) error {
	units := &f.Units[p]
	for k := range terminal.Kind(terminal.Kinds) {
		if k.Mobile() && len(units[k]) > 0 {
			return fmt.Errorf("[%d]: want no mobile units in a deploy frame, found %d", k, len(units[k]))
		}
	}
	for k := range terminal.Kind(terminal.Structures) {
		list := slices.Clone(units[k])
		slices.SortFunc(list, func(a, b Unit) int { return cmp.Compare(a.ID, b.ID) })
		for _, u := range list {
			if err := put(s, p, k, u); err != nil {
				return fmt.Errorf("[%d]: %w", k, err)
			}
		}
	}
	for _, u := range units[terminal.Upgrade] {
		cell, ok := ownCell(s, p, u)
		if !ok || !rules.Upgradable[s.Cells[cell].Kind()] {
			return fmt.Errorf("[%d]: want an upgraded structure, found none on (%d, %d)", terminal.Upgrade, u.At.X, u.At.Y)
		}
		s.Cells[cell].Mark |= markUpgraded
		s.Upgraded.Add(cell)
	}
	for _, u := range units[terminal.Removal] {
		if err := markRemoval(s, rules, p, u); err != nil {
			return fmt.Errorf("[%d]: %w", terminal.Removal, err)
		}
	}
	return nil
}

// put puts a structure on the board.
func put(s *terminal.State, p sim.Player, k terminal.Kind, u Unit) error {
	x, y := int(u.At.X), int(u.At.Y)
	cell, ok := bitboard.DiamondCell(x, y)
	switch {
	case !ok || terminal.Owner(y) != p:
		return fmt.Errorf("want a cell of the own half, found (%d, %d)", x, y)
	case s.Cells[cell].Mark != 0 || s.Own[p].Has(cell):
		return fmt.Errorf("want one structure on (%d, %d), found two", x, y)
	case u.ID == 0 || u.ID > terminal.MaxID:
		return fmt.Errorf("want an id from 1 to %d, found %d", terminal.MaxID, u.ID)
	}
	s.Cells[cell] = terminal.Cell{Health: u.Value, Mark: u.ID<<markIDShift | uint32(p)*markPlayer | uint32(k)}
	s.Own[p].Add(cell)
	switch k {
	case terminal.Support:
		s.Supports.Add(cell)
	case terminal.Turret:
		s.Turrets.Add(cell)
	}
	list := &s.Ages[p][k]
	list.Cell[list.N] = uint8(terminal.Local(x, y))
	list.N++
	s.NextID = max(s.NextID, u.ID+1)
	return nil
}

// markRemoval marks a structure. Recordings before 2020 do not tell in how many
// turns it is due, and have an id of the removal's own.
func markRemoval(s *terminal.State, rules *terminal.Rules, p sim.Player, u Unit) error {
	cell, ok := ownCell(s, p, u)
	if !ok || s.Marked.Has(cell) {
		return fmt.Errorf("want a structure to remove, found none on (%d, %d)", u.At.X, u.At.Y)
	}
	turns := u.Value
	if rules.OldIDs {
		c := s.Cells[cell]
		turns = float32(rules.Units[c.Kind()].RemoveTurns)
		s.NextID = max(s.NextID, u.ID+1)
	}
	if !(turns >= 1 && turns <= maxRemoveIn) || turns != float32(int(turns)) {
		return fmt.Errorf("want 1 to %d turns, found %v", maxRemoveIn, turns)
	}
	s.Cells[cell].Mark |= uint32(turns) << markTurnsShift
	s.Marked.Add(cell)
	return nil
}

// ownCell is the cell of a structure of player p.
func ownCell(s *terminal.State, p sim.Player, u Unit) (int, bool) {
	cell, ok := bitboard.DiamondCell(int(u.At.X), int(u.At.Y))
	return cell, ok && s.Own[p].Has(cell)
}
