package rollout

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

// open makes the policy of an opening play the first turns of every seat in all episodes. The
// rows of these turns have no search results, and 0 as the chosen member of a Mixture.
func (g *Games) open(o Opening) error {
	p, err := o.Policy(g.v.Spec())
	if err == nil {
		g.opening = &opening{turns: int32(o.Turns), policy: p, late: make([][]int32, g.players)}
		g.wants |= p.Wants()
	}
	return err
}

// openTurn plays the opening's rows of this turn, and returns the lists of the rows left.
func (g *Games) openTurn() (rows [][]int32) {
	o := g.opening
	o.early = o.early[:0]
	for p, all := range g.rows {
		o.late[p] = o.late[p][:0]
		from := len(o.early)
		for _, row := range all {
			if g.batch.Turn[int(row)/g.players] < o.turns {
				o.early = append(o.early, row)
			} else {
				o.late[p] = append(o.late[p], row)
			}
		}
		Follow(g.seats[p], g.v, g.batch, o.early[from:])
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
