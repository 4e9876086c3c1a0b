// Package games finds out which episodes play the same game, and on which side of a
// split they are. FORMAT.md defines both.
package games

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim/prng"
)

// Numbers numbers games by the rules, the state at the start and all orders of all
// seats, and by nothing else: episodes that play the same game have the same number. It
// is not safe for concurrent use.
type Numbers struct {
	vector func(rules int) (env.Vector, error)
	sums   []uint64     // for each set of rules: the first eight bytes of the sha256 of its text
	made   []env.Vector // for each set of rules; nil until the first episode by these
}

// New returns Numbers for rules of these texts. vector makes one game by the rules of
// that number; it must be a Vector of env.New or a layer over one.
func New(rules []string, vector func(rules int) (env.Vector, error)) *Numbers {
	n := &Numbers{vector: vector, made: make([]env.Vector, len(rules))}
	for _, text := range rules {
		n.sums = append(n.sums, firstWord(sha256.Sum256([]byte(text))))
	}
	return n
}

func firstWord(sum [32]byte) uint64 { return binary.LittleEndian.Uint64(sum[:]) }

// Of returns the number of the game of an episode. It fails if the game cannot be made.
func (n *Numbers) Of(rules int, e *rollout.Episode) (uint64, error) {
	start, err := n.start(rules, e)
	if err != nil {
		return 0, fmt.Errorf("episode %d: %w", e.ID, err)
	}
	var d digest
	d.add(n.sums[rules])
	d.add(start)
	d.orders(e)
	return uint64(d), nil
}

// start returns the hash of the episode's first state, or of its recording, which holds
// the whole game.
func (n *Numbers) start(rules int, e *rollout.Episode) (uint64, error) {
	if len(e.Recording) > 0 {
		return firstWord(sha256.Sum256(e.Recording)), nil
	}
	v := n.made[rules]
	if v == nil {
		var err error
		if v, err = n.vector(rules); err != nil {
			return 0, err
		}
		n.made[rules] = v
	}
	v.Reset(0, e.Seed)
	return v.Hash(0), nil
}

// digest digests words one after the other.
type digest uint64

const golden = 0x9e3779b97f4a7c15

func (d *digest) add(word uint64) { *d = digest(prng.Mix((uint64(*d) ^ word) + golden)) }

// orders digests the orders of an episode, row by row: their number, without the orders
// 0, which do nothing, and each of them.
func (d *digest) orders(e *rollout.Episode) {
	from := int32(0)
	for _, to := range e.Ends {
		row, n := e.Orders[from:to], uint64(0)
		for _, o := range row {
			if o != 0 {
				n++
			}
		}
		d.add(n)
		for _, o := range row {
			if o != 0 {
				d.add(uint64(o))
			}
		}
		from = to
	}
}

// Draw returns the number in [0, 1) that decides to which part of a dataset a game
// belongs, by the game's number: so equal games are on one side, in this dataset and in others.
func Draw(game uint64) float64 {
	r := prng.New(prng.StreamSeed(0, game, 0, 0, prng.PurposeSplit))
	return r.Float64()
}
