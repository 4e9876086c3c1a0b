package policy

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

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
	require.NoError(t, err)
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
		require.NoErrorf(t, err, "%q is written %q, and read as %q", text, n.String(), again.String())
		require.Equalf(t, n.String(), again.String(), "%q is written %q, and read as %q", text, n.String(), again.String())
	}
	path := text + ".onnx"
	if !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl) {
		return
	}
	for _, quoted := range []string{Quote(path), "'" + strings.ReplaceAll(path, "'", "''") + "'"} {
		if isModel(path) {
			n, err := parse(quoted)
			require.NoErrorf(t, err, "%s is read as %q", quoted, n.name)
			require.Equalf(t, path, n.name, "%s is read", quoted)
		}
		n, err := parse("random(head = " + quoted + " ,model=" + quoted + ")")
		if err != nil || n.value(optionHead) != path || n.value(optionModel) != path {
			t.Fatalf("%s is read as %q, %q, %v", quoted, n.value(optionHead), n.value(optionModel), err)
		}
		list := SplitList(quoted + "," + quoted)
		require.Truef(t, len(list) == 2 && list[0] == quoted && list[1] == quoted, "a list of %s is split into %q", quoted, list)
	}
}
