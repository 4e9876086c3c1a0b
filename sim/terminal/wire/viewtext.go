package wire

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"moonfarm/sim/terminal"
)

// AppendText appends the frame as people read it: the numbers of the players,
// the arena in the notation of terminal.AppendFrame (w, s, t for wall, support,
// turret, in upper case if upgraded, with a number if marked for removal; ^ and
// v for mobile units of player 1 and 2, x where they hide something), the
// mobile units, the structures that are hurt according to rules, and how many
// events there were.
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

// appendBoard appends the rows and the line of columns.
func (f *Frame) appendBoard(dst []byte) []byte {
	var cells [terminal.Side][terminal.Side]string
	set := func(at terminal.Pos, text string) {
		if terminal.Inside(int(at.X), int(at.Y)) {
			cells[at.Y][at.X] = text
		}
	}
	width := 1
	for p := range f.Units {
		units := &f.Units[p]
		for k := range terminal.Structures {
			for _, u := range units[k] {
				letter, turns := "wst"[k:k+1], ""
				if has(units[terminal.Upgrade], u.At) >= 0 {
					letter = "WST"[k : k+1]
				}
				if i := has(units[terminal.Removal], u.At); i >= 0 {
					turns = strconv.Itoa(int(units[terminal.Removal][i].Value))
					width = 2
				}
				set(u.At, letter+turns)
			}
		}
	}
	for p := range f.Units {
		for k := terminal.Scout; k.Mobile(); k++ {
			for _, u := range f.Units[p][k] {
				letter := "^v"[p : p+1]
				if shown := cells[min(u.At.Y, terminal.Side-1)][min(u.At.X, terminal.Side-1)]; shown != "" && shown != letter {
					letter = "x"
				}
				set(u.At, letter)
			}
		}
	}
	for y := terminal.Side - 1; y >= 0; y-- {
		line := fmt.Appendf(nil, "%-2d ", y)
		for x := range terminal.Side {
			text := cells[y][x]
			if text == "" && terminal.Inside(x, y) {
				text = "."
			}
			line = fmt.Appendf(line, " %-*s", width, text)
		}
		dst = append(append(dst, trimRight(line)...), '\n')
	}
	line := []byte("x  ")
	for x := range terminal.Side {
		line = fmt.Appendf(line, " %-*d", width, x%10)
	}
	return append(append(dst, trimRight(line)...), '\n')
}

func trimRight(line []byte) []byte {
	for len(line) > 0 && line[len(line)-1] == ' ' {
		line = line[:len(line)-1]
	}
	return line
}

// has is the index of the entry on a cell, −1 if there is none.
func has(list []Unit, at terminal.Pos) int {
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

// appendHurt appends a line of a player's structures that lack health.
func (f *Frame) appendHurt(dst []byte, p int, rules *terminal.Rules) []byte {
	const begin = "hurt"
	line := []byte(begin)
	units := &f.Units[p]
	for k := range terminal.Structures {
		for _, u := range units[k] {
			full := rules.Units[k].Health
			if has(units[terminal.Upgrade], u.At) >= 0 {
				full = rules.Upgraded[k].Health
			}
			if u.Value != full {
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

// EventNames are the kinds of events in the order of Report.Events.
var EventNames = [EventKinds]string{"spawn", "move", "breach", "shield", "selfDestruct", "damage", "death", "attack", "melee"}

// appendEvents appends how many events the frame has of each kind.
func (f *Frame) appendEvents(dst []byte) []byte {
	sep := "events "
	for i, n := range f.Events.counts() {
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

// counts are the lengths of the lists in the order of EventNames.
func (e *Events) counts() [EventKinds]int {
	return [EventKinds]int{len(e.Spawns), len(e.Moves), len(e.Breaches), len(e.Shields), len(e.SelfDestructs),
		len(e.Damages), len(e.Deaths), len(e.Attacks), len(e.Melees)}
}
