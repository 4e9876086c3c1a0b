package bench

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestProfileOf(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings []debug.BuildSetting
		want     string
	}{
		{"no settings", nil, ""},
		{"others", []debug.BuildSetting{{Key: "-trimpath", Value: "true"}}, ""},
		{"off", []debug.BuildSetting{{Key: "-pgo", Value: "off"}}, ""},
		{"a path", []debug.BuildSetting{{Key: "-buildmode", Value: "exe"}, {Key: "-pgo", Value: "/src/cmd/moonfarm/moonfarm.pgo"}}, "moonfarm.pgo"},
		{"a name", []debug.BuildSetting{{Key: "-pgo", Value: "moonfarm.pgo"}}, "moonfarm.pgo"},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, profileOf(&debug.BuildInfo{Settings: c.settings}))
		})
	}
	assert.Empty(t, profileOf(nil))
}
