package recording

import (
	"bytes"
	"os"
	"testing"

	"moonfarm/sim/towerdefence"
)

// FuzzMatches reads any text as matches: each has a number and ends in bounds,
// and its good rounds are rounds that it has.
func FuzzMatches(f *testing.F) {
	text, err := os.ReadFile(goldenGame)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(append(bytes.Clone(text[:900]), text...))
	f.Fuzz(func(t *testing.T, text []byte) {
		n := 0
		err := ReadMatches("fuzz", bytes.NewReader(text), towerdefence.DefaultRules(), func(m *Match) error {
			if n++; m.Number != n || m.Same > len(m.Orders) || len(m.Orders) > 401 {
				t.Errorf("match %d of number %d: %d of %d rounds are good", n, m.Number, m.Same, len(m.Orders))
			}
			return nil
		})
		if err == nil && n > bytes.Count(text, []byte("\n"))+1 {
			t.Errorf("%d matches in %d lines", n, bytes.Count(text, []byte("\n"))+1)
		}
	})
}
