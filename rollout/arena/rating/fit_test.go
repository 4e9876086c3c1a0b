package rating_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/arena/rating"
	"moonfarm/sim/prng"
)

const unit = 400 / math.Ln10 // Elo of one unit of log strength

func fit(t *testing.T, players int, results []rating.Comparison) *rating.Model {
	t.Helper()
	m, err := rating.Fit(players, results)
	require.NoError(t, err)
	return m
}

// spread returns n games of each kind as one comparison per block.
func spread(a, b, wins, draws, losses, first int) []rating.Comparison {
	var all []rating.Comparison
	for k := range wins + draws + losses {
		r := rating.Comparison{A: a, B: b, Block: first + k, Weight: 1}
		switch {
		case k < wins:
			r.Wins = 1
		case k < wins+draws:
			r.Draws = 1
		default:
			r.Losses = 1
		}
		all = append(all, r)
	}
	return all
}

// TestCitations compares the fit with published estimates: of the citations between four journals
// (S. M. Stigler, "Citation patterns in the journals of statistics and probability", Statistical
// Science 9 (1994)), from the vignette of R's package BradleyTerry2.
func TestCitations(t *testing.T) {
	const biometrika, communications, jasa, jrssb = 0, 1, 2, 3
	wins := []struct{ a, b, wins, losses int }{
		{biometrika, communications, 730, 33}, {biometrika, jasa, 498, 320}, {biometrika, jrssb, 221, 284},
		{communications, jasa, 68, 813}, {communications, jrssb, 17, 276}, {jasa, jrssb, 142, 325},
	}
	const many = 1000000 // factor on the citations, so that the prior has no effect
	var results, times []rating.Comparison
	for k, w := range wins {
		results = append(results, spread(w.a, w.b, w.wins, 0, w.losses, 10000*k)...)
		times = append(times, rating.Comparison{A: w.a, B: w.b, Wins: w.wins * many, Losses: w.losses * many, Weight: 1})
	}
	want := []float64{0, -2.9491, -0.4796, 0.2690}
	errors := []float64{0, 0.10255, 0.06059, 0.07083}
	for i, r := range fit(t, 4, times).Ratings(biometrika) {
		assert.LessOrEqualf(t, math.Abs(r.Elo-want[i]*unit), 0.00006*unit+0.005, "journal %d has %.4f, want %.4f", i, r.Elo/unit, want[i])
	}
	m := fit(t, 4, results)
	cov := m.Covariance()
	for i, r := range m.Ratings(biometrika) {
		assert.LessOrEqualf(t, math.Abs(r.Elo-want[i]*unit), float64(1), "journal %d has %.4f, want %.4f", i, r.Elo/unit, want[i])
		se := math.Sqrt(max(0, cov[i][i]+cov[0][0]-2*cov[i][0])) / unit
		assert.LessOrEqualf(t, math.Abs(se-errors[i]), 0.0005, "journal %d has standard error %.5f, want %.5f", i, se, errors[i])
		if i > 0 && (math.Abs(r.Error/unit/errors[i]-1) > 0.15 || math.Abs((r.High-r.Low)/(2*1.96*r.Error)-1) > 0.03) {
			t.Errorf("journal %d: %+v, standard error of the model %.2f", i, r, errors[i]*unit)
		}
	}
}

