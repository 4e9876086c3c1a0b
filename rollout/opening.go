package rollout

import (
	"errors"
	"fmt"
)

// Opening lets a separate policy play the first turns of every seat. If all games of
// a rule set start alike, deterministic policies play the same game in every episode.
// An opening that draws from the rows' seeds makes the episodes differ, and the
// content of an episode still depends only on its number.
type Opening struct {
	Turns  int   // of each episode; 0: there is no opening
	Policy Maker // plays these turns
}

// opening is the Opening of Games.
type opening struct {
	turns  int32
	policy Policy
	early  []int32   // scratch: rows of this turn that the opening plays
	late   [][]int32 // scratch: per seat, the rows that the seat's policy plays
}

// Open makes p play the first turns of every seat in all later episodes. It must be
// called before Play, at most once. The rows of these turns have no search results,
// and 0 as the chosen member of a Mixture.
func (g *Games) Open(turns int, p Policy) error {
	if turns < 1 || p == nil || g.opening != nil {
		return fmt.Errorf("an opening of %d turns by the policy %v: there may be one, of 1 turn or more", turns, p)
	}
	g.opening = &opening{turns: int32(turns), policy: p, late: make([][]int32, g.players)}
	g.wants |= p.Wants()
	g.makeBatch()
	return nil
}

// open plays the opening's rows of this turn, and returns the lists of the rows left.
func (g *Games) open() (rows [][]int32) {
	o := g.opening
	o.early = o.early[:0]
	for p, all := range g.rows {
		o.late[p] = o.late[p][:0]
		for _, row := range all {
			if g.batch.Turn[int(row)/g.players] < o.turns {
				o.early = append(o.early, row)
			} else {
				o.late[p] = append(o.late[p], row)
			}
		}
	}
	if len(o.early) == 0 {
		return g.rows
	}
	o.policy.Act(g.v, g.batch, o.early)
	for _, row := range o.early {
		if g.chosen != nil {
			g.chosen[row] = 0
		}
		if g.searches != nil {
			g.searches.skip(row)
		}
	}
	return o.late
}

// makeOpener makes the policy of the job's opening, if it has one.
func (s *ShardPlayer) makeOpener(o Opening) error {
	if o.Turns == 0 {
		return nil
	}
	if o.Policy == nil {
		return errors.New("an opening without a policy")
	}
	policy, err := o.Policy(s.games.v.Spec())
	if err != nil {
		return err
	}
	s.opener = policy
	return s.games.Open(o.Turns, policy)
}
