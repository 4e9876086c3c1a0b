package command

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/terminal/wire/frame"
	"moonfarm/sim/terminal/wire/replay"
)

// terminalReplays returns small replay files for scripts, by name: a short match, the same
// match with a changed number, a match with other rules, and a draw.
var terminalReplays = sync.OnceValues(func() (map[string]string, error) {
	files := map[string]string{}
	for name, set := range map[string]string{"small.replay": "2022", "other.replay": "2026"} {
		r, ok := terminal.RuleSet(set)
		if !ok {
			return nil, fmt.Errorf("no rule set %s", set)
		}
		m := &replay.Match{Config: config.Of(r), Names: [2]string{"anna", "bert"}}
		t := new(sim.Turn)
		t.Set(0, []sim.Order{terminal.Clock(6100), terminal.Penalty(1), terminal.Place(terminal.Wall, 3, 13), terminal.UpgradeAt(3, 13)})
		t.Set(1, []sim.Order{terminal.Place(terminal.Support, 14, 15), terminal.Spawn(terminal.Scout, 13, 27, 3)})
		m.Add(t)
		t.Clear()
		t.SetOne(0, terminal.RemoveAt(3, 13))
		m.Add(t)
		t.SetOne(0, terminal.Penalty(r.CrashPenalty()))
		m.Add(t)
		var b bytes.Buffer
		if err := replay.WriteMatch(&b, m, config.Local); err != nil {
			return nil, err
		}
		files[name] = b.String()
		if set == "2026" {
			draw := &replay.Match{Config: m.Config, Names: m.Names}
			t.SetOne(1, terminal.Penalty(r.CrashPenalty())) // and player 1 as before
			draw.Add(t)
			b.Reset()
			if err := replay.WriteMatch(&b, draw, config.Local); err != nil {
				return nil, err
			}
			files["draw.replay"] = b.String()
		}
	}
	small := files["small.replay"]
	files["changed.replay"] = strings.Replace(small, `[[3,13,120.0,"2"]]`, `[[3,13,119.0,"2"]]`, 1)
	files["broken.replay"] = small[:len(small)/2]
	lines := strings.SplitAfter(small, "\n")
	files["short.replay"] = strings.Join(lines[:len(lines)-2], "") // without the end frame
	files["torn.replay"] = strings.Join(lines[:len(lines)-3], "") + "{torn\n"
	at := strings.LastIndex(small, `"turnInfo":[1,1,`)
	old, err := replay2018()
	if err != nil {
		return nil, err
	}
	files["2018.replay"] = old
	files["2018-changed.replay"] = strings.Replace(old, `[[3,13,60.0,"2"]]`, `[[3,13,59.0,"2"]]`, 1)
	files["late.replay"] = small[:at] + strings.Replace(small[at:], `"p1Stats":[26`, `"p1Stats":[25`, 1)
	return files, nil
})

// replay2018 is a short match with a config of 2018.
func replay2018() (string, error) {
	c, err := config.Parse([]byte(`{"unitInformation":[{"cost":1.0,"stability":60.0},{"cost":4.0,"stability":30.0},
{"damage":4.0,"cost":3.0,"range":3.0,"stability":75.0},
{"damageI":1.0,"damageF":1.0,"damageToPlayer":1.0,"cost":1.0,"range":3.0,"stability":15.0,"speed":0.5},
{"damageI":3.0,"damageF":3.0,"damageToPlayer":1.0,"cost":3.0,"range":5.0,"stability":5.0,"speed":0.25},
{"damageI":10.0,"damageToPlayer":1.0,"cost":1.0,"range":3.0,"stability":40.0,"speed":0.25},{"shorthand":"RM"}],
"timingAndReplay":{"waitTimeBotSoft":5000.0},
"resources":{"turnIntervalForBitCapSchedule":10.0,"turnIntervalForBitSchedule":10.0,"startingHP":30.0,"startingCores":25.0},
"mechanics":{"stepsRequiredSelfDestruct":5.0,"destroyOwnUnitDelay":1.0}}`))
	if err != nil {
		return "", err
	}
	m := &replay.Match{Config: c, Names: [2]string{"anna", "bert"}}
	t := new(sim.Turn)
	t.Set(0, []sim.Order{terminal.Place(terminal.Wall, 3, 13)})
	m.Add(t)
	t.SetOne(0, terminal.Penalty(31))
	m.Add(t)
	var b bytes.Buffer
	err = replay.WriteMatch(&b, m, config.Local)
	return b.String(), err
}