// TestTwoPlayers: the fit of two players has a closed form: the log strengths differ by ln(W/L),
// with variance 1/W + 1/L, and ν = D/√(WL).
func TestTwoPlayers(t *testing.T) {
	const w, d, l = 6000, 3000, 2000
	m := fit(t, 2, []rating.Comparison{{A: 0, B: 1, Wins: w, Draws: d, Losses: l, Weight: 1}})
	diff := m.Difference(0, 1)
	if math.Abs(diff.Elo-unit*math.Log(3)) > 0.05 {
		t.Errorf("difference %.3f, want %.3f", diff.Elo, unit*math.Log(3))
	}
	if want := d / math.Sqrt(w*l); math.Abs(m.Draws()-want) > 1e-3 {
		t.Errorf("ν is %v, want %v", m.Draws(), want)
	}
	got, want := m.Covariance()[0][0], unit*unit*(1.0/w+1.0/l)/4
	assert.LessOrEqualf(t, math.Abs(got/want-1), 0.003, "variance %v, want %v", got, want)
	// For independent games the sandwich gives the same.
	var results []rating.Comparison
	for k := range 500 {
		results = append(results, spread(0, 1, 6, 3, 2, 100*k)...)
	}
	m = fit(t, 2, results)
	got, want = m.RobustCovariance()[0][0], m.Covariance()[0][0]
	assert.LessOrEqualf(t, math.Abs(got/want-1), 0.01, "sandwich %v, model %v, want the same", got, want)
	// If all games of a seed have the same result, they count as one.
	for k := range results {
		results[k].Wins, results[k].Draws, results[k].Losses = results[k].Wins*9, results[k].Draws*9, results[k].Losses*9
	}
	nine := fit(t, 2, results)
	got, want = nine.RobustCovariance()[0][0], m.RobustCovariance()[0][0]
	assert.LessOrEqualf(t, math.Abs(got/want-1), 0.01, "sandwich of nine games alike %v, of one %v, want the same", got, want)
	got, want = nine.Covariance()[0][0], m.Covariance()[0][0]/9
	assert.LessOrEqualf(t, math.Abs(got/want-1), 0.01, "model of nine games alike %v, want %v", got, want)
	// With weights of a ninth, both variances count them so.
	for k := range results {
		results[k].Weight = 1.0 / 9
	}
	weighed := fit(t, 2, results)
	got, want = weighed.Covariance()[0][0], m.Covariance()[0][0]
	assert.LessOrEqualf(t, math.Abs(got/want-1), 0.01, "model of nine games of a ninth %v, want %v", got, want)
}

// TestFewSeeds compares the error and the interval with the formulas of the package comment, on
// five seeds of twenty games: the sandwich times 5/4 has the weight 4, the model 2, and the t
// distribution 4 degrees of freedom.
func TestFewSeeds(t *testing.T) {
	var results []rating.Comparison
	for k, wins := range []int{9, 13, 8, 12, 9} {
		results = append(results, rating.Comparison{A: 0, B: 1, Block: k, Wins: wins, Losses: 20 - wins, Weight: 1})
	}
	m := fit(t, 2, results)
	variance := func(c [][]float64) float64 { return c[0][0] + c[1][1] - 2*c[0][1] }
	model, robust := variance(m.Covariance()), variance(m.RobustCovariance())
	r := m.Difference(0, 1)
	want := math.Sqrt((4*robust*5/4 + 2*model) / 6)
	assert.LessOrEqualf(t, math.Abs(r.Error/want-1), 0.001, "error %v, want %v: %+v", r.Error, want, r)
	const student = 2.776445 // for 4 degrees of freedom
	width := (r.High - r.Low) / 2
	assert.LessOrEqualf(t, math.Abs(width/(student*r.Error)-1), 0.01, "interval ± %v, want %v", width, student*r.Error)
	assert.Equalf(t, float64(5), r.Seeds, "%v seeds, want 5", r.Seeds)
	// Seeds with unequal numbers of games have a smaller effective number.
	for k := range results {
		results[k].Wins *= 1 + k
		results[k].Losses *= 1 + k
	}
	if r := fit(t, 2, results).Difference(0, 1); r.Seeds != 4.09 { // 15²/55
		t.Errorf("%v seeds, want 4.09", r.Seeds)
	}
	// Ten wins and no loss give little information on the variance between seeds: the model's
	// variance has its full weight.
	ten := fit(t, 2, spread(0, 1, 10, 0, 0, 0))
	got, want := ten.Difference(0, 1).Error, math.Sqrt(variance(ten.Covariance()))
	assert.Truef(t, got >= 0.9*want && got <= want, "after ten wins the error is %v, by the model %v", got, want)
}

