//go:build unix

package child

import (
	"errors"
	"io"
	"syscall"
)

// take waits for output, reads it, and writes it to the log.
func (p *Process) take(buffer []byte) (n int, err error) {
	raw, err := p.log.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		n, failed = p.takeNow(fd, buffer)
		return !errors.Is(failed, syscall.EAGAIN)
	})
	switch {
	case err != nil:
		return 0, err
	case failed != nil:
		return 0, failed
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// takeNow reads without waiting and writes to the log, so that no other call writes in between.
func (p *Process) takeNow(fd uintptr, buffer []byte) (n int, err error) {
	p.taking.Lock()
	defer p.taking.Unlock()
	for {
		n, err = syscall.Read(int(fd), buffer)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	n = max(n, 0)
	p.keep(buffer[:n])
	return n, err
}

// mostSettled bounds the reads of Settle: more than a pipe holds.
const mostSettled = 32

// Settle writes to the log what the process has printed so far: of a bot that has answered, all that it printed
// before. The process's output otherwise comes to the log some time after it was printed. It is for one goroutine.
// On systems that are not Unix it does nothing.
func (p *Process) Settle() {
	raw, err := p.log.SyscallConn()
	if err != nil {
		return
	}
	if p.settled == nil {
		p.settled = make([]byte, 32<<10)
	}
	_ = raw.Control(func(fd uintptr) { // fails if the process has ended, and all was read
		for range mostSettled {
			if n, err := p.takeNow(fd, p.settled); n == 0 || err != nil {
				return
			}
		}
	})
}
