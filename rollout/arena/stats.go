package arena

import "math"

// z95 is the two-sided 95 % point of the normal distribution.
const z95 = 1.959963984540054

// wilson bounds a mean score p of n independent observations in 0 … 1 with
// 95 % confidence. E. B. Wilson, "Probable inference, the law of succession,
// and statistical inference", JASA 22 (1927). See the package comment for its
// use with scores that are not all 0 or 1.
func wilson(p float64, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const zz = z95 * z95
	m := float64(n)
	centre := (p + zz/(2*m)) / (1 + zz/m)
	half := z95 / (1 + zz/m) * math.Sqrt(p*(1-p)/m+zz/(4*m*m))
	return max(0, centre-half), min(1, centre+half)
}

// counts are comparisons of policy i with policy j.
type counts struct {
	wins, draws, losses int
	games, turns        int // in which both played
	first, firstOf      int // half points, and comparisons, where i sat at seat 0
}

func (c *counts) add(d counts) {
	c.wins += d.wins
	c.draws += d.draws
	c.losses += d.losses
	c.games += d.games
	c.turns += d.turns
	c.first += d.first
	c.firstOf += d.firstOf
}

// points is the number of half points.
func (c counts) points() int { return 2*c.wins + c.draws }

// tally is the score with its interval over so many seeds.
func (c counts) tally(seeds int) Tally {
	t := Tally{Wins: c.wins, Draws: c.draws, Losses: c.losses}
	all := c.wins + c.draws + c.losses
	if all == 0 {
		seeds = 0
	} else {
		t.Score = round(float64(c.points())/float64(2*all), 1e6)
	}
	t.Low, t.High = wilson(t.Score, seeds)
	t.Low, t.High = round(t.Low, 1e6), round(t.High, 1e6)
	return t
}

// round rounds x to a multiple of 1/unit: what the machines' last bits say
// differently does not show.
func round(x, unit float64) float64 { return math.Round(x*unit) / unit }

// evaluate counts all games into the result.
func (s *schedule) evaluate(r *Result, policies []Entrant) {
	n := len(policies)
	table := make([]counts, n*n)
	for l := range s.lineups {
		for seed := range s.seeds {
			for rotation := range s.seats {
				s.count(table, n, l, seed, rotation)
			}
		}
	}
	rating := ratings(table, n)
	for i := range n {
		var sum counts
		for j := range n {
			sum.add(table[i*n+j])
			if i < j {
				c := table[i*n+j]
				r.Pairs = append(r.Pairs, Pair{
					A: policies[i].Name, B: policies[j].Name, Tally: c.tally(s.seeds),
					MeanTurns: round(float64(c.turns)/float64(max(1, c.games)), 1e3),
				})
			}
		}
		r.Policies = append(r.Policies, Standing{
			Policy: policies[i].Name, Tally: sum.tally(s.seeds), Rating: round(rating[i], 10),
			First: round(float64(sum.first)/float64(max(1, 2*sum.firstOf)), 1e6),
		})
	}
}

// count adds one game to the table of comparisons [policy][policy].
func (s *schedule) count(table []counts, n, lineup, seed, rotation int) {
	g := s.at(lineup, seed, rotation)
	for p := range s.seats {
		for q := range s.seats {
			i, j := s.policyAt(lineup, rotation, p), s.policyAt(lineup, rotation, q)
			if i == j {
				continue
			}
			c := counts{games: 1, turns: int(g.turns)}
			switch {
			case g.place[p] > g.place[q]:
				c.wins = 1
			case g.place[p] < g.place[q]:
				c.losses = 1
			default:
				c.draws = 1
			}
			if p == 0 {
				c.first, c.firstOf = c.points(), 1
			}
			table[i*n+j].add(c)
		}
	}
}

// ratings are the strengths of the Bradley–Terry model that best explain the
// scores, on the scale of Elo with mean 0. A draw of each pair is added to what
// was played, so that a policy that won or lost everything has a finite rating.
// Fitted by minorisation–maximisation: D. R. Hunter, "MM algorithms for
// generalized Bradley–Terry models", Annals of Statistics 32 (2004).
func ratings(table []counts, n int) []float64 {
	const iterations = 10000
	strength := make([]float64, n)
	for i := range strength {
		strength[i] = 1
	}
	for range iterations {
		change := 0.0
		for i := range n {
			points, expected := 0.0, 0.0
			for j := range n {
				if i == j {
					continue
				}
				c := &table[i*n+j]
				points += 0.5 + float64(c.points())/2
				expected += float64(1+c.wins+c.draws+c.losses) / (strength[i] + strength[j])
			}
			now := points / expected
			change = max(change, math.Abs(now/strength[i]-1))
			strength[i] = now
		}
		if change < 1e-12 {
			break
		}
	}
	sum := 0.0
	for i := range strength {
		strength[i] = 400 * math.Log10(strength[i])
		sum += strength[i]
	}
	for i := range strength {
		strength[i] -= sum / float64(n)
	}
	return strength
}
