package wire

import (
	"cmp"
	"fmt"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
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
	pieces := map[terminal.Pos]*terminal.Piece{}
	var byAge []*terminal.Piece
	for k := range terminal.Kind(terminal.Structures) {
		for _, u := range units[k] {
			if err := check(u, p, pieces); err != nil {
				return fmt.Errorf("[%d]: %w", k, err)
			}
			pieces[u.At] = &terminal.Piece{At: u.At, Kind: k, Player: p, ID: u.ID, Health: u.Value}
			byAge = append(byAge, pieces[u.At])
			s.NextID = max(s.NextID, u.ID+1)
		}
	}
	for _, u := range units[terminal.Upgrade] {
		piece := pieces[u.At]
		if piece == nil || !rules.Upgradable[piece.Kind] {
			return fmt.Errorf("[%d]: want an upgraded structure, found none on (%d, %d)", terminal.Upgrade, u.At.X, u.At.Y)
		}
		piece.Upgraded = true
	}
	for _, u := range units[terminal.Removal] {
		if err := markRemoval(s, rules, pieces[u.At], u); err != nil {
			return fmt.Errorf("[%d]: %w", terminal.Removal, err)
		}
	}
	slices.SortFunc(byAge, func(a, b *terminal.Piece) int { return cmp.Compare(a.ID, b.ID) })
	for _, piece := range byAge {
		s.Put(*piece)
	}
	return nil
}

// check tells what is wrong with a structure of player p beside those before it.
func check(u Unit, p sim.Player, before map[terminal.Pos]*terminal.Piece) error {
	x, y := int(u.At.X), int(u.At.Y)
	switch {
	case !terminal.Inside(x, y) || terminal.Owner(y) != p:
		return fmt.Errorf("want a cell of the own half, found (%d, %d)", x, y)
	case before[u.At] != nil:
		return fmt.Errorf("want one structure on (%d, %d), found two", x, y)
	case u.ID == 0 || u.ID > terminal.MaxID:
		return fmt.Errorf("want an id from 1 to %d, found %d", terminal.MaxID, u.ID)
	}
	return nil
}

// markRemoval marks a structure. Recordings before 2020 do not tell in how many
// turns it is due, and have an id of the removal's own.
func markRemoval(s *terminal.State, rules *terminal.Rules, piece *terminal.Piece, u Unit) error {
	if piece == nil || piece.RemoveIn > 0 {
		return fmt.Errorf("want a structure to remove, found none on (%d, %d)", u.At.X, u.At.Y)
	}
	turns := u.Value
	if rules.OldIDs {
		turns = float32(rules.Units[piece.Kind].RemoveTurns)
		s.NextID = max(s.NextID, u.ID+1)
	}
	if !(turns >= 1 && turns <= terminal.MaxRemoveIn) || turns != float32(int(turns)) {
		return fmt.Errorf("want 1 to %d turns, found %v", terminal.MaxRemoveIn, turns)
	}
	piece.RemoveIn = uint8(turns)
	return nil
}
