package plain_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim/towerdefence"
	. "moonfarm/sim/towerdefence/internal/plain"
)

// TestCommandFailures checks the effect of every form of a command text on the
// count of failures, starting from 7, and whether it builds.
func TestCommandFailures(t *testing.T) {
	for _, c := range []struct {
		text     string
		failures int
		built    bool
	}{
		{"", 7, false},
		{"No Command", 7, false},
		{"Exception", 8, false},
		{"Exception,", 8, false},
		{"Exception,,", 8, false},
		{"Exception, ", 9, false},
		{"exception", 7, false},
		{"Exception ", 7, false},
		{"7", 7, false},
		{"1,", 7, false},
		{"1,1", 9, false},
		{",1", 9, false},
		{"1,1,,", 9, false},
		{"1,1,2", 0, true},
		{"1,1,2,", 0, true},
		{"1,1,2,,,", 0, true},
		{"+1,-0,002", 0, true},
		{"\u0661,\uff11,\u096a", 0, true}, // digits of three scripts: 1, 1, 4
		{"1,1,2,5", 0, true},
		{"1,1,2,x,y", 0, true},
		{"1,1,x,5", 9, false},
		{"1,1,6", 8, false},
		{"1,1,-1", 8, false},
		{"1,1,6,1", 9, false},
		{" 1,1,2", 8, false},
		{"1,1,2\r", 8, false},
		{"1.0,1,2", 8, false},
		{"+,1,2", 8, false},
		{",,2", 8, false},
		{"2147483648,1,2", 8, false},
		{"2147483647,1,2", 1, false},
		{"-2147483648,1,2", 1, false},
		{"-2147483649,1,2", 8, false},
		{"8,1,2", 1, false},
		{"1,-1,3", 1, false},
		{"1,1,3", 1, false},
		{"1,1,5", 1, false},
		{"99,-99,5", 1, false},
		{"\U0001d7cf,1,2", 8, false}, // a digit outside the basic plane is two chars to Java
		{"\xff,1,2", 8, false},
	} {
		t.Run(c.text, func(t *testing.T) {
			r := towerdefence.DefaultRules()
			r.StartEnergy = 1000
			g := New(r)
			g.Players[B].FailCount = 7
			assert.Equalf(t, Running, g.Play("", c.text), "%q ends the match", c.text)
			got := g.Players[B].FailCount
			assert.Equalf(t, c.failures, got, "%q: %d failures, want %d", c.text, got, c.failures)
			assert.Equalf(t, c.built, len(g.Buildings) == 1, "%q: built", c.text)
		})
	}
}

// TestOnlyCommasAbort checks that a text without any field ends the match and
// leaves the position unchanged.
func TestOnlyCommasAbort(t *testing.T) {
	for _, text := range []string{",", ",,", ",,,,"} {
		t.Run(text, func(t *testing.T) {
			g := New(towerdefence.DefaultRules())
			end := g.Play("1,1,2", text)
			assert.Equalf(t, Aborted, end, "%q: %v, want aborted", text, end)
			assert.Truef(t, g.Round == 0 && len(g.Buildings) == 0, "%q changed the position: %+v", text, g)
		})
	}
}

// TestFailuresEndTheMatch checks that the limit of failures counts before the
// bases.
func TestFailuresEndTheMatch(t *testing.T) {
	r := towerdefence.DefaultRules()
	r.MaxDoNothings, r.StartHealth = 4, 0
	g := New(r)
	g.Players[A].Health, g.Players[B].Health = 0, 5
	end := g.Play("1,1", "")
	assert.Equalf(t, Dead, end, "after 2 failures: %v, want dead", end)
	end = g.Play("1,1", "")
	assert.Equalf(t, Failed, end, "after 4 failures: %v, want timeout", end)
	p, ok := g.Winner()
	assert.Truef(t, p == B && ok, "winner %v %v, want B", p, ok)
}

// TestClone checks that a copy shares nothing with its original.
func TestClone(t *testing.T) {
	r := towerdefence.DefaultRules()
	r.StartEnergy = 1000
	g := New(r)
	g.Play("1,1,1", "1,1,0")
	c := g.Clone()
	c.Play("", "2,2,2")
	assert.Truef(t, len(g.Buildings) == 2 && g.Buildings[0].BuildTime == 0 && len(g.Missiles) == 0, "playing the copy changed the original: %+v", g)
}