// TestImportRecordings imports recordings of the official engine, a few or in the long
// form (MOONFARM_LONG) all, and plays the dataset again.
func TestImportRecordings(t *testing.T) {
	pattern := "*.replay.gz"
	if os.Getenv("MOONFARM_LONG") == "" {
		pattern = "20[12]*-*[19].replay.gz"
	}
	files := simtest.SharedFiles(t, "replays", "terminal", pattern)
	// The files are named by the version of their rules. The game of the beta of 2018 differs
	// here, and one recording broke off. The other two recordings of that year have rules of
	// their own.
	var rules []string
	episodes, counts := 0, map[string]int{}
	for _, f := range files {
		set, _, _ := strings.Cut(filepath.Base(f), "-")
		switch base := filepath.Base(f); {
		case base == "2018a-001.replay.gz" || base == "2025a-009.replay.gz":
			continue
		case set == "2018a" || set == "2018b":
			set = "of their own"
		}
		if episodes++; counts[set] == 0 {
			rules = append(rules, set)
		}
		counts[set]++
	}
	if own := slices.Index(rules, "of their own"); own >= 0 { // they come last
		rules = append(slices.Delete(rules, own, own+1), "of their own")
	}
	for i, set := range rules {
		rules[i] = fmt.Sprintf("%s: %d", set, counts[set])
		if set == "of their own" && counts[set] > 1 { // no two are alike
			rules[i] += fmt.Sprintf(" (%d sets)", counts[set])
		}
	}
	dir := filepath.Join(t.TempDir(), "data")
	out, stderr := said(t, console.ExitFailure, append([]string{"import", "terminal", "--obs", "packed", "--out", dir}, files...)...) // some are skipped
	commandtest.Wants(t, out, "2018a-001.replay.gz: differs when played here: ", "2025a-009.replay.gz: the recording broke off in turn 2\n",
		fmt.Sprintf("%s: %d episodes, ", dir, episodes), "\nrules: "+strings.Join(rules, ", ")+"\n")
	want := fmt.Sprintf("moonfarm: %d files of %d skipped; the others are in %s\n", len(files)-episodes, len(files), dir)
	assert.Equal(t, want, stderr, "standard error")
	commandtest.Wants(t, moonfarm(t, console.ExitOK, "verify", dir, "--recompute", "all"), "equal to the bit")
}

// TestImportInterrupt stops an import.
func TestImportInterrupt(t *testing.T) {
	replays, err := terminalReplays()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "small.replay")
	require.NoError(t, os.WriteFile(file, []byte(replays["small.replay"]), 0o666))
	args := func(dir string) []string {
		list := []string{"import", "terminal", "--workers", "2", "--shard-episodes", "1", "--out", dir}
		for range 100 {
			list = append(list, file)
		}
		return list
	}
	want := filepath.Join(t.TempDir(), "whole")
	finish(t, args(want)...)
	requireContinues(t, want, syscall.SIGINT, args)
}

// algoBot is a program that plays Terminal: algobot KIND. It builds two walls in turn 0,
// sends a scout in each turn, and prints the number of the turn on standard error. The kind
// "crashes" ends in turn 2, "cheats" orders more in turn 1 than it can pay for, and "hangs"
// does not answer in turn 1.
func algoBot() {
	if err := playAlgo(os.Args[1], bufio.NewReaderSize(os.Stdin, 1<<16)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func playAlgo(kind string, in *bufio.Reader) error {
	config := struct {
		UnitInformation []struct{ Shorthand string }
	}{}
	line, err := in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &config)
	}
	for want := 0; err == nil; {
		var f struct{ TurnInfo []int }
		if line, err = in.ReadBytes('\n'); err == nil {
			err = json.Unmarshal(line, &f)
		}
		switch {
		case err != nil || f.TurnInfo[0] == frame.PhaseAction:
			continue
		case f.TurnInfo[0] == frame.PhaseEnd:
			return nil
		case f.TurnInfo[1] != want:
			return fmt.Errorf("turn %d, expected %d", f.TurnInfo[1], want)
		case want == 2 && kind == "crashes":
			return errors.New("a stone is in the way")
		case want == 1 && kind == "hangs":
			continue
		}
		fmt.Fprintln(os.Stderr, "turn", want)
		structures := "[]"
		if wall := config.UnitInformation[0].Shorthand; want == 0 {
			structures = fmt.Sprintf("[[%q,13,5],[%q,14,5]]", wall, wall)
		} else if want == 1 && kind == "cheats" {
			structures = fmt.Sprintf("[[%q,13,5],[%q,14,27]]", wall, wall)
		}
		fmt.Printf("%s\n[[%q,13,0]]\n", structures, config.UnitInformation[3].Shorthand)
		want++
	}
	return err
}
