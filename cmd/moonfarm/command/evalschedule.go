package command

import (
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/rollout/arena"
	"moonfarm/rollout/arena/schedule"
	"moonfarm/rollout/arena/sprt"
	"moonfarm/sim/texts"
)

// duelAhead is the number of seeds that a sequential test plays at once.
const duelAhead = 64

// plan returns the input of the schedule for a number of players.
func (f *evalFlags) plan(stages evalStages, players int) schedule.Plan {
	p := schedule.Plan{Players: players, Seats: stages[0].bots.Seats, Games: f.games, Seed: f.seed, Rate: arena.Glicko(players)}
	for i := range p.Contest {
		p.Contest[i] = stages.at(i).bots.Seats
	}
	return p
}

// scheduled makes the schedule.
func (f *evalFlags) scheduled(p schedule.Plan) (schedule.Schedule, error) {
	if f.sprt != "" {
		return f.duel(p.Players, p.Seats)
	}
	s, err := schedule.Named(f.schedule, p)
	if err != nil {
		err = console.WrongUse("--schedule %w", err)
	}
	return s, err
}

// duel makes the schedule of a sequential test.
func (f *evalFlags) duel(players, seats int) (schedule.Schedule, error) {
	t, err := sprt.Parse(f.sprt)
	if err != nil {
		return nil, console.WrongUse("--sprt: %w", err)
	}
	if players != 2 || seats != 2 {
		return nil, console.WrongUse("--sprt: %s at %d seats, expected 2 at a game of 2", texts.Plural(players, "player"), seats)
	}
	if f.normalised {
		t.Model = sprt.Normalised
		if err := t.Check(); err != nil {
			return nil, console.WrongUse("--sprt: %w", err)
		}
	}
	return schedule.Duel{A: 0, B: 1, Test: t, Most: (f.games-1)/2 + 1, Ahead: duelAhead}, nil
}

// terms describes everything that the schedule depends on, except the players, so that
// no other schedule continues a journal.
func (f *evalFlags) terms(s schedule.Schedule) string {
	if contest, ok := s.(schedule.Championship); ok {
		return contest.String()
	}
	switch {
	case f.sprt != "" && f.normalised:
		return sprtTerms + f.sprt + normalisedTerms
	case f.sprt != "":
		return sprtTerms + f.sprt
	}
	return f.schedule
}

// The beginning and the end of the terms of a sequential test.
const (
	sprtTerms       = "sprt "
	normalisedTerms = " normalised"
)

// scheduleDoc is the help on schedules.
const scheduleDoc = `Schedules are functions of the players, the seed and the games so far:
  round-robin  all lineups of different players, on the same seeds, in every
               order of the seats; --games is for each lineup
  gauntlet     the same, but the first player is in every lineup
  swiss        players with equal points meet, no two players meet twice if
               that is possible; --games is for each player; for games of two
  ladder       the first player meets players with a rating (Glicko-2) near its
               own; --games is for the first player
  sandbox      rounds of tables of players with near ratings (Glicko-2), as in
               the CodeCraft contest; --games is for each player
  contest      the whole CodeCraft contest: the Sandbox with its rating, from
               1200 on, then two rounds and finals in two parts each, with
               points by place; the same shares of players as in the contest go
               on from the Sandbox and from each stage; each stage has its
               own rules, unless --rules gives others; --games is for
               each player in the Sandbox and in each part, and for each two
               players in each part of the finals; more games or players do not
               extend it
In schedules with rounds a player that is added joins in the next round.`
