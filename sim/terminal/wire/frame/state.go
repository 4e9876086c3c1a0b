package frame

import (
	"cmp"
	"fmt"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// State returns the state that the deploy frame f shows under the given rules. The frame
// lacks two values, which the caller has to set if it knows them: NextID, here the id after
// the greatest on the board, and the Time that the players thought, here in the last turn
// alone.
//
// It fails if f is not a deploy frame, and for mobile units, a structure outside its owner's
// half or on an occupied cell, marks and upgrades without such a structure, and ids or
// counts out of range.
func (f *Frame) State(rules *terminal.Rules) (terminal.State, error) {
	s := terminal.State{Turn: uint32(f.Turn), NextID: 1}
	if f.Phase != PhaseDeploy || f.Turn < 0 {
		return s, fmt.Errorf("turnInfo: expected a deploy frame, found [%d, %d, %d]", f.Phase, f.Turn, f.Number)
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
			return fmt.Errorf("[%d]: expected no mobile units in a deploy frame, found %d", k, len(units[k]))
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
			return fmt.Errorf("[%d]: expected an upgraded structure, found none on (%d, %d)", terminal.Upgrade, u.At.X, u.At.Y)
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

// check returns an error for an invalid structure of player p; before holds the structures
// that were read before.
func check(u Unit, p sim.Player, before map[terminal.Pos]*terminal.Piece) error {
	x, y := int(u.At.X), int(u.At.Y)
	switch {
	case !terminal.Inside(x, y) || terminal.Owner(y) != p:
		return fmt.Errorf("expected a cell of the own half, found (%d, %d)", x, y)
	case before[u.At] != nil:
		return fmt.Errorf("expected one structure on (%d, %d), found two", x, y)
	case u.ID == 0 || u.ID > terminal.MaxID:
		return fmt.Errorf("expected an id from 1 to %d, found %d", terminal.MaxID, u.ID)
	}
	return nil
}

// markRemoval marks a structure for removal. Recordings before 2020 lack the number of turns,
// and give the removal an id of its own.
func markRemoval(s *terminal.State, rules *terminal.Rules, piece *terminal.Piece, u Unit) error {
	if piece == nil || piece.RemoveIn > 0 {
		return fmt.Errorf("expected a structure to remove, found none on (%d, %d)", u.At.X, u.At.Y)
	}
	turns := u.Value
	if rules.OldIDs {
		turns = float32(rules.Units[piece.Kind].RemoveTurns)
		s.NextID = max(s.NextID, u.ID+1)
	}
	if !(turns >= 1 && turns <= terminal.MaxRemoveIn) || turns != float32(int(turns)) {
		return fmt.Errorf("expected 1 to %d turns, found %v", terminal.MaxRemoveIn, turns)
	}
	piece.RemoveIn = uint8(turns)
	return nil
}

// ReadState returns a game, and its state at a deploy frame that the original sends to a
// bot for an answer. The rules come from the config, the first line that a bot gets. seat is
// the bot's seat; the frame does not say it, because every bot sees itself as player 1.
// ReadState assumes two values that the frame lacks:
//
//   - The next id is the one after the greatest on the board. Later ids may be lower than in
//     the match, but units have the same order.
//   - The players have thought only for the time of their latest answers.
//
// ReadState fails for an action frame, which shows the middle of a turn: a state between
// turns has no mobile units. The error names the field that no state can have.
func ReadState(line []byte, rules terminal.Rules, seat sim.Player) (*terminal.Game, *terminal.State, error) {
	fail := func(err error) (*terminal.Game, *terminal.State, error) {
		return nil, nil, fmt.Errorf("frame: %w", err)
	}
	if len(line) > MaxLine {
		return fail(fmt.Errorf("it has %d bytes, expected %d at most", len(line), MaxLine))
	}
	if seat > 1 {
		return fail(fmt.Errorf("seat %d, expected 0 or 1", seat))
	}
	g, err := terminal.New(rules)
	if err != nil {
		return fail(err)
	}
	var seen, f Frame
	if err := Parse(&seen, line); err != nil {
		return fail(err)
	}
	if err := inBounds(&seen, &rules); err != nil {
		return fail(err)
	}
	View(&f, &seen, seat) // turns the view back
	s := new(terminal.State)
	if *s, err = f.State(&rules); err != nil {
		return fail(err)
	}
	return g, s, nil
}

// Bounds of a state that ReadState accepts. Matches under legal rules stay far below.
const (
	mostCores  = 1_000_000
	mostBits   = 100_000
	idsPerTurn = 2 * 5146 // RULES.md, 7.2
)

// inBounds returns an error for a number of a deploy frame that no running match has.
func inBounds(f *Frame, r *terminal.Rules) error {
	if f.Phase != PhaseDeploy {
		return fmt.Errorf("turnInfo: found [%d, %d, %d], a frame of the middle or the end of a turn; expected a deploy frame, [0, turn, -1]", f.Phase, f.Turn, f.Number)
	}
	if f.Turn < 0 || f.Turn >= int(r.MaxTurns) {
		return fmt.Errorf("turnInfo: turn %d, expected 0 to %d", f.Turn, r.MaxTurns-1)
	}
	ids := map[uint32]bool{}
	most := uint32(terminal.MaxID) - idsPerTurn*uint32(r.MaxTurns-int32(f.Turn))
	for p := range f.Stats {
		for _, n := range []struct {
			what         string
			value, limit float32
		}{{"health", f.Stats[p].Health, r.StartHealth}, {"cores", f.Stats[p].Cores, mostCores}, {"bits", f.Stats[p].Bits, mostBits}} {
			if !(n.value >= 0 && n.value <= n.limit) {
				return fmt.Errorf("p%dStats: %s %v, expected 0 to %v", p+1, n.what, n.value, n.limit)
			}
		}
		if f.Stats[p].Health == 0 {
			return fmt.Errorf("p%dStats: health 0: the match is over", p+1)
		}
		if err := unitsInBounds(&f.Units[p], r, most, ids); err != nil {
			return fmt.Errorf("p%dUnits: %w", p+1, err)
		}
	}
	return nil
}

// unitsInBounds returns an error for a structure of a player that no running match has. ids
// has the ids seen before; most is the greatest valid id.
func unitsInBounds(units *Units, r *terminal.Rules, most uint32, ids map[uint32]bool) error {
	for k := range terminal.Kind(terminal.Structures) {
		limit := max(r.Structure(k, false).Health, r.Structure(k, true).Health)
		for i, u := range units[k] {
			switch {
			case !(u.Value > r.DeadAt && u.Value <= limit):
				return fmt.Errorf("[%d][%d]: health %v, expected more than %v, and %v at most", k, i, u.Value, r.DeadAt, limit)
			case u.ID > most:
				return fmt.Errorf("[%d][%d]: id %d, expected %d at most: ids could pass %d before the end", k, i, u.ID, most, terminal.MaxID)
			case ids[u.ID]:
				return fmt.Errorf("[%d][%d]: id %d, which another structure has", k, i, u.ID)
			}
			ids[u.ID] = true
		}
	}
	if r.OldIDs {
		for i, u := range units[terminal.Removal] {
			if u.ID > most {
				return fmt.Errorf("[%d][%d]: id %d, expected %d at most", terminal.Removal, i, u.ID, most)
			}
		}
	}
	return nil
}
