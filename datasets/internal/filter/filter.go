// Package filter chooses step rows by their policies, seats and outcomes.
package filter

import (
	"fmt"
	"slices"
	"strings"
)

// Filter chooses step rows: those that match all its fields. An empty list matches
// every row.
type Filter struct {
	// Policies are names as in Job.Policies, Job.Members or the episodes. A row matches
	// if one of them chose its orders; for a mix that is the member that chose, or the
	// mix. In the turns of an opening no policy of the seat chose.
	Policies []string
	Seats    []int     // from 0
	Chosen   []int     // numbers from 0 of the members of a mix that chose; no row of an opening matches
	Outcomes []Outcome // of the row's seat
	// WithoutOpening leaves out the turns of an opening.
	WithoutOpening bool
}

// Outcome is the outcome of a game for a seat.
type Outcome string

// The outcomes.
const (
	Win  Outcome = "win"  // a result above 0
	Draw Outcome = "draw" // the result 0
	Loss Outcome = "loss" // below 0
)

// Outcomes lists all outcomes.
var Outcomes = []Outcome{Win, Draw, Loss}

// Empty reports whether the filter matches all rows.
func (f *Filter) Empty() bool {
	return len(f.Policies)+len(f.Seats)+len(f.Chosen)+len(f.Outcomes) == 0 && !f.WithoutOpening
}

// Players describes the seats and policies of a dataset.
type Players struct {
	Seats   int
	Members [][]string // of the mix at each seat; no lists if no seat has a mix
	Opening int        // turns
	Names   []string   // of all policies and members; nil: not known
}

// Check fails if the filter can match no row of such a dataset.
func (f *Filter) Check(p *Players) error {
	for _, seat := range f.Seats {
		if seat < 0 || seat >= p.Seats {
			return fmt.Errorf("seat %d: there are %d, from 0", seat, p.Seats)
		}
	}
	most := 0
	for _, of := range p.Members {
		most = max(most, len(of))
	}
	for _, n := range f.Chosen {
		switch {
		case most == 0:
			return fmt.Errorf("chosen %d: no seat has a policy of several members", n)
		case n < 0 || n >= most:
			return fmt.Errorf("chosen %d: the policies have up to %d members, from 0", n, most)
		}
	}
	for _, o := range f.Outcomes {
		if !slices.Contains(Outcomes, o) {
			return fmt.Errorf("outcome %q: there are win, draw and loss", o)
		}
	}
	for _, name := range f.Policies {
		if p.Names != nil && !slices.Contains(p.Names, name) {
			return fmt.Errorf("policy %q: no policy of that name played; these did: %s", name, strings.Join(p.Names, ", "))
		}
	}
	return nil
}

// Row holds the fields of a row that a Filter compares.
type Row struct {
	Turn, Seat int
	Chosen     int     // number of the member
	Result     float32 // of the seat
	Policy     string  // of the seat
}

// Has reports whether the filter matches a row.
func (f *Filter) Has(p *Players, r *Row) bool {
	if r.Turn < p.Opening && (f.WithoutOpening || len(f.Policies)+len(f.Chosen) > 0) {
		return false
	}
	if len(f.Seats) > 0 && !slices.Contains(f.Seats, r.Seat) {
		return false
	}
	if len(f.Outcomes) > 0 && !slices.Contains(f.Outcomes, outcomeOf(r.Result)) {
		return false
	}
	member, isMix := "", false
	if len(p.Members) > 0 && r.Chosen < len(p.Members[r.Seat]) {
		member, isMix = p.Members[r.Seat][r.Chosen], true
	}
	if len(f.Chosen) > 0 && !(isMix && slices.Contains(f.Chosen, r.Chosen)) {
		return false
	}
	return len(f.Policies) == 0 || slices.Contains(f.Policies, r.Policy) || isMix && slices.Contains(f.Policies, member)
}

func outcomeOf(result float32) Outcome {
	switch {
	case result > 0:
		return Win
	case result < 0:
		return Loss
	}
	return Draw
}
