package farm

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// sampler draws which shards are made a second time.
type sampler struct {
	secret []byte  // nobody else can know the sample
	rate   float64 // of a worker with a long history
}

// chance is the probability that a worker's n-th shard (from 1) is audited. It
// falls from 1 with the history as c/n. c is such that of a worker that
// falsifies 5 % of its episodes fewer than 1 in 100 pass 100 shards unseen:
// small shards are rarely wrong, so that more of them are looked at.
func (s *sampler) chance(n uint64, episodes float64, trusted bool) float64 {
	if trusted {
		return min(s.rate, 0.01)
	}
	c := max(8, 100/max(episodes, 1))
	return min(1, max(s.rate, c/float64(n)))
}

// draw says whether a shard is in the sample.
func (s *sampler) draw(run string, shard int, worker string, chance float64) bool {
	h := hmac.New(sha256.New, s.secret)
	fmt.Fprintf(h, "%s %d %s", run, shard, worker)
	u := binary.BigEndian.Uint64(h.Sum(nil)) >> 11
	return float64(u) < chance*(1<<53)
}

// testimony is what two workers say of one shard.
type testimony struct {
	shard  int
	makers [2]string // the first one's result is the shard's record
	sums   [2]string
}

// wrong are the workers whose sums are not the right one.
func (t *testimony) wrong(right string) (list []int) {
	for i, sum := range t.sums {
		if sum != right {
			list = append(list, i)
		}
	}
	return list
}
