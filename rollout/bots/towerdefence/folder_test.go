package towerdefence

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
)

// counted returns the commands of the match's bots, of the kind "counts": how often they
// were started in their folder.
func counted(t *testing.T, m *Match) string {
	t.Helper()
	r, l := play(t, m)
	var all []string
	for round := range r.Turns {
		for i := range m.Seats {
			if b := m.Seats[i].Program; b != nil {
				all = append(all, strings.TrimPrefix(l.text(t, round, "AB"[i:i+1]+" - "+b.Name, "PlayerCommand.txt"), "count "))
			}
		}
	}
	return strings.Join(all, " ")
}

// TestFolders: bots keep files in their folder for the next game, and share them with the
// other seat if it has the same folder. A copy is deleted after the game.
func TestFolders(t *testing.T) {
	b := bot(t, "counts")
	own := &Match{Rules: rules(1), Seats: []Seat{{Program: b}, {}}}
	both := &Match{Rules: rules(1), Seats: []Seat{{Program: b}, {Program: b}}}
	copies := &Match{Rules: rules(1), Seats: []Seat{{Program: b, Copy: true}, {Program: b, Copy: true}}}
	boxed := child.Limits{Box: child.Automatic}
	boxes := &Match{Rules: rules(1), Seats: []Seat{{Program: b, Process: boxed}, {Program: b, Process: boxed}}}
	inBoxes := "9 9 10 10"
	if means, _ := child.Automatic.Means(); means != child.Namespaces {
		inBoxes = "9 10 11 12"
	}
	t.Setenv("TMPDIR", t.TempDir())
	for i, c := range []struct {
		match *Match
		want  string
	}{{own, "1 2"}, {own, "3 4"}, {copies, "5 5 6 6"}, {both, "5 6 7 8"}, {copies, "9 9 10 10"}, {boxes, inBoxes}} {
		t.Run(fmt.Sprintf("match %d", i+1), func(t *testing.T) {
			assert.Equalf(t, c.want, counted(t, c.match), "match %d: counted", i+1)
		})
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoErrorf(t, err, "left behind: %v", left)
	assert.Empty(t, left, "left behind")
}

// TestGamesAtOnce: games that are started at the same time do not use a folder at the same
// time.
func TestGamesAtOnce(t *testing.T) {
	a, b := bot(t, "counts"), bot(t, "counts")
	var games sync.WaitGroup
	for i := range 6 {
		games.Go(func() {
			m := &Match{Rules: rules(2), Seats: []Seat{{Program: a}, {Program: b}}}
			if i%2 == 1 {
				m.Seats[0], m.Seats[1] = m.Seats[1], m.Seats[0]
			}
			got := strings.Fields(counted(t, m))
			for k := 2; k < len(got); k++ {
				if len(got) != 6 || len(got[k]) < len(got[k-2]) {
					t.Errorf("counted %q", got)
				}
			}
		})
	}
	games.Wait()
	for _, p := range []*Program{a, b} {
		assert.Equal(t, "18", read(t, filepath.Join(p.Dir, "count.txt")), "counted to")
	}
}

// TestClaim: a game waits for a folder until its limit, or until it is interrupted.
func TestClaim(t *testing.T) {
	b := bot(t, "empty")
	linked := *b
	linked.Work = filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(b.Work, linked.Work))
	inside, leave := make(chan bool), make(chan bool)
	first := &Match{Rules: rules(1), Seats: []Seat{{Program: b}, {}}}
	rounds := 0
	first.Watch = func(env.Vector) error {
		if rounds++; rounds == 1 {
			close(inside)
			<-leave
		}
		return nil
	}
	done := make(chan error)
	go func() {
		_, err := first.Play(t.Context())
		done <- err
	}()
	<-inside
	second := &Match{Rules: rules(1), Seats: []Seat{{}, {Program: &linked, Limits: bots.Limits{Accept: 50 * time.Millisecond}}}}
	_, err := second.Play(t.Context())
	assert.ErrorContains(t, err, "another game has been playing in the folder")
	second.Seats[1].Limits.Accept = 0
	enough := errors.New("enough")
	ctx, stop := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, enough)
	defer stop()
	_, err = second.Play(ctx)
	assert.ErrorIs(t, err, enough)
	close(leave)
	_, err = second.Play(t.Context())
	assert.NoError(t, err)
	assert.NoError(t, <-done)
}

