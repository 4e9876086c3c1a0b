package bench

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestInterval compares intervals with tables of the sign test.
func TestInterval(t *testing.T) {
	for _, c := range []struct {
		values      int
		least, most float64
		coverage    float64
	}{{1, 0, 0, 0}, {5, 0, 4, 0.9375}, {7, 0, 6, 0.9844}, {9, 1, 7, 0.9609}, {11, 1, 9, 0.9883}, {20, 5, 14, 0.9586}, {100, 39, 60, 0.9648}} {
		var sorted []float64
		for i := range c.values {
			sorted = append(sorted, float64(i))
		}
		least, most, coverage := interval(sorted)
		assert.Equal(t, []float64{c.least, c.most}, []float64{least, most}, "%d values", c.values)
		assert.InDelta(t, c.coverage, coverage, 0.0001, "%d values", c.values)
	}
}

// script writes a program that prints a text and ends with a status.
func script(t *testing.T, name, text string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the programs of this test are shell scripts")
	}
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o700))
	return file
}

func TestCompare(t *testing.T) {
	now := script(t, "now", `echo '[{"value":300,"per_cpu":400,"unit":"turns/s","checksum":"01"}]'`)
	before := script(t, "before", `test "$*" = "bench tron --what step --time 10ms --json --workers 2" && echo '[{"value":200,"per_cpu":200,"unit":"turns/s","checksum":"01"}]'`)
	old := script(t, "old", `echo '[{"value":200,"unit":"turns/s","checksum":"02"}]'`)
	against := func(other string) Against {
		return Against{Programs: [2]string{now, other}, Pairs: 7, Time: 10 * time.Millisecond, Flags: []string{"--workers", "2"}}
	}
	r, err := against(before).Compare(t.Context(), "tron", "step")
	require.NoError(t, err)
	assert.Equal(t, Ratio{Game: "tron", What: "step", Value: 400, Other: 200, Unit: "turns/s", PerCPU: true, Ratio: 2, Least: 2, Most: 2, Coverage: 1 - 2.0/128, Pairs: 7, SameWork: true}, r)
	r, err = against(old).Compare(t.Context(), "tron", "step")
	require.NoError(t, err)
	assert.Equal(t, []any{false, 1.5, false}, []any{r.PerCPU, r.Ratio, r.SameWork}, "a program that does not know its processor time")

	_, err = against(script(t, "fails", "echo no such figure >&2; exit 2")).Compare(t.Context(), "tron", "step")
	var exit *exec.ExitError
	assert.True(t, errors.As(err, &exit) && exit.ExitCode() == 2, "%v", err)
	assert.ErrorContains(t, err, "fails bench tron --what step: exit status 2: no such figure")
	for _, text := range []string{"", "[]", `[{"value":0}]`, "no JSON"} {
		_, err = against(script(t, "odd", "echo '"+text+"'")).Compare(t.Context(), "tron", "step")
		assert.ErrorContains(t, err, "expected one figure", text)
	}
}
