package arena

import (
	"fmt"

	"moonfarm/rollout/arena/schedule"
	"moonfarm/rollout/exact"
)

// StageReport has the standings of a stage of a contest.
type StageReport struct {
	Stage string `json:"stage"`
	Seats int    `json:"seats"` // of one game
	Games int    `json:"games"` // number played so far
	// Standings are the stage's players, the best first.
	Standings []StageStanding `json:"standings"`
}

// StageStanding is a player's standing in a stage.
type StageStanding struct {
	Player string  `json:"player"`
	Games  int     `json:"games"`
	Points float64 `json:"points"` // sum of points by place; in the Sandbox the rating
}

// AddStages adds to the report the stages of a contest that have begun. It fails if the games or
// the players do not belong to the contest.
func (r *Report) AddStages(s schedule.Championship, games []Played) error {
	if len(r.Players) != s.Players {
		return fmt.Errorf("arena: %d players in a contest of %d", len(r.Players), s.Players)
	}
	tables, err := s.Standings(Placings(games))
	if err != nil {
		return err
	}
	played := make([]int, len(tables))
	own := map[[2]int]int{} // by stage and player
	for i := range games {
		g := &games[i]
		if g.Stage >= len(tables) {
			continue // the schedule no longer has this stage
		}
		played[g.Stage]++
		for _, p := range g.Players {
			own[[2]int{g.Stage, p}]++
		}
	}
	names := s.Stages()
	for k, table := range tables {
		stage := StageReport{Stage: names[k], Seats: s.Seats[k], Games: played[k]}
		for _, e := range table {
			stage.Standings = append(stage.Standings, StageStanding{r.Players[e.Player].Player, own[[2]int{k, e.Player}], exact.Round(e.Points, 1e3)})
		}
		r.Stages = append(r.Stages, stage)
	}
	return nil
}
