package curves_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/view"
	"moonfarm/rollout/view/curves"
)

// charts writes a file into a folder and returns the charts of it, as the page gets them.
func charts(t *testing.T, name, text string) (*view.Charts, error) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	require.True(t, curves.Holds(dir))
	require.Equal(t, filepath.Join(dir, name), curves.File(dir))
	r, err := curves.Read(dir)
	if err != nil {
		return nil, err
	}
	all, err := view.NewResponder(r).Everything(1 << 20)
	require.NoError(t, err)
	assert.Contains(t, string(all["list.json"]), `"total":0,"policies":[],"live":false,"charts":true}`)
	assert.JSONEq(t, `{"total":0,"games":[]}`, string(all["games.json?from=0&count=50"]))
	c := &view.Charts{}
	require.NoError(t, json.Unmarshal(all["charts.json"], c))
	return c, nil
}

// TestCharts: the curves of the examples become charts, scores first.
func TestCharts(t *testing.T) {
	c, err := charts(t, "curve.json", `[{"generation": 1, "loss": 0.5, "learn": "played", "scores": {"maze": {"score": 0.25, "low": 0.1}, "planner": {"score": 0.1}}},
		{"generation": 2, "loss": 0.4, "scores": {"maze": {"score": 0.5}, "planner": null}}]`)
	require.NoError(t, err)
	assert.Equal(t, &view.Charts{Points: 2, X: "generation",
		Charts: []view.Chart{
			{Title: "scores", Lines: []view.ChartLine{{Name: "maze", Points: [][2]float64{{1, 0.25}, {2, 0.5}}}, {Name: "planner", Points: [][2]float64{{1, 0.1}}}}},
			{Title: "loss", Lines: []view.ChartLine{{Points: [][2]float64{{1, 0.5}, {2, 0.4}}}}},
		},
		Last: []view.Figure{{Name: "generation", Value: 2}, {Name: "loss", Value: 0.4}, {Name: "scores, maze", Value: 0.5}},
	}, c)
	c, err = charts(t, "curve.csv", "seconds,rows,value_outcome,same\n20.0,100,0.5,7\n40.0,200,0.25,7\n60")
	require.NoError(t, err)
	assert.Equal(t, 3, c.Points)
	assert.Equal(t, "seconds", c.X)
	require.Len(t, c.Charts, 2, "a number that does not change has no chart")
	assert.Equal(t, "value outcome", c.Charts[1].Title)
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
		points := c.Charts[0].Lines[0].Points
		assert.LessOrEqual(t, len(points), 2000)
		assert.GreaterOrEqual(t, len(points), min(n, 1000))
		assert.Equal(t, [2]float64{0, 0}, points[0])
		assert.Equal(t, float64(n-1), points[len(points)-1][0])
	}
}

// TestWrong: what is no curve gets an error, and numbers that are none are left out.
func TestWrong(t *testing.T) {
	for name, text := range map[string]string{"curve.json": "{}", "curve.csv": ""} {
		_, err := charts(t, name, text)
		assert.ErrorContains(t, err, name)
	}
	_, err := charts(t, "curve.json", `[1]`)
	assert.ErrorContains(t, err, "expected a list of objects")
	c, err := charts(t, "curve.json", `[{"a\nb": 1e308}]`)
	require.NoError(t, err)
	assert.False(t, strings.Contains(c.Charts[0].Title, "\n"), "%q", c.Charts[0].Title)
	c, err = charts(t, "curve.csv", "a,NaN\nNaN,1e999\n-Inf,\n,\n")
	require.NoError(t, err)
	assert.Empty(t, c.Charts)
	_, err = curves.Read(t.TempDir())
	require.Error(t, err)
	require.False(t, curves.Holds(t.TempDir()))
}
