//go:build unix

package command

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/cmd/moonfarm/internal/console"
)

// TestPipesAreNoRecordings: commands refuse a pipe as a recording, as reading it might never
// end.
func TestPipesAreNoRecordings(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip(err)
	}
	for _, args := range [][]string{
		{"replay", "verify", pipe}, {"replay", "show", pipe}, {"replay", "convert", pipe, "--out", filepath.Join(dir, "x")},
		{"import", "towerdefence", pipe, "--out", filepath.Join(dir, "x")},
	} {
		t.Run(strings.Join(args[:2], " "), func(t *testing.T) {
			out, stderr := said(t, console.ExitFailure, args...)
			commandtest.Wants(t, fmt.Sprint(args, out, stderr), "expected a file or a folder, found a pipe")
		})
	}
}
