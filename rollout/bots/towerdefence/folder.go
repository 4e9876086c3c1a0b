package towerdefence

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"moonfarm/rollout/bots/child"
	"moonfarm/rollout/filelock"
)

// folder is the working directory of a bot without a copy.
type folder struct {
	work  *os.Root
	limit time.Duration // for waiting until it is free; 0: no limit
	locks *filelock.Locker
}

// lockFolders opens the working directory of each seat's bot, so that a bot cannot put
// another folder in its place; those in boxes have folders of their own. It locks those that are not
// copies until release is called, so that no two games use one at the same time. It locks
// them in the order of their paths, so that no two games wait for each other.
func lockFolders(ctx context.Context, seats []Seat, locks *filelock.Locker) (work []*os.Root, release func(), err error) {
	var ends []func()
	all := func() {
		for _, end := range slices.Backward(ends) {
			end()
		}
	}
	defer func() {
		if err != nil {
			all()
		}
	}()
	work = make([]*os.Root, len(seats))
	var shared []folder
	for i := range seats {
		s := &seats[i]
		means, _ := s.Process.Box.Means()
		if s.Program == nil || means == child.Namespaces { // its folder in the box is its own
			continue
		}
		var path string
		copied := s.Copy || means == child.Landlock // else it could change what else is there
		if copied {
			var remove func()
			if path, remove, err = s.Program.copied(ctx); err == nil {
				ends = append(ends, remove)
			}
		} else {
			path, err = filepath.EvalSymlinks(s.Program.Work)
		}
		var root *os.Root
		if err == nil {
			root, err = os.OpenRoot(path)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("seat %d: %w", i+1, err)
		}
		ends = append(ends, func() { root.Close() })
		if work[i] = root; !copied {
			shared = append(shared, folder{root, s.Limits.Accept, locks})
		}
	}
	slices.SortFunc(shared, func(a, b folder) int { return strings.Compare(a.work.Name(), b.work.Name()) })
	shared = slices.CompactFunc(shared, func(a, b folder) bool { return a.work.Name() == b.work.Name() }) // both bots work there
	for _, f := range shared {
		end, err := f.lock(ctx)
		if err != nil {
			return nil, nil, err
		}
		ends = append(ends, end)
	}
	return work, all, nil
}

// lockPause is the time between two attempts to lock a folder.
const lockPause = 20 * time.Millisecond

// lock waits until no other game, of this process or another one, uses the folder, and
// locks it until release is called.
func (f folder) lock(ctx context.Context) (release func(), err error) {
	for begin := time.Now(); ; {
		release, err := f.locks.LockFolder(f.work, false)
		switch {
		case err == nil:
			return release, nil
		case !errors.Is(err, filelock.ErrHeld):
			err = fmt.Errorf("the folder %s cannot be locked against other games: %w", f.work.Name(), err)
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		case f.limit > 0 && time.Since(begin) > f.limit:
			err = fmt.Errorf("another game has been playing in the folder %s for more than %v%s", f.work.Name(), f.limit, filelock.Detail(err))
		default:
			select {
			case <-time.After(lockPause):
			case <-ctx.Done():
			}
			continue
		}
		return nil, err
	}
}
