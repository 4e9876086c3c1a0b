// Package filter chooses step rows by who made them and what came of them.
package filter

import (
	"fmt"
	"slices"
	"strings"
)

// Filter says which step rows are wanted: those that match all that is given. An
// empty list takes all.
type Filter struct {
	// Policies are names as in Job.Policies, Job.Members or the episodes: rows in
	// which one of them chose. Of a mix that is the member that chose, or the mix as
	// a whole. In the turns of an opening no policy chose.
	Policies []string
	Seats    []int     // from 0
	Chosen   []int     // numbers of the members of a mix that chose, from 0; as Policies, not in an opening
	Outcomes []Outcome // of the row's seat
	// WithoutOpening leaves out the turns of an opening.
	WithoutOpening bool
}

// Outcome is how a game ended for a seat.
type Outcome string

// The outcomes.
const (
	Win  Outcome = "win"  // a result above 0
	Draw Outcome = "draw" // of 0
	Loss Outcome = "loss" // below 0
)

// Outcomes are all that there are.
var Outcomes = []Outcome{Win, Draw, Loss}

// Empty reports whether all rows are wanted.
func (f *Filter) Empty() bool {
	return len(f.Policies)+len(f.Seats)+len(f.Chosen)+len(f.Outcomes) == 0 && !f.WithoutOpening
}

// Players are what a dataset tells of who played.
type Players struct {
	Seats   int
	Members [][]string // per seat, of a mix; no lists if no seat has one
	Opening int        // turns
	Names   []string   // of all policies and members; nil: they are not known
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
			return fmt.Errorf("policy %q: none played there of that name; these did: %s", name, strings.Join(p.Names, ", "))
		}
	}
	return nil
}

// Row is what is known of a row.
type Row struct {
	Turn, Seat int
	Chosen     int     // number of the member
	Result     float32 // of the seat
	Policy     string  // of the seat
}

// Has reports whether a row is wanted.
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
