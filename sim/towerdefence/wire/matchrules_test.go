package wire

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/towerdefence"
)

// playedLog is the log of a match by these rules, in which the command of first is
// carried out first, as the original writes it: it does not tell the order.
func playedLog(t *testing.T, rules towerdefence.Rules, first sim.Player, commands [][2]string) files {
	t.Helper()
	m := files{}
	w := NewMatchLogWriter([2]string{"a", "b"}, m.create)
	r := NewReferee(rules)
	r.First(first)
	for _, c := range commands {
		if err := w.Round(r.Position(), c, [2][]byte{}); err != nil {
			t.Fatal(err)
		}
		if r.Play(c[0], c[1]) != "" {
			break
		}
	}
	if err := w.End(r.Position(), r.Result()); err != nil {
		t.Fatal(err)
	}
	delete(m, LogOrder)
	return m
}

// twinTowers is a match in which both players build in the same rounds, fire missiles
// over one cell, and let two tesla towers of one age shoot; A fails until it ends.
func twinTowers() [][2]string {
	commands := [][2]string{{"0,2,1", "3,2,1"}, {"7,4,4", "7,4,4"}, {"3,7,2", "0,0,0"}, {}, {}}
	for range 12 {
		commands = append(commands, [2]string{"x,y,z", ""})
	}
	return commands
}

func richRules() towerdefence.Rules {
	rules := towerdefence.DefaultRules()
	rules.StartEnergy, rules.MaxDoNothings = 1000, 9
	return rules
}

// TestOrderOfCommands reads logs and recordings of both orders of the commands, which
// the original leaves to chance.
func TestOrderOfCommands(t *testing.T) {
	rules := richRules()
	var texts [2]string
	for first := range sim.Player(2) {
		log := playedLog(t, rules, first, twinTowers())
		for name, f := range log {
			if strings.HasPrefix(name, "Round 005/A - a/TextMap") {
				texts[first] = string(f.Data)
			}
		}
		m, r, err := VerifyMatchLog(fstest.MapFS(log), rules)
		if err != nil || r.First != nil || m.Same != len(m.Orders) || m.Header.First != letters[first:first+1] {
			t.Errorf("%c first: found %q first, %+v, first difference %v, error %v", letters[first], m.Header.First, r, r.First, err)
		}
		log[LogOrder] = &fstest.MapFile{Data: []byte(letters[1-first:][:1] + logFirst)} // a lie
		if m, r, err := VerifyMatchLog(fstest.MapFS(log), rules); err != nil || r.First == nil || m.Header.First != letters[1-first:][:1] {
			t.Errorf("%c first, told otherwise: %+v, error %v", letters[first], r, err)
		}
		delete(log, LogOrder)
		log["Round 010/A - a/"+logState].Data = bytes.Replace(log["Round 010/A - a/"+logState].Data, []byte(`"round":10`), []byte(`"round":11`), 1)
		if m, r, err := VerifyMatchLog(fstest.MapFS(log), rules); err != nil || r.First == nil || r.First.Round != 10 || m.Same != 9 {
			t.Errorf("%c first, damaged in round 10: %+v, first %v, error %v", letters[first], r, r.First, err)
		}
	}
	if texts[0] == texts[1] {
		t.Error("the order does not show")
	}
}

// TestOrderInRecordings verifies recordings of both orders, told and untold.
func TestOrderInRecordings(t *testing.T) {
	for _, first := range []string{"", "A", "B"} {
		var b bytes.Buffer
		h := Header{Game: "g", First: first}
		if _, err := WriteMatch(NewRecordingWriter(&b), h, richRules(), twinTowers()[:14]); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if strings.Contains(text, `"first"`) != (first != "") {
			t.Errorf("%q first: the header is %s", first, strings.SplitN(text, "\n", 2)[0])
		}
		untold := strings.Replace(text, `,"first":"`+first+`"`, "", 1)
		lie := strings.Replace(text, `"first":"`+first, `"first":"`+map[string]string{"A": "B", "B": "A"}[first], 1)
		for _, c := range []struct {
			text string
			same bool
		}{{text, true}, {untold, true}, {lie, first == ""}} {
			report, err := Verify("x", strings.NewReader(c.text), richRules())
			if err != nil || (report.First == nil) != c.same {
				t.Errorf("%q first: %+v, first %v, error %v\n%s", first, report, report.First, err, c.text[:100])
			}
		}
	}
	bad := strings.Replace(okHeader, `"health"`, `"first":"C","health"`, 1)
	if err := verifyText(bad); err == nil || !strings.Contains(err.Error(), `"A"`) {
		t.Errorf("first C: %v", err)
	}
}

