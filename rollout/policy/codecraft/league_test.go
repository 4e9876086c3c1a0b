package codecraft_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/rollout/policy/policytest"
)

// The scripts beat random and quickstart; econ beats turtle in most games; squads beats all
// others.
func TestColoniesAgainstEachOther(t *testing.T) {
	games := 2
	if policytest.Long() {
		games = 100
	}
	for _, pair := range []struct {
		a, b string
		most float64 // upper bound of a's score, as a fraction of all games
		slow bool
	}{
		{"random", "quickstart", 0.05, false},
		{"random", "econ", 0.05, false},
		{"random", "turtle", 0.05, true},
		{"quickstart", "econ", 0.05, true},
		{"quickstart", "turtle", 0.05, false},
		{"turtle", "econ", 0.45, true},
		{"econ", "squads", 0.1, false},
		{"econ-near", "squads", 0.1, true},
		{"econ-break", "squads", 0.1, true},
		{"turtle", "squads", 0.1, true},
		{"quickstart", "squads", 0.1, true},
	} {
		if pair.slow && !policytest.Long() {
			continue
		}
		p := policytest.League(t, "codecraft", "finals", 1, games, pair.a, pair.b)[0]
		assert.LessOrEqualf(t, p.Score, pair.most, "%s scores %.3f against %s", p.A, p.Score, p.B)
	}
}
