package policy

import (
	"errors"
	"fmt"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/network"
	"moonfarm/rollout/policy/neural"
)

// FitForm finds the form of the game that a network fits: the form of the spec, or else the first
// other one. It returns the spec in that form.
func FitForm(m *network.Model, s env.Spec, head string) (neural.Fit, env.Spec, error) {
	found, err := neural.Match(m, s, head)
	if err == nil {
		return found, s, nil
	}
	all := []error{err}
	for _, f := range s.Forms {
		if f.Form == s.Form {
			continue
		}
		other, _ := s.InForm(f.Form)
		if found, err = neural.Match(m, other, head); err == nil {
			return found, other, nil
		}
		all = append(all, fmt.Errorf("form %s: %w", f.Form, err))
	}
	return neural.Fit{}, s, errors.Join(all...)
}

// inForm lets a policy that was made for one form of a game play in Vectors of every form, with
// the same orders. In a sequential form it asks the policy for one action after the other, all
// rows that are still choosing at once, and gives the orders of the whole turn.
type inForm struct {
	rollout.Policy
	form  string
	acted func(b *env.Batch, rows []int32) // called after each Act of the policy; may be nil

	view  env.FormView
	of    env.Vector // the games of view
	batch *env.Batch
	rows  [2][]int32 // that are still choosing, used in turn
}

// needsForm reports whether a policy that was made for s cannot act in the rows of a Vector
// itself: the Vector has another form, or a turn takes several actions.
func needsForm(made, vector env.Spec) bool { return made.Form != vector.Form || made.Sequential }

// Wants returns no slabs: the policy sees the slabs of its own form.
func (i *inForm) Wants() env.Want { return 0 }

// look makes the view of the games of v.
func (i *inForm) look(v env.Vector, rows int) {
	view, err := v.FormView(i.form)
	if err != nil {
		panic("policy: " + i.Name() + ": " + err.Error())
	}
	s := view.Spec()
	i.of, i.view, i.batch = v, view, env.NewBatch(s, s.Games, i.Policy.Wants()|env.WantAction)
	for k := range i.rows {
		i.rows[k] = make([]int32, 0, rows)
	}
}

// Act lets the policy choose in its form, and gives the orders.
func (i *inForm) Act(v env.Vector, b *env.Batch, rows []int32) {
	if i.of != v {
		i.look(v, b.Rows)
	}
	i.view.Begin(rows)
	open := rows
	for k := 0; len(open) > 0; k = 1 - k {
		i.view.Observe(i.batch, open)
		i.Policy.Act(v, i.batch, open)
		if i.acted != nil {
			i.acted(i.batch, open)
		}
		i.rows[k] = i.view.Take(i.batch, open, i.rows[k][:0])
		open = i.rows[k]
	}
	room := len(b.Orders) / b.Rows
	for _, row := range rows {
		at := int(row) * room
		b.OrderLen[row] = int32(len(i.view.AppendOrders(b.Orders[at:at:at+room], row)))
	}
}

// netInForm is a network in its form, with the counts of all evaluations of a turn.
type netInForm struct {
	inForm
	net    netPolicy
	counts []rollout.NetworkCounts // by row
}

func newNetInForm(p netPolicy, form string) *netInForm {
	n := &netInForm{net: p}
	n.inForm = inForm{Policy: p.Policy, form: form, acted: func(b *env.Batch, rows []int32) {
		for _, row := range rows {
			n.counts[row].Add(p.Network(b, row))
		}
	}}
	return n
}

// Act implements rollout.Policy.
func (n *netInForm) Act(v env.Vector, b *env.Batch, rows []int32) {
	if len(n.counts) < b.Rows {
		n.counts = make([]rollout.NetworkCounts, b.Rows)
	}
	for _, row := range rows {
		n.counts[row] = rollout.NetworkCounts{}
	}
	if s := n.States(); s != nil {
		s.Begin(b, rows)
	}
	n.inForm.Act(v, b, rows)
}

// States implements rollout.Recurrent.
func (n *netInForm) States() *rollout.States { return n.net.States() }

// Network implements rollout.Networked.
func (n *netInForm) Network(_ *env.Batch, row int32) rollout.NetworkCounts { return n.counts[row] }

// Files implements rollout.WithFiles.
func (n *netInForm) Files() []rollout.File { return n.net.Files() }
