// Package places restricts where a farm may write its datasets.
package places

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"moonfarm/rollout/farm"
	"moonfarm/rollout/redact"
)

// Places are folders and URLs below which a farm may write.
type Places []*place

// place is a folder or a URL: a run's output, or a prefix of outputs.
type place struct {
	text      string   // shown in messages, without the query
	dir, real string   // a folder: as written, and without symbolic links
	url       *url.URL // any other store
	query     map[string]string
}

// Allow parses places, absolute or relative to the current folder. Without texts it allows the
// current folder.
func Allow(texts []string) (Places, error) {
	if len(texts) == 0 {
		here, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		texts = []string{here}
	}
	var o Places
	for _, text := range texts {
		if !anyURL.MatchString(text) {
			var err error
			if text, err = filepath.Abs(text); err != nil {
				return nil, err
			}
		}
		p, err := outputAt(text)
		if err == nil {
			err = p.resolve()
		}
		if err != nil {
			return nil, err
		}
		o = append(o, p)
	}
	return o, nil
}

// Guard returns an Open that refuses the specs whose outputs are not allowed. It opens the others
// with the place as Within, because a folder may become a link after it was checked.
func (o Places) Guard(open farm.Open) farm.Open {
	return func(ctx context.Context, s *farm.Spec, workers int) (farm.Shards, error) {
		a, p, err := o.find(s.Out)
		if err != nil {
			return nil, err
		}
		guarded := *s
		guarded.Within, guarded.Folder = a.real, p.real
		return open(ctx, &guarded, workers)
	}
}

// Obey returns an Open that writes where the coordinator allows it: below the Within of a spec.
func Obey(open farm.Open) farm.Open {
	return func(ctx context.Context, s *farm.Spec, workers int) (farm.Shards, error) {
		if s.Within == "" {
			return open(ctx, s, workers)
		}
		o, err := Allow([]string{s.Within})
		if err != nil {
			return nil, err
		}
		return o.Guard(open)(ctx, s, workers)
	}
}

// Within returns the place above an output that was allowed, as the output has it, and "" for a URL.
// It looks at no link, because what was allowed may be one by now.
func (o Places) Within(out string) string {
	p, err := outputAt(out)
	if err != nil || p.url != nil {
		return ""
	}
	for _, a := range o {
		for _, dir := range []string{a.dir, a.real} {
			if a.url == nil && below(p.dir, dir) {
				return dir
			}
		}
	}
	return ""
}

// find returns the place that an output is below of, and fails if there is none.
func (o Places) find(out string) (a, p *place, err error) {
	if p, err = outputAt(out); err == nil {
		err = p.resolve()
	}
	if err != nil {
		return nil, nil, err
	}
	var names []string
	for _, a := range o {
		if a.holds(p) {
			return a, p, nil
		}
		names = append(names, a.text)
	}
	hint := ""
	if p.url != nil {
		hint = "; all options of a URL but region, timeout and use_path_style must be in --allow-out as well"
	}
	return nil, nil, fmt.Errorf("output %s: not allowed here, expected an output below %s (--allow-out of farm serve)%s", p.text, strings.Join(names, " or "), hint)
}

