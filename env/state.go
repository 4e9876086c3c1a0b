package env

import "moonfarm/sim"

// wrapper is a Vector that is a layer over another.
type wrapper interface{ Unwrap() Vector }

// Unwrap returns the Vector below all layers: the one that plays the games.
func Unwrap(v Vector) Vector {
	for {
		w, ok := v.(wrapper)
		if !ok {
			return v
		}
		v = w.Unwrap()
	}
}

// States returns the states of v's games, by game index, for policies that
// read the state; false if v does not play a game of that state. They may be
// read, not written (Load does that), and change with every Step, Reset, Load
// and Restore.
func States[S any](v Vector) ([]S, bool) {
	p, ok := Unwrap(v).(*pool[S])
	if !ok {
		return nil, false
	}
	return p.states, true
}

// Load begins game i of v anew in the state s, of which it takes a copy, and
// reports whether v plays a game of that state. As with Reset, Batch.RowSeed
// follows from the seed; turns count from 0.
func Load[S any](v Vector, i int, s *S, seed uint64) bool {
	p, ok := Unwrap(v).(*pool[S])
	if ok {
		v.Reset(i, seed) // of all layers
		p.states[i] = *s
		p.appraise(i)
	}
	return ok
}

// Rules returns the game that v plays; false if its state is not of type S.
// It is v's own, with its scratch memory: it may be used between calls of v,
// on copies of states, and in v's goroutine only.
func Rules[S any](v Vector) (sim.Game[S], bool) {
	p, ok := Unwrap(v).(*pool[S])
	if !ok {
		return nil, false
	}
	return p.game, true
}

// AppendText implements Texter.
func (v *pool[S]) AppendText(dst []byte, i int) []byte {
	v.mustHave("AppendText", i)
	if v.text == nil {
		return dst
	}
	return v.text(dst, &v.states[i])
}

// Hash implements Hasher.
func (v *pool[S]) Hash(i int) uint64 {
	v.mustHave("Hash", i)
	return v.game.Hash(&v.states[i])
}

// Label implements Labeller.
func (v *pool[S]) Label(dst []int32, i int, p sim.Player, orders []sim.Order) {
	v.mustHave("Label", i)
	v.actions.Action(dst, orders, &v.states[i], p)
}
