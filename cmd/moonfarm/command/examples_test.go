package command

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/sim/simtest"
)

// exampleText reads a file of the examples.
func exampleText(t *testing.T, name string) string {
	t.Helper()
	return string(simtest.Text(t, filepath.Join("..", "examples", name)))
}

// quick changes the arguments of a command to few games and a folder of the test.
func quick(args []string, dir string) []string {
	for i, a := range args {
		a = strings.Replace(a, "/data/", dir+"/", 1)
		if a == "1000000" {
			a = "8"
		}
		args[i] = a
	}
	if args[0] == "generate" {
		args = append(args, "--shard-episodes", "1")
	}
	return args
}

// TestKubernetesExample runs the commands of the example's pods with fewer games.
func TestKubernetesExample(t *testing.T) {
	dir, jobs := t.TempDir(), 0
	for _, line := range regexp.MustCompile(`args: (\[.*\])`).FindAllStringSubmatch(exampleText(t, "kubernetes.yaml"), -1) {
		jobs++
		pods := 1
		if strings.Contains(line[1], "$(PART)") {
			pods = 8
		}
		for i := range pods {
			var args []string
			require.NoError(t, json.Unmarshal([]byte(strings.ReplaceAll(line[1], "$(PART)", fmt.Sprint(i))), &args))
			moonfarm(t, console.ExitOK, quick(args, dir)...)
		}
	}
	require.Equalf(t, 2, jobs, "%d lines with args, expected 2", jobs)
	assert.Contains(t, moonfarm(t, console.ExitOK, "verify", filepath.Join(dir, "td")), ": 8 episodes, ")
}

// TestSlurmExample runs the tasks of the example, and the merge of its comment, with fewer
// games.
func TestSlurmExample(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	dir := t.TempDir()
	// A script that prints its arguments replaces moonfarm.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "moonfarm"), []byte("#!/bin/sh\nprintf '%s\\n' \"$@\"\n"), 0o777))
	text := exampleText(t, "slurm.sh")
	assert.Contains(t, text, "#SBATCH --array=0-7\n", "the tasks of the array are not those of --part I/8")
	merge := []string{"merge"}
	for i := range 8 {
		c := exec.Command(bash, "../examples/slurm.sh")
		c.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "EPISODES=8", "SLURM_CPUS_PER_TASK=2", fmt.Sprint("SLURM_ARRAY_TASK_ID=", i))
		said, err := c.CombinedOutput()
		require.NoErrorf(t, err, "%v: %s", err, said)
		args := strings.Fields(strings.ReplaceAll(string(said), "data/", dir+"/"))
		merge = append(merge, args[len(args)-1])
		moonfarm(t, console.ExitOK, append(args, "--shard-episodes", "1")...)
	}
	assert.Contains(t, text, "moonfarm merge data/td-parts/* --out data/td'", "the comment does not say how to merge")
	assert.Contains(t, moonfarm(t, console.ExitOK, append(merge, "--out", filepath.Join(dir, "td"))...), ": 8 episodes, ")
}

// TestDockerfile: the example builds moonfarm-full without cgo.
func TestDockerfile(t *testing.T) {
	text := exampleText(t, "Dockerfile")
	for _, want := range []string{"CGO_ENABLED=0 go build -trimpath ", " ./cmd/moonfarm-full\n", "\nUSER 65532:65532\n", `ENTRYPOINT ["/moonfarm-full"]`} {
		assert.Contains(t, text, want, "no")
	}
	needed := regexp.MustCompile(`\ngo (1\.\d+)`).FindStringSubmatch(exampleText(t, "../../../go.mod"))
	assert.Containsf(t, text, "FROM golang:"+needed[1]+" ", "not Go %s", needed[1])
}
