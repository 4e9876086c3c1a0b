package curves_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/view"
	"moonfarm/rollout/view/curves"
	"moonfarm/rollout/view/overview"
)

// charts writes a file into a folder and returns the overview of it, as the page gets it.
func charts(t *testing.T, name, text string) (*overview.Document, error) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	require.Equal(t, filepath.Join(dir, name), curves.File(dir))
	r, err := curves.Read(curves.File(dir), false)
	if err != nil {
		return nil, err
	}
	all, err := view.NewResponder(r).Everything(1 << 20)
	require.NoError(t, err)
	assert.Contains(t, string(all["list.json"]), `"total":0,"policies":[],"live":false,"overview":true}`)
	assert.JSONEq(t, `{"total":0,"games":[]}`, string(all["games.json?from=0&count=50"]))
	c := &overview.Document{}
	require.NoError(t, json.Unmarshal(all["overview.json"], c))
	return c, nil
}

// TestCharts: the curves of the examples become charts, scores first.
func TestCharts(t *testing.T) {
	c, err := charts(t, "curve.csv", "generation,loss,learn,scores/maze,low/maze,scores/planner\n1,0.5,played,0.25,0.1,0.1\n2,0.4,played,0.5,0.2,\n")
	require.NoError(t, err)
	assert.Equal(t, []overview.Section{
		{Title: "Progress", Text: []string{"2 points"}, Charts: []overview.Chart{
			{Title: "scores", X: "generation", Lines: []overview.Line{{Name: "maze", Points: [][2]float64{{1, 0.25}, {2, 0.5}}}, {Name: "planner", Points: [][2]float64{{1, 0.1}}}}},
			{Title: "loss", X: "generation", Lines: []overview.Line{{Points: [][2]float64{{1, 0.5}, {2, 0.4}}}}},
		}},
		{Title: "The last point", Tables: []overview.Table{overview.TableOf("", [][]string{{"number", "value"}, {"generation", "2"}, {"loss", "0.4"}, {"scores, maze", "0.5"}, {"low, maze", "0.2"}})}},
	}, c.Sections)
	c, err = charts(t, "curve.csv", "seconds,rows,value_outcome,same\n20.0,100,0.5,7\n40.0,200,0.25,7\n60")
	require.NoError(t, err)
	assert.Equal(t, []string{"3 points"}, c.Sections[0].Text)
	plots := c.Sections[0].Charts
	require.Len(t, plots, 2, "a number that does not change has no chart")
	assert.Equal(t, "value outcome rows", plots[1].Title+" "+plots[1].X)
}

// TestThinned: a long run has the first and the last point, and not more than a screen can show.
func TestThinned(t *testing.T) {
	for _, n := range []int{1, 2, 1999, 2000, 2001, 4001, 50000} {
		text := "steps,loss\n"
		for i := range n {
			text += fmt.Sprintf("%d,%d\n", i, i%7)
		}
		c, err := charts(t, "curve.csv", text)
		require.NoError(t, err)
		points := c.Sections[0].Charts[0].Lines[0].Points
		assert.LessOrEqual(t, len(points), 2000)
		assert.GreaterOrEqual(t, len(points), min(n, 1000))
		assert.Equal(t, [2]float64{0, 0}, points[0])
		assert.True(t, slices.IsSortedFunc(points, func(a, b [2]float64) int { return cmp.Or(cmp.Compare(a[0], b[0]), -1) }), "no point is there twice")
		assert.Equal(t, float64(n-1), points[len(points)-1][0])
	}
}

// TestWrong: what is no curve gets an error, and numbers that are none are left out.
func TestWrong(t *testing.T) {
	_, err := charts(t, "curve.csv", "")
	assert.ErrorContains(t, err, "curve.csv: expected a line with names")
	c, err := charts(t, "curve.csv", "\"a\nb\"\n1e308\n")
	require.NoError(t, err)
	assert.False(t, strings.Contains(c.Sections[0].Charts[0].Title, "\n"), "%q", c.Sections[0].Charts[0].Title)
	c, err = charts(t, "curve.csv", "a,NaN\nNaN,1e999\n-Inf,\n,\n")
	require.NoError(t, err)
	assert.Empty(t, c.Sections[0].Charts)
	require.Empty(t, curves.File(t.TempDir()))
}
