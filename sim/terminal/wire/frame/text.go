package frame

import (
	"cmp"
	"fmt"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// AppendText appends the frame as text for people: the numbers of the players, the arena in
// the notation of terminal.AppendBoard (w, s, t for wall, support, turret, in upper case if
// upgraded, with a number if marked for removal; ^ and v for mobile units of players 1 and
// 2, x where they hide something), the mobile units, the structures with less health than
// the rules give them, and the number of events of each kind.
func (f *Frame) AppendText(dst []byte, rules *terminal.Rules) []byte {
	for p := range f.Stats {
		s := &f.Stats[p]
		dst = fmt.Appendf(dst, "p%d health %v cores %v bits %v time %v\n", p+1, s.Health, s.Cores, s.Bits, s.Time)
	}
	dst = f.appendBoard(dst)
	for p := range f.Units {
		dst = f.appendMobile(dst, p)
	}
	for p := range f.Units {
		dst = f.appendHurt(dst, p, rules)
	}
	return f.appendEvents(dst)
}

// appendBoard appends the rows of the arena and the line of column numbers. Recordings before
// 2020 have 0 for all marks.
func (f *Frame) appendBoard(dst []byte) []byte {
	var structures, mobile []terminal.Piece
	for p := range sim.Player(2) {
		units := &f.Units[p]
		for k := range terminal.Kind(terminal.Kinds) {
			for _, u := range units[k] {
				piece := terminal.Piece{At: u.At, Kind: k, Player: p}
				if k.Mobile() {
					mobile = append(mobile, piece)
					continue
				}
				piece.Upgraded = unitAt(units[terminal.Upgrade], u.At) >= 0
				structures = append(structures, piece)
			}
		}
	}
	return terminal.AppendBoard(dst, append(structures, mobile...), func(c terminal.Piece) (int, bool) {
		marks := f.Units[c.Player][terminal.Removal]
		if i := unitAt(marks, c.At); i >= 0 {
			return int(marks[i].Value), true
		}
		return 0, false
	})
}

// unitAt returns the index of the entry on a cell, or −1.
func unitAt(list []Unit, at terminal.Pos) int {
	return slices.IndexFunc(list, func(u Unit) bool { return u.At == at })
}

// appendMobile appends a line for each group of equal mobile units of a player.
func (f *Frame) appendMobile(dst []byte, p int) []byte {
	for k := terminal.Scout; k.Mobile(); k++ {
		list := slices.Clone(f.Units[p][k])
		slices.SortFunc(list, func(a, b Unit) int { return cmp.Compare(a.ID, b.ID) })
		for len(list) > 0 {
			n := 1
			for ; n < len(list) && list[n].At == list[0].At && list[n].Value == list[0].Value; n++ {
			}
			dst = fmt.Appendf(dst, "p%d %d × %v on %d,%d health %v\n", p+1, n, k, list[0].At.X, list[0].At.Y, list[0].Value)
			list = list[n:]
		}
	}
	return dst
}

// appendHurt appends a line with the player's structures that do not have full health.
func (f *Frame) appendHurt(dst []byte, p int, rules *terminal.Rules) []byte {
	const begin = "hurt"
	line := []byte(begin)
	units := &f.Units[p]
	for k := range terminal.Structures {
		for _, u := range units[k] {
			upgraded := unitAt(units[terminal.Upgrade], u.At) >= 0
			if u.Value != rules.Structure(terminal.Kind(k), upgraded).Health {
				line = fmt.Appendf(line, " %d,%d=%v", u.At.X, u.At.Y, u.Value)
			}
		}
	}
	if len(line) == len(begin) {
		return dst
	}
	return append(append(dst, fmt.Sprintf("p%d ", p+1)+string(line)...), '\n')
}

// EventKinds is the number of kinds of events.
const EventKinds = 9

// EventNames lists the kinds of events in the order of Events.Counts.
var EventNames = [EventKinds]string{"spawn", "move", "breach", "shield", "selfDestruct", "damage", "death", "attack", "melee"}

// appendEvents appends the number of events of each kind.
func (f *Frame) appendEvents(dst []byte) []byte {
	sep := "events "
	for i, n := range f.Events.Counts() {
		if n > 0 {
			dst = fmt.Appendf(dst, "%s%s %d", sep, EventNames[i], n)
			sep = ", "
		}
	}
	if sep == ", " {
		dst = append(dst, '\n')
	}
	return dst
}

// Counts returns the lengths of the lists in the order of EventNames.
func (e *Events) Counts() [EventKinds]int {
	return [EventKinds]int{len(e.Spawns), len(e.Moves), len(e.Breaches), len(e.Shields), len(e.SelfDestructs),
		len(e.Damages), len(e.Deaths), len(e.Attacks), len(e.Melees)}
}
