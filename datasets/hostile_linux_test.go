package datasets

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/arrowfile"
)

// hostileEnv makes the test binary read the dataset that it names.
const hostileEnv = "MOONFARM_TEST_HOSTILE"

// swell makes a list or text column of a batch hold that many bytes of zeros, which
// compress to almost nothing, all in its first row.
func swell(column string, size int) func(t *arrowfile.RecordBatch) {
	return func(t *arrowfile.RecordBatch) {
		d := t.Col(column)
		width := map[arrowfile.Type]int{arrowfile.Uint64: 8, arrowfile.Int32: 4, arrowfile.Uint8: 1, arrowfile.Utf8: 1}[d.Column.Type]
		d.Bytes = make([]byte, size)
		for i := range d.Ends[1:] {
			d.Ends[1+i] = int32(size / width)
		}
	}
}

// TestHostileMemory: every reader refuses small files that unpack to gigabytes, in less
// than 500 MB, whatever the manifest allows.
func TestHostileMemory(t *testing.T) {
	if dir := os.Getenv(hostileEnv); dir != "" {
		readHostile(t, dir)
		return
	}
	if testing.Short() {
		t.Skip("starts processes")
	}
	const gigabyte = 1 << 30
	wide := func(m *Manifest) { m.Game.MaxOrders, m.Game.MaxTurns = about.MaxOrders, about.MaxEpisodeTurns/2 }
	for name, c := range map[string]struct {
		table  string
		change func(*arrowfile.RecordBatch)
		edit   func(*Manifest)
	}{
		"orders of steps":                 {about.StepsDir, swell(ColOrders, gigabyte), nil},
		"orders of episodes":              {about.EpisodesDir, swell(ColOrders, gigabyte/8), nil},
		"ends":                            {about.EpisodesDir, swell(about.ColEnds, gigabyte/8), nil},
		"source":                          {about.EpisodesDir, swell(about.ColSource, gigabyte), nil},
		"policies":                        {about.EpisodesDir, swell(about.ColPolicies, gigabyte/8), nil},
		"orders that the manifest allows": {about.EpisodesDir, swell(ColOrders, 8*about.MaxEpisodeOrders), wide},
		"all lists": {about.EpisodesDir, func(t *arrowfile.RecordBatch) {
			for _, column := range []string{ColOrders, about.ColEnds, about.ColSource, about.ColPolicies} {
				swell(column, gigabyte/4)(t)
			}
		}, wide},
	} {
		t.Run(name, func(t *testing.T) {
			dir := generateToy(t, toyJob(2, 1), Options{})
			if c.edit != nil {
				edit(t, dir, func(m *Manifest) { c.edit(m) })
			}
			tamperWith(t, dir, c.table, c.change)
			s, err := os.Stat(filepath.Join(dir, c.table, "00001.arrow"))
			require.NoError(t, err)
			require.Less(t, s.Size(), int64(1<<20))
			cmd := exec.Command(os.Args[0], "-test.run=^TestHostileMemory$")
			cmd.Env = append(os.Environ(), hostileEnv+"="+dir)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s: %s", name, out)
			found := peakLine.FindSubmatch(out)
			require.NotNil(t, found, "%s", out)
			peak, err := strconv.Atoi(string(found[1]))
			require.NoError(t, err)
			peak /= 1000
			t.Logf("%s: a file of %d bytes, a peak of %d MB", name, s.Size(), peak)
			require.Less(t, peak, 500, name)
		})
	}
}

// readHostile reads a dataset in every way. All readers must return, and at least one
// with an error.
func readHostile(t *testing.T, dir string) {
	r := verified(t, dir, Makers{}, VerifyOptions{Workers: 2})
	require.NotEmpty(t, r.Problems)
	for _, p := range r.Problems {
		require.True(t, strings.Contains(p, "arrow: "), p)
	}
	_, err1 := Inspect(t.Context(), dir, InspectOptions{Workers: 2, Sums: true})
	d := opened(t, dir)
	for _, err := range d.Episodes() {
		err1 = errors.Join(err1, err)
	}
	require.Error(t, err1)
	status := contents(t, "/proc/self/status") // the rusage of a child includes its parent's peak
	fmt.Printf("%s\n", status)
}

// peakLine matches the line with the peak memory of a process.
var peakLine = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)