// TestCopy: a copy has all files of a folder. Links lead to the copies of targets in the
// folder and to the same targets elsewhere.
func TestCopy(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "bin", "bot"), "program")
	write(t, filepath.Join(dir, "data.txt"), "data")
	outside := filepath.Join(t.TempDir(), "model")
	write(t, outside, "model")
	up, err := filepath.Rel(filepath.Join(dir, "bin"), outside)
	for name, target := range map[string]string{
		"bin/near": "../data.txt", "full": filepath.Join(dir, "data.txt"), "far": outside, "bin/up": up, "dead": "nowhere", "folder": "bin",
	} {
		if err == nil {
			err = os.Symlink(target, filepath.Join(dir, name))
		}
	}
	if err == nil {
		err = os.Chmod(filepath.Join(dir, "bin", "bot"), 0o755)
	}
	require.NoError(t, err)
	p := &Program{Dir: dir, Work: filepath.Join(dir, "bin")}
	work, remove, err := p.copied(t.Context())
	require.NoError(t, err)
	copied := filepath.Dir(work)
	write(t, filepath.Join(copied, "data.txt"), "other data")
	for name, want := range map[string]string{
		"bin/bot": "program", "bin/near": "other data", "full": "other data", "far": "model", "bin/up": "model", "folder/bot": "program",
	} {
		assert.Equal(t, want, read(t, filepath.Join(copied, name)), name)
	}
	assert.Equal(t, "data", read(t, filepath.Join(dir, "data.txt")), "the original has changed")
	info, err := os.Stat(filepath.Join(work, "bot"))
	require.NoErrorf(t, err, "%v", info.Mode())
	assert.Equalf(t, fs.FileMode(0o755), info.Mode().Perm(), "%v", info.Mode())
	target, err := os.Readlink(filepath.Join(copied, "dead"))
	require.NoErrorf(t, err, "%q", target)
	assert.Equal(t, "nowhere", target)
	require.NoError(t, os.Chmod(work, 0))
	require.NoError(t, os.Chmod(copied, 0))
	remove()
	_, err = os.Stat(copied)
	assert.ErrorIs(t, err, fs.ErrNotExist, "the copy is still there")
}

// TestCopyErrors: copies are bounded and can be interrupted; then they are deleted.
func TestCopyErrors(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c/d"} {
		write(t, filepath.Join(dir, name), "12345678")
	}
	stopped, stop := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	stop(enough)
	for _, c := range []struct {
		copier copier
		want   string // "": none
	}{
		{copier{bytes: 24, files: 4}, ""},
		{copier{bytes: 23, files: 4}, "it has more than 1024 MiB"},
		{copier{bytes: 24, files: 3}, "it has more than 100000 files"},
		{copier{ctx: stopped, bytes: 24, files: 4}, "enough"},
	} {
		t.Run(cmp.Or(c.want, "within the bounds"), func(t *testing.T) {
			if c.copier.ctx == nil {
				c.copier.ctx = t.Context()
			}
			c.copier.from, c.copier.to = dir, rootOf(t, t.TempDir())
			err := c.copier.copy()
			assert.Truef(t, (c.want != "" || err == nil) && (c.want == "" || err != nil && strings.HasPrefix(err.Error(), c.want)), "%+v: error %v", c.copier, err)
		})
	}
	t.Setenv("TMPDIR", t.TempDir())
	p := &Program{Dir: dir, Work: dir}
	_, _, err := p.copied(stopped)
	assert.ErrorIs(t, err, enough)
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoErrorf(t, err, "left behind: %v", left)
	assert.Empty(t, left, "left behind")
}
