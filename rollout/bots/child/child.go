// Package child runs the programs of contest bots as child processes: within
// limits, and so that none of their descendants is left running.
//
// Each bot of a match has a Guard. It starts the bot's processes one after the
// other: one for a whole game, or a new one every turn. A process and this program
// are connected directly by pipes.
//
// # Linux
//
// The guard is a process of its own: this program's executable, started again,
// which is why every program that calls Start must call Main first. It has a
// session of its own, so the terminal's signals do not reach it, and it is the
// subreaper (prctl(2), PR_SET_CHILD_SUBREAPER) of the bot's processes: a
// process whose parent has ended becomes its child, whatever group or session it
// is in. So the bot's processes are always the descendants of the guard, and when
// wait4(2) says that the guard has no children, none is left. It kills them all
//
//   - when the process that Run started has ended;
//   - when this program asks for it, or a limit is exceeded;
//   - when this program has ended, or the connection to it, for whatever reason: Close, a
//     context that is done, a crash, SIGKILL.
//
// It measures them in /proc. Where a control group of version 2 is delegated to the user, guard and bot are in one,
// in which the system itself bounds memory and tasks.
//
// # Boxes
//
// Limits.Box asks for a box, which needs no privilege. There are two means. With Namespaces (namespaces(7)) the guard is
// process 1 of namespaces of users, processes, mounts, networks, IPC and names:
//
//   - The bot sees no process but its own. It cannot kill, stop or trace the guard, whose end is the
//     end of all its processes.
//   - It reads the files that the user can read. It writes a copy of its folder, which begins and
//     ends with the guard, and /tmp and /dev/shm of its own, 256 MiB each. /run is empty.
//   - It has a loopback of its own, no other network, and no sockets but those of the Internet,
//     since files of Unix sockets lead out of a box (seccomp(2)).
//   - It has no capability, gains none, and makes no namespaces. Root is nobody inside.
//   - In a strict box homes, other mounts and the folders of Limits.Folders.Hidden are empty, but for
//     what the bot needs: its folder, the files that its command names, an interpreter that is
//     installed in a home, and Limits.Folders.Shown.
//
// Where the system makes no namespaces, Landlock (landlock(7)) keeps a bot from writing outside of its folder and a
// temporary one, from connections but to its port, and from signals to other processes and tracing them; what of this older
// versions lack, BoxKind.Means says. It has no other sockets, no capability and gains none.
//
// Without a box a bot has the rights of the user who runs it: it can read and write that
// user's files, use the network, and kill its guard and live on. Then this package bounds mistakes of
// bots alone: loops, leaks, floods, processes left behind.
//
// A box is not a machine of its own: a fault of the kernel opens it, and a bot can tell others
// something by its use of the processor.
//
// # Other systems
//
// There is no guard process. On other Unix systems each process is started in a group
// of its own, and the group is killed: descendants that leave the group survive, and
// all processes survive if this program is killed. On Windows only the process itself
// is killed. Limits says which limits only Linux enforces.
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

// mainCalled says whether Main was called. If it was not, this program must not be
// started again as a guard: it would repeat its own work, such as all tests.
var mainCalled atomic.Bool

// Main runs the guard if this process was started as one, and does not return then; else
// it returns at once. Every program that calls Start must call Main first in its main
// function, and every test first in TestMain.
func Main() {
	mainCalled.Store(true)
	if isGuard() {
		os.Exit(guardMain())
	}
}

// errNoMain is the error of Start in a program that never called Main.
var errNoMain = errors.New("no bot can be started: this program does not call child.Main at its beginning")

// Limits bound the resources of a bot's processes in a match. Zero means no limit. The caller
// limits real time by the deadlines of Process.
type Limits struct {
	// CPU is the processor time of all processes of the match, ended ones included.
	// Linux measures it while they run, other systems when a process has ended. A
	// process that ends within some milliseconds and whose parent ignores SIGCHLD is
	// not counted: the system forgets it.
	CPU time.Duration
	// Memory is the memory of all processes together at a time, in bytes. A page that
	// several of them share is counted once. Linux only.
	Memory int64
	// Processes is the number of processes at a time, including ended ones for which
	// their parents have not waited. Threads are not counted. Linux only.
	Processes int
	// Cores, if not nil, has numbers of processors: see Cores. A Guard waits for one, on which its
	// processes run until it is closed. Linux only.
	Cores chan int
	// Box says whether the processes are enclosed, and Folders more of strict boxes. Linux only.
	Box     BoxKind
	Folders BoxFolders
}

// MaxAnswer is the limit of a line that ReadLine reads, in bytes. It bounds the memory of
// this program.
const MaxAnswer = 1 << 20

// validate returns an error for negative limits.
func (l Limits) validate() error {
	if l.CPU < 0 || l.Memory < 0 || l.Processes < 0 {
		return fmt.Errorf("a negative limit: %+v", l)
	}
	return nil
}

// Program is a program with its arguments.
type Program struct {
	// Args are its name and the arguments. A name without a slash is searched in
	// PATH, a relative path in Dir.
	Args []string
	Dir  string // working directory; "": the one of this program
	// Folder is the bot's folder, of which it has a copy in a box; "": Dir.
	Folder string
	// Typed says that the user has typed Args, and not the author of the bot: a strict box then shows the files in them.
	Typed bool
}

// Command is a program to be started.
type Command struct {
	Program

	// Input connects standard input to Process.Write. Otherwise it is an empty file.
	Input bool
	// Output connects standard output to Process.ReadLine. Otherwise it goes to Log, as
	// standard error does.
	Output bool
	Log    *Log // nil: only the last lines are kept, for Exit.Lines
}

// Check returns an error if the program or the folder does not exist, or if its script
// cannot work: see checkScript. Run can fail all the same, such as when the interpreter of a script
// is missing.
func (p *Program) Check() error {
	path, dir, err := p.find()
	if err != nil {
		return err
	}
	return p.checkScripts(path, dir)
}

// find returns the program's path and the folder, both absolute.
func (p *Program) find() (path, dir string, err error) {
	if len(p.Args) == 0 || p.Args[0] == "" {
		return "", "", errors.New("expected the name of a program")
	}
	for _, s := range append([]string{p.Dir}, p.Args...) {
		if strings.ContainsRune(s, 0) {
			return "", "", fmt.Errorf("%q has a zero byte", s)
		}
	}
	if dir, err = filepath.Abs(p.Dir); err != nil {
		return "", "", err
	}
	switch info, err := os.Stat(dir); {
	case err != nil:
		return "", "", fmt.Errorf("the folder to work in: %w", err)
	case !info.IsDir():
		return "", "", fmt.Errorf("the folder to work in: %s is not a folder", dir)
	}
	path = p.Args[0]
	if filepath.Base(path) != path && !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if path, err = exec.LookPath(path); err != nil && !errors.Is(err, exec.ErrDot) {
		return "", "", err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", "", err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return "", "", fmt.Errorf("%s is not a file", path)
	}
	return path, dir, nil
}

// launch is a command with absolute paths and its whole environment.
type launch struct {
	Number int // of the process in the match, from 1
	Path   string
	Dir    string
	Args   []string
	Env    []string
}
