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

// guardName is the only argument of a guard process, argv[0]. No user starts a program
// so by mistake.
const guardName = "moonfarm-bot-guard"

// isGuard reports whether this process was started as a guard.
func isGuard() bool { return len(os.Args) == 1 && os.Args[0] == guardName }

// request is a message to a guard. The first one has Limits; each other has Run or Kill.
type request struct {
	Limits *Limits
	Run    *launch // the message carries its three standard files
	Kill   int     // the number of a process; 0: unused
}

// report is a message of a guard.
type report struct {
	Error string     // the answer to Limits and Run; "": success
	Fault *Fault     // why Run was refused
	Ended *endReport // not nil: the message is not an answer but reports an end
}

// remote is this program's side of a guard process. It is the starter on Linux.
type remote struct {
	guard   *Guard
	cmd     *exec.Cmd
	conn    *net.UnixConn
	answers chan report   // to Limits and Run
	gone    chan struct{} // closed when the guard process has ended and its reports were read
	said    tail          // its standard error, empty unless it failed

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

// socketPair makes a connection; theirs is its other side, for another process.
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

// unixConn makes a connection from a file descriptor, which it owns from then on.
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

// listen handles the guard's reports until the guard has ended.
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
	if expected && err == nil {
		r.guard.lost("the bot's guard has ended")
		return
	}
	killMarked(r.guard.marker)
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
	r.message.Reset()
	if err := r.encoder.Encode(q); err != nil {
		return err
	}
	var rights []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd()) // Fd also makes the file blocking, as programs expect
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
// stopped by a signal, is killed; then listen kills the processes of its bot.
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
