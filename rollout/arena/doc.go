// Package arena measures which of several players is the best: policies, original bots, models.
//
//   - A Tournament plays the games of a schedule (package schedule).
//   - A Journal stores them, so that a stopped or killed tournament can continue and
//     can be extended.
//   - Evaluate makes a Report of them: scores, ratings with intervals (package
//     rating), likelihoods of superiority, repetitions, faults.
//
// The games of one seed share its luck and are not independent, so the unit of the statistics is
// the seed. In a round robin every lineup of different players plays the same game seeds in every
// order of the seats: with two seats, each pair plays each seed twice, with the seats exchanged. No
// player gains from a seed or a seat, and all pairs are measured on the same games.
//
// The intervals of scores are Wilson's (95 %), with the number of seeds as the number of trials. A
// variable in 0 … 1 with mean p has at most the variance p(1−p) of a coin. So these intervals are
// too wide rather than too narrow, and unlike the normal interval they remain valid for a player
// that won every game. The intervals of ratings estimate how strongly the games of a seed are
// correlated: see package rating.
package arena
