package console

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestChanges counts the changes from one word to another, both ways.
func TestChanges(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"same", "same", 0}, {"econ", "ecno", 1}, {"generate", "genrate", 1},
		{"seed", "sead", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3}, {"größe", "grosse", 3},
	} {
		t.Run(c.a+" to "+c.b, func(t *testing.T) {
			assert.Equal(t, c.want, changes(c.a, c.b))
			assert.Equal(t, c.want, changes(c.b, c.a), "from the second word to the first")
		})
	}
}

// TestNearest finds the nearest known word, and none if no word is near.
func TestNearest(t *testing.T) {
	policies := []string{"random", "empty", "quickstart", "econ", "econ-near", "turtle"}
	for word, want := range map[string]string{
		"ecno": "econ", "Econ": "econ", "econ-naer": "econ-near", "turtles": "turtle", "quick": "quickstart",
		"qickstrat": "quickstart", "genius": "", "": "", "x": "", "e": "", "./bot": "", "rnd": "", "randon": "random",
	} {
		t.Run(word, func(t *testing.T) { assert.Equal(t, want, nearest(word, policies)) })
	}
	others := []string{"2019", "2020", "2025a", "2025b", "--policies", "--concurrency", "--player"}
	for word, want := range map[string]string{
		"2025": "2025a", "2018": "2019", "--policy": "--policies", "--players": "--player", "--conc": "--concurrency",
	} {
		t.Run(word, func(t *testing.T) { assert.Equal(t, want, nearest(word, others)) })
	}
}
