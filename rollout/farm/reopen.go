package farm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// probeBytes is the free space that a store must have before it is opened again.
const probeBytes = 4 << 20

// writeErrors matches the lines that NATS logs when it stops writing to a stream or switches
// JetStream off. NATS does not resume until the store is opened again.
var writeErrors = regexp.MustCompile(`(?i)critical write error|no space left|will be DISABLED|disabling JetStream`)

// connection matches the part of a line that differs between two connections of one machine.
var connection = regexp.MustCompile(`:\d+ - (\w+):\d+ - `)

// hangUps matches the lines that NATS logs when a client was killed or its machine was lost.
var hangUps = regexp.MustCompile(`(?i)(connection reset by peer|broken pipe|i/o timeout|use of closed network connection|handshake error: EOF)$`)

// trouble returns one line with the reason why the store cannot be written now, or "" if it can be,
// or if the server is not in this process.
func (s *Server) trouble() string {
	if s == nil {
		return ""
	}
	if t := s.why.Load(); t != nil {
		return *t
	}
	return ""
}

// repeats reports whether a text repeats the last trouble.
func (s *Server) repeats(text string) bool {
	if s == nil {
		return false
	}
	t := s.last.Load()
	return t != nil && strings.Contains(text, *t)
}

// alone reports whether this server is the only one of its farm.
func (s *Server) alone() bool { return s != nil && !s.clustered }

// failing records the reason why NATS cannot write, and starts to wait for free space.
func (s *Server) failing(text string) {
	why := text
	if i := strings.LastIndex(text, ": "); i >= 0 {
		why = text[i+2:]
	}
	t := line(fmt.Sprintf("the server's store in %s cannot be written: %s; make room there, and the farm goes on by itself", s.dir, why))
	s.failed.Add(1)
	if !s.why.CompareAndSwap(nil, &t) {
		return
	}
	s.last.Store(&t)
	s.log.Error(t)
	s.tell(t)
	s.reopening.Go(func() { s.waitForRoom() })
}

// tell passes a line to the coordinator in this process.
func (s *Server) tell(text string) {
	select {
	case s.lines <- text:
	default: // the coordinator has enough lines to read
	}
}

// waitForRoom waits until there is free space and opens the store again.
func (s *Server) waitForRoom() {
	if time.Since(s.reopened) > time.Minute {
		s.pause = backoff{500 * time.Millisecond, 10 * time.Second}
	}
	var seen int64
	for text := ""; s.pause.pause(s.living); {
		err := s.probe()
		if err == nil {
			seen, err = s.reopen()
		}
		if err == nil {
			break
		}
		if t := err.Error(); t != text && !errors.Is(s.living.Err(), context.Canceled) {
			text = t
			s.log.Debug("the server's store is not opened again yet", "err", t)
		}
	}
	if s.living.Err() != nil {
		return
	}
	s.reopened = time.Now()
	s.log.Warn("the server's store in " + s.dir + " can be written again: the farm goes on")
	if end := s.endTerm.Load(); end != nil {
		(*end)(errReopened)
	}
	if s.why.Store(nil); s.failed.Load() != seen {
		s.failing("it failed again immediately")
	}
}

// errReopened ends a coordinator's term: its memory may have changes that the store lacks.
var errReopened = errors.New("the server's store was opened again")

// probe fails if the store has less free space than probeBytes.
func (s *Server) probe() error {
	f, err := os.Create(filepath.Join(s.dir, "probe"))
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, probeBytes))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// reopen stops JetStream, if it has not stopped already, and starts it again. The connections stay
// open. It returns the number of failed writes before the start.
func (s *Server) reopen() (int64, error) {
	if err := s.s.ShutdownJetStream(); err != nil {
		return 0, err
	}
	// In a cluster JetStream may be stopping by itself at this moment.
	for stopping := time.Now(); s.s.JetStreamConfig() != nil; time.Sleep(50 * time.Millisecond) {
		if time.Since(stopping) > 30*time.Second || s.living.Err() != nil {
			return 0, errors.New("JetStream does not stop")
		}
	}
	if s.clustered {
		time.Sleep(time.Second) // then its Raft groups stop
	}
	seen := s.failed.Load()
	return seen, s.s.EnableJetStream(&server.JetStreamConfig{StoreDir: s.dir, MaxStore: maxStore, MaxMemory: maxMemory, SyncInterval: syncInterval, Strict: true})
}

// serverLog passes the server's log lines to slog.
type serverLog struct{ s *Server }

// serverKind is kindOf for lines of the server. It also replaces quoted texts: a client that
// may not connect could fill the log and the failures with different names.
func serverKind(text string) string {
	text, _, _ = strings.Cut(quoted.ReplaceAllString(text, "#"), "'")
	return kindOf(text)
}

// quoted matches a quoted text as Go writes it.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// write logs a line and keeps it for a coordinator. It logs lines of one kind at the first
// and at each doubling of their count.
func (s *serverLog) write(log func(text string, args ...any), format string, v []any) {
	text := connection.ReplaceAllString(fmt.Sprintf(format, v...), " - ")
	switch {
	case writeErrors.MatchString(text):
		s.s.log.Debug(text)
		s.s.failing(text)
		return
	case s.s.trouble() != "": // a consequence of the trouble
		s.s.log.Debug(text)
		return
	case hangUps.MatchString(text):
		s.s.log.Debug("server: " + text)
		return
	}
	kind := serverKind(text)
	s.s.mu.Lock()
	if len(s.s.logged) >= maxEvents {
		clear(s.s.logged)
	}
	s.s.logged[kind]++
	n := s.s.logged[kind]
	s.s.mu.Unlock()
	if n&(n-1) == 0 {
		log("server: "+text, "count", n)
	}
	s.s.tell("server: " + text)
}

func (s *serverLog) Noticef(format string, v ...any) { s.s.log.Debug(fmt.Sprintf(format, v...)) }
func (s *serverLog) Debugf(format string, v ...any)  {}
func (s *serverLog) Tracef(format string, v ...any)  {}
func (s *serverLog) Warnf(format string, v ...any)   { s.write(s.s.log.Warn, format, v) }
func (s *serverLog) Errorf(format string, v ...any)  { s.write(s.s.log.Error, format, v) }
func (s *serverLog) Fatalf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	s.s.fatal.CompareAndSwap(nil, &text)
	s.write(s.s.log.Error, format, v)
}
