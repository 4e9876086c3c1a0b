package env

import (
	"moonfarm/features"
	"moonfarm/sim"
)

// Unwrap implements Vector.
func (v *pool[S]) Unwrap() Vector { return v }

// States returns the states of v's games by game index, for policies that read
// the state. It returns false if the states of v are not of type S. The caller
// may not write to them (Load does); they change with every Step, Reset, Load
// and Restore.
func States[S any](v Vector) ([]S, bool) {
	p, ok := v.Unwrap().(*pool[S])
	if !ok {
		return nil, false
	}
	return p.states, true
}

// Load starts game i of v again from a copy of the state s, and reports whether
// the states of v are of type S. As with Reset, Batch.RowSeed depends on the
// seed, and turns count from 0.
func Load[S any](v Vector, i int, s *S, seed uint64) bool {
	p, ok := v.Unwrap().(*pool[S])
	if ok {
		v.Reset(i, seed) // resets all layers
		p.states[i] = *s
		p.open(i)
		p.appraise(i)
	}
	return ok
}

// Rules returns the game that v plays, or false if its states are not of type
// S. The game is v's own, with its scratch memory: use it between calls of v,
// on copies of states, and in v's goroutine only.
func Rules[S any](v Vector) (sim.Game[S], bool) {
	p, ok := v.Unwrap().(*pool[S])
	if !ok {
		return nil, false
	}
	return p.own.game, true
}

// AppendText implements Vector.
func (v *pool[S]) AppendText(dst []byte, i int) []byte {
	v.mustHave("AppendText", i)
	return v.kit.AppendText(dst, &v.states[i])
}

// Scene implements Vector.
func (v *pool[S]) Scene(dst *features.Scene, i, seat int) bool {
	v.mustHave("Scene", i)
	if v.kit.Scene == nil {
		return false
	}
	v.kit.Scene(dst, &v.states[i], seat)
	return true
}

// Frames implements Vector.
func (v *pool[S]) Frames(i int, t *sim.Turn, seat int, frame func(*features.Scene)) bool {
	v.mustHave("Frames", i)
	if v.kit.Scene == nil {
		return false
	}
	after := v.states[i]
	if v.kit.Frames != nil {
		v.kit.Frames(&after, t, seat, frame)
		return true
	}
	v.game.Step(&after, t)
	var dst features.Scene
	v.kit.Scene(&dst, &after, seat)
	frame(&dst)
	return true
}

// Paths implements Vector.
func (v *pool[S]) Paths(i int, path func(*features.Path)) bool {
	v.mustHave("Paths", i)
	if v.kit.Paths == nil {
		return false
	}
	v.kit.Paths(&v.states[i], path)
	return true
}

// Command implements Vector.
func (v *pool[S]) Command(o sim.Order, p sim.Player) (features.Command, bool) {
	if v.kit.Command == nil {
		return features.Command{}, false
	}
	return v.kit.Command(o, p), true
}

// Hash implements Vector.
func (v *pool[S]) Hash(i int) uint64 {
	v.mustHave("Hash", i)
	h := v.game.Hash(&v.states[i])
	if n := v.sizes.players; v.drafts != nil {
		h ^= v.drafts.hash(i*n, n)
	}
	return h
}

// AppendOrders implements Vector.
func (v *pool[S]) AppendOrders(dst []sim.Order, i int, p sim.Player, action []int32) []sim.Order {
	v.mustHave("AppendOrders", i)
	return v.actions.AppendOrders(dst, action, &v.states[i], p)
}

// Label implements Vector.
func (v *pool[S]) Label(dst []int32, i int, p sim.Player, orders []sim.Order) {
	v.mustHave("Label", i)
	if v.drafts != nil {
		row := i*v.sizes.players + int(p)
		v.drafts.begin(row, &v.states[i], p)
		v.next(dst, orders, row)
		return
	}
	v.actions.Action(dst, orders, &v.states[i], p)
}