// TestRepeatedGames: copies of one game, one in each block, with weights that sum to 1, count as
// one game.
func TestRepeatedGames(t *testing.T) {
	var copies []rating.Comparison
	for k := range 100 {
		copies = append(copies, rating.Comparison{A: 0, B: 1, Block: k, Wins: 1, Weight: 0.01})
	}
	// 300 other games bound the strengths of both players from both sides.
	other := slices.Concat(spread(0, 2, 50, 0, 50, 1000), spread(1, 2, 50, 0, 50, 2000), spread(0, 1, 2, 0, 2, 3000))
	once := fit(t, 3, append(spread(0, 1, 1, 0, 0, 0), other...)).Difference(0, 1)
	many := fit(t, 3, append(copies, other...)).Difference(0, 1)
	assert.Truef(t, math.Abs(once.Elo-many.Elo) <= 0.02 && math.Abs(once.Low-many.Low) <= 2 && math.Abs(once.High-many.High) <= 2, "a hundred copies: %+v, one game: %+v", many, once)
	// Twenty games, each ten times, have the same variances by the model and between blocks as
	// without copies.
	var tenfold []rating.Comparison
	games := spread(0, 1, 12, 0, 8, 0)
	for k := range 10 {
		for _, x := range games {
			x.Block, x.Weight = x.Block+100*k, 0.1
			tenfold = append(tenfold, x)
		}
	}
	m, o := fit(t, 2, games), fit(t, 2, tenfold)
	a, b := m.Covariance()[0][0], o.Covariance()[0][0]
	assert.LessOrEqualf(t, math.Abs(a/b-1), 1e-3, "variance of twenty games %v, of ten copies of each %v", a, b)
	a, b = m.RobustCovariance()[0][0], o.RobustCovariance()[0][0]
	assert.LessOrEqualf(t, math.Abs(a/b-1), 1e-3, "variance between twenty games %v, between ten copies of each %v", a, b)
	// Copies of one game alone give intervals as wide as the one game.
	one := fit(t, 2, spread(0, 1, 1, 0, 0, 0)).Difference(0, 1)
	all := fit(t, 2, copies).Difference(0, 1)
	assert.Truef(t, all.Low <= -200 && one.Low <= -200 && math.Abs(one.Elo-all.Elo) <= 0.02, "copies alone: %+v, one game: %+v", all, one)
}

// TestNoData: intervals are wide where games give no information.
func TestNoData(t *testing.T) {
	wide := func(r rating.Rating) bool { return r.Low < -1200 && r.High > 1200 }
	for _, r := range fit(t, 3, nil).Ratings(-1) {
		assert.Truef(t, r.Elo == 0 && wide(rating.Rating{Low: r.Low * 1.2, High: r.High * 1.2}) && !r.Bounded && r.Seeds == 0, "without games: %+v", r)
	}
	if r := fit(t, 1, nil).Ratings(-1)[0]; r != (rating.Rating{Bounded: true}) {
		t.Errorf("one player: %+v", r)
	}
	one := fit(t, 2, spread(0, 1, 1, 0, 0, 0))
	if r := one.Difference(0, 1); r.Elo <= 0 || r.Low > -1000 || r.High < 1500 || r.Bounded {
		t.Errorf("one game: %+v", r)
	}
	p := one.Superiority(0, 1)
	assert.Truef(t, p >= 0.5 && p <= 0.8, "after one game the winner is better with %v", p)
	// Ten wins: the winner is better, but by an unknown amount.
	ten := fit(t, 2, spread(0, 1, 10, 0, 0, 0))
	if r := ten.Difference(0, 1); r.Low < 100 || r.Low > 300 || r.High < 1900 || r.Bounded {
		t.Errorf("ten wins: %+v", r)
	}
	p, q := ten.Superiority(0, 1), ten.Superiority(1, 0)
	assert.Truef(t, p >= 0.995 && math.Abs(p+q-1) <= 2e-6, "after ten wins the winner is better with %v, the loser with %v", p, q)
	// Ten draws: equal, as by any other model.
	if r := fit(t, 2, spread(0, 1, 0, 10, 0, 0)).Difference(0, 1); r.Elo != 0 || !wide(r) || !r.Bounded {
		t.Errorf("ten draws: %+v", r)
	}
	// Groups of players who never met.
	groups := fit(t, 5, append(spread(0, 3, 50, 10, 40, 0), spread(4, 1, 70, 10, 20, 500)...))
	for i, want := range []int{0, 1, 2, 0, 1} {
		r := groups.Difference(i, 0)
		assert.Truef(t, r.Group == want && r.Bounded == (want == 0) && (want == 0 || wide(r)) && (want != 0 || i == 0 || r.High-r.Low <= 200), "player %d of group %d against 0: %+v", i, want, r)
	}
	// The numbering of players does not matter.
	r := fit(t, 3, slices.Concat(spread(0, 1, 0, 0, 50, 0), spread(0, 2, 0, 0, 50, 100), spread(1, 2, 20, 0, 30, 200))).Ratings(1)
	assert.Truef(t, !r[0].Bounded && r[1].Bounded && r[2].Bounded, "player 0 lost all: %+v", r)
	// A player that lost everything does not widen the intervals of the others if one of them is
	// the anchor.
	lost := slices.Concat(spread(0, 1, 60, 0, 40, 0), spread(0, 2, 100, 0, 0, 200), spread(1, 2, 100, 0, 0, 400))
	r = fit(t, 3, lost).Ratings(0)
	assert.Truef(t, r[1].Bounded && r[1].High-r[1].Low <= 200 && !r[2].Bounded && r[2].Low <= -1500 && r[2].High <= -400, "one who lost all: %+v", r)
}

