package towerdefence

import (
	"sync"

	"moonfarm/sim/towerdefence/wire/display"
	"moonfarm/sim/towerdefence/wire/matchlog"
	"moonfarm/sim/towerdefence/wire/referee"
)

// maxQueued is the number of rounds that may wait for being written to the match log.
const maxQueued = 16

// logger writes a match log in a goroutine of its own, because making the files of a round
// takes some milliseconds.
type logger struct {
	rounds chan logged
	done   sync.WaitGroup

	mu  sync.Mutex
	err error // the first error
}

// logged is an entry of the log: a round, or the end of the match if result is not nil.
type logged struct {
	position *display.Position
	commands [2]string
	printed  [2][]byte
	result   *referee.Result
}

// newLogger starts a logger, which must be closed.
func newLogger(w *matchlog.Writer) *logger {
	l := &logger{rounds: make(chan logged, maxQueued)}
	l.done.Go(func() {
		for r := range l.rounds {
			var err error
			if r.result != nil {
				err = w.End(r.position, *r.result)
			} else {
				err = w.Round(r.position, r.commands, r.printed)
			}
			if err != nil {
				l.mu.Lock()
				l.err = err // the writer repeats its first error
				l.mu.Unlock()
			}
		}
	})
	return l
}

// write queues an entry. It returns the error of an earlier one.
func (l *logger) write(r logged) error {
	l.rounds <- r
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// close waits until all entries are written and returns the first error.
func (l *logger) close() error {
	close(l.rounds)
	l.done.Wait()
	return l.err
}
