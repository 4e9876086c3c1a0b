package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire"
)

// terminalReplays are small replay files for scripts, by name: one of a short
// match, the same with a number changed, one of other rules, and one that nobody
// wins.
var terminalReplays = sync.OnceValues(func() (map[string]string, error) {
	files := map[string]string{}
	for name, set := range map[string]string{"small.replay": "2022", "other.replay": "2026"} {
		r, ok := terminal.RuleSet(set)
		if !ok {
			return nil, fmt.Errorf("no rule set %s", set)
		}
		m := &wire.Match{Config: wire.ConfigOf(r), Names: [2]string{"anna", "bert"}}
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
		if err := wire.WriteMatch(&b, m, wire.Local); err != nil {
			return nil, err
		}
		files[name] = b.String()
		if set == "2026" {
			draw := &wire.Match{Config: m.Config, Names: m.Names}
			t.SetOne(1, terminal.Penalty(r.CrashPenalty())) // and player 1 as before
			draw.Add(t)
			b.Reset()
			if err := wire.WriteMatch(&b, draw, wire.Local); err != nil {
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
	return files, nil
})

// TestImportRecordings imports the recordings of the official engine, with
// -short a few of them, and plays the dataset again.
func TestImportRecordings(t *testing.T) {
	pattern := "*.replay.gz"
	if testing.Short() {
		pattern = "20[12]*-*[19].replay.gz"
	}
	files, err := filepath.Glob(filepath.Join(simtest.Shared(t, "replays", "terminal"), pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no replays: %v", err)
	}
	// The files are named by the generation of their rules. The betas of 2018
	// play otherwise here, and one recording broke off.
	var rules []string
	episodes, counts := 0, map[string]int{}
	for _, f := range files {
		set, _, _ := strings.Cut(filepath.Base(f), "-")
		if strings.HasPrefix(set, "2018") || filepath.Base(f) == "2025a-009.replay.gz" {
			continue
		}
		if episodes++; counts[set] == 0 {
			rules = append(rules, set)
		}
		counts[set]++
	}
	for i, set := range rules {
		rules[i] = fmt.Sprintf("%s: %d", set, counts[set])
	}
	dir := filepath.Join(t.TempDir(), "data")
	var out, stderr bytes.Buffer
	if status := run(append([]string{"import", "terminal", "--obs", "packed", "--out", dir}, files...), &out, &stderr); status != exitFailure {
		t.Errorf("exit status %d, want %d: some are skipped", status, exitFailure)
	}
	for _, want := range []string{
		"2018a-001.replay.gz: not as it plays here: ", "2025a-009.replay.gz: the recording broke off in turn 2\n",
		fmt.Sprintf("%s: %d episodes, ", dir, episodes), "\nrules: " + strings.Join(rules, ", ") + "\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
	if want := fmt.Sprintf("moonfarm: %d files of %d skipped; the others are in %s\n", len(files)-episodes, len(files), dir); stderr.String() != want {
		t.Errorf("standard error %q, want %q", stderr.String(), want)
	}
	out.Reset()
	if status := run([]string{"verify", dir, "--recompute", "all"}, &out, os.Stderr); status != exitOK || !strings.Contains(out.String(), "equal to the bit") {
		t.Errorf("exit status %d: %s", status, out.String())
	}
}

// TestImportInterrupt stops an import and repeats the command: what was made is
// kept, and the dataset is what it is without the interruption.
func TestImportInterrupt(t *testing.T) {
	replays, err := terminalReplays()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "small.replay")
	if err := os.WriteFile(file, []byte(replays["small.replay"]), 0o666); err != nil {
		t.Fatal(err)
	}
	args := func(dir string) []string {
		list := []string{"import", "terminal", "--workers", "2", "--shard-episodes", "1", "--out", dir}
		for range 100 {
			list = append(list, file)
		}
		return list
	}
	want := filepath.Join(t.TempDir(), "whole")
	if out, err := exec.Command("moonfarm", args(want)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for range 10 {
		dir := filepath.Join(t.TempDir(), "data")
		var stderr bytes.Buffer
		c := exec.Command("moonfarm", args(dir)...)
		c.Stderr = &stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, filepath.Join(dir, "shards", "*.json"), filepath.Join(dir, "manifest.json"))
		c.Process.Signal(os.Interrupt)
		if c.Wait() == nil {
			continue // it was through before
		}
		say := fmt.Sprintf("moonfarm: interrupted: finished shards are kept in %s; the same command continues\n", dir)
		if c.ProcessState.ExitCode() != exitInterrupted || stderr.String() != say {
			t.Fatalf("exit status %d, said %q, want %q", c.ProcessState.ExitCode(), &stderr, say)
		}
		out, err := exec.Command("moonfarm", args(dir)...).Output()
		if err != nil || !strings.Contains(string(out), "of an earlier run kept") {
			t.Errorf("going on: error %v, %s", err, out)
		}
		requireSame(t, want, dir)
		return
	}
	t.Fatal("the interrupt always came too late")
}