// TestFew: intervals of few games agree with exact methods: the interval of n wins without a loss
// begins near the exact one of Clopper and Pearson.
func TestFew(t *testing.T) {
	for _, n := range []int{15, 30, 100, 300} {
		t.Run(fmt.Sprintf("%d wins", n), func(t *testing.T) {
			p := math.Pow(0.025, 1/float64(n))
			exact := unit * math.Log(p/(1-p))
			r := fit(t, 2, spread(0, 1, n, 0, 0, 0)).Difference(0, 1)
			assert.Truef(t, r.Low >= exact*0.95 && r.Low <= exact+180 && r.High >= 1900, "%d wins: %+v, the exact interval begins at %.0f", n, r, exact)
		})
	}
}

// TestManyPlayers: with more than 40 players intervals are symmetric and otherwise the same: four
// players get the same ratings with 40 others that never played.
func TestManyPlayers(t *testing.T) {
	r := prng.New(8)
	results := tournament{[]float64{0.8, 0.1, -0.2, -0.7}, 0.4, 400, lucks[1]}.play(&r)
	few, many := fit(t, 4, results), fit(t, 44, results)
	for i := range 4 {
		x, y := few.Ratings(3)[i], many.Ratings(3)[i]
		near(t, "with others", []float64{y.Elo, y.Error, y.Seeds, y.Low, y.High}, []float64{x.Elo, x.Error, x.Seeds, x.Low, x.High}, 0.5)
		assert.Truef(t, i >= 3 || x.Bounded == y.Bounded && math.Abs(y.High+y.Low-2*y.Elo) <= 0.02, "player %d: %+v, with others %+v", i, x, y)
		near(t, "superiority", []float64{many.Superiority(i, 3)}, []float64{few.Superiority(i, 3)}, 0.001)
	}
	y := many.Ratings(-1)[43]
	assert.Truef(t, !y.Bounded && y.Group == 43 && y.High >= 1300 && y.High == -y.Low, "a player without games: %+v", y)
}

