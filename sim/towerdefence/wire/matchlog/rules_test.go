package matchlog

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/display"
	"moonfarm/sim/towerdefence/wire/internal/wiretest"
	"moonfarm/sim/towerdefence/wire/referee"
)

// playedLog returns the log of a match by these rules in which the command of
// first is carried out first.
func playedLog(t *testing.T, names [2]string, rules towerdefence.Rules, first sim.Player, commands [][2]string) files {
	t.Helper()
	m := files{}
	w := NewWriter(names, m.create)
	r := referee.New(rules)
	r.First(first)
	for _, c := range commands {
		require.NoError(t, w.Round(r.Position(), c, [2][]byte{}))
		if r.Play(c[0], c[1]) != "" {
			break
		}
	}
	require.NoError(t, w.End(r.Position(), r.Result()))
	return m
}

// unordered is playedLog without the order, as the original writes logs.
func unordered(t *testing.T, rules towerdefence.Rules, first sim.Player, commands [][2]string) files {
	m := playedLog(t, [2]string{"a", "b"}, rules, first, commands)
	delete(m, OrderFile)
	return m
}

// TestOrderOfCommands reads logs and recordings with both orders of the
// commands, which the original chooses at random.
func TestOrderOfCommands(t *testing.T) {
	rules := wiretest.RichRules()
	var texts [2]string
	for first := range sim.Player(2) {
		log := unordered(t, rules, first, wiretest.TwinTowers())
		for name, f := range log {
			if strings.HasPrefix(name, "Round 005/A - a/TextMap") {
				texts[first] = string(f.Data)
			}
		}
		m, r, err := Verify(fstest.MapFS(log), rules)
		if err != nil || r.First != nil || m.Same != len(m.Orders) || m.Header.First != display.Letters[first:first+1] {
			t.Errorf("%c first: found %q first, %+v, first difference %v, error %v", display.Letters[first], m.Header.First, r, r.First, err)
		}
		log[OrderFile] = &fstest.MapFile{Data: []byte(display.Letters[1-first:][:1] + logFirst)} // the wrong order
		if m, r, err := Verify(fstest.MapFS(log), rules); err != nil || r.First == nil || m.Header.First != display.Letters[1-first:][:1] {
			t.Errorf("%c first, log with the other order: %+v, error %v", display.Letters[first], r, err)
		}
		delete(log, OrderFile)
		log["Round 010/A - a/"+logState].Data = bytes.Replace(log["Round 010/A - a/"+logState].Data, []byte(`"round":10`), []byte(`"round":11`), 1)
		if m, r, err := Verify(fstest.MapFS(log), rules); err != nil || r.First == nil || r.First.Round != 10 || m.Same != 9 {
			t.Errorf("%c first, damaged in round 10: %+v, first %v, error %v", display.Letters[first], r, r.First, err)
		}
	}
	assert.NotEqual(t, texts[1], texts[0], "the order does not show")
}

// TestPartialRules plays logs by other rules, key by key: with keys that logs
// contain, and with the few keys that they lack.
func TestPartialRules(t *testing.T) {
	tried := 0
	changed := func(i, by int) (towerdefence.Rules, string, bool) {
		rules := wiretest.RichRules()
		rule := rules.Table()[i]
		v, ok := rule.Value.(*int)
		if !ok {
			return rules, rule.Key, false
		}
		*v += by
		return rules, rule.Key, rules.Validate() == nil
	}
	first := towerdefence.DefaultRules()
	for i := range first.Table() {
		rules, key, ok := changed(i, 1)
		if !ok {
			if rules, key, ok = changed(i, -1); !ok {
				continue
			}
		}
		tried++
		log := fstest.MapFS(unordered(t, rules, display.SeatA, wiretest.TwinTowers()))
		read, err := Read(log)
		require.NoError(t, err)
		if !slices.Contains(read.Rules.Missing(), key) {
			m, r, err := Verify(log, wiretest.RichRules())
			require.NoErrorf(t, err, "%s: %+v, first %v", key, r, r.First)
			assert.Truef(t, r.First == nil && m.Rules == rules, "%s: %+v, first %v", key, r, r.First)
		}
		m, r, err := Verify(log, rules)
		require.NoErrorf(t, err, "%s given: %+v, first %v", key, r, r.First)
		assert.Truef(t, r.First == nil && m.Rules == rules, "%s given: %+v, first %v", key, r, r.First)
	}
	assert.GreaterOrEqualf(t, tried, 30, "only %d rules were changed", tried)
	rules := wiretest.RichRules()
	rules.Buildings[towerdefence.Attack].Icon = 'w'
	log := unordered(t, rules, display.SeatA, wiretest.TwinTowers())
	m, r, err := Verify(fstest.MapFS(log), wiretest.RichRules())
	require.NoErrorf(t, err, "another letter: %+v, first %v", r, r.First)
	assert.Truef(t, r.First == nil && m.Rules == rules, "another letter: %+v, first %v", r, r.First)
	if read, err := Read(fstest.MapFS(unordered(t, wiretest.RichRules(), display.SeatA, make([][2]string, 3)))); err != nil || len(read.Rules.Missing()) != 6 {
		t.Errorf("a log without towers: untold %q, error %v", read.Rules.Missing(), err)
	}
}

// TestLogsOfOtherReleases: logs of releases before 3.0, and of 3.0.0, are
// refused with that reason.
func TestLogsOfOtherReleases(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"ironCurtainStats", "x", "Round 000/A - a/JsonMap.json: expected a log of release 3.0.1 or later, found no ironCurtainStats: releases before 3.0"},
		{"isIronCurtainActive", "x", "found no isIronCurtainActive: release 3.0.0"},
		{`"mapWidth":16`, `"mapWidth":8`, "gameDetails.mapWidth and mapHeight are 8 and 8, expected 16 and 8"},
		{`"TESLA":{`, `"T":{`, "gameDetails.buildingsStats.TESLA.health is missing"},
		{`"players":[`, `"players":[],"x":[`, "expected 2 players, found 0"},
		{`{`, `[`, "invalid character"},
	} {
		t.Run(c.want, func(t *testing.T) {
			log := unordered(t, towerdefence.DefaultRules(), display.SeatA, make([][2]string, 2))
			f := log["Round 000/A - a/"+logState]
			f.Data = bytes.ReplaceAll(f.Data, []byte(c.old), []byte(c.new))
			_, err := Read(fstest.MapFS(log))
			assert.ErrorContainsf(t, err, c.want, "without %s", c.old)
		})
	}
}

// TestSharedLogBFirst verifies a log written by the original's classes, with
// B's commands first.
func TestSharedLogBFirst(t *testing.T) {
	archive := simtest.Shared(t, "traces", "towerdefence-more", "match-log-b-first.tar.gz")
	dir := t.TempDir()
	if out, err := exec.Command("tar", "xzf", archive, "-C", dir).CombinedOutput(); err != nil {
		t.Skipf("no tar that unpacks %s: %v: %s", archive, err, out)
	}
	entries, err := os.ReadDir(dir)
	require.NoErrorf(t, err, "%d entries", len(entries))
	require.Lenf(t, entries, 1, "%d entries", len(entries))
	m, r, err := Verify(os.DirFS(dir+"/"+entries[0].Name()), towerdefence.DefaultRules())
	require.NoErrorf(t, err, "%+v, first %v", r, r.First)
	assert.Truef(t, r.First == nil && r.Rounds == 47 && m.Header.First == "B", "%+v, first %v", r, r.First)
}
