package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/bots"
	craftbots "moonfarm/rollout/bots/codecraft"
	"moonfarm/rollout/parallel"
	"moonfarm/rollout/policy"
	"moonfarm/sim/codecraft"
)

// entrant is a player of a series of games.
type entrant struct {
	name    string
	policy  rollout.Maker
	command []string
	address string // of a client that connects by itself; "" for others
	token   *string
	limits  bots.Limits
	port    *craftbots.Port // while it is open
}

// series is a number of games between the same players.
type series struct {
	game     catalog.Game
	flags    *matchFlags
	rules    codecraft.Rules
	version  string
	text     string // of the rules
	seed     uint64
	start    *codecraft.State // nil: a new one for every seed
	entrants []entrant
}

// open opens all ports, before any client is asked to come.
func (s *series) open() error {
	for i := range s.entrants {
		e := &s.entrants[i]
		if e.address == "" {
			continue
		}
		var err error
		if e.port, err = craftbots.Listen(e.address, e.token); err != nil {
			return fmt.Errorf("player %d: %w", i+1, err)
		}
	}
	return nil
}

func (s *series) close() {
	for i := range s.entrants {
		if p := s.entrants[i].port; p != nil {
			p.Close()
		}
	}
}

// seating returns the entrant at each seat in game n. From game to game everyone
// moves one seat on, until all have sat everywhere; then the entrants behind the
// first take their next order, until all orders have been played.
func (s *series) seating(n int) []int {
	players := len(s.entrants)
	order := permutation(players-1, n/players)
	seats := make([]int, players)
	for i := range seats {
		e := 0
		if i > 0 {
			e = order[i-1] + 1
		}
		seats[(i+n)%players] = e
	}
	return seats
}

// permutation is the k-th permutation of the numbers below n in lexical order. It
// begins anew after the last.
func permutation(n, k int) []int {
	left := make([]int, n)
	ways := 1
	for i := range left {
		left[i] = i
		ways *= i + 1
	}
	k %= ways
	list := make([]int, 0, n)
	for ; n > 0; n-- {
		ways /= n
		i := k / ways
		k %= ways
		list = append(list, left[i])
		left = append(left[:i:i], left[i+1:]...)
	}
	return list
}

// play plays all games, some at once, and returns in order those that came to
// their end: all, unless there is an error.
func (s *series) play(ctx context.Context, progress func(done int)) ([]matchGame, error) {
	list := make([]matchGame, s.flags.games)
	var mu sync.Mutex
	done := 0
	err := parallel.Each(ctx, s.flags.parallel, list, func(ctx context.Context, n int, _ matchGame) error {
		if err := s.playGame(ctx, n, &list[n]); err != nil {
			return fmt.Errorf("game %d: %w", n+1, err)
		}
		mu.Lock()
		defer mu.Unlock()
		done++
		progress(done)
		return nil
	})
	list = slices.DeleteFunc(list, func(g matchGame) bool { return g.Number == 0 })
	return list, err
}

// playGame plays one game, with its files.
func (s *series) playGame(ctx context.Context, n int, into *matchGame) (err error) {
	m, seats, err := s.match(n)
	if err != nil {
		return err
	}
	defer func() {
		if e := closeLogs(m); err == nil {
			err = e
		}
	}()
	var r *craftbots.Result
	play := func(w io.Writer) (err error) {
		m.Replay = w
		r, err = m.Play(ctx)
		return err
	}
	if s.flags.replay != "" {
		err = writeWhole(numbered(s.flags.replay, n), play)
	} else {
		err = play(nil)
	}
	if err != nil {
		return err
	}
	if s.flags.results != "" {
		if err := writeWhole(numbered(s.flags.results, n), func(w io.Writer) error {
			_, err := w.Write(append(r.Append(nil), '\n'))
			return err
		}); err != nil {
			return err
		}
	}
	*into = matchGame{Number: n + 1, Seed: r.Seed, Ticks: r.Turns, Seconds: r.Time.Seconds()}
	for i, e := range seats {
		seat := matchSeat{
			Player: s.entrants[e].name, Score: r.Results.Results[i], Place: 1,
			Crashed: r.Players[i].Crashed, Comment: r.Players[i].Comment, Output: []string{}, Seconds: r.Used[i].Seconds(), entrant: e,
		}
		if c := r.Crashes[i]; c != nil {
			seat.Exit, seat.Output = c.Exit, append(seat.Output, c.Output...)
			if c.Turn >= 0 {
				seat.Tick = &c.Turn
			}
		}
		for _, other := range r.Results.Results {
			if other > seat.Score {
				seat.Place++
			}
		}
		into.Seats = append(into.Seats, seat)
	}
	return nil
}

// numbered is the name of a file of game n.
func numbered(name string, n int) string {
	return strings.ReplaceAll(name, gameMark, fmt.Sprintf("%04d", n+1))
}

