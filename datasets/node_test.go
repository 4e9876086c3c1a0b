package datasets

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
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
				j.Codec, j.Obs, j.TensorMetadata = c, o, m
				dir := generateToy(t, j, Options{Workers: 2})
				out, err := exec.Command(node, "examples/read.mjs", dir).CombinedOutput()
				require.NoError(t, err, "%s", out)
				require.Equal(t, columnSums(t, dir), sumLines(string(out)))
				require.Contains(t, string(out), computedLines(t, dir))
			}
		}
	}
}

// columnSums returns the lines that the script must print: the number of rows of each
// table and the sums of its columns.
func columnSums(t *testing.T, dir string) (lines []string) {
	d := opened(t, dir)
	m := d.Manifest()
	for _, table := range []struct {
		name    string
		rows    uint64
		columns []Column
	}{{"steps", m.Totals.Rows, m.Steps.Columns}, {"episodes", m.Totals.Episodes, m.Episodes.Columns},
		{"finals", m.Totals.Episodes * uint64(m.Game.Players), m.Finals.Columns}} {
		if len(table.columns) == 0 {
			continue // finals without observations
		}
		lines = append(lines, fmt.Sprintf("%s %d", table.name, table.rows))
		for _, c := range table.columns {
			sum, err := d.ColumnSHA256(table.name, c.Name)
			require.NoError(t, err)
			lines = append(lines, fmt.Sprintf("%s.%s %s", table.name, c.Name, sum))
		}
	}
	return lines
}

// computedLines returns the lines that the script computes from the rows: the episodes
// for validation, and the sum of unpacked planes.
func computedLines(t *testing.T, dir string) string {
	d := opened(t, dir)
	text, last := "# validation", uint64(math.MaxUint64)
	for b := range each(t, d.Batches(ReadOptions{Columns: []string{about.ColEpisode}, Split: Validation, Validation: 0.1})) {
		for _, e := range b.Episode {
			if e != last {
				text, last = fmt.Sprintf("%s %d", text, e), e
			}
		}
	}
	require.NotEqual(t, uint64(math.MaxUint64), last)
	if d.Manifest().Observation.Form != ObsPacked {
		return text + "\n"
	}
	u, err := d.Manifest().Unpacker()
	require.NoError(t, err)
	o, sum := d.Manifest().Observation, sha256.New()
	planes := make([]uint8, o.Planes*o.Height*o.Width)
	for b := range each(t, d.Batches(ReadOptions{Columns: []string{about.ColPacked}})) {
		for i := range b.Rows {
			u.Unpack(planes, b.Packed[i*o.Words:])
			sum.Write(planes)
		}
	}
	return fmt.Sprintf("%s\n# unpacked %x\n", text, sum.Sum(nil))
}

// sumLines returns the lines that are not comments.
func sumLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}
