package datasets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"moonfarm/env"
)

// remade compares the manifest with the one that a run of its Job writes now,
// key by key, but for the totals and the index, which follow from the files.
func (v *verifier) remade(l *layout, m Makers) error {
	usual, err := m.Vector("", env.Config{N: 1})
	if err != nil {
		return err
	}
	found, err := keysOf(v.d.manifest)
	if err != nil {
		return err
	}
	expected, err := keysOf(newManifest(l, l.job.command(usual.Spec().Info.Config)))
	if err != nil {
		return err
	}
	differing("", found, expected, func(key string, found, expected any) {
		f, _ := json.Marshal(found) // came from JSON: cannot fail
		e, _ := json.Marshal(expected)
		is, would := difference(string(f), string(e))
		v.problem("%s: %s is %s, made anew it is %s", manifestName, key, is, would)
	})
	return nil
}

// notOfJob are the keys that do not follow from the Job alone.
var notOfJob = []string{"totals", "index", "shards", "statistics", "card", "checksum"}

// keysOf are the keys of a manifest that follow from its Job. Of a manifest of
// format 1 these are the ones it had, without the command and prose, which may
// say more now.
func keysOf(m *Manifest) (map[string]any, error) {
	text, err := canonical(m)
	if err == nil && m.Format == 1 {
		var old manifest1
		if err = json.Unmarshal(text, &old); err == nil {
			old.Job.Shards = nil
			text, err = canonical(old)
		}
	}
	if err != nil {
		return nil, err
	}
	var keys map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&keys); err != nil {
		return nil, err
	}
	for _, k := range notOfJob {
		delete(keys, k)
	}
	if m.Format == 1 {
		delete(keys, "command")
		withoutProse(keys)
	}
	return keys, nil
}

// withoutProse removes the keys that hold prose.
func withoutProse(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "doc")
		delete(v, "packed")
		for _, of := range v {
			withoutProse(of)
		}
	case []any:
		for _, of := range v {
			withoutProse(of)
		}
	}
}

// differing calls tell for every place in which two values from JSON differ.
func differing(key string, found, expected any, tell func(key string, found, expected any)) {
	switch e := expected.(type) {
	case map[string]any:
		if f, ok := found.(map[string]any); ok {
			for _, k := range keysOfBoth(f, e) {
				sub := k
				if key != "" {
					sub = key + "." + k
				}
				differing(sub, f[k], e[k], tell)
			}
			return
		}
	case []any:
		if f, ok := found.([]any); ok && len(f) == len(e) {
			for i := range e {
				differing(fmt.Sprintf("%s[%d]", key, i), f[i], e[i], tell)
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

func keysOfBoth(a, b map[string]any) []string {
	var keys []string
	for k := range a {
		keys = append(keys, k)
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// differ says which is the first key in which two Jobs differ, and how; "" if they
// are equal.
func (j Job) differ(other Job) string {
	a, b := reflect.ValueOf(j), reflect.ValueOf(other)
	for i := range a.NumField() {
		key, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("json"), ",")
		x, _ := json.Marshal(a.Field(i).Interface()) // numbers and strings: cannot fail
		y, _ := json.Marshal(b.Field(i).Interface())
		if key != "-" && !bytes.Equal(x, y) {
			has, this := difference(string(x), string(y))
			return fmt.Sprintf("%s: it has %s, this run %s", key, has, this)
		}
	}
	return ""
}

// difference returns two texts for a message: of long texts the part from a little
// before the place where they begin to differ.
func difference(a, b string) (partOfA, partOfB string) {
	const before = 40
	from := 0
	for from < min(len(a), len(b)) && a[from] == b[from] {
		from++
	}
	for from = max(from-before, 0); from > 0 && !utf8.RuneStart(a[from]); from-- {
	}
	return short(a, from), short(b, from)
}

// short cuts a long text to a part from a place on.
func short(s string, from int) string {
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
