package curves_test

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/view/curves"
)

// page writes a file into a folder and returns the page of it.
func page(t *testing.T, name, text string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	require.True(t, curves.Holds(dir))
	r, err := curves.Read(dir)
	if err != nil {
		return "", err
	}
	html, err := curves.Page(r, 5)
	require.NoError(t, err)
	d := xml.NewDecoder(strings.NewReader(string(html)))
	d.Strict = true
	for {
		_, err := d.Token()
		if err == io.EOF {
			return string(html), nil
		}
		require.NoError(t, err)
	}
}

// TestPage: the curves of the examples become charts, scores first.
func TestPage(t *testing.T) {
	html, err := page(t, "curve.json", `[{"generation": 1, "loss": 0.5, "learn": "played", "scores": {"maze": {"score": 0.25, "low": 0.1}, "planner": {"score": 0.1}}},
		{"generation": 2, "loss": 0.4, "scores": {"maze": {"score": 0.5}, "planner": null}}]`)
	require.NoError(t, err)
	assert.Less(t, strings.Index(html, "<figcaption>scores"), strings.Index(html, "<figcaption>loss"))
	assert.Equal(t, 2, strings.Count(html, "<figure>"))
	for _, want := range []string{"2 points", "maze", "planner", "generation", `http-equiv="refresh"`, "scores, maze</th><td>0.5<"} {
		assert.Contains(t, html, want)
	}
	html, err = page(t, "curve.json", `[{"round": 1, "scores": {"econ": 0.5, "turtle": 1}}]`)
	require.NoError(t, err)
	assert.Contains(t, html, "turtle")
	html, err = page(t, "curve.csv", "seconds,rows,value_outcome\n20.0,100,0.5\n40.0,200,0.25\n60")
	require.NoError(t, err)
	assert.Contains(t, html, "<figcaption>value outcome")
	assert.Contains(t, html, "3 points")
	assert.Equal(t, 2, strings.Count(html, "<figure>"))
}

// TestWrong: what is no curve gets an error, and texts from files become no markup.
func TestWrong(t *testing.T) {
	for name, text := range map[string]string{"curve.json": "{}", "curve.csv": ""} {
		_, err := page(t, name, text)
		assert.ErrorContains(t, err, name)
	}
	_, err := page(t, "curve.json", `[1]`)
	assert.ErrorContains(t, err, "expected a list of objects")
	html, err := page(t, "curve.json", `[{"<script>alert(1)</script>": 1e308, "scores": {"</svg><script>": 0.5, "b": 1}}, {}]`)
	require.NoError(t, err)
	assert.NotContains(t, html, "<script")
	html, err = page(t, "curve.csv", "a\x00b,NaN\nNaN,1e999\n,\n")
	require.NoError(t, err)
	assert.NotContains(t, html, "\x00")
	_, err = curves.Read(t.TempDir())
	require.Error(t, err)
	require.False(t, curves.Holds(t.TempDir()))
}