// outputAt parses an output. It accepts only absolute paths and URLs in canonical form.
func outputAt(text string) (*place, error) {
	for _, r := range text {
		if !unicode.IsPrint(r) {
			return nil, fmt.Errorf("output %.200q: expected printable characters", text)
		}
	}
	if !anyURL.MatchString(text) {
		return folderOf(text, text)
	}
	if err := redact.Check(text); err != nil {
		return nil, fmt.Errorf("output %w", err)
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("output: not a URL: %w", errors.Unwrap(err)) // the full error repeats the whole URL
	}
	shown := u.Scheme + "://" + u.Host + u.Path
	switch {
	case u.Fragment != "" || u.Opaque != "":
		return nil, fmt.Errorf("output %s: expected SCHEME://BUCKET/PREFIX, found more", shown)
	case u.Scheme == "file" && (u.Host != "" && u.Host != "localhost" || u.RawQuery != ""):
		return nil, fmt.Errorf("output %s: expected the path of a folder on this machine, as in file:///data/td", shown)
	case u.Scheme == "file":
		return folderOf(shown, u.Path)
	case u.Host == "" || strings.HasPrefix(u.Host, "-"):
		return nil, fmt.Errorf("output %s: expected %s://BUCKET/PREFIX", shown, u.Scheme)
	case strings.TrimSuffix(u.Path, "/") != strings.TrimSuffix(path.Clean("/"+u.Path), "/"):
		return nil, fmt.Errorf("output %s: expected a path without //, . or .. in it", shown)
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("output %s: its options cannot be read", shown)
	}
	p := &place{text: shown, url: u, query: map[string]string{}}
	for k, v := range q {
		if len(v) != 1 {
			return nil, fmt.Errorf("output %s: the option %.40q is given twice", shown, k)
		}
		p.query[k] = v[0]
	}
	return p, nil
}

// folderOf reads the path of a folder, which may not exist yet.
func folderOf(text, dir string) (*place, error) {
	if trimmed := strings.TrimSuffix(dir, string(filepath.Separator)); trimmed != "" {
		dir = trimmed
	}
	if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir {
		return nil, fmt.Errorf("output %s: expected an absolute path without //, . and .., or a URL", text)
	}
	return &place{text: text, dir: dir}, nil
}

// resolve resolves the links of a folder.
func (p *place) resolve() (err error) {
	if p.url != nil {
		return nil
	}
	if p.real, err = withoutLinks(p.dir); err != nil {
		return fmt.Errorf("output %s: %w", p.text, err)
	}
	for _, system := range []string{"/proc", "/sys", "/dev"} {
		if below(p.dir, system) || below(p.real, system) {
			return fmt.Errorf("output %s: %s is not a folder for datasets", p.text, system)
		}
	}
	return nil
}

// anyURL matches a URL, and not a path.
var anyURL = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://`)

// withoutLinks resolves the symbolic links of a path, whose last parts may not exist.
func withoutLinks(dir string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: a symbolic link to a missing target", dir)
	}
	parent := filepath.Dir(dir)
	if parent == dir {
		return "", fmt.Errorf("%s: does not exist", dir)
	}
	real, err = withoutLinks(parent)
	return filepath.Join(real, filepath.Base(dir)), err
}

// below reports whether a clean path is another one or below it.
func below(path, top string) bool {
	separator := string(filepath.Separator)
	return path == top || strings.HasPrefix(path, strings.TrimSuffix(top, separator)+separator)
}

// regionForm matches a region, which becomes a part of the host name of the store.
var regionForm = regexp.MustCompile(`^[a-z0-9-]{1,40}$`)

// holds reports whether an output is below a place. A symbolic link on the way may lead to another
// folder below the place. A URL must have the options of the place: with another endpoint or
// profile, the server would talk to an address of the submitter's choice.
func (a *place) holds(p *place) bool {
	if a.url == nil || p.url == nil {
		return a.url == nil && p.url == nil && (below(p.dir, a.dir) || below(p.dir, a.real)) && below(p.real, a.real)
	}
	if r, has := p.query["region"]; has && !regionForm.MatchString(r) {
		return false
	}
	fixed := func(q map[string]string) map[string]string {
		q = maps.Clone(q)
		for _, free := range []string{"region", "timeout", "use_path_style"} {
			delete(q, free)
		}
		return q
	}
	top, at := strings.TrimSuffix(a.url.Path, "/"), strings.TrimSuffix(p.url.Path, "/")
	return a.url.Scheme == p.url.Scheme && a.url.Host == p.url.Host && maps.Equal(fixed(a.query), fixed(p.query)) &&
		(at == top || strings.HasPrefix(at, top+"/"))
}
