package datasets

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNode runs examples/read.mjs and compares the sums of all columns, where
// node and the example's packages are installed.
func TestNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	if _, err := os.Stat("examples/node_modules/apache-arrow"); err != nil {
		t.Skip("no packages: npm install in datasets/examples")
	}
	for _, c := range []Codec{Zstd, None} {
		for _, o := range []Obs{ObsPlanes, ObsPacked, ObsNone} {
			for _, m := range []Tensors{TensorsExtension, TensorsPlain} {
				j := toyJob(3, 2)
				j.Codec, j.Obs, j.Tensors = c, o, m
				dir := generateToy(t, j, Options{Workers: 2})
				out, err := exec.Command(node, "examples/read.mjs", dir).CombinedOutput()
				require.NoError(t, err, "%s", out)
				require.Equal(t, nodeLines(t, dir), sumLines(string(out)))
			}
		}
	}
}

// nodeLines are the lines that the script must print.
func nodeLines(t *testing.T, dir string) (lines []string) {
	d, err := Open(dir)
	require.NoError(t, err)
	m := d.Manifest()
	for _, table := range []struct {
		name    string
		rows    uint64
		columns []Column
	}{{"steps", m.Totals.Rows, m.Steps.Columns}, {"episodes", m.Totals.Episodes, m.Episodes.Columns}} {
		lines = append(lines, fmt.Sprintf("%s %d", table.name, table.rows))
		for _, c := range table.columns {
			sum, err := d.ColumnSHA256(table.name, c.Name)
			require.NoError(t, err)
			lines = append(lines, fmt.Sprintf("%s.%s %s", table.name, c.Name, sum))
		}
	}
	return lines
}

// sumLines leaves out the lines that are comments.
func sumLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}
