package datasets

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"moonfarm/datasets/internal/distinct"
	"moonfarm/datasets/internal/jsontext"
	"moonfarm/datasets/internal/stats"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// sidecar describes a finished shard while other shards are missing. It gets its name
// after the shard's files are durable under theirs: a shard is finished when its
// sidecar exists.
type sidecar struct {
	Shard int `json:"shard"`
	Files
	Turns    uint64    `json:"turns"`
	Over     uint64    `json:"over"`
	Cut      uint64    `json:"cut"`
	Pairings []Pairing `json:"pairings"`
	// Networks counts the evaluations of networks for each seat; empty if no policy has
	// a network.
	Networks []rollout.NetworkCounts `json:"networks,omitempty"`
	Games    distinct.Sample         `json:"games"`            // the numbers of its games
	Sampled  stats.Sums              `json:"sampled,omitzero"` // sums for the statistics; none without observations
	Checksum string                  `json:"checksum"`         // sha256 of the file with "" here
}

// encode returns the canonical text: indented JSON and the checksum.
func (c sidecar) encode() ([]byte, error) {
	c.Checksum = ""
	return jsontext.EncodeSummed(c)
}

// digest returns a short sum of a sidecar's text, never 0.
func digest(text []byte) uint64 {
	sum := sha256.Sum256(text)
	return binary.LittleEndian.Uint64(sum[:]) | 1
}

// decodeSidecar reads the text of a sidecar. It fails if any byte has changed.
func decodeSidecar(text []byte) (c sidecar, err error) {
	if err := jsontext.Decode(text, &c, func() ([]byte, error) { return c.encode() }); err != nil {
		return c, err
	}
	if c.Shard < 0 || !c.named(c.Shard) {
		return c, fmt.Errorf("damaged: it is of shard %d, and has files of another", c.Shard)
	}
	return c, nil
}

// pairings counts episodes by the policies at their seats. After mostPairings
// different pairings, all new ones are counted together, in one without policies.
type pairings struct {
	list []Pairing
	at   map[string]int // index into list by key; "": the pairing without policies
	key  []byte         // of the last pairing asked for: its texts, each after its length
}

// of returns the pairing of these policies.
func (s *pairings) of(policies []string, seats int) *Pairing {
	s.key = s.key[:0]
	for _, p := range policies {
		s.key = append(binary.AppendUvarint(s.key, uint64(len(p))), p...)
	}
	i, ok := s.at[string(s.key)]
	if !ok && len(s.list) >= mostPairings {
		s.key, policies = s.key[:0], nil
		i, ok = s.at[""]
	}
	if !ok {
		if i = len(s.list); s.at == nil {
			s.at = map[string]int{}
		}
		s.at[string(s.key)] = i
		p := Pairing{Policies: append([]string{}, policies...)}
		for range seats {
			p.Results = append(p.Results, map[string]uint64{})
		}
		s.list = append(s.list, p)
	}
	return &s.list[i]
}

// add adds a pairing of a shard to the counts.
func (s *pairings) add(p Pairing) {
	to := s.of(p.Policies, len(p.Results))
	to.Episodes += p.Episodes
	for seat, r := range p.Results {
		for k, n := range r {
			to.Results[seat][k] += n
		}
	}
}

// addNetworks adds the counts of each seat, if there are any.
func addNetworks(to, counts []rollout.NetworkCounts) []rollout.NetworkCounts {
	if to == nil && counts != nil && len(counts) > 0 {
		to = make([]rollout.NetworkCounts, len(counts))
	}
	for i, c := range counts {
		to[i].Add(c)
	}
	return to
}

// counter counts the episodes of a shard for its sidecar.
type counter struct {
	counts  sidecar
	players int
	pairs   pairings
	games   distinct.Set
}

func newCounter(players int, c sidecar) counter {
	return counter{counts: c, players: players}
}

// add counts one episode, and the game that it is.
func (c *counter) add(e *rollout.Episode, game uint64) {
	c.games.Add(game)
	c.counts.Turns += uint64(e.Turns)
	if e.Status == sim.Over {
		c.counts.Over++
	} else {
		c.counts.Cut++
	}
	p := c.pairs.of(e.Policies, c.players)
	p.Episodes++
	for seat := range c.players {
		p.Results[seat][resultKey(e.Outcome[seat].Result)]++
	}
	c.counts.Pairings = c.pairs.list
	c.counts.Networks = addNetworks(c.counts.Networks, e.Networks)
}

// sidecar returns the counts.
func (c *counter) sidecar() sidecar {
	counts := c.counts
	counts.Games = c.games.Sample()
	return counts
}
