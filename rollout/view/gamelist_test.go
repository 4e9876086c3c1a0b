package view_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/view"
	"moonfarm/rollout/view/overview"
)

// TestAgainst: a query asks for the games of one player against another one.
func TestAgainst(t *testing.T) {
	for _, c := range []struct {
		policy, against string
		players         string
		want            bool
	}{
		{"", "", "a b", true},
		{"a", "", "a b", true},
		{"a", "b", "a b", true},
		{"b", "a", "a b", true},
		{"a", "c", "a b", false},
		{"c", "a", "a b", false},
		{"a", "a", "a b", false}, // no other seat has a
		{"a", "a", "a a", true},
		{"a", "d", "b a c d", true},
		{"<b>", "&", "& <b>", true},
		{"a", "", "", false},
		{"", "", "", true},
	} {
		x := view.Entry{Players: strings.Fields(c.players), Status: "over"}
		q := view.Query{Count: 1, Policy: c.policy, Against: c.against}
		assert.NoError(t, q.Check())
		assert.Equal(t, c.want, q.Matches(&x), "%q against %q in %q", c.policy, c.against, c.players)
		assert.Equal(t, c.policy == "" && c.against == "", q.Plain())
	}
	q := view.Query{Count: 1, Against: "a"}
	assert.ErrorContains(t, q.Check(), `against "a": expected a policy as well`)
	assert.False(t, q.Plain())
}

// TestOverview: a list with an overview answers overview.json, another one has no such thing, and an error is reported.
func TestOverview(t *testing.T) {
	l := played(t, "tron", "", "random", 100, 3)
	d := view.NewResponder(l)
	_, err := d.Answer("overview.json")
	require.ErrorAs(t, err, new(*view.UnknownError))
	assert.False(t, l.Head().Overview)
	about := &overview.Document{Sections: []overview.Section{{Title: "</script>", Tables: []overview.Table{{Rows: [][]overview.Cell{{{Text: "\x00\u202e<b>"}}}}}}}}
	l.About = func() (*overview.Document, error) { return about, nil }
	text, err := d.Answer("overview.json")
	require.NoError(t, err)
	var got overview.Document
	require.NoError(t, json.Unmarshal(text, &got))
	assert.Equal(t, *about, got)
	all, err := d.Everything(1 << 20)
	require.NoError(t, err)
	assert.Equal(t, string(text), string(all["overview.json"]))
	assert.Contains(t, string(all["list.json"]), `"overview":true`)
	l.Open = nil
	listed, err := view.NewResponder(l).Everything(1 << 20)
	require.NoError(t, err)
	assert.Equal(t, 3, len(listed), "of games without films the page has the list alone")
	assert.Equal(t, string(all["games.json?from=0&count=50"]), string(listed["games.json?from=0&count=50"]))
	_, err = d.Answer("games.json?against=random")
	assert.ErrorContains(t, err, "expected a policy as well")
	text, err = d.Answer("games.json?policy=random&against=random&count=1")
	require.NoError(t, err)
	assert.Contains(t, string(text), `"total":3,`)
	l.About = func() (*overview.Document, error) { return nil, errors.New("no ratings") }
	_, err = d.Answer("overview.json")
	assert.EqualError(t, err, "no ratings")
	_, err = d.Everything(1 << 20)
	assert.EqualError(t, err, "no ratings")
}

// TestGrown: a list that grows keeps its open films.
func TestGrown(t *testing.T) {
	l := played(t, "tron", "", "random", 100, 2)
	opened, open := 0, l.Open
	l.Open = func(i int) (*view.Film, error) { opened++; return open(i) }
	d := view.NewResponder(l)
	for _, d := range []*view.Responder{d, d, d.Grown(l)} {
		_, err := d.Answer("film.json?game=1")
		require.NoError(t, err)
	}
	assert.Equal(t, 1, opened)
	_, err := view.NewResponder(l).Answer("film.json?game=1")
	require.NoError(t, err)
	assert.Equal(t, 2, opened)
}

// TestOutcomes: a game that is over has a winner or is a draw, one that a limit has cut is neither.
func TestOutcomes(t *testing.T) {
	for want, x := range map[string]view.Entry{
		"A": {Status: "over"}, "C": {Status: "over", Winner: 2}, "draw": {Status: "over", Winner: -1}, "cut": {Status: "cut", Winner: -1}, "none": {Status: "running", Winner: -1},
	} {
		for _, outcome := range []string{"", "A", "B", "C", "D", "draw", "cut"} {
			q := view.Query{Count: 1, Outcome: outcome}
			assert.NoError(t, q.Check())
			assert.Equal(t, outcome == "" || outcome == want, q.Matches(&x), "%q of a game that is %q", outcome, want)
		}
	}
}
