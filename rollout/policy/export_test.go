package policy

import (
	"testing"

	"moonfarm/env"
	"moonfarm/rollout"
)

// Counting makes the policy of a spec in which "a", "b" and "c" are members
// that count the rows they are given; closed, they show -1.
func Counting(t *testing.T, spec string, s env.Spec) (counts func() [3]int, p rollout.Policy) {
	t.Helper()
	var all [3]*counter
	const game = "counting"
	for i := range all {
		all[i] = new(counter)
		scripted[game] = append(scripted[game], entry{
			Entry: Entry{Name: string(rune('a' + i)), Doc: "counts"},
			make:  func(env.Spec) (rollout.Policy, error) { return all[i], nil },
		})
	}
	defer delete(scripted, game)
	m, err := New(game, spec)
	if err == nil {
		p, err = m(s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() (n [3]int) {
		for i, c := range all {
			n[i] = c.rows
		}
		return n
	}, p
}

type counter struct{ rows int }

func (c *counter) Name() string                                 { return "counter" }
func (c *counter) Wants() env.Want                              { return 0 }
func (c *counter) Act(_ env.Vector, _ *env.Batch, rows []int32) { c.rows += len(rows) }
func (c *counter) Close() error                                 { c.rows = -1; return nil }
