package rollout

import (
	"errors"
	"fmt"
)

// Opening lets a policy of its own play the first turns of every seat. Where all games start
// alike, policies that draw nothing at random play the same game in every episode. An
// opening that is drawn by the rows' seeds makes the episodes differ, and the content of an
// episode still depends on its number alone.
type Opening struct {
	Turns  int   // of each episode; 0: there is no opening
	Policy Maker // plays these turns
}

// opening is the Opening of a Table.
type opening struct {
	turns  int32
	policy Policy
	early  []int32   // scratch: rows of this turn that the opening plays
	late   [][]int32 // scratch: per seat, the rows that it leaves to the seat's policy
}

// Open makes p play the first turns of every seat in the episodes that are played
// from now on. It must be called before Play, at most once. The rows of these turns
// have no search results, and member 0 of a Mixture.
func (t *Table) Open(turns int, p Policy) error {
	if turns < 1 || p == nil || t.opening != nil {
		return fmt.Errorf("an opening of %d turns by the policy %v: there may be one, of 1 turn or more", turns, p)
	}
	t.opening = &opening{turns: int32(turns), policy: p, late: make([][]int32, t.players)}
	t.wants |= p.Wants()
	t.makeBatch()
	return nil
}

// open plays the opening's rows of this turn, and returns the lists of the other rows.
func (t *Table) open() (rows [][]int32) {
	o := t.opening
	o.early = o.early[:0]
	for p, all := range t.rows {
		o.late[p] = o.late[p][:0]
		for _, row := range all {
			if t.batch.Turn[int(row)/t.players] < o.turns {
				o.early = append(o.early, row)
			} else {
				o.late[p] = append(o.late[p], row)
			}
		}
	}
	if len(o.early) == 0 {
		return t.rows
	}
	o.policy.Act(t.v, t.batch, o.early)
	for _, row := range o.early {
		if t.chosen != nil {
			t.chosen[row] = 0
		}
		if t.searches != nil {
			t.searches.skip(row)
		}
	}
	return o.late
}

// openFor makes the policy of the job's opening, if it has one.
func (p *Player) openFor(o Opening) error {
	if o.Turns == 0 {
		return nil
	}
	if o.Policy == nil {
		return errors.New("an opening without a policy")
	}
	policy, err := o.Policy(p.table.v.Spec())
	if err != nil {
		return err
	}
	p.opener = policy
	return p.table.Open(o.Turns, policy)
}
