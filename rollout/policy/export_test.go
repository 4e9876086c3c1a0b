package policy

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"moonfarm/env"
	"moonfarm/rollout"
)

// Counting makes the policy of a spec in which "a", "b" and "c" are policies that count the
// rows they are given. After Close their count is -1.
func Counting(t *testing.T, spec string, s env.Spec) (counts func() [3]int, p rollout.Policy) {
	t.Helper()
	var all [3]*counter
	const game = "counting"
	for i := range all {
		all[i] = new(counter)
		byGame[game] = append(byGame[game], entry{
			Entry: Entry{Name: string(rune('a' + i)), Doc: "counts"},
			make:  func(env.Spec) (rollout.Policy, error) { return all[i], nil },
		})
	}
	defer delete(byGame, game)
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

// CheckWritten fails if the canonical form of a spec is not its own canonical form, or if a
// quoted text is not read as that text.
func CheckWritten(t *testing.T, text string) {
	t.Helper()
	if n, err := parse(text); err == nil {
		again, err := parse(n.String())
		if err != nil || again.String() != n.String() {
			t.Fatalf("%q is written %q, and read as %q, %v", text, n.String(), again.String(), err)
		}
	}
	path := text + ".onnx"
	if !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl) {
		return
	}
	for _, quoted := range []string{Quote(path), "'" + strings.ReplaceAll(path, "'", "''") + "'"} {
		if isModel(path) {
			if n, err := parse(quoted); err != nil || n.name != path {
				t.Fatalf("%s is read as %q, %v", quoted, n.name, err)
			}
		}
		n, err := parse("random(head = " + quoted + " ,model=" + quoted + ")")
		if err != nil || n.value(optionHead) != path || n.value(optionModel) != path {
			t.Fatalf("%s is read as %q, %q, %v", quoted, n.value(optionHead), n.value(optionModel), err)
		}
		if list := SplitList(quoted + "," + quoted); len(list) != 2 || list[0] != quoted || list[1] != quoted {
			t.Fatalf("a list of %s is split into %q", quoted, list)
		}
	}
}
