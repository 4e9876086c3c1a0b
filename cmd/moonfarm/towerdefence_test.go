package main

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"moonfarm/datasets"
	"moonfarm/sim/simtest"
)

// moonfarm runs the command and returns its standard output; it must end with
// that exit status.
func moonfarm(t *testing.T, status int, args ...string) string {
	t.Helper()
	out, _ := said(t, status, args...)
	return out
}

// said is what a command prints to its standard output and error.
func said(t *testing.T, status int, args ...string) (string, string) {
	t.Helper()
	var out, stderr bytes.Buffer
	if got := run(args, &out, &stderr); got != status {
		t.Fatalf("moonfarm %.200s: exit status %d, want %d: %.2000s%.2000s", strings.Join(args, " "), got, status, out.String(), stderr.String())
	}
	return out.String(), stderr.String()
}

// wants checks that a text has some parts.
func wants(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("the output lacks %q:\n%.2000s", p, text)
		}
	}
}

// TestImportTowerdefence imports all recordings of the official engine, plays
// the dataset again, and writes recordings of it, which verify and make the same
// rows.
func TestImportTowerdefence(t *testing.T) {
	files := slices.DeleteFunc(simtest.SharedFiles(t, "traces", "towerdefence", "*.jsonl.gz"), func(f string) bool { return strings.HasPrefix(filepath.Base(f), "renders") })
	dir := t.TempDir()
	data, again, replays := filepath.Join(dir, "data"), filepath.Join(dir, "again"), filepath.Join(dir, "replays")
	wants(t, moonfarm(t, exitOK, append([]string{"import", "towerdefence", "--obs", "packed", "--out", data}, files...)...),
		": 603 episodes, 85,214 rows, ", "rules: 3.0.2+1: 293, of their own: 310 (83 sets)\n")
	wants(t, moonfarm(t, exitOK, "verify", data, "--recompute", "all"), "equal to the bit")
	moonfarm(t, exitOK, "replay", "convert", data, "--out", replays)
	written, err := filepath.Glob(filepath.Join(replays, "*.jsonl"))
	if err != nil || len(written) != 603 {
		t.Fatalf("%d recordings, error %v", len(written), err)
	}
	wants(t, moonfarm(t, exitOK, append([]string{"replay", "verify"}, written...)...), "603 games, 42,607 rounds compared, 0 differences")
	moonfarm(t, exitOK, append([]string{"import", "towerdefence", "--obs", "packed", "--out", again}, written...)...)
	// All is there again but for what texts cost failures before a command that
	// can be read, which has no effect.
	a, err := datasets.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	b, err := datasets.Open(again)
	if err != nil {
		t.Fatal(err)
	}
	for table, columns := range map[string][]string{
		"steps":    {"episode", "turn", "seat", "packed", "scalars", "mask", "reward", "return", "outcome", "terminated", "truncated"},
		"episodes": {"policies", "rules", "turns", "status", "results", "scores", "ends", "stopped"},
	} {
		for _, c := range columns {
			x, err := a.ColumnSHA256(table, c)
			if err != nil {
				t.Fatal(err)
			}
			if y, err := b.ColumnSHA256(table, c); err != nil || x != y {
				t.Errorf("column %s of %s: %s, then %s, error %v", c, table, x, y, err)
			}
		}
	}
}
