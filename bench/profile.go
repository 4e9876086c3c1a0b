package bench

import (
	"path/filepath"
	"runtime/debug"
	"slices"
)

// Profile returns the name of the profile with which this program was built
// (go build -pgo=FILE), or "" for a build without a profile.
func Profile() string {
	info, _ := debug.ReadBuildInfo()
	return profileOf(info)
}

func profileOf(info *debug.BuildInfo) string {
	if info == nil {
		return ""
	}
	i := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "-pgo" })
	if i < 0 || info.Settings[i].Value == "off" {
		return ""
	}
	return filepath.Base(info.Settings[i].Value)
}
