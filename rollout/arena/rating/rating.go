// Package rating rates players by tables of results, and analyses payoff matrices. It only
// computes: it plays no games and reads no files.
//
// # Bradley–Terry with draws
//
// Fit maximises the likelihood of Davidson's model (see likelihood). Three choices need a reason.
//
// The prior. The likelihood has no maximum if some players won everything against the others, or
// never met them (L. R. Ford, "Solution of a ranking problem from binary comparisons", American
// Mathematical Monthly 64 (1957)). A weak prior adds one: each log strength is normal around the
// pool's mean with a deviation of 695 points of Elo, and so is ln ν around 0. Independent normal
// priors are among the few that do not depend on how players are numbered, on which result is
// called a win, or on players who did not play: J. T. Whelan, "Prior distributions for the
// Bradley–Terry model of paired comparisons", arXiv:1712.05311 (2017). After a hundred games per
// player the prior moves a rating by less than a hundredth of its distance from the mean. Where the
// prior decides, intervals are as wide as it is, ±1,930 points between two players, and
// Rating.Bounded is false.
//
// The variance. The games of a seed share its luck, and games with exchanged seats share it with
// opposite signs, so the inverse of the information, which assumes independent games, may be too
// large or too small. The fit uses the sandwich variance over blocks, the games of a seed (K.-Y.
// Liang, S. L. Zeger, "Longitudinal data analysis using generalized linear models", Biometrika 73
// (1986)), times B/(B−1) for B seeds and with B−1 degrees of freedom. With few seeds, or where
// nearly all games have the same result, it is uncertain itself, and too small. So it is averaged
// with the variance of the model: the weight of the model is 2, the weight of the sandwich the
// smaller of B−1 and the number of even games that would give as much information on the player.
// Averages of that kind are the moderated variances of G. K. Smyth, "Linear models and empirical
// Bayes methods for assessing differential expression in microarray experiments", Statistical
// Applications in Genetics and Molecular Biology 3 (2004).
//
// The interval. Around an estimate that nearly every game supports the likelihood is skewed: ten
// wins and no loss bound the difference from below, not from above. So intervals and likelihoods of
// superiority follow the profile likelihood, and the likelihood ratio is divided by the design
// effect, the variance used over the variance of the model (J. N. K. Rao, A. J. Scott, "On
// chi-squared tests for multiway contingency tables", Annals of Statistics 12 (1984)). The tests
// measure the coverage of these intervals.
//
// # Reproducibility
//
// The sums and products of this package give the same bits on every machine. The t distribution of
// gonum differs in last bits, so results are rounded: Elo to hundredths, probabilities to six digits.
package rating

import (
	"errors"
	"fmt"

	"moonfarm/rollout/exact"
)

// MaxPlayers is the largest number of players of a fit.
const MaxPlayers = 512

// Model is the fit of Davidson's model to results.
type Model struct {
	fit     *likelihood
	best    *maximum
	between *between
	group   []int // by player: the lowest player connected with it by games
	class   []int // by player: the lowest player to which the games bound its difference
}

// Rating is a player's strength in Elo, 400 points for odds of ten wins to one loss, relative to
// the reference: the pool's mean or one player.
type Rating struct {
	Elo   float64 `json:"elo"`
	Low   float64 `json:"low"` // 95 % interval
	High  float64 `json:"high"`
	Error float64 `json:"error"` // standard error
	// Seeds is the effective number of blocks of the player (or of the anchor, if that is smaller):
	// (Σ g)² / Σ g² of the numbers of games g in each block.
	Seeds float64 `json:"seeds"`
	// Group is the lowest player of those connected with this one by games. Only the prior compares
	// players of different groups.
	Group int `json:"group"`
	// Bounded reports that the games bound the rating from both sides. If not, the player, or
	// others, won or lost everything against the rest, and the prior determines an end of the
	// interval.
	Bounded bool `json:"bounded"`
}

// Fit rates the players by results. It fails if there are no players, or more than MaxPlayers.
func Fit(players int, results []Comparison) (*Model, error) {
	if players < 1 || players > MaxPlayers {
		return nil, fmt.Errorf("rating: %d players, expected 1 to %d", players, MaxPlayers)
	}
	m := &Model{fit: newLikelihood(tabulate(players, results))}
	best, ok := m.fit.maximise(make([]float64, m.fit.dim), nil)
	if !ok {
		return nil, errors.New("rating: the information matrix is singular")
	}
	m.best = best
	m.between = m.fit.betweenBlocks(results, best.at)
	m.group, m.class = connect(m.fit.table)
	return m, nil
}

// Ratings returns the ratings of all players relative to one, the anchor, whose own rating is then
// 0; with −1 relative to the pool's mean. If one player won or lost
// everything, the pool's mean is as uncertain as that player, and ratings relative to an anchor are
// more certain. With more than 40 players intervals are symmetric, since following the likelihood
// would take too long.
func (m *Model) Ratings(anchor int) []Rating {
	all := make([]Rating, m.fit.table.players)
	for i := range all {
		all[i] = m.interval(i, anchor)
	}
	return all
}

// Elo returns the ratings alone, without the intervals, which take most of the time of Ratings.
func (m *Model) Elo(anchor int) []float64 {
	all := make([]float64, m.fit.table.players)
	for i := range all {
		all[i] = elo(m.centre(i, anchor))
	}
	return all
}

// Difference returns the rating of player i relative to player j.
func (m *Model) Difference(i, j int) Rating { return m.interval(i, j) }

// expected returns the expected score of player i against j, from 0 to 1 to six digits: the
// probability of a win plus half that of a draw.
func (m *Model) expected(i, j int) float64 {
	win := exact.Exp(m.centre(i, j) / 2)
	return exact.Round((win+float64(m.Draws()/2))/(win+1/win+m.Draws()), 1e6)
}

// Payoffs returns the payoff matrix for Nash: the mean score of the row's player against the column's,
// 1 for a win and ½ for a draw, minus ½. For players who never met it is the expected one, since 0
// would mean equal strength. The matrix is antisymmetric.
func (m *Model) Payoffs() [][]float64 {
	t := m.fit.table
	payoff := matrix(t.players, t.players)
	for j := range t.players {
		for i := range j {
			if p := t.index[i*t.players+j]; p >= 0 {
				payoff[i][j] = t.sum[p].lead / t.sum[p].games
			} else {
				payoff[i][j] = m.expected(i, j) - 0.5
			}
			payoff[j][i] = 0 - payoff[i][j]
		}
	}
	return payoff
}

// Draws returns ν of the model, to six digits: the probability of a draw between equals is ν/(2 +
// ν).
func (m *Model) Draws() float64 {
	if !m.fit.draws {
		return 0
	}
	return exact.Round(exact.Exp(m.fit.delta(m.best.at)), 1e6)
}