// logFile takes what a started client prints, and keeps the first error: the
// client must not notice.
type logFile struct {
	*os.File
	failed error
}

// Write implements io.Writer.
func (f *logFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	if f.failed == nil {
		f.failed = err
	}
	return n, err
}

// logFile makes the file for what a started client prints in game n; nil if
// there is to be none.
func (s *series) logFile(n, entrant int) (io.Writer, error) {
	if s.flags.logs == "" {
		return nil, nil
	}
	f, err := os.Create(filepath.Join(s.flags.logs, fmt.Sprintf("game-%04d-player-%d.log", n+1, entrant+1)))
	if err != nil {
		return nil, err
	}
	return &logFile{File: f}, nil
}

// closeLogs closes the files of a match. It returns the first error of them,
// writing included.
func closeLogs(m *craftbots.Match) error {
	var all []error
	for i := range m.Seats {
		if f, ok := m.Seats[i].Output.(*logFile); ok {
			all = append(all, f.failed, f.Close())
		}
	}
	return errors.Join(all...)
}

// Limits of the players of --player.
const (
	defaultAnswer = 10 * time.Second
	defaultAccept = time.Minute
)

// Beginnings of a player's text that say what it is.
const (
	tcpPlayer     = "tcp:"
	commandPlayer = "cmd:"
)

// emptyPlayer is the policy that needs nobody to play it.
const emptyPlayer = "empty"

// enterPlayers enters the players of --player. A text that begins with tcp: or
// cmd: is what that says; else one that begins as a policy does (policy.Begins)
// is a policy; any other is a command line.
func (s *series) enterPlayers() error {
	for _, text := range s.flags.players {
		e := entrant{name: text}
		var err error
		switch line, command := strings.CutPrefix(text, commandPlayer); {
		case command:
			err = s.enterCommand(&e, line)
		case text == "tcp" || strings.HasPrefix(text, tcpPlayer):
			err = s.enterPort(&e, strings.TrimPrefix(strings.TrimPrefix(text, "tcp"), ":"))
		case policy.Begins(s.game.Name, text):
			err = s.enterPolicy(&e, text)
		default:
			err = s.enterCommand(&e, text)
		}
		if err != nil {
			return err
		}
		s.entrants = append(s.entrants, e)
	}
	return nil
}

// enterPort enters a client that connects to a port of this machine, "" for a
// free one.
func (s *series) enterPort(e *entrant, port string) error {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil && port != "" {
		return wrongUse("--player %s: expected a port from 0 to 65535 after tcp:, or none for a free one", e.name)
	}
	e.name = strings.TrimSuffix(e.name, ":")
	e.address = net.JoinHostPort("127.0.0.1", strconv.FormatUint(n, 10))
	e.limits.Answer = defaultAnswer
	return nil
}

// enterCommand enters a client that is to be started. Its program must be
// there: nobody plays before it has been found.
func (s *series) enterCommand(e *entrant, line string) error {
	words, err := bots.SplitCommand(line)
	if err != nil {
		return wrongUse("--player: %w", err)
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return s.noProgram(e.name, line, words, err)
	}
	e.command = words
	e.limits = bots.Limits{Accept: defaultAccept, Answer: defaultAnswer}
	return nil
}

// noProgram says that the program of a command line cannot be started, and what
// else was meant, perhaps.
func (s *series) noProgram(text, line string, words []string, err error) error {
	var why *exec.Error
	if errors.As(err, &why) {
		err = why.Err
	}
	if f, e := os.Stat(line); e == nil && !f.IsDir() && len(words) > 1 {
		return fmt.Errorf("--player %q: there is no program %q; a path with blanks needs quotes around it, such as '\"my bot/run\" --fast'", text, words[0])
	}
	failed := fmt.Errorf("--player %q: the program %q cannot be started: %w", text, words[0], err)
	if strings.ContainsAny(words[0], "~$=*|&;<>") {
		failed = fmt.Errorf("%w (there is no shell; for one write sh -c '…')", failed)
	}
	if len(words) > 1 || strings.ContainsAny(line, `/\`) || text != line {
		return failed
	}
	var names []string
	for _, p := range policy.Names(s.game.Name) {
		names = append(names, p.Name)
	}
	wrong := wrongUse("--player %q: neither a policy (there are: %s) nor a program (%w)", text, strings.Join(names, ", "), err)
	return unknownError{wrong, words[0], names}
}

// enterPolicy enters a policy.
func (s *series) enterPolicy(e *entrant, spec string) error {
	t := &table{game: s.game, rules: s.text}
	v, err := t.vector(1)
	if err != nil {
		return err
	}
	t.spec = v.Spec()
	e.policy, e.name, err = t.policy("player", spec)
	if e.name == emptyPlayer {
		e.policy = nil // a seat without anybody is the same, and costs nothing
	}
	return err
}
