package moonfarm_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/datasets"
	"moonfarm/sim/simtest"
)

// TestVersion: the Python package, the changelog and a tag of the commit name the version of
// datasets.Version.
func TestVersion(t *testing.T) {
	first := func(file, pattern string) string {
		t.Helper()
		m := regexp.MustCompile("(?m)" + pattern).FindStringSubmatch(string(simtest.Text(t, file)))
		require.NotNil(t, m, "%s has no line like %s", file, pattern)
		return m[1]
	}
	assert.Equal(t, datasets.Version, first("env/python/moonfarm/version.py", `^__version__ = "(.*)"$`))
	assert.Equal(t, datasets.Version, first("CHANGELOG.md", `^## \[(\d.*)\] - \d{4}-\d\d-\d\d$`))
	tags, err := exec.CommandContext(t.Context(), "git", "tag", "--points-at", "HEAD").Output()
	if err != nil {
		t.Logf("left out: the tags of the commit: %v", err) // sources without a repository
	}
	for _, tag := range strings.Fields(string(tags)) {
		if regexp.MustCompile(`^v\d`).MatchString(tag) {
			assert.Equal(t, "v"+datasets.Version, tag)
		}
	}
}
