package child

import (
	"bytes"
	"encoding/gob"
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

// guardName is the one argument of a guard process: no user starts a program with
// it by mistake.
const guardName = "moonfarm-bot-guard"

// isGuard says whether this process was started to be a guard.
func isGuard() bool { return len(os.Args) == 1 && os.Args[0] == guardName }

// request is what this program asks a guard: first Limits, then one of the others.
type request struct {
	Limits *Limits
	Run    *launch // its three standard files come with the message
	Kill   int     // the number of a process, 0: none
}

// report is what a guard tells.
type report struct {
	Error string // the answer to Limits and to Run; "": it is done
	Fault *Fault // why Run was refused
	Ended *endReport
}

// remote is a guard process, seen from this program.
type remote struct {
	guard   *Guard
	cmd     *exec.Cmd
	conn    *net.UnixConn
	answers chan report   // to start
	gone    chan struct{} // closed when the guard process has ended and its reports were read
	said    tail          // what it printed: nothing, unless it failed

	mu      sync.Mutex
	encoder *gob.Encoder
	message bytes.Buffer
	ending  bool // end was called
}

// newStarter starts the guard process and waits until it is ready.
func newStarter(g *Guard) (starter, error) {
	r := &remote{guard: g, answers: make(chan report, 1), gone: make(chan struct{})}
	r.encoder = gob.NewEncoder(&r.message)
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	r.conn = ours
	r.cmd = &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{guardName}, ExtraFiles: []*os.File{theirs}, Stderr: &r.said,
		Env:         append(os.Environ(), "GOMAXPROCS=2", "GOTRACEBACK=single"),
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Pdeathsig: parentDied},
		WaitDelay:   time.Second,
	}
	if err := r.cmd.Start(); err != nil {
		ours.Close()
		return nil, err
	}
	go r.listen()
	if err = r.send(request{Limits: &g.limits}, nil); err == nil {
		var a report
		if a, err = r.answer(); a.Error != "" {
			err = errors.New(a.Error)
		}
	}
	if err != nil {
		r.end()
		r.close()
		return nil, err
	}
	return r, nil
}

// socketPair makes a connection, with one side as a file for another process.
func socketPair() (*net.UnixConn, *os.File, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	theirs := os.NewFile(uintptr(pair[1]), "guard")
	conn, err := unixConn(pair[0])
	if err != nil {
		theirs.Close()
	}
	return conn, theirs, err
}

// unixConn makes a connection of a file descriptor, which it takes.
func unixConn(fd int) (*net.UnixConn, error) {
	file := os.NewFile(uintptr(fd), "guard")
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, err
	}
	if u, ok := conn.(*net.UnixConn); ok {
		return u, nil
	}
	conn.Close()
	return nil, errors.New("not a Unix socket")
}

// listen takes the guard's reports until it has ended.
func (r *remote) listen() {
	defer close(r.gone)
	defer r.conn.Close()
	reports := gob.NewDecoder(r.conn)
	var broken error
	for broken == nil {
		var told report
		if broken = reports.Decode(&told); broken != nil {
			break
		}
		if told.Ended != nil {
			r.guard.ended(*told.Ended)
			continue
		}
		select {
		case r.answers <- told:
		default: // nobody asked; never waits
		}
	}
	r.mu.Lock()
	expected := r.ending
	r.mu.Unlock()
	if !expected {
		r.cmd.Process.Kill() // if it has not ended, it cannot be spoken to
	}
	err := r.cmd.Wait()
	if expected && err == nil {
		r.guard.lost("the bot's guard has ended")
		return
	}
	killMarked(r.guard.marker)
	why := "the bot's guard has ended"
	if err != nil {
		why = fmt.Sprintf("%s: %v", why, err)
	}
	if lines := r.said.lines(); len(lines) > 0 {
		why += ": " + lines[0]
	}
	r.guard.lost(why)
}

// send sends a request, with files.
func (r *remote) send(q request, files []*os.File) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ending {
		return os.ErrClosed
	}
	r.message.Reset()
	if err := r.encoder.Encode(q); err != nil {
		return err
	}
	var rights []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd()) // also makes it wait in reads and writes, as programs expect
		}
		rights = unix.UnixRights(fds...)
	}
	r.conn.SetWriteDeadline(time.Now().Add(guardTimeout))
	n, _, err := r.conn.WriteMsgUnix(r.message.Bytes(), rights, nil)
	if err == nil && n < r.message.Len() {
		_, err = r.conn.Write(r.message.Bytes()[n:])
	}
	return err
}

// answer waits for the guard's answer. A guard that gives none is killed.
func (r *remote) answer() (report, error) {
	t := time.NewTimer(guardTimeout)
	defer t.Stop()
	why := ""
	select {
	case a := <-r.answers:
		return a, nil
	case <-r.gone:
		why = "the bot's guard has ended"
		if lines := r.said.lines(); len(lines) > 0 {
			why += ": " + lines[0]
		}
	case <-t.C:
		why = fmt.Sprintf("the bot's guard does not answer within %v", guardTimeout)
		r.cmd.Process.Kill()
	}
	return report{}, errors.New(why)
}

// start implements starter.
func (r *remote) start(l *launch, files [3]*os.File) error {
	if err := r.send(request{Run: l}, files[:]); err != nil {
		return fmt.Errorf("the bot's guard cannot be told: %w", err)
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

// end implements starter. The guard sees the end of its requests, kills all, says
// what ended, and ends.
func (r *remote) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ending {
		r.ending = true
		r.conn.CloseWrite()
	}
}

// close implements starter. A guard that does not end in time is killed: it may
// have been stopped. What is left of its bot is killed by listen.
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
