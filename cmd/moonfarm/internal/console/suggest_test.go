package console

import "testing"

// TestChanges counts the changes from one word to another, both ways.
func TestChanges(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"same", "same", 0}, {"econ", "ecno", 1}, {"generate", "genrate", 1},
		{"seed", "sead", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3}, {"größe", "grosse", 3},
	} {
		if got := changes(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: %d changes, want %d", c.a, c.b, got, c.want)
		}
		if got := changes(c.b, c.a); got != c.want {
			t.Errorf("%q to %q: %d changes, want %d", c.b, c.a, got, c.want)
		}
	}
}

// TestNearest finds what was meant, and nothing where nothing is near.
func TestNearest(t *testing.T) {
	policies := []string{"random", "empty", "quickstart", "econ", "econ-near", "turtle"}
	for word, want := range map[string]string{
		"ecno": "econ", "Econ": "econ", "econ-naer": "econ-near", "turtles": "turtle", "quick": "quickstart",
		"qickstrat": "quickstart", "genius": "", "": "", "x": "", "e": "", "./bot": "", "rnd": "", "randon": "random",
	} {
		if got := nearest(word, policies); got != want {
			t.Errorf("%q: found %q, want %q", word, got, want)
		}
	}
	others := []string{"2019", "2020", "2025a", "2025b", "--policies", "--parallel", "--player"}
	for word, want := range map[string]string{
		"2025": "2025a", "2018": "2019", "--policy": "--policies", "--players": "--player", "--par": "--parallel",
	} {
		if got := nearest(word, others); got != want {
			t.Errorf("%q: found %q, want %q", word, got, want)
		}
	}
}
