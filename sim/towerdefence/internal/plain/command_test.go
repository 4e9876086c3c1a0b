package plain_test

import (
	"testing"

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
			if end := g.Play("", c.text); end != Running {
				t.Errorf("%q ends the match: %v", c.text, end)
			}
			if got := g.Players[B].FailCount; got != c.failures {
				t.Errorf("%q: %d failures, want %d", c.text, got, c.failures)
			}
			if got := len(g.Buildings) == 1; got != c.built {
				t.Errorf("%q: built %v, want %v", c.text, got, c.built)
			}
		})
	}
}

// TestOnlyCommasAbort checks that a text without any field ends the match and
// leaves the position unchanged.
func TestOnlyCommasAbort(t *testing.T) {
	for _, text := range []string{",", ",,", ",,,,"} {
		t.Run(text, func(t *testing.T) {
			g := New(towerdefence.DefaultRules())
			if end := g.Play("1,1,2", text); end != Aborted {
				t.Errorf("%q: %v, want aborted", text, end)
			}
			if g.Round != 0 || len(g.Buildings) != 0 {
				t.Errorf("%q changed the position: %+v", text, g)
			}
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
	if end := g.Play("1,1", ""); end != Dead {
		t.Errorf("after 2 failures: %v, want dead", end)
	}
	if end := g.Play("1,1", ""); end != Failed {
		t.Errorf("after 4 failures: %v, want timeout", end)
	}
	if p, ok := g.Winner(); p != B || !ok {
		t.Errorf("winner %v %v, want B", p, ok)
	}
}

// TestClone checks that a copy shares nothing with its original.
func TestClone(t *testing.T) {
	r := towerdefence.DefaultRules()
	r.StartEnergy = 1000
	g := New(r)
	g.Play("1,1,1", "1,1,0")
	c := g.Clone()
	c.Play("", "2,2,2")
	if len(g.Buildings) != 2 || g.Buildings[0].BuildTime != 0 || len(g.Missiles) != 0 {
		t.Errorf("playing the copy changed the original: %+v", g)
	}
}
