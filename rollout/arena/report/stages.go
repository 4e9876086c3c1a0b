package report

import (
	"strconv"

	"moonfarm/rollout/arena"
)

// Stages returns the standings of a contest's stages as a table, the last stage first; the first
// row has the heads.
func Stages(r *arena.Report) [][]string {
	rows := [][]string{{"stage", "place", "player", "points", "games"}}
	for k := len(r.Stages) - 1; k >= 0; k-- {
		s := &r.Stages[k]
		for i, p := range s.Standings {
			rows = append(rows, []string{s.Stage, strconv.Itoa(i + 1), p.Player, strconv.FormatFloat(p.Points, 'f', 0, 64), strconv.Itoa(p.Games)})
		}
	}
	return rows
}
