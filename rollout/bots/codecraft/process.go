package codecraft

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
)

// process is a client that was started, with all that it has started.
type process struct {
	log   *child.Log // nil: none
	guard *child.Guard
	main  *child.Process
	gone  chan error // gets how it ended, once

	exit  string   // how it ended by itself; "" if it was killed here. Valid after stop
	lines []string // the last lines that it printed. Valid after stop
}

// arguments fills in where a client is to connect: in place of {host}, {port}
// and {token}, or, if a command has none of these, as three more arguments,
// which is what the original clients take.
func arguments(command []string, at *net.TCPAddr, token string) []string {
	host, port := at.IP.String(), strconv.Itoa(at.Port)
	r := strings.NewReplacer("{host}", host, "{port}", port, "{token}", token)
	filled := make([]string, len(command))
	changed := false
	for i, word := range command {
		filled[i] = r.Replace(word)
		changed = changed || filled[i] != word
	}
	if !changed {
		filled = append(filled, host, port, token)
	}
	return filled
}

// start starts the client of a seat, and opens the port where it is to connect. The
// client does not outlive the context. Whatever the error, a port that is not nil must
// be closed.
func start(ctx context.Context, s *Seat) (*process, *Port, error) {
	guard, err := child.Start(ctx, s.Process)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", bots.ErrHost, err)
	}
	port, token, err := privatePort(guard)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%w: %w", bots.ErrHost, err), guard.Close())
	}
	p, err := run(guard, arguments(s.Program.Args, port.Address(), token), s)
	return p, port, err
}

// run starts the program of a client.
func run(guard *child.Guard, words []string, s *Seat) (p *process, err error) {
	c := child.Command{Args: words, Dir: s.Program.Dir, Log: s.Log}
	p = &process{guard: guard, gone: make(chan error, 1), log: s.Log}
	if p.main, err = guard.Run(c); err != nil {
		return nil, errors.Join(fmt.Errorf("it could not be started: %w", err), guard.Close())
	}
	go func() {
		if r, err := p.main.Wait(time.Time{}); err == nil {
			p.gone <- errors.New(exit(r))
		}
	}()
	return p, nil
}

// exit says in words how a client ended.
func exit(r *child.Exit) string {
	if r.Fault != nil {
		return r.Fault.Text
	}
	return r.Status
}

// stop waits until the process has ended by itself, for the given time at most
// and not when the context is done; then it is killed. In any case nothing that
// it has started is left running.
func (p *process) stop(ctx context.Context, grace time.Duration) {
	r, late := p.main.Wait(time.Now().Add(grace))
	if late != nil {
		r = p.main.Kill()
	} else if ctx.Err() == nil {
		p.exit = exit(r)
	}
	p.lines = r.Lines
	if err := p.guard.Close(); err != nil {
		p.exit = err.Error()
	}
}

// privatePort opens a port for one client that is to be started, with a token of its
// own. That stands in the client's command line, where other clients can read it; so
// only processes of the guard may connect.
func privatePort(guard *child.Guard) (*Port, string, error) {
	token := rand.Text()
	p, err := listenFor(guard, "127.0.0.1:0", &token)
	if err != nil {
		return nil, "", fmt.Errorf("no port for a client: %w", err)
	}
	return p, token, nil
}
