package filter

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

var players = &Players{Seats: 2, Members: [][]string{{"a", "b"}, {}}, Opening: 2, Names: []string{"a", "b", "mix", "plain"}}

// TestHas: a row must match all fields of the filter.
func TestHas(t *testing.T) {
	mix := Row{Turn: 5, Seat: 0, Chosen: 1, Result: 1, Policy: "mix"} // b chose
	plain := Row{Turn: 5, Seat: 1, Result: -1, Policy: "plain"}
	early := Row{Turn: 1, Seat: 1, Result: 0, Policy: "plain"}
	for name, c := range map[string]struct {
		f    Filter
		want [3]bool // mix, plain, early
	}{
		"all":              {Filter{}, [3]bool{true, true, true}},
		"no opening":       {Filter{WithoutOpening: true}, [3]bool{true, true, false}},
		"member":           {Filter{Policies: []string{"b"}}, [3]bool{true, false, false}},
		"other member":     {Filter{Policies: []string{"a"}}, [3]bool{}},
		"mix":              {Filter{Policies: []string{"mix", "a"}}, [3]bool{true, false, false}},
		"plain":            {Filter{Policies: []string{"plain"}}, [3]bool{false, true, false}},
		"seat":             {Filter{Seats: []int{1}}, [3]bool{false, true, true}},
		"chosen":           {Filter{Chosen: []int{1}}, [3]bool{true, false, false}},
		"chosen 0":         {Filter{Chosen: []int{0}}, [3]bool{}},
		"win":              {Filter{Outcomes: []Outcome{Win}}, [3]bool{true, false, false}},
		"draw or loss":     {Filter{Outcomes: []Outcome{Draw, Loss}}, [3]bool{false, true, true}},
		"winner at seat 1": {Filter{Outcomes: []Outcome{Win}, Seats: []int{1}}, [3]bool{}},
	} {
		t.Run(name, func(t *testing.T) {
			for i, r := range []Row{mix, plain, early} {
				assert.Equalf(t, c.want[i], c.f.Has(players, &r), "%s: row %d is wanted", name, i)
			}
			if c.f.Empty() != (name == "all") || c.f.Check(players) != nil {
				t.Errorf("%s: empty %v, error %v", name, c.f.Empty(), c.f.Check(players))
			}
		})
	}
}

// TestCheck: a filter that can match no row is an error.
func TestCheck(t *testing.T) {
	for want, f := range map[string]Filter{
		"seat 2: there are 2":                                                    {Seats: []int{2}},
		"chosen 2: the policies have up to 2":                                    {Chosen: []int{2}},
		`outcome "won": there are win, draw and loss`:                            {Outcomes: []Outcome{"won"}},
		`policy "c": no policy of that name played; these did: a, b, mix, plain`: {Policies: []string{"c"}},
	} {
		t.Run(want, func(t *testing.T) {
			err := f.Check(players)
			assert.ErrorContains(t, err, want)
		})
	}
	f := Filter{Chosen: []int{0}}
	err := f.Check(&Players{Seats: 2})
	assert.ErrorContains(t, err, "no seat has a policy of several members")
	f = Filter{Policies: []string{"whoever"}}
	assert.NoError(t, f.Check(&Players{Seats: 2}), "names that are not known")
}
