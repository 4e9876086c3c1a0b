package recording

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/internal/wiretest"
	"moonfarm/sim/towerdefence/wire/referee"
)

// matches returns all matches of a text.
func matches(t *testing.T, text string) (all []Match) {
	t.Helper()
	err := ReadMatches("x", strings.NewReader(text), towerdefence.DefaultRules(), func(m *Match) error {
		c := *m
		c.Orders = append([][2]sim.Order(nil), m.Orders...)
		all = append(all, c)
		return nil
	})
	require.NoError(t, err)
	return all
}

// recorded returns the recording of a match with these commands.
func recorded(t *testing.T, rules towerdefence.Rules, commands [][2]string) string {
	t.Helper()
	var b strings.Builder
	_, err := WriteMatch(NewWriter(&b), Header{Game: "one", Policy: [2]string{"a", "b"}}, rules, commands)
	require.NoError(t, err)
	return b.String()
}

// TestMatches writes matches and reads them back, one by one.
func TestMatches(t *testing.T) {
	rules := towerdefence.DefaultRules()
	rules.SetStart([2]int{300, 20}, [2]int{100, 90})
	one := recorded(t, rules, wiretest.LateMatch())
	aborted := recorded(t, towerdefence.DefaultRules(), [][2]string{{"0,0,2", ""}, {"1,0,2", ","}})
	all := matches(t, one+aborted+one)
	require.Truef(t, len(all) == 3 && all[2].Number == 3 && all[0].Rules == rules && all[1].Rules == towerdefence.DefaultRules(), "%+v", all)
	assert.Truef(t, reflect.DeepEqual(all[0].Orders, all[2].Orders) && len(all[0].Orders) == 52 && all[0].Result.End == referee.EndTimeout && all[1].Result.End == referee.EndAborted, "%+v", all)
	for _, m := range all {
		require.NoErrorf(t, m.Err, "match %d", m.Number)
		assert.Truef(t, m.Different == nil && m.Same == len(m.Orders), "match %d %v, %d rounds the same", m.Number, m.Different, m.Same)
	}
}

// TestDamagedMatches reads the matches after damaged ones.
func TestDamagedMatches(t *testing.T) {
	one := recorded(t, towerdefence.DefaultRules(), wiretest.LateMatch())
	lines := strings.SplitAfter(one, "\n")
	head, tail := strings.Join(lines[:11], ""), strings.Join(lines[11:], "") // ten rounds
	for _, c := range []struct {
		name, text string
		rounds     []int // of each match
		bad        int   // number of the match with an error
		want       string
	}{
		{"line", one + head + "{x\n" + tail + one, []int{52, 10, 52}, 2, "recording x: line 66: column 2: expected "},
		{"blank lines", one + strings.Repeat("\n", 1000) + one, []int{52, 0, 52}, 2, "recording x: line 55: "},
		{"nothing", one + "x" + strings.Repeat("\n", 17<<20) + one, []int{52, 0, 0}, 3, "recording x: line 16777272: expected the header line of a game, found none in 16777216 bytes"},
		{"end", one + head, []int{52, 10}, 2, "found the end of the file"},
		{"no end line", head + one + one, []int{10, 52, 52}, 1, "expected a round line or an end line, found a header line"},
		{"long line", head + strings.Repeat("x", 3<<20) + "\n" + one, []int{10, 52}, 1, "expected at most 1048576 bytes in a line"},
		{"start", strings.Replace(one, `"health":[100`, `"health":[0`, 1) + one, []int{0, 52}, 1, "expected a base health from 1 to 1000, found 0"},
		{"rounds", head + endless(lines[11], 600) + one, []int{401, 52}, 1, "expected at most 401 rounds, found more"},
		{"compressed", one + "\x00\n" + head, []int{52, 0, 10}, 2, "line 55"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var rounds []int
			for _, m := range matches(t, c.text) {
				rounds = append(rounds, len(m.Orders))
				assert.Truef(t, m.Number != c.bad || m.Err != nil && strings.Contains(m.Err.Error(), c.want), "%s: error %v, want %q", c.name, m.Err, c.want)
			}
			assert.Equalf(t, c.rounds, rounds, "%s: rounds", c.name)
		})
	}
}

// endless returns n lines of round 10 and the following rounds.
func endless(line string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Replace(line, `{"r":10,`, fmt.Sprintf(`{"r":%d,`, 10+i), 1))
	}
	return b.String()
}

// TestDifferentMatches finds the round up to which a match is as recorded.
func TestDifferentMatches(t *testing.T) {
	one := recorded(t, towerdefence.DefaultRules(), wiretest.LateMatch())
	late := strings.Replace(one, `{"r":30,"c":["x,y,z"`, `{"r":30,"c":["x,y"`, 1)
	end := strings.Replace(one, `"winner":"A"`, `"winner":"B"`, 1)
	all := matches(t, late+one+end)
	require.Truef(t, len(all) == 3 && all[1].Different == nil, "%+v", all)
	d := all[0].Different
	assert.Truef(t, d != nil && d.Round == 30 && all[0].Same == 30 && all[0].Err == nil, "late: %v, %d rounds the same, error %v", d, all[0].Same, all[0].Err)
	d = all[2].Different
	assert.Truef(t, d != nil && d.Field == "winner" && all[2].Same == 52, "end: %v, %d rounds the same", d, all[2].Same)
}
