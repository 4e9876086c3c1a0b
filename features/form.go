package features

import (
	"fmt"

	"moonfarm/sim"
)

// Cells is the name of the form with the observation Kit.Encoder and the actions
// Kit.Actions. Every game has it.
const Cells = "cells"

// Form is one way to see a game and to give orders: an observation, with an
// action space that several forms may share. A game has at least the form Cells,
// and further ones where they are easier to learn. The rules do not depend on
// the form.
type Form[S any] struct {
	Name string // stable, lower case
	Doc  string // one line
	// Encoder writes the observation at the start of a turn.
	Encoder Encoder[S]
	// Actions are the actions. If the form has Drafts, they are the actions at
	// the start of a turn: AppendOrders appends the orders of the first action,
	// and Action writes the first action on the way to the orders.
	Actions ActionSpace[S]
	// NewDrafts returns the memory of n turns in the making. It is nil if one
	// action is a whole turn. A form with drafts has one head, all masked.
	NewDrafts func(n int) Drafts[S]
}

// Sequential reports whether a turn consists of several actions.
func (f *Form[S]) Sequential() bool { return f.NewDrafts != nil }

// Drafts holds turns in the making, for forms in which a seat gives its orders
// one action after the other. Draft i belongs to one seat of one game. Begin
// comes first; after Take has returned true, Begin comes next. No method
// allocates.
type Drafts[S any] interface {
	// Begin begins the turn of seat p in state s, without orders. The state must
	// not change as long as the draft is in use.
	Begin(i int, s *S, p sim.Player)
	// Observe writes the observation of the draft, of one seat: the state at
	// the start of the turn, and what the own orders have changed since. Slices
	// that are nil are not written.
	Observe(dst Rows, i int)
	// Mask writes the legal actions, as ActionSpace.Mask does.
	Mask(dst []uint64, i int)
	// Take adds the orders of an action to the draft. It returns true if the
	// action ends the turn. An action that is not legal ends it.
	Take(i int, action []int32) (ended bool)
	// AppendOrders appends the orders of the draft, in the order in which the
	// rules are to carry them out.
	AppendOrders(dst []sim.Order, i int) []sim.Order
	// Action writes the next action on the way from the draft to the orders of
	// a whole turn. It returns false if no further action leads there; it then
	// writes the action that comes nearest, which ends the turn at last.
	Action(dst []int32, orders []sim.Order, i int) bool
}

// Form returns the form of that name; "" is the default. The error lists the names of
// all forms.
func (k *Kit[S]) Form(name string) (Form[S], error) {
	all := k.All()
	names := make([]string, len(all))
	for i, f := range all {
		if f.Name == name || name == "" {
			return f, nil
		}
		names[i] = f.Name
	}
	return Form[S]{}, fmt.Errorf("no form %q; there are: %q", name, names)
}

// All returns all forms of the game, the default first.
func (k *Kit[S]) All() []Form[S] {
	all := append([]Form[S]{{Name: Cells, Doc: cellsDoc, Encoder: k.Encoder, Actions: k.Actions}}, k.Forms...)
	for i, f := range all {
		if f.Name == k.Default {
			all[0], all[i] = f, all[0]
		}
	}
	return all
}

const cellsDoc = "planes of cells, and one action for the whole turn"
