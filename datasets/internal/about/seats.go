package about

import (
	"errors"

	"moonfarm/env"
	"moonfarm/rollout"
)

// MakeSeats returns the makers of the policies and their files. It fills in the
// canonical names, members and files of the policies, and whether any of them searches.
// It makes each policy once, so that errors come before the first shard.
func MakeSeats(m Makers, files rollout.Files, j *Job, s env.Spec) (seats SeatMakers, models []rollout.File, err error) {
	texts := j.Policies
	j.Policies, j.Members, j.Search, j.Models = []string{}, [][]string{}, false, nil
	mixed := false
	// make makes a policy once, and adds its files. look sees it before it is closed.
	make := func(text string, look func(p rollout.Policy)) (rollout.Maker, error) {
		maker, err := m.Policy(text, files)
		if err != nil {
			return nil, err
		}
		p, err := maker(s)
		if err != nil {
			return nil, err
		}
		look(p)
		models = append(models, rollout.FilesOf(p)...)
		return maker, errors.Join(j.AddModels(models), rollout.CloseSeats(p))
	}
	for _, text := range texts {
		maker, err := make(text, func(p rollout.Policy) {
			members := []string{}
			j.Search = j.Search || rollout.Has[rollout.Searcher](p)
			if c, ok := p.(rollout.Mixture); ok {
				mixed = true
				for _, member := range c.Members() {
					members = append(members, member.Name())
				}
			}
			j.Policies, j.Members = append(j.Policies, p.Name()), append(j.Members, members)
		})
		if err != nil {
			return SeatMakers{}, nil, err
		}
		seats.All = append(seats.All, maker)
	}
	if !mixed {
		j.Members = [][]string{}
	}
	if j.Ask != "" {
		seats.Ask, err = make(j.Ask, func(p rollout.Policy) { j.Ask = p.Name() })
	}
	return seats, models, err
}

// SeatMakers are the makers of the policies of a job.
type SeatMakers struct {
	All []rollout.Maker // one for each seat
	Ask rollout.Maker   // of the policy that is asked; nil: none
}

// MakerError is an error of a maker, not of the dataset.
type MakerError struct{ Err error }

// Error returns the text of the maker's error.
func (m *MakerError) Error() string { return m.Err.Error() }

// Unwrap returns the maker's error.
func (m *MakerError) Unwrap() error { return m.Err }
