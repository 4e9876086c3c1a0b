package jsontext

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Differences calls tell for each place in which two values from JSON differ.
func Differences(key string, found, expected any, tell func(key string, found, expected any)) {
	switch e := expected.(type) {
	case map[string]any:
		if f, ok := found.(map[string]any); ok {
			keys := slices.AppendSeq(slices.Collect(maps.Keys(f)), maps.Keys(e))
			slices.Sort(keys)
			for _, k := range slices.Compact(keys) {
				sub := k
				if key != "" {
					sub = key + "." + k
				}
				Differences(sub, f[k], e[k], tell)
			}
			return
		}
	case []any:
		if f, ok := found.([]any); ok && len(f) == len(e) {
			for i := range e {
				Differences(fmt.Sprintf("%s[%d]", key, i), f[i], e[i], tell)
			}
			return
		}
	default:
		if found == expected {
			return
		}
	}
	tell(key, found, expected)
}

// AtDifference returns two texts for a message. It cuts long texts to a part that begins
// shortly before their first difference.
func AtDifference(a, b string) (partOfA, partOfB string) {
	const before = 40
	from := 0
	for from < min(len(a), len(b)) && a[from] == b[from] {
		from++
	}
	for from = max(from-before, 0); from > 0 && !utf8.RuneStart(a[from]); from-- {
	}
	return Short(a, from), Short(b, from)
}

// Short cuts a long text to a part that begins at the given place.
func Short(s string, from int) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	text := strings.ToValidUTF8(s[from:min(len(s), from+most)], "")
	if from > 0 {
		text = "…" + text
	}
	if len(s) > from+most {
		text += "…"
	}
	return text
}
