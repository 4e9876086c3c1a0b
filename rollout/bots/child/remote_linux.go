package child

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// guardName is the only argument of a guard process, argv[0]. No user starts a program
// so by mistake.
const guardName = "moonfarm-bot-guard"

// isGuard reports whether this process was started as a guard.
func isGuard() bool { return len(os.Args) == 1 && os.Args[0] == guardName }

// request is a message to a guard. The first one has Limits and a Box, if the guard is to make one;
// each other has Run or Kill.
type request struct {
	Limits *Limits // the message carries a pidfd of this program, where the system has one
	Box    *plan
	Cgroup cgroup
	Core   int     // of Limits.Cores; −1: none
	Run    *launch // the message carries its three standard files
	Kill   int     // the number of a process; 0: unused
}

// report is a message of a guard.
type report struct {
	Error string     // the answer to Limits and Run; "": success
	Fault *Fault     // why Run was refused
	Ended *endReport // not nil: the message is not an answer but reports an end
	files []int      // of the answer to a Box
}

// remote is this program's side of a guard process. It is the starter on Linux.
type remote struct {
	guard   *Guard
	cmd     *exec.Cmd
	conn    *channel
	group   cgroup
	answers chan report   // to Limits and Run
	gone    chan struct{} // closed when the guard process has ended and its reports were read
	said    tail          // its standard error, empty unless it failed

	mu     sync.Mutex
	ending bool // end was called
}

// newStarter starts the guard process and waits until it is ready.
func newStarter(g *Guard) (starter, error) {
	r := &remote{guard: g, answers: make(chan report, 1), gone: make(chan struct{})}
	first := request{Limits: &g.limits, Core: g.core}
	if g.means != Nothing {
		var err error
		if first.Box, err = g.box.plan(g.means, g.limits.Box == Strict, &g.limits.Folders); err != nil {
			return nil, err
		}
		if g.port != nil {
			first.Box.Port = g.port.Addr().(*net.TCPAddr).Port
		} else if g.box.Port {
			first.Box.Port = 1
		}
	}
	ours, theirs, err := channels()
	if err != nil {
		return nil, err
	}
	r.conn = ours
	r.cmd = &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{guardName}, ExtraFiles: []*os.File{theirs}, Stderr: &r.said,
		Env:         append(os.Environ(), "GOMAXPROCS=2", "GOTRACEBACK=single"),
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
		WaitDelay:   time.Second,
	}
	if g.means == Namespaces {
		enclose(r.cmd.SysProcAttr)
	}
	err = r.cmd.Start()
	theirs.Close() // else the end of the guard would not end the connection
	if err != nil {
		ours.Close()
		return nil, err
	}
	r.group = newCgroup(&g.limits, r.cmd.Process.Pid)
	first.Cgroup = r.group
	go r.listen()
	var files []*os.File
	if self, err := unix.PidfdOpen(os.Getpid(), 0); err == nil {
		files = append(files, os.NewFile(uintptr(self), "self"))
		defer files[0].Close()
	}
	if err = r.send(first, files); err == nil {
		var a report
		if a, err = r.answer(); a.Error != "" {
			err = errors.New(a.Error)
		} else if err == nil && g.means == Namespaces {
			err = g.open(first.Box.Folder != "", a.files)
		}
	}
	if err != nil {
		r.end()
		r.close()
		return nil, err
	}
	return r, nil
}

// listen handles the guard's reports until the guard has ended.
func (r *remote) listen() {
	defer close(r.gone)
	defer r.conn.Close()
	var broken error
	for broken == nil {
		var told report
		if broken = r.conn.decoder.Decode(&told); broken != nil {
			break
		}
		told.files = r.conn.take()
		if told.Ended != nil {
			r.guard.ended(*told.Ended)
			continue
		}
		select {
		case r.answers <- told:
		default: // nobody waits for an answer
		}
	}
	r.mu.Lock()
	expected := r.ending
	r.mu.Unlock()
	if !expected {
		r.cmd.Process.Kill() // the connection is broken, so a guard that still runs is of no use
	}
	err := r.cmd.Wait()
	r.group.remove()
	if expected && err == nil {
		r.guard.lost("the bot's guard has ended")
		return
	}
	r.guard.lost(r.ended(err))
}

// ended returns a text on the end of the guard process.
func (r *remote) ended(err error) string {
	why := "the bot's guard has ended"
	if err != nil {
		why = fmt.Sprintf("%s: %v", why, err)
	}
	if lines := r.said.lines(); len(lines) > 0 {
		why += ": " + lines[0]
	}
	return why
}

// send sends a request, with files.
func (r *remote) send(q request, files []*os.File) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ending {
		return os.ErrClosed
	}
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd()) // Fd also makes the file blocking, as programs expect
	}
	r.conn.SetWriteDeadline(time.Now().Add(guardTimeout))
	return r.conn.send(q, fds)
}

// answer waits for the guard's answer. A guard that does not answer in time is killed.
func (r *remote) answer() (report, error) {
	t := time.NewTimer(guardTimeout)
	defer t.Stop()
	why := ""
	select {
	case a := <-r.answers:
		return a, nil
	case <-r.gone:
		why = r.ended(nil)
	case <-t.C:
		why = fmt.Sprintf("the bot's guard does not answer within %v", guardTimeout)
		r.cmd.Process.Kill()
	}
	return report{}, errors.New(why)
}

// start implements starter.
func (r *remote) start(l *launch, files [3]*os.File) error {
	if err := r.send(request{Run: l}, files[:]); err != nil {
		return fmt.Errorf("the request to the bot's guard failed: %w", err)
	}
	a, err := r.answer()
	switch {
	case err != nil:
		return err
	case a.Fault != nil:
		return a.Fault
	case a.Error != "":
		return errors.New(a.Error)
	}
	return nil
}

// kill implements starter.
func (r *remote) kill(number int) error { return r.send(request{Kill: number}, nil) }

// end implements starter. The guard reads the end of its requests, kills all processes,
// reports their end, and ends.
func (r *remote) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ending {
		r.ending = true
		r.conn.CloseWrite()
	}
}

// close implements starter. A guard that does not end in time, perhaps because it was
// stopped by a signal, is killed.
func (r *remote) close() error {
	t := time.NewTimer(guardTimeout)
	defer t.Stop()
	select {
	case <-r.gone:
		return nil
	case <-t.C:
	}
	r.cmd.Process.Kill()
	<-r.gone
	return fmt.Errorf("the guard of a bot did not end within %v and was killed: perhaps processes of the bot are left", guardTimeout)
}
