// Command release builds the files of a release: an archive of each command for each
// platform, Python wheels for this platform and those for which a C compiler is there, and
// SHA256SUMS.
//
//	go run ./cmd/internal/release -out dist
//
// The commands are all main packages directly under cmd except the C library. They are
// static, stripped and built with the profile cmd/moonfarm/moonfarm.pgo. The same commit and
// version of Go make the same bytes.
//
// A release needs a commit without uncommitted changes, with the tag of its version (v and
// datasets.Version), and without unreleased changes in CHANGELOG.md. With -draft it is built
// from any commit.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"moonfarm/datasets"
	"moonfarm/sim/bounded"
)

// profile is the path of the profile of the builds, from the root of the module.
const profile = "cmd/moonfarm/moonfarm.pgo"

// platforms are the platforms of a release.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("release", flag.ExitOnError)
	out := flags.String("out", "dist", "new `folder` for the files")
	on := flags.String("platforms", strings.Join(platforms, ","), "`list` of system/architecture")
	named := flags.String("commands", "", "`list` of commands (default all)")
	wheels := flags.Bool("wheels", true, "build the Python wheels, with pip of $PYTHON or python3")
	draft := flags.Bool("draft", false, "build from any commit")
	if err := flags.Parse(args); err != nil {
		return err
	}
	module, err := output(ctx, ".", "go", "env", "GOMOD")
	if err != nil {
		return err
	}
	r := &release{root: filepath.Dir(module), version: datasets.Version, profile: profile, platforms: strings.Split(*on, ","), wheels: *wheels, log: os.Stderr}
	if r.out, err = filepath.Abs(*out); err != nil {
		return err
	}
	if !*draft {
		if err := r.check(ctx); err != nil {
			return fmt.Errorf("%w (-draft builds nevertheless)", err)
		}
	}
	if r.when, err = r.commitTime(ctx); err != nil {
		return err
	}
	if r.commands, err = commands(ctx, r.root); err != nil {
		return err
	}
	if *named != "" {
		all := r.commands
		r.commands = strings.Split(*named, ",")
		for _, c := range r.commands {
			if !slices.Contains(all, c) {
				return fmt.Errorf("no command %q; there are: %s", c, strings.Join(all, ", "))
			}
		}
	}
	return r.make(ctx)
}

// check fails if the commit is not ready for a release.
func (r *release) check(ctx context.Context) error {
	changes, err := output(ctx, r.root, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	tags, err := output(ctx, r.root, "git", "tag", "--points-at", "HEAD")
	if err != nil {
		return err
	}
	log, err := bounded.ReadFile(os.Open, filepath.Join(r.root, "CHANGELOG.md"), bounded.Config)
	if err != nil {
		return err
	}
	if info, err := os.Stat(filepath.Join(r.root, ".git")); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a clone: go names the commit in programs only in a folder with a folder .git", r.root)
	}
	return cmp.Or(checkTag(r.version, strings.Fields(tags), changes), checkChangelog(r.version, string(log)))
}

// checkChangelog fails unless the changelog begins with the section of the version. An empty
// section Unreleased may precede it.
func checkChangelog(version, log string) error {
	unreleased, _, found := strings.Cut(log, "\n## ["+version+"] - ")
	if !found {
		return fmt.Errorf("CHANGELOG.md has no section of version %s", version)
	}
	if _, changes, _ := strings.Cut(unreleased, "\n## "); strings.TrimSpace(strings.TrimPrefix(changes, "[Unreleased]")) != "" {
		return fmt.Errorf("CHANGELOG.md has changes before those of version %s:\n## %s", version, changes)
	}
	return nil
}

func checkTag(version string, tags []string, changes string) error {
	if changes != "" {
		return fmt.Errorf("there are changes that are not committed:\n%s", changes)
	}
	if !slices.Contains(tags, "v"+version) {
		return fmt.Errorf("the commit does not have the tag v%s of its version; its tags: %q", version, tags)
	}
	return nil
}

// commitTime returns the time of the commit.
func (r *release) commitTime(ctx context.Context) (time.Time, error) {
	text, err := output(ctx, r.root, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// commands returns the names of the main packages directly under cmd except the C library.
func commands(ctx context.Context, root string) (names []string, err error) {
	list, err := output(ctx, root, "go", "list", "-e", "-f", `{{if eq .Name "main"}}{{.ImportPath}}{{end}}`, "./cmd/...")
	for _, path := range strings.Fields(list) {
		_, name, _ := strings.Cut(path, "/cmd/")
		if !strings.Contains(name, "/") && name != "libmoonfarm" {
			names = append(names, name)
		}
	}
	return names, err
}

// output runs a program in a folder and returns its standard output without surrounding
// blanks.
func output(ctx context.Context, dir, program string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = dir
	out, err := c.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("%s: %w: %s", strings.Join(c.Args, " "), err, failed.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}
