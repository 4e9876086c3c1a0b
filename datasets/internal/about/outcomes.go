package about

import (
	"sort"
	"strconv"
	"strings"
)

// Outcome counts the results of one seat of a Pairing, the best first.
type Outcome struct {
	Seat     int      `json:"seat"`
	Policy   string   `json:"policy"` // "" in the Pairing that has all others
	Episodes uint64   `json:"episodes"`
	Results  []Result `json:"results"`
}

// Result is a final result of a seat, such as "-1", and its count.
type Result struct {
	Result   string `json:"result"`
	Episodes uint64 `json:"episodes"`
}

// Title returns the names of the game and of the policies.
func (m *Manifest) Title() string {
	if len(m.Job.Policies) == 0 {
		return m.Game.Name + ", recorded games"
	}
	return m.Game.Name + ": " + strings.Join(m.Job.Policies, " against ")
}

// Outcomes returns the results of each seat.
func (p *Pairing) Outcomes() (list []Outcome) {
	for seat, counts := range p.Results {
		o := Outcome{Seat: seat, Episodes: p.Episodes}
		if seat < len(p.Policies) {
			o.Policy = p.Policies[seat]
		}
		for key, n := range counts {
			o.Results = append(o.Results, Result{key, n})
		}
		sort.Slice(o.Results, func(i, j int) bool {
			a, _ := strconv.ParseFloat(o.Results[i].Result, 64) // the keys are numbers
			b, _ := strconv.ParseFloat(o.Results[j].Result, 64)
			return a > b || a == b && o.Results[i].Result < o.Results[j].Result
		})
		list = append(list, o)
	}
	return list
}
