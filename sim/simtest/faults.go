package simtest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

const faultEnv = "SIMTEST_FAULT"

// FindsFaults tests a test: for each of the names, check(t, name) must fail in
// its subtest of that name. Each check runs in a process of its own.
func FindsFaults(t *testing.T, names []string, check func(t *testing.T, name string)) {
	t.Helper()
	if name, ok := os.LookupEnv(faultEnv); ok {
		check(t, name)
		return
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			top, _, _ := strings.Cut(t.Name(), "/")
			cmd := exec.Command(os.Args[0], "-test.run=^"+top+"$")
			cmd.Env = append(os.Environ(), faultEnv+"="+name)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: "+top+"/"+name) {
				t.Errorf("the suite does not find the fault: %v\n%s", err, out)
			}
		})
	}
}
