package bench

import (
	"fmt"
	"slices"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/stepper"
	"moonfarm/sim/prng"
)

// turnsStepped is the number of turns in a pass of a Stepper.
const turnsStepped = 64

// stepped lists the figure of a learner's loop: turns of many games that a Stepper plays, with
// planes, scalars and masks, random legal orders, and the next episode where a game ends.
func stepped(game string, e suite) measure {
	return measure{what: "stepper", unit: "rows/s", cores: -1,
		note: fmt.Sprintf("%d games, random legal orders of all seats, all workers", e.games),
		setup: func(o *Options) (pass, int, error) {
			s, err := newStepped(game, e.games, o.Workers)
			if err != nil {
				return nil, 0, err
			}
			o.ends = append(o.ends, func() { s.Close() })
			return s.pass, s.Rows() * turnsStepped, nil
		},
	}
}

// steppedGames are games that a Stepper plays with orders chosen beforehand.
type steppedGames struct {
	*stepper.Stepper
	slabs *stepper.Slabs
	seeds []uint64
	turns []int32 // the actions of all turns, one turn after the other
}

// newStepped makes games and chooses the orders of a pass.
func newStepped(game string, games, workers int) (*steppedGames, error) {
	g, err := catalog.Find(game)
	if err != nil {
		return nil, err
	}
	random, err := policy.New(game, "random")
	if err != nil {
		return nil, err
	}
	s := &steppedGames{}
	s.Stepper, err = stepper.New(stepper.Setup{
		Vector: func(c env.Settings) (env.Vector, error) { return g.New("", c) },
		Env:    env.Settings{N: games}, Seat: stepper.AllSeats, Autoreset: env.NextStep, Workers: workers,
	})
	if err != nil {
		return nil, err
	}
	spec, rows := s.Spec(), s.Rows()
	s.slabs = &stepper.Slabs{
		Planes: make([]uint8, rows*spec.Shape.PlaneBytes()), Scalars: make([]float32, rows*spec.Shape.Scalars), Mask: make([]uint64, rows*spec.MaskWords),
		Action: make([]int32, rows*len(spec.Heads)), Reward: make([]float32, rows), Terminated: make([]bool, games), Truncated: make([]bool, games),
	}
	if err := s.Bind(s.slabs); err != nil {
		return nil, err
	}
	for i := range games {
		s.seeds = append(s.seeds, uint64(i))
	}
	if err := s.Reset(s.seeds, nil); err != nil {
		return nil, err
	}
	s.turns = make([]int32, 0, turnsStepped*len(s.slabs.Action))
	for range turnsStepped {
		if err := s.Ask("random", random, s.slabs.Action, nil); err != nil {
			return nil, err
		}
		s.turns = append(s.turns, s.slabs.Action...)
		if err := s.Step(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// pass plays all turns from the first episodes on, and returns the checksum of the last masks and scalars.
func (s *steppedGames) pass() (uint64, error) {
	if err := s.Reset(s.seeds, nil); err != nil {
		return 0, err
	}
	for actions := range slices.Chunk(s.turns, len(s.slabs.Action)) {
		if err := s.StepWith(actions); err != nil {
			return 0, err
		}
	}
	sum := uint64(0)
	for _, x := range s.slabs.Mask {
		sum = prng.Mix(sum ^ x)
	}
	for _, x := range s.slabs.Scalars {
		sum = prng.Mix(sum ^ uint64(int64(x)))
	}
	return sum, nil
}
