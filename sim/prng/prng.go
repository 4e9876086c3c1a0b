// Package prng holds the reproducible random numbers of moonfarm: a small
// generator and the derivation of independent streams from coordinates.
//
// Nothing random is hidden. A stream is a function of (master seed, episode,
// turn, seat, purpose) only, so that a draw is the same whichever worker makes
// it, in whichever order. The sequences are part of the file format: they may
// never change (see the golden test).
package prng

import "math/bits"

// golden is 2⁶⁴/φ, the increment of SplitMix64 (Steele, Lea, Flood: "Fast
// splittable pseudorandom number generators", OOPSLA 2014).
const golden = 0x9e3779b97f4a7c15

// Mix returns the finalizer of SplitMix64 (variant 13 of Stafford's constants): a
// bijection of 64-bit words in which every input bit flips half the output.
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Digest is a hash of words added one after the other, at one multiplication
// each, where Mix has two. A game's Hash may start from any value.
type Digest uint64

// Add adds one more word.
func (d *Digest) Add(x uint64) {
	h := (uint64(*d) ^ x) * golden
	*d = Digest(h ^ h>>29)
}

// Sum returns the digest of the words so far.
func (d Digest) Sum() uint64 { return uint64(d ^ d>>32) }

// Purpose separates streams that share all other coordinates.
type Purpose uint64

const (
	PurposeGame    Purpose = 1 // the game's own randomness: seeds of Reset
	PurposePolicy  Purpose = 2 // the moves of a policy
	PurposeMixture Purpose = 3 // the member of a mixture that moves
	PurposeShuffle Purpose = 4 // order of shards and rows when reading
	PurposeSplit   Purpose = 5 // train / validation split

	PurposeDraw Purpose = 7 // the seats of a wave of games

	PurposeSeat     Purpose = 8 // the learner's seat in an episode
	PurposeOpponent Purpose = 9 // its opponents in the episode

	PurposeSearch Purpose = 10 // a simulation of a tree search
	PurposeRoot   Purpose = 11 // what a tree search draws at its root, and of its result
)

// StreamSeed returns the seed of one stream, derived from the master seed and
// its coordinates. Streams with different coordinates are unrelated.
func StreamSeed(master, episode, turn, seat uint64, purpose Purpose) uint64 {
	return StreamsOf(master, episode).Seed(turn, seat, purpose)
}

// Streams are the streams of an episode.
type Streams uint64

// StreamsOf returns the streams of an episode of a master seed.
func StreamsOf(master, episode uint64) Streams {
	k := Mix(master + golden)
	return Streams(Mix((k ^ episode) + golden))
}

// Seed returns what StreamSeed does for the master seed and the episode.
func (s Streams) Seed(turn, seat uint64, purpose Purpose) uint64 {
	k := Mix((uint64(s) ^ (turn<<8 | seat&0xff)) + golden)
	return Mix((k ^ uint64(purpose)) + golden)
}

// Rand is SplitMix64: one word of state and the full period 2⁶⁴. The zero value
// is the stream of seed 0.
type Rand struct{ state uint64 }

// New returns the stream with the given seed, normally a result of StreamSeed.
func New(seed uint64) Rand { return Rand{seed} }

// Uint64 returns the next 64 uniform bits.
func (r *Rand) Uint64() uint64 {
	r.state += golden
	return Mix(r.state)
}

// IntN returns a number in 0 … n−1, for 0 < n < 2³¹, by multiply-shift
// (Lemire: "Fast random integer generation in an interval", 2019) without
// rejection: the bias is below n/2⁶⁴.
func (r *Rand) IntN(n int) int {
	hi, _ := bits.Mul64(r.Uint64(), uint64(n))
	return int(hi)
}

// Float64 returns a number in [0, 1) with 53 random bits.
func (r *Rand) Float64() float64 {
	return float64(r.Uint64()>>11) * 0x1p-53
}
