package env

import "moonfarm/sim"

// wrapper is a Vector that is a layer over another.
type wrapper interface{ Unwrap() Vector }

// Unwrap returns the Vector below all layers: the one New made.
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
// read, not written, and change with every Step, Reset and Restore.
func States[S any](v Vector) ([]S, bool) {
	p, ok := Unwrap(v).(*Pool[S])
	if !ok {
		return nil, false
	}
	return p.states, true
}

// Rules returns the game that v plays; false if its state is not of type S.
// It is v's own, with its scratch memory: it may be used between calls of v,
// on copies of states, and in v's goroutine only.
func Rules[S any](v Vector) (sim.Game[S], bool) {
	p, ok := Unwrap(v).(*Pool[S])
	if !ok {
		return nil, false
	}
	return p.game, true
}
