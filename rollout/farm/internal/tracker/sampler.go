package tracker

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Sampler draws the shards that are audited.
type Sampler struct {
	Secret []byte  // makes the sample unpredictable for workers
	Rate   float64 // share of audited shards for a worker with a long history
}

// Chance is the probability that a worker's n-th shard (from 1) is audited. It
// falls from 1 with the history as c/n. With this c fewer than 1 in 100 workers that falsify
// 5 % of their episodes commit 100 shards undetected: a small shard is rarely wrong, so more
// small shards are audited. For a trusted worker it is at most 1 %. With a Rate of 0 nothing is
// audited.
func (s *Sampler) Chance(n uint64, episodes float64, trusted bool) float64 {
	switch {
	case s.Rate <= 0:
		return 0
	case trusted:
		return min(s.Rate, 0.01)
	}
	c := max(8, 100/max(episodes, 1))
	return min(1, max(s.Rate, c/float64(n)))
}

// Draw reports whether a shard is in the sample.
func (s *Sampler) Draw(run string, shard int, worker string, chance float64) bool {
	h := hmac.New(sha256.New, s.Secret)
	fmt.Fprintf(h, "%s %d %s", run, shard, worker)
	u := binary.BigEndian.Uint64(h.Sum(nil)) >> 11
	return float64(u) < chance*(1<<53)
}
