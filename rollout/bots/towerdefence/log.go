package towerdefence

import (
	"sync"

	"moonfarm/sim/towerdefence/wire/display"
	"moonfarm/sim/towerdefence/wire/matchlog"
	"moonfarm/sim/towerdefence/wire/referee"
)

// waiting is how many rounds may wait to be written to the match log.
const waiting = 16

// logger writes a match log while the match goes on: the files of a round take
// some milliseconds, mostly to be made.
type logger struct {
	rounds chan logged
	done   sync.WaitGroup

	mu  sync.Mutex
	err error // the first
}

// logged is what a round leaves in the log.
type logged struct {
	position *display.Position
	commands [2]string
	printed  [2][]byte
	result   *referee.Result // of the whole match, at its end; else nil
}

// newLogger starts a logger, which must be closed.
func newLogger(w *matchlog.Writer) *logger {
	l := &logger{rounds: make(chan logged, waiting)}
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
				l.err = err // the writer gives the first one again
				l.mu.Unlock()
			}
		}
	})
	return l
}

// write hands a round over. The error is one of an earlier round.
func (l *logger) write(r logged) error {
	l.rounds <- r
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// close waits until all is written and returns the first error.
func (l *logger) close() error {
	close(l.rounds)
	l.done.Wait()
	return l.err
}
