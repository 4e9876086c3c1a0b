package towerdefence

import (
	"fmt"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/texts"
	td "moonfarm/sim/towerdefence"
)

// paths implements features.Kit.Paths: the lane of the missiles of each finished attack building, to
// the first finished building of the opponent or to the opponent's base. A lane stops at a building, and
// where a curtain takes the missiles (8). Its note has the threat of all attack buildings of the row.
func paths(g *td.Game, s *td.State, path func(*features.Path)) {
	attack := g.Rules().Buildings[td.Attack]
	var lane features.Path
	for p := range sim.Player(2) {
		armed := uint64(0) // finished attack buildings
		for cell := range td.Cells {
			if s.Half[p].Standing(td.Attack)>>cell&1 != 0 && g.RoundsUntilDone(s, p, cell) == 0 {
				armed |= 1 << cell
			}
		}
		for cell := range td.Cells {
			if armed>>cell&1 == 0 {
				continue
			}
			row := cell / td.Width
			lane = features.Path{Owner: int8(p), Cells: lane.Cells[:0]}
			n := 0
			for x := range td.Width {
				n += int(armed >> (row*td.Width + x) & 1)
			}
			lane.Note = fmt.Sprintf("%s in the row, %d damage in %s", texts.Plural(n, "attack building"), n*attack.Damage, texts.Plural(attack.Cooldown+1, "round"))
			for x := cell % td.Width; x < 2*td.Width && !lane.Stops; x++ {
				lane.Stops = x >= td.Width && blocks(g, s, p^1, row, 2*td.Width-1-x)
				at := features.Cell{X: uint8(x), Y: uint8(row)}
				if p == 1 {
					at.X = uint8(2*td.Width - 1 - x)
				}
				lane.Cells = append(lane.Cells, at)
			}
			path(&lane)
		}
	}
}

// blocks reports whether missiles end on column x of a row of half p: it has a finished building, or is
// the front and the curtain is up.
func blocks(g *td.Game, s *td.State, p sim.Player, row, x int) bool {
	cell := row*td.Width + x
	_, built := s.Half[p].Kind(cell)
	return built && g.RoundsUntilDone(s, p, cell) == 0 || x == td.Width-1 && s.CurtainTime(p) > 0
}