// student returns the distribution function of Student's t at z, the integral of the density, by Simpson's rule over the
// angle θ with t = √ν·tan θ.
func student(freedom, z float64) float64 {
	const steps = 1 << 14
	whole, part := 0.0, 0.0
	for i := range steps + 1 {
		weight := float64(2 + 2*(i&1))
		if i == 0 || i == steps {
			weight = 1
		}
		whole += weight * math.Pow(math.Cos(math.Pi/2*float64(i)/steps), freedom-1)
		part += weight * math.Pow(math.Cos(math.Atan(z/math.Sqrt(freedom))*float64(i)/steps), freedom-1)
	}
	return 0.5 + part*math.Atan(z/math.Sqrt(freedom))/(whole*math.Pi)
}

// TestStudent compares the t distribution with its integral, and with a printed table.
func TestStudent(t *testing.T) {
	for _, freedom := range []float64{1, 2, 2.5, 3, 10, 29.5, 100, 5000} {
		for _, z := range []float64{0, 1e-3, 0.5, 1, 1.7, 2.5, 4, 9} {
			assert.InDelta(t, 1-student(freedom, z), rating.Tail(freedom, z), 1e-9, "%v degrees of freedom at %v", freedom, z)
		}
	}
	for freedom, want := range map[float64]float64{1: 12.7062047, 2: 4.3026527, 3: 3.1824463, 8: 2.3060041, 30: 2.0422725, 120: 1.9799304, 1e6: 1.9599664} {
		assert.InDelta(t, want, rating.Quantile95(freedom), 1e-6, "%v degrees of freedom", freedom)
	}
}

// TestProfile: at the ends of an interval the log-likelihood, with the prior, is lower by half the
// square of the t distribution's quantile, times the design effect. For two players without draws
// this is a formula.
func TestProfile(t *testing.T) {
	for _, c := range []struct {
		wins, losses int
		student      float64
	}{{15, 8, 2.073873}, {30, 2, 2.039513}, {12, 1, 2.178813}, {20, 0, 2.093024}, {40, 40, 1.990450}} {
		t.Run(fmt.Sprintf("%d wins, %d losses", c.wins, c.losses), func(t *testing.T) {
			m := fit(t, 2, spread(0, 1, c.wins, 0, c.losses, 0))
			r, cov := m.Difference(0, 1), m.Covariance()
			value := func(x float64) float64 {
				d := x / unit
				return -float64(c.wins)*math.Log1p(math.Exp(-d)) - float64(c.losses)*math.Log1p(math.Exp(d)) - d*d/64
			}
			effect := r.Error * r.Error / (cov[0][0] + cov[1][1] - 2*cov[0][1])
			z := math.Sqrt(2 * (value(r.Elo) - value(0)) / effect)
			want := student(float64(c.wins+c.losses-1), z)
			got := m.Superiority(0, 1)
			assert.LessOrEqualf(t, math.Abs(got-want), 1e-4+0.01*(1-want), "%d wins, %d losses: superiority %v, want %v", c.wins, c.losses, got, want)
			for _, end := range []float64{r.Low, r.High} {
				if got, want := 2*(value(r.Elo)-value(end))/effect, c.student*c.student; math.Abs(got/want-1) > 0.002 {
					t.Errorf("%d wins, %d losses: %+v: at %v the likelihood ratio is %v, want %v", c.wins, c.losses, r, end, got, want)
				}
			}
		})
	}
}

