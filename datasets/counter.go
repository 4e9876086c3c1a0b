package datasets

import (
	"fmt"

	"moonfarm/rollout"
	"moonfarm/sim"
)

// counter counts the episodes of a shard for its sidecar.
type counter struct {
	counts  sidecar
	players int
	index   map[string]int // of policies in counts.Pairings
}

// add counts one episode.
func (c *counter) add(e *rollout.Episode) {
	c.counts.Turns += uint64(e.Turns)
	if e.Status == sim.Over {
		c.counts.Over++
	} else {
		c.counts.Cut++
	}
	key := fmt.Sprintf("%q", e.Policies)
	i, ok := c.index[key]
	if !ok {
		if i = len(c.counts.Pairings); i == 0 {
			c.index = map[string]int{}
		}
		c.index[key] = i
		p := Pairing{Policies: append([]string{}, e.Policies...)}
		for range c.players {
			p.Results = append(p.Results, map[string]uint64{})
		}
		c.counts.Pairings = append(c.counts.Pairings, p)
	}
	p := &c.counts.Pairings[i]
	p.Episodes++
	for seat := range c.players {
		p.Results[seat][resultKey(e.Outcome[seat].Result)]++
	}
}