// TestOrderInRenders: the displays of a game of the other order are no differences,
// nor the order of both players' missiles on one cell.
func TestOrderInRenders(t *testing.T) {
	r := NewReferee(richRules())
	r.First(seatB)
	for _, c := range twinTowers()[:4] {
		r.Play(c[0], c[1])
	}
	p := r.Position()
	shared := slices.ContainsFunc(p.Missiles, func(m Missile) bool {
		return slices.ContainsFunc(p.Missiles, func(o Missile) bool { return m.X == o.X && m.Y == o.Y && m.Owner != o.Owner })
	})
	if !shared {
		t.Fatal("no cell has missiles of both")
	}
	for reordered := range 2 {
		if reordered == 1 {
			slices.Reverse(p.Missiles)
		}
		report, err := Verify("x", bytes.NewReader(renderOf(t, p)), richRules())
		if err != nil || report.First != nil || report.Reordered != reordered {
			t.Errorf("missiles reversed %d times: %+v, first %v, error %v", reordered, report, report.First, err)
		}
	}
}

// TestRulesTold plays logs by rules that the logs tell, key by key, and by the few that
// they do not.
func TestRulesTold(t *testing.T) {
	tried := 0
	changed := func(i, by int) (towerdefence.Rules, string, bool) {
		rules := richRules()
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
		log := fstest.MapFS(playedLog(t, rules, seatA, twinTowers()))
		read, err := ReadMatchLog(log)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(read.Told.Untold(), key) {
			if m, r, err := VerifyMatchLog(log, richRules()); err != nil || r.First != nil || m.Rules != rules {
				t.Errorf("%s: %+v, first %v, error %v", key, r, r.First, err)
			}
		}
		if m, r, err := VerifyMatchLog(log, rules); err != nil || r.First != nil || m.Rules != rules {
			t.Errorf("%s given: %+v, first %v, error %v", key, r, r.First, err)
		}
	}
	if tried < 30 {
		t.Errorf("only %d rules were changed", tried)
	}
	rules := richRules()
	rules.Buildings[towerdefence.Attack].Icon = 'w'
	log := playedLog(t, rules, seatA, twinTowers())
	if m, r, err := VerifyMatchLog(fstest.MapFS(log), richRules()); err != nil || r.First != nil || m.Rules != rules {
		t.Errorf("another letter: %+v, first %v, error %v", r, r.First, err)
	}
	if read, err := ReadMatchLog(fstest.MapFS(playedLog(t, richRules(), seatA, make([][2]string, 3)))); err != nil || len(read.Told.Untold()) != 6 {
		t.Errorf("a log without towers: untold %q, error %v", read.Told.Untold(), err)
	}
}

// TestLogsOfOtherReleases: logs of releases before 3.0, and of 3.0.0, are refused as
// such.
func TestLogsOfOtherReleases(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"ironCurtainStats", "x", "Round 000/A - a/JsonMap.json: want a log of release 3.0.1 or later, found no ironCurtainStats: releases before 3.0"},
		{"isIronCurtainActive", "x", "found no isIronCurtainActive: release 3.0.0"},
		{`"mapWidth":16`, `"mapWidth":8`, "want a map of 16 columns and 8 rows, found 8 and 8"},
		{`"TESLA":{`, `"T":{`, "want buildingsStats of TESLA, found none"},
		{`"players":[`, `"players":[],"x":[`, "want 2 players, found 0"},
		{`{`, `[`, "invalid character"},
	} {
		log := playedLog(t, towerdefence.DefaultRules(), seatA, make([][2]string, 2))
		f := log["Round 000/A - a/"+logState]
		f.Data = bytes.ReplaceAll(f.Data, []byte(c.old), []byte(c.new))
		if _, err := ReadMatchLog(fstest.MapFS(log)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("without %s: error %v, want one with %q", c.old, err, c.want)
		}
	}
}

// TestSharedLogBFirst verifies a log that the original's classes wrote, B's commands first.
func TestSharedLogBFirst(t *testing.T) {
	archive := simtest.Shared(t, "traces", "towerdefence-more", "match-log-b-first.tar.gz")
	dir := t.TempDir()
	if out, err := exec.Command("tar", "xzf", archive, "-C", dir).CombinedOutput(); err != nil {
		t.Skipf("no tar that unpacks %s: %v: %s", archive, err, out)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	m, r, err := VerifyMatchLog(os.DirFS(dir+"/"+entries[0].Name()), towerdefence.DefaultRules())
	if err != nil || r.First != nil || r.Rounds != 47 || m.Header.First != "B" {
		t.Errorf("%+v, first %v, error %v", r, r.First, err)
	}
}
