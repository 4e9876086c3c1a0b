package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
	"moonfarm/rollout/files"
	"moonfarm/sim/bounded"
	"moonfarm/sim/texts"
)

// The files of an algo's folder in the contest's starter kits.
const (
	scriptUnix    = "run.sh"
	scriptWindows = "run.ps1"
	kitFile       = "algo.json" // {"language": "python"}
	kitPython     = "algo_strategy.py"
)

// Folder returns the program of an algo's folder: its run.sh, on Windows its run.ps1, or
// without one algo_strategy.py if algo.json names Python. The program works in the folder
// above, as in the starter kit, whose scripts run the engine in the parent folder of the
// algo. The error says which file is missing.
func Folder(dir string) (p child.Program, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return p, err
	}
	args, err := script(dir, runtime.GOOS == "windows")
	if err != nil {
		return p, fmt.Errorf("bot %s: %w", dir, err)
	}
	return child.Program{Args: args, Dir: filepath.Dir(dir), Folder: dir}, nil
}

// script returns the command line of the algo in a folder.
func script(dir string, windows bool) ([]string, error) {
	name := scriptUnix
	if windows {
		name = scriptWindows
	}
	path := filepath.Join(dir, name)
	args, err := child.ScriptArgs(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return kit(dir, name, windows)
	case err == nil && windows:
		args = []string{"powershell", "-NoProfile", "-ExecutionPolicy", "Bypass", "-File", path}
	}
	return args, err
}

// kit returns the command line of an algo without a script.
func kit(dir, missing string, windows bool) ([]string, error) {
	text, err := bounded.ReadFile(files.OpenRegular, filepath.Join(dir, kitFile), bounded.Config)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("expected %s or %s in the folder, found neither", missing, kitFile)
	}
	if err != nil {
		return nil, err
	}
	var algo struct{ Language string }
	if err := json.Unmarshal(texts.Unmarked(text), &algo); err != nil {
		return nil, fmt.Errorf("%s: %w", kitFile, err)
	}
	if algo.Language != "python" {
		return nil, fmt.Errorf("expected %s: its %s names the language %q, and only python needs no script", missing, kitFile, algo.Language)
	}
	path := filepath.Join(dir, kitPython)
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	if windows {
		return []string{"py", "-3", "-u", path}, nil
	}
	return []string{"python3", "-u", path}, nil
}

// player is a program that plays: a child.Process, or a stand-in for one in tests. Its
// errors are of type *child.Fault.
type player interface {
	Write(b []byte, deadline time.Time) error
	ReadLine(deadline time.Time) ([]byte, error)
	// stop closes the program's input and waits until it has ended. At the deadline it
	// kills the program; a zero deadline kills it at once.
	stop(deadline time.Time) bots.Ended
}

// process is a player in a process of its own.
type process struct {
	*child.Process
	guard *child.Guard
}

// start starts the program of a seat. The error is a bots.ErrHost if this machine, and not
// the program, is at fault.
func (s *Seat) start(ctx context.Context, l child.Limits) (player, error) {
	guard, err := child.Start(ctx, l, child.Box{Program: s.Program})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", bots.ErrHost, err)
	}
	run, err := guard.Run(child.Command{Program: s.Program, Input: true, Output: true, Log: s.Log})
	if err != nil {
		return nil, errors.Join(err, guard.Close())
	}
	return &process{run, guard}, nil
}

// stop implements player.
func (p *process) stop(deadline time.Time) bots.Ended {
	var r *child.Exit
	if deadline.IsZero() {
		r = p.Kill()
	} else {
		r = p.End(deadline)
	}
	e := bots.Ended{Exit: r.Status, Output: r.Lines}
	if err := p.guard.Close(); err != nil {
		e.Exit += "; " + err.Error()
	}
	return e
}

// late reports whether an error says that a bot took too long.
func late(err error) bool {
	fault := (*child.Fault)(nil)
	return errors.Is(err, bots.ErrLate) || errors.As(err, &fault) && fault.Kind == child.Time
}
