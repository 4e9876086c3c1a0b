// Package child runs the programs of contest bots as child processes: within
// limits, and so that nothing of them is left running, whatever they do.
//
// A bot of a match has a Guard. It starts the bot's processes one after the
// other: one for a whole game, or a fresh one every turn. What a process reads
// and prints goes directly between it and this program, through pipes.
//
// # Linux
//
// The guard is a process of its own: this program's executable, started again,
// which is why every program that calls Start must call Main first. It has a
// session of its own, so the terminal's signals do not reach it, and it is the
// subreaper (prctl(2), PR_SET_CHILD_SUBREAPER) of all that the bot starts: a
// process whose parent has ended becomes its child, whatever group or session it
// is in. So the bot's processes are always the descendants of the guard, and when
// wait4(2) says that the guard has no children, none is left.
//
// To kill them the guard follows the parents in /proc, stops every descendant
// (SIGSTOP) until no new one appears, kills all, and begins again until it has no
// children. It does so
//
//   - when the process that Run started ends, with what that left behind;
//   - when it is told to, or a limit is exceeded;
//   - when the connection to this program ends, for whatever reason: Close, a
//     context that is done, a crash, SIGKILL.
//
// The system also sends the guard a signal when its parent dies, in case another
// process has inherited the connection. If the guard itself is killed, the system
// kills the process that it started (PR_SET_PDEATHSIG), and this program kills
// every process that has the bot's marker in its environment (see Marker).
//
// No cgroup is used: making one takes rights that most users do not have.
//
// # Other systems
//
// There is no guard process. On other Unix systems a process is started in a group
// of its own, which is killed: descendants that leave the group survive, and so
// does everything when this program is killed. On Windows only the process itself
// is killed. The limits of Limits that Linux alone keeps say so.
//
// # What this is not
//
// This is no sandbox. A bot has the rights of the user who runs it: it can read
// and write that user's files, use the network, and kill its guard. A bot that
// means harm needs a container or a machine of its own. What is bounded is what
// bots do by mistake: loops, leaks, floods, processes left behind.
package child

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// Marker is the name of the environment variable that all processes of a bot
// have. Its value is another one for each Guard.
const Marker = "MOONFARM_BOT"

// mainCalled says whether Main was called, and so whether this program can be
// started again as a guard. A program that cannot would do its own work once more
// instead, a test would run all tests; hence this one variable.
var mainCalled atomic.Bool

// Main must be called first in the main function of every program that calls
// Start, and first in TestMain of such tests. In a process that was started to be
// a guard it does the guard's work and does not return; in others it returns at
// once.
func Main() {
	mainCalled.Store(true)
	if isGuard() {
		os.Exit(guardMain())
	}
}

// errNoMain is the error of Start in a program that never called Main.
var errNoMain = errors.New("no bot can be started: this program does not call child.Main at its beginning")

// Limits bound what a bot may use in a match, all of its processes together. Zero
// is no limit, except for Answer. Time by the clock is up to the caller: see the
// deadlines of Process.
type Limits struct {
	// CPU is the processor time of all processes of the match, those that have
	// ended included. Linux measures it while they run, other systems when a
	// process has ended. Processes that ended within some milliseconds, of
	// parents that ignore SIGCHLD, are not counted: the system forgets them.
	CPU time.Duration
	// Memory is what all processes together have in memory at a time, in bytes.
	// Pages that several of them share are counted once. Linux only.
	Memory int64
	// Processes is how many processes there may be at a time, those included that
	// have ended and were not waited for. Threads are not counted. Linux only.
	Processes int

	AddressSpace int64 // bytes of virtual memory of each process: RLIMIT_AS. Linux only
	FileSize     int64 // bytes of a file that a process writes: RLIMIT_FSIZE. Linux only

	Answer int64 // bytes of a line that ReadLine reads; 0: DefaultAnswer
	Output int64 // bytes that ReadLine reads in the whole match
}

// DefaultAnswer is the limit of a line in bytes if Limits.Answer is 0: longer ones
// would have to be kept in memory.
const DefaultAnswer = 1 << 20

// validate says what is wrong with limits.
func (l Limits) validate() error {
	if l.CPU < 0 || l.Memory < 0 || l.Processes < 0 || l.AddressSpace < 0 || l.FileSize < 0 || l.Answer < 0 || l.Output < 0 {
		return fmt.Errorf("a negative limit: %+v", l)
	}
	return nil
}

// Command is a program to be started.
type Command struct {
	// Args are the program and its arguments. A program without a slash is
	// searched in PATH, one with a relative path in Dir.
	Args []string
	Dir  string   // where it works; "": where this program does
	Env  []string // "NAME=value", besides the environment of this program

	Input bool // it is written to, with Write; otherwise it reads an empty file
	// Output is true if what it prints on standard output is read, with ReadLine.
	// Otherwise that goes where standard error goes: to Log.
	Output bool
	Log    *Log // nil: only the last lines are kept, as always
}

// Check says whether the program and the folder are there, and calls CheckScript for a
// script, before a match begins. Run can fail all the same, such as where the
// interpreter of a script is missing.
func (c *Command) Check() error {
	path, dir, err := c.find()
	if err != nil {
		return err
	}
	return c.checkScripts(path, dir)
}

// find returns the program's path and the folder, both absolute.
func (c *Command) find() (path, dir string, err error) {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return "", "", errors.New("want the name of a program")
	}
	for _, s := range append(append([]string{c.Dir}, c.Args...), c.Env...) {
		if strings.ContainsRune(s, 0) {
			return "", "", fmt.Errorf("%q has a zero byte", s)
		}
	}
	if dir, err = filepath.Abs(c.Dir); err != nil {
		return "", "", err
	}
	switch info, err := os.Stat(dir); {
	case err != nil:
		return "", "", fmt.Errorf("the folder to work in: %w", err)
	case !info.IsDir():
		return "", "", fmt.Errorf("the folder to work in: %s is none", dir)
	}
	path = c.Args[0]
	if filepath.Base(path) != path && !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if path, err = exec.LookPath(path); err != nil && !errors.Is(err, exec.ErrDot) {
		return "", "", err
	}
	path, err = filepath.Abs(path)
	return path, dir, err
}

// launch is a command that was made ready to be started.
type launch struct {
	Number int // of the process in the match, from 1
	Path   string
	Dir    string
	Args   []string
	Env    []string
}
