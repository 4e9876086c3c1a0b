package about

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

// Sidecar describes a finished shard while other shards are missing. It gets its name
// after the shard's files are durable under theirs: a shard is finished when its
// sidecar exists.
type Sidecar struct {
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

// Encode returns the canonical text: indented JSON and the checksum.
func (s Sidecar) Encode() ([]byte, error) {
	s.Checksum = ""
	return jsontext.EncodeSummed(s)
}

// Digest returns a short sum of a sidecar's text, never 0.
func Digest(text []byte) uint64 {
	sum := sha256.Sum256(text)
	return binary.LittleEndian.Uint64(sum[:]) | 1
}

// DecodeSidecar reads the text of a sidecar. It fails if any byte has changed.
func DecodeSidecar(text []byte) (c Sidecar, err error) {
	if err := jsontext.Decode(text, &c, func() ([]byte, error) { return c.Encode() }); err != nil {
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
	List []Pairing
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
	if !ok && len(s.List) >= mostPairings {
		s.key, policies = s.key[:0], nil
		i, ok = s.at[""]
	}
	if !ok {
		if i = len(s.List); s.at == nil {
			s.at = map[string]int{}
		}
		s.at[string(s.key)] = i
		p := Pairing{Policies: append([]string{}, policies...)}
		for range seats {
			p.Results = append(p.Results, map[string]uint64{})
		}
		s.List = append(s.List, p)
	}
	return &s.List[i]
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

// AddNetworks adds the counts of each seat, if there are any.
func AddNetworks(to, counts []rollout.NetworkCounts) []rollout.NetworkCounts {
	if to == nil && counts != nil && len(counts) > 0 {
		to = make([]rollout.NetworkCounts, len(counts))
	}
	for i, c := range counts {
		to[i].Add(c)
	}
	return to
}

// Counter counts the episodes of a shard for its sidecar.
type Counter struct {
	Counts  Sidecar
	players int
	Pairs   pairings
	games   distinct.Set
}

// NewCounter counts the episodes of the shard of a sidecar.
func NewCounter(players int, c Sidecar) Counter {
	return Counter{Counts: c, players: players}
}

// Add counts one episode, and the game that it is.
func (c *Counter) Add(e *rollout.Episode, game uint64) {
	c.games.Add(game)
	c.Counts.Turns += uint64(e.Turns)
	if e.Status == sim.Over {
		c.Counts.Over++
	} else {
		c.Counts.Cut++
	}
	p := c.Pairs.of(e.Policies, c.players)
	p.Episodes++
	for seat := range c.players {
		p.Results[seat][resultKey(e.Outcome[seat].Result)]++
	}
	c.Counts.Pairings = c.Pairs.List
	c.Counts.Networks = AddNetworks(c.Counts.Networks, e.Networks)
}

// Sidecar returns the counts.
func (c *Counter) Sidecar() Sidecar {
	counts := c.Counts
	counts.Games = c.games.Sample()
	return counts
}
