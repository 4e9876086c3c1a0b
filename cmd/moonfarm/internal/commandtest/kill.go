package commandtest

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"
)

// KillLoop runs a command of moonfarm again and again, and kills it at random moments of the
// time that a whole run takes, until it was killed a number of times. args makes the command
// for an output folder. A run that was not killed in time completes its folder, and the
// next run begins another. check is called for each folder in which runs were killed; it
// repeats the command to the end and compares the output.
func KillLoop(t *testing.T, kills int, whole time.Duration, args func(dir string) []string, check func(dir string)) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	folders := 0
	for killed := 0; killed < kills; folders++ {
		dir := filepath.Join(t.TempDir(), fmt.Sprint(folders))
		for ended := false; !ended && killed < kills; {
			if ended = endsBefore(t, time.Duration(random.Int64N(int64(whole))), args(dir)); !ended {
				killed++
			}
		}
		check(dir)
	}
	t.Logf("killed %d times in %d folders", kills, folders)
}

// endsBefore runs a command of moonfarm and kills it at the limit. It reports whether the
// command ended before.
func endsBefore(t *testing.T, limit time.Duration, args []string) bool {
	t.Helper()
	p := Start(t, "moonfarm", args...)
	timer := time.AfterFunc(limit, func() { p.Process.Kill() })
	defer timer.Stop()
	err := p.Wait()
	if err != nil && p.ProcessState.ExitCode() != -1 {
		t.Fatalf("%v: %s", err, &p.Errs)
	}
	return err == nil
}
