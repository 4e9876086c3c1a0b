package full

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/internal/console"
)

// soakEnv sets the time of TestSoak, such as 30m. Without it MOONFARM_LONG stands for two
// minutes.
const soakEnv = "MOONFARM_SOAK"

// soakSample is a sample that a soaking process prints each second.
type soakSample struct {
	Second     int
	Resident   float64 // MB; 0: unknown
	Live       float64 // MB of the heap that the last collection found in use
	Goroutines int
	Ended      bool // the command is over
}

// soak is a program that runs a command of moonfarm-full for some time, interrupts it and
// prints samples on standard output.
func soak() {
	d, err := time.ParseDuration(os.Args[1])
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), d, console.ErrInterrupted)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		var err error
		if status := run(ctx, os.Args[2:]); status != console.ExitInterrupted {
			err = fmt.Errorf("the command ended with status %d, not because it was interrupted", status)
		}
		ended <- err
	}()
	tell := json.NewEncoder(os.Stdout)
	for second, over := 1, 0; over < 3; second++ {
		select {
		case err := <-ended:
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(console.ExitFailure)
			}
			over = 1
		case <-time.After(time.Second):
		}
		s := soakSample{Second: second, Resident: resident(), Goroutines: runtime.NumGoroutine(), Ended: over > 0}
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		s.Live = float64(live[0].Value.Uint64()) / 1e6
		_ = tell.Encode(s) // without a reader SIGPIPE ends this process
		if over > 0 {
			over++
		}
	}
}

// resident returns the memory of this process in MB.
func resident() float64 {
	text, _ := os.ReadFile("/proc/self/statm")
	f := strings.Fields(string(text))
	if len(f) < 2 {
		return 0
	}
	pages, _ := strconv.Atoi(f[1])
	return float64(pages) * float64(os.Getpagesize()) / 1e6
}

// TestSoak lets farm run work for two minutes (MOONFARM_LONG) or the time of MOONFARM_SOAK.
// After the first minute its memory grows by at most 5 MB, as the state of a run grows by
// some 200 bytes per shard. The number of goroutines does not grow, and at the end none is
// left.
func TestSoak(t *testing.T) {
	d := 2 * time.Minute
	if text := os.Getenv(soakEnv); text != "" {
		var err error
		d, err = time.ParseDuration(text)
		require.NoError(t, err)
	} else if os.Getenv(longEnv) == "" {
		t.Skipf("takes two minutes: set %s", longEnv)
	}
	dir := t.TempDir()
	c := exec.Command("soak", append([]string{d.String()}, strings.Fields("farm run terminal --obs none --episodes 100000000 --shard-episodes 250 --out "+
		filepath.Join(dir, "data")+" --store "+filepath.Join(dir, "store"))...)...)
	var errs strings.Builder
	c.Stderr = &errs
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	defer c.Process.Kill() // if the test ends early
	var all []soakSample
	for read := json.NewDecoder(out); ; {
		var s soakSample
		if read.Decode(&s) != nil {
			break
		}
		if all = append(all, s); s.Second%10 == 0 || s.Ended {
			t.Logf("%4d s: %6.1f MB resident, %5.1f MB live, %d goroutines", s.Second, s.Resident, s.Live, s.Goroutines)
		}
	}
	err = c.Wait()
	require.NoErrorf(t, err, "%v: %s", err, &errs)
	shards, _ := filepath.Glob(filepath.Join(dir, "data", "shards", "*.json"))
	t.Logf("%d shards", len(shards))
	requireLevel(t, all)
}

// requireLevel compares the medians of the second and the last half minute, or, in a run of
// less than two minutes, of the second and the last quarter. Medians, as garbage
// collections make single samples vary.
func requireLevel(t *testing.T, all []soakSample) {
	t.Helper()
	n := slices.IndexFunc(all, func(s soakSample) bool { return s.Ended })
	require.GreaterOrEqualf(t, n, 20, "%d samples of a run", n)
	half, wide := min(60, n/2), min(30, n/4)
	median := func(of []soakSample, value func(soakSample) float64) float64 {
		var list []float64
		for _, s := range of {
			list = append(list, value(s))
		}
		slices.Sort(list)
		return list[len(list)/2]
	}
	for _, c := range []struct {
		what  string
		most  float64 // more at the end
		value func(soakSample) float64
	}{
		{"MB of memory", 5, func(s soakSample) float64 { return s.Resident }},
		{"MB of live heap", 5, func(s soakSample) float64 { return s.Live }},
		{"goroutines", 8, func(s soakSample) float64 { return float64(s.Goroutines) }}, // those of requests vary
	} {
		early, late := median(all[half-wide:half], c.value), median(all[n-wide:n], c.value)
		t.Logf("%s: %.1f at first, %.1f at the end", c.what, early, late)
		assert.LessOrEqualf(t, late, early+c.most, "%s: %.1f at first, %.1f at the end, want %.0f more at most", c.what, early, late, c.most)
	}
	last := all[len(all)-1]
	assert.LessOrEqualf(t, last.Goroutines, 8, "%d goroutines are left after the end", last.Goroutines)
}
