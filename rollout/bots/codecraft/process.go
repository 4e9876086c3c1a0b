package codecraft

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
)

// process is a started client with its descendants.
type process struct {
	log   *child.Log // nil: none
	guard *child.Guard
	main  *child.Process
	gone  chan error // gets the exit once, as an error

	exit  string   // how it ended by itself; "" if stop killed it. Valid after stop
	lines []string // the last lines that it printed. Valid after stop
}

// arguments fills in the address and the token of a client's port: see Seat.Program.
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

// start opens a port for the client of a seat and starts the client. The context's end kills it.
// A port that is not nil must be closed, also after an error.
func start(ctx context.Context, s *Seat) (*process, *Port, error) {
	guard, err := child.Start(ctx, s.Process, child.Box{Program: s.Program, Port: true})
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", bots.ErrHost, err)
	}
	token := rand.Text()
	user := os.Geteuid()
	if guard.Means() == child.Namespaces {
		user = anyUser // the bot itself: nobody else reaches the port
	}
	port := newPort(guard.Port(), &token, user)
	c := child.Command{Program: s.Program, Log: s.Log}
	c.Args = arguments(c.Args, port.Address(), token)
	p := &process{guard: guard, gone: make(chan error, 1), log: s.Log}
	if p.main, err = guard.Run(c); err != nil {
		return nil, port, errors.Join(fmt.Errorf("it could not be started: %w", err), guard.Close())
	}
	go func() {
		if r, err := p.main.Wait(time.Time{}); err == nil {
			p.gone <- errors.New(exit(r))
		}
	}()
	return p, port, nil
}

// exit describes how a client ended.
func exit(r *child.Exit) string {
	if r.Fault != nil {
		return r.Fault.Text
	}
	return r.Status
}

// stop waits at most the grace time until the process ends by itself, then kills it. In
// any case none of its descendants is left running.
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
