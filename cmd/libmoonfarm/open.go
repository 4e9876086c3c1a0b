//go:build cgo

package main

import (
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/stepper"
)

// settings holds the fields of an mf_config in Go.
type settings struct {
	game, rules, reward, form           string
	opponents                           string
	envs, seat, autoreset, turns, batch int
	workers                             int
	memory                              bool
	seed                                uint64
}

// maxWorkers bounds settings.workers: more workers only cost memory.
const maxWorkers = 1024

// outside is the line of settings.opponents for an opponent whose actions the program gives.
const outside = "-"

// environments is the object of a handle of mf_open.
type environments struct {
	*stepper.Stepper
	game      catalog.Entry
	opponents int
	state     []byte // buffer of mf_get_state and mf_render
	mask      []bool // buffer of mf_reset
	drawn     drawing
	seeds     []uint64

	written []span                   // memory that steps write
	makers  map[string]rollout.Maker // of the policies that were asked, by text
	asked   []bool                   // [rows] buffer of mf_ask

	pending chan error // result of the work that runs in the background; nil: none is running
	working string     // the function that began it
}

// busy implements value: no other call is allowed while work runs in the background.
func (e *environments) busy() error {
	if e.pending != nil {
		return fault{codeState, "a step or an mf_ask is under way: call " + e.working + " until it is over, or mf_interrupt"}
	}
	return nil
}

// begin begins work of a function of the library in the background.
func (e *environments) begin(name string, work func() error) {
	done := make(chan error, 1)
	e.pending, e.working = done, name
	go func() {
		debug.SetPanicOnFault(true)
		done <- protect(work)
	}()
}

// resume is begin, unless the same function has begun work that is not over. It fails
// if another function has.
func (e *environments) resume(name string, work func() (func() error, error)) error {
	if e.pending != nil {
		if e.working != name {
			return e.busy()
		}
		return nil
	}
	f, err := work()
	if err == nil {
		e.begin(name, f)
	}
	return err
}

// await returns the error of the work in the background, or an error with codeTimeout
// if it is not over in time. A negative wait waits for ever.
func (e *environments) await(wait time.Duration) error {
	var late <-chan time.Time
	if wait >= 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		late = t.C
	}
	select {
	case err := <-e.pending:
		e.pending = nil
		return err
	case <-late:
		return fault{codeTimeout, "the work of " + e.working + " is not over in time: it is under way"}
	}
}

// settle waits for the end of interrupted work.
func (e *environments) settle() {
	if e.pending != nil {
		<-e.pending
		e.pending = nil
	}
}

// Close implements io.Closer.
func (e *environments) Close() error {
	e.settle()
	return e.Stepper.Close()
}

// String names the kind of handle.
func (e *environments) String() string { return "environments" }

// openEnvironments makes environments with the settings.
func openEnvironments(s settings) (*environments, error) {
	g, err := catalog.Find(s.game)
	if err != nil {
		return nil, wrong("game: %v", err)
	}
	if s.envs < 1 {
		return nil, wrong("num_envs is %d: there must be at least 1", s.envs)
	}
	if s.workers < 0 || s.workers > maxWorkers {
		return nil, wrong("workers is %d: expected 1 to %d, or 0 for as many as there are cores", s.workers, maxWorkers)
	}
	if s.autoreset < 0 || s.autoreset > int(env.Disabled) {
		return nil, wrong("autoreset is %d: expected MF_NEXT_STEP, MF_SAME_STEP or MF_DISABLED", s.autoreset)
	}
	c := stepper.Setup{
		Vector:    func(c env.Settings) (env.Vector, error) { return g.New(s.rules, c) },
		Env:       env.Settings{N: s.envs, Form: s.form, Reward: s.reward, MaxTurns: s.turns, Memory: s.memory},
		Seat:      s.seat,
		Autoreset: env.Mode(s.autoreset),
		Seed:      s.seed,
		Workers:   s.workers,
		Batch:     s.batch,
	}
	if s.workers == 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	for line := range strings.Lines(s.opponents) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if line == outside {
			c.Opponents = append(c.Opponents, nil)
			continue
		}
		m, err := policy.NewReproducible(g.Name, line)
		if err != nil {
			return nil, wrong("opponents: %v", err)
		}
		c.Opponents = append(c.Opponents, m)
	}
	if err := checkMemory(c); err != nil {
		return nil, err
	}
	stepped, err := stepper.New(c)
	if err != nil {
		return nil, wrong("%v", err)
	}
	return &environments{
		Stepper: stepped, game: g, opponents: len(c.Opponents), mask: make([]bool, s.envs), seeds: make([]uint64, s.envs), asked: make([]bool, stepped.Rows()),
	}, nil
}

// maker returns the maker of a policy that is asked.
func (e *environments) maker(text string) (rollout.Maker, error) {
	if m := e.makers[text]; m != nil {
		return m, nil
	}
	m, err := policy.NewReproducible(e.game.Name, text)
	if err != nil {
		return nil, wrong("%v", err)
	}
	if e.makers == nil {
		e.makers = map[string]rollout.Maker{}
	}
	e.makers[text] = m
	return m, nil
}