// TestOrder: the numbering of players, the choice of A and B, and the order of results do not
// matter.
func TestOrder(t *testing.T) {
	for k := range 40 {
		r := prng.New(prng.StreamSeed(11, uint64(k), 0, 0, prng.PurposeGame))
		n := 2 + r.IntN(5)
		var results []rating.Comparison
		for range 30 {
			if a, b := r.IntN(n), r.IntN(n); a != b {
				results = append(results, rating.Comparison{A: a, B: b, Block: r.IntN(6), Wins: r.IntN(3), Draws: r.IntN(2), Losses: r.IntN(3), Weight: 1 - float64(k%2)*r.Float64()})
			}
		}
		number := make([]int, n)
		for i := range number {
			j := r.IntN(i + 1)
			number[i] = number[j]
			number[j] = i
		}
		moved := make([]rating.Comparison, len(results))
		for at, x := range results {
			x.A, x.B, x.Block = number[x.A], number[x.B], 5-2*x.Block
			if r.IntN(2) == 0 {
				x.A, x.B, x.Wins, x.Losses = x.B, x.A, x.Losses, x.Wins
			}
			to := r.IntN(at + 1)
			moved[at] = moved[to]
			moved[to] = x
		}
		m, o := fit(t, n, results), fit(t, n, moved)
		for _, anchor := range []int{-1, 0} {
			to := anchor
			if anchor >= 0 {
				to = number[anchor]
			}
			here, there := m.Ratings(anchor), o.Ratings(to)
			for i, x := range here {
				y := there[number[i]]
				near(t, "another order", []float64{y.Elo, y.Low, y.High, y.Error, y.Seeds}, []float64{x.Elo, x.Low, x.High, x.Error, x.Seeds}, 0.0101)
				if x.Bounded != y.Bounded {
					t.Errorf("player %d is bounded: %v, in another order %v", i, x.Bounded, y.Bounded)
				}
			}
		}
		for i := range n {
			for j := range n {
				near(t, "superiority in another order", []float64{o.Superiority(number[i], number[j])}, []float64{m.Superiority(i, j)}, 1e-5)
			}
		}
	}
}

// randomResults returns a few random results: with huge counts, small weights, or no games.
func randomResults(r *prng.Rand, players int) []rating.Comparison {
	var results []rating.Comparison
	for range r.IntN(12) {
		a := r.IntN(players)
		b := r.IntN(players)
		if a == b {
			continue
		}
		x := rating.Comparison{A: a, B: b, Block: r.IntN(4) - 1, Weight: []float64{0, 1e-9, 0.25, 1}[r.IntN(4)]}
		for _, n := range []*int{&x.Wins, &x.Draws, &x.Losses} {
			*n = []int{0, 0, 1, r.IntN(5), 1000, math.MaxInt32}[r.IntN(6)]
		}
		results = append(results, x)
	}
	return results
}

// FuzzFit: for any results, numbers are finite and in order.
func FuzzFit(f *testing.F) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 15
	}
	for seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := prng.New(seed)
		n := 1 + r.IntN(6)
		results := randomResults(&r, n)
		m := fit(t, n, results)
		finite(t, m.Covariance()...)
		finite(t, m.RobustCovariance()...)
		finite(t, []float64{m.Draws()})
		for _, anchor := range []int{-1, r.IntN(n)} {
			checkRatings(t, m.Ratings(anchor))
		}
		for i := range n {
			for j := range n {
				p, q := m.Superiority(i, j), m.Superiority(j, i)
				if !(p >= 0 && p <= 1 && math.Abs(p+q-1) < 3e-6) {
					t.Errorf("%d is better than %d with %v, and the other way with %v", i, j, p, q)
				}
			}
		}
		payoff := m.Payoffs()
		finite(t, payoff...)
		p, err := rating.Nash(payoff)
		if err != nil {
			t.Fatalf("%v: %v", payoff, err)
		}
		finite(t, p)
		sum := 0.0
		for _, y := range p {
			sum += y
		}
		if math.Abs(sum-1) > 5e-6 {
			t.Errorf("%v sums to %v", p, sum)
		}
	})
}

func finite(t *testing.T, all ...[]float64) {
	t.Helper()
	for _, row := range all {
		for _, x := range row {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Fatalf("%v is not finite", all)
			}
		}
	}
}

func checkRatings(t *testing.T, all []rating.Rating) {
	t.Helper()
	for i, r := range all {
		finite(t, []float64{r.Elo, r.Low, r.High, r.Error, r.Seeds})
		assert.Truef(t, r.Low <= r.Elo && r.High >= r.Elo && r.Error >= 0 && r.Error <= 10000 && r.Seeds >= 0, "player %d: %+v", i, r)
	}
}

func TestFitErrors(t *testing.T) {
	for _, n := range []int{-1, 0, rating.MaxPlayers + 1} {
		_, err := rating.Fit(n, nil)
		assert.Errorf(t, err, "%d players: want an error", n)
	}
}
