package rollout

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"moonfarm/env"
)

// Recurrent is a Policy that may remember a game from turn to turn, such as a network with a state.
// Its choice for a row depends on the rows of that seat in all turns of the game so far. So it acts
// in every turn from the first on, once or again with the same choice; where another policy plays
// the row, Follow lets it act, and its choice is dropped.
type Recurrent interface {
	Policy
	// States returns what it remembers, nil if it remembers nothing.
	States() *States
}

// States are the states of a Recurrent policy: numbers for each row, 0 at the start of a game. The
// start is known by Batch.Turn, which is 0 then. A row has the state before the turn in which the
// policy acted last, so that it can act again, and the one after it.
type States struct {
	name   string  // of the policy
	model  []byte  // the first bytes of the sha256 of what makes the states
	width  int     // numbers of a state
	turns  []int32 // [rows] in which the policy acted last; −1: in none
	before []float32
	after  []float32
}

// modelBytes is the number of bytes of a sha256 in front of the states of a row.
const modelBytes = 8

// NewStates returns states of width numbers for the policy of that name. Restore takes only states
// with the same sha256 (in hexadecimal digits), such as that of the network.
func NewStates(name, sha256 string, width int) *States {
	model, _ := hex.DecodeString(sha256)
	return &States{name: name, model: slices.Grow(model, modelBytes)[:modelBytes], width: width}
}

// grow makes room for a number of rows.
func (s *States) grow(rows int) {
	for len(s.turns) < rows {
		s.turns = append(s.turns, -1)
	}
	if n := rows * s.width; n > len(s.after) {
		s.before = append(s.before, make([]float32, n-len(s.before))...)
		s.after = append(s.after, make([]float32, n-len(s.after))...)
	}
}

// Begin begins the turn of rows in which the policy acts. It panics if the policy has missed a turn.
// It allocates nothing after the first call for a Batch of that size.
func (s *States) Begin(b *env.Batch, rows []int32) {
	s.grow(b.Rows)
	players := b.Rows / len(b.Turn)
	for _, row := range rows {
		turn, last := b.Turn[int(row)/players], s.turns[row]
		from := int(row) * s.width
		before := s.before[from : from+s.width]
		switch turn {
		case 0:
			clear(before)
		case last + 1:
			copy(before, s.Of(row))
		case last: // acts again
		default:
			panic(fmt.Sprintf("rollout: %s acts in turn %d of the game in row %d, expected turn %d: it must act in every turn", s.name, turn, row, last+1))
		}
		s.turns[row] = turn
		copy(s.Of(row), before)
	}
}

// Of returns the state of a row whose turn has begun. The policy reads it and writes the next one.
func (s *States) Of(row int32) []float32 {
	from := int(row) * s.width
	return s.after[from : from+s.width]
}

// size is the number of bytes that Append appends.
func (s *States) size() int { return modelBytes + 4 + 8*s.width }

// Append appends what is remembered of a row, little-endian: the first bytes of the sha256, the turn
// of the latest Act, and the states before and after it. turn is the number of turns played. At the
// start of a game nothing is remembered of an earlier one.
func (s *States) Append(dst []byte, row, turn int32) []byte {
	dst = append(dst, s.model...)
	if s.grow(int(row) + 1); turn == 0 && s.turns[row] != 0 {
		return append(dst, append([]byte{255, 255, 255, 255}, make([]byte, 8*s.width)...)...)
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.turns[row]))
	from := int(row) * s.width
	for _, x := range slices.Concat(s.before[from:from+s.width], s.Of(row)) {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
	}
	return dst
}

// Check returns what follows the states of a row in bytes of Append. It fails if they are cut off, or
// belong to another network.
func (s *States) Check(from []byte) (rest []byte, err error) {
	if len(from) < s.size() {
		return nil, fmt.Errorf("the state of %s has %d bytes, expected %d", s.name, len(from), s.size())
	}
	if got := from[:modelBytes]; !slices.Equal(got, s.model) {
		return nil, fmt.Errorf("a state of the network with sha256 %x…, expected %x…, that of %s", got, s.model, s.name)
	}
	return from[s.size():], nil
}

// Restore sets what is remembered of a row to bytes that Check accepts, and returns what follows them.
func (s *States) Restore(row int32, from []byte) (rest []byte) {
	s.grow(int(row) + 1)
	rest, from = from[s.size():], from[modelBytes:s.size()]
	s.turns[row] = int32(binary.LittleEndian.Uint32(from))
	at := int(row) * s.width
	for k := range s.width {
		s.before[at+k] = math.Float32frombits(binary.LittleEndian.Uint32(from[4+4*k:]))
		s.after[at+k] = math.Float32frombits(binary.LittleEndian.Uint32(from[4+4*(s.width+k):]))
	}
	return rest
}

// StatesOf returns the states of a policy, or of its members in order; none if they remember nothing.
func StatesOf(p Policy) (all []*States) {
	switch r := p.(type) {
	case Mixture:
		for _, m := range r.Members() {
			all = append(all, StatesOf(m)...)
		}
	case Recurrent:
		if s := r.States(); s != nil {
			all = append(all, s)
		}
	}
	return all
}

// Follow lets a policy, or members of it, that remember the game see rows that another policy plays:
// it acts there, and its choice is dropped. It comes before the Act of the other policy. What a
// network that follows evaluates is not counted (NetworkCounts).
func Follow(p Policy, v env.Vector, b *env.Batch, rows []int32) {
	switch r := p.(type) {
	case Mixture:
		for _, m := range r.Members() {
			Follow(m, v, b, rows)
		}
	case Recurrent:
		if len(rows) == 0 || r.States() == nil {
			return
		}
		r.Act(v, b, rows)
		for _, row := range rows {
			b.OrderLen[row] = -1 // as Observe left it
		}
	}
}
