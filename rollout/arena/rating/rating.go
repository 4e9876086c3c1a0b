// Package rating rates players by tables of results, and looks into payoff
// matrices. It computes and no more: it plays no games and knows no files.
//
// # Bradley–Terry with draws
//
// Fit finds the maximum likelihood of Davidson's model (see likelihood). Three
// questions are answered with care.
//
// What if the likelihood has no maximum? It has none where some players won
// everything against the others, or never met them (L. R. Ford, "Solution of a
// ranking problem from binary comparisons", American Mathematical Monthly 64
// (1957)). A weak prior gives it one: each log strength is normal around the pool's
// mean with a deviation of 695 points of Elo, and so is ln ν around 0. Independent
// normal priors are among the few that do not depend on how players are numbered,
// on which result is called a win, or on players who did not play: J. T. Whelan,
// "Prior distributions for the Bradley–Terry model of paired comparisons",
// arXiv:1712.05311 (2017). After a hundred games a player the prior moves a
// rating by less than a hundredth of its distance from the mean. Where it does
// decide, intervals are as wide as it is, ±1,930 points between two players, and
// Rating.Bounded is false.
//
// Which variance? The games of a seed share its luck, and those with exchanged
// seats share it with opposite signs, so the inverse of the information, which
// takes games for independent, may be too large or too small. The variance that is
// used is the sandwich over blocks, the games of a seed (K.-Y. Liang, S. L. Zeger,
// "Longitudinal data analysis using generalized linear models", Biometrika 73
// (1986)), times B/(B−1) for B seeds and with B−1 degrees of freedom. With few
// seeds, or where nearly all games ended alike, it is uncertain itself, and too
// small. So it is averaged with the variance of the model: the weight of this is 2,
// that of the sandwich the smaller of B−1 and the number of games of even chance
// that would tell as much of the player. Averages of that kind are the moderated
// variances of G. K. Smyth, "Linear models and empirical Bayes methods for assessing
// differential expression in microarray experiments", Statistical Applications in
// Genetics and Molecular Biology 3 (2004).
//
// Which interval? Around an estimate that nearly every game supports the
// likelihood is skewed: ten wins and no loss bound the difference from below, not
// from above. So intervals and likelihoods of superiority follow the profile of the
// likelihood, and the likelihood ratio is divided by the design effect, the
// variance used over the variance of the model (J. N. K. Rao, A. J. Scott, "On
// chi-squared tests for multiway contingency tables", Annals of Statistics 12
// (1984)). The tests measure how often such intervals cover.
//
// Bootstrap draws whole blocks again. It needs no formula for the variance, and so
// it checks the intervals; it is not what is shown, as it is too narrow with few
// seeds and knows nothing of what never happened.
//
// # Reproducibility
//
// What this package adds and multiplies itself comes out the same on every machine.
// The linear algebra and the distributions of gonum differ in last bits, so what is
// returned is rounded: Elo to a hundredth, probabilities to six digits.
package rating

import (
	"errors"
)

// MaxPlayers is the most players of a table.
const MaxPlayers = 512

// Model is the fit of Davidson's model to results.
type Model struct {
	fit     *likelihood
	best    *maximum
	between *between
	group   []int // by player: the lowest of those it is connected with by games
	class   []int // by player: the lowest of those its difference to which the games bound
}

// Rating is a player's strength on the scale of Elo, 400 points for odds of ten
// wins to one loss, less that of the reference: the pool's mean or one player.
type Rating struct {
	Elo   float64 `json:"elo"`
	Low   float64 `json:"low"` // 95 % interval
	High  float64 `json:"high"`
	Error float64 `json:"error"` // standard error
	// Seeds is the effective number of blocks of the player (and of the player of
	// reference, if those are fewer): (Σ g)² / Σ g² of the games g in each block.
	Seeds float64 `json:"seeds"`
	// Group is the lowest player among those that are connected with this one by
	// games. Between groups only the prior compares.
	Group int `json:"group"`
	// Bounded says that the games bound the rating from both sides. If not, the
	// player, or others, won or lost everything against the rest, and an end of the
	// interval is that of the prior.
	Bounded bool `json:"bounded"`
}

// Fit rates the players by results. It fails if there are none, or more than
// MaxPlayers, or if a result names a player that is not there or one player twice,
// has a count outside 0 … 2³¹−1, or a weight outside 0 … 1.
func Fit(players int, results []Result) (*Model, error) {
	if err := check(players, results); err != nil {
		return nil, err
	}
	m := &Model{fit: newLikelihood(tabulate(players, results))}
	best, ok := m.fit.maximise(m.fit.table.sum, make([]float64, m.fit.dim), nil)
	if !ok {
		return nil, errors.New("rating: the information matrix is singular")
	}
	m.best = best
	m.between = m.fit.betweenBlocks(results, best.at)
	m.group, m.class = connect(m.fit.table)
	return m, nil
}

// Ratings are the ratings of all players against one, the anchor, whose own rating
// is then 0, or against the pool's mean, if anchor is no player, such as −1. If one
// player won or lost everything, the pool's mean is as uncertain as that player, and
// an anchor tells more. With more than 40 players intervals are symmetric: following
// the likelihood would take too long.
func (m *Model) Ratings(anchor int) []Rating {
	all, anchor := make([]Rating, m.fit.table.players), m.anchor(anchor)
	for i := range all {
		all[i] = m.interval(i, anchor)
	}
	return all
}

// Elo are the ratings alone, without the intervals that take the time of Ratings.
func (m *Model) Elo(anchor int) []float64 {
	all, anchor := make([]float64, m.fit.table.players), m.anchor(anchor)
	for i := range all {
		all[i] = elo(m.centre(i, anchor))
	}
	return all
}

// anchor is −1 for what is no player.
func (m *Model) anchor(i int) int {
	if i < 0 || i >= m.fit.table.players {
		return -1
	}
	return i
}

// Difference is the rating of player i against player j.
func (m *Model) Difference(i, j int) Rating { return m.interval(i, j) }

// Expected is the score that player i is expected to have against j, from 0 to 1 to
// six digits: the chance of a win and half that of a draw.
func (m *Model) Expected(i, j int) float64 {
	win := exp(m.centre(i, j) / 2)
	return round((win+float64(m.Draws()/2))/(win+1/win+m.Draws()), 1e6)
}

// Draws is ν of the model, to six digits: the probability of a draw between equals
// is ν/(2 + ν).
func (m *Model) Draws() float64 {
	if !m.fit.draws {
		return 0
	}
	return round(exp(m.fit.delta(m.best.at)), 1e6)
}
