package main

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/bots"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire"
)

// entrant is a player of a series of games.
type entrant struct {
	name    string
	policy  rollout.Maker
	command []string
	address string // of a client that connects by itself; "" for others
	token   *string
	limits  bots.Limits
	port    *bots.Port // while it is open
}

// series is a number of games between the same players.
type series struct {
	flags    *matchFlags
	rules    codecraft.Rules
	version  string
	text     string // of the rules
	seed     uint64
	start    *codecraft.State // nil: a new one for every seed
	entrants []entrant
}

// newSeries reads what the flags say.
func newSeries(c *cobra.Command, f *matchFlags) (*series, error) {
	s := &series{flags: f, seed: f.seed, version: codecraft.RulesVersion}
	var config *wire.Config
	var err error
	switch {
	case f.config != "" && len(f.players) > 0:
		return nil, wrongUse("--config and --player: each says who plays, expected one of them")
	case f.config != "":
		if config, err = readConfig(f.config); err != nil {
			return nil, wrongUse("--config: %w", err)
		}
		if !c.Flags().Changed("seed") {
			s.seed = anySeed()
			if config.Seed != nil {
				s.seed = *config.Seed
			}
		}
	case len(f.players) == 0:
		return nil, wrongUse("--player is missing: once for each seat, such as --player econ --player quickstart")
	case len(f.players) > 4:
		return nil, wrongUse("--player: found %d of them, expected 1 to 4", len(f.players))
	}
	if err := s.readRules(config); err != nil {
		return nil, err
	}
	if config != nil {
		err = s.enterConfig(config)
	} else {
		err = s.enterPlayers()
	}
	if err != nil {
		return nil, err
	}
	for i := range s.entrants {
		l := &s.entrants[i].limits
		for flag, to := range map[string]*time.Duration{"timeout": &l.Answer, "accept-timeout": &l.Accept, "game-timeout": &l.Game} {
			if c.Flags().Changed(flag) {
				*to = *map[string]*time.Duration{"timeout": &f.answer, "accept-timeout": &f.accept, "game-timeout": &f.game}[flag]
			}
		}
	}
	return s, nil
}

// maxConfig bounds config files.
const maxConfig = 1 << 20

func readConfig(name string) (*wire.Config, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxConfig+1))
	if err == nil && len(text) > maxConfig {
		err = fmt.Errorf("more than %s", size(maxConfig))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	config, err := wire.ParseConfig(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return config, nil
}

// anySeed is a seed for those who do not care.
func anySeed() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}

// readRules finds the rules, and the start if it is loaded.
func (s *series) readRules(config *wire.Config) error {
	players := len(s.flags.players)
	if config != nil {
		players = len(config.Players)
	}
	var err error
	if s.rules, err = s.flags.rulesFor(players); err != nil {
		return err
	}
	if config != nil && s.flags.rules == "" && config.Game.Create != "" {
		if s.rules, err = config.Rules(); err != nil {
			return usageError{err}
		}
	}
	if config != nil && config.Game.LoadFrom != "" {
		if err := s.load(config.Game.LoadFrom); err != nil {
			return wrongUse("--config: %w", err)
		}
	}
	if err := s.rules.Validate(); err != nil {
		return wrongUse("--rules %s: %w", s.flags.rules, err)
	}
	if int(s.rules.Players) != players {
		return wrongUse("%s, but the rules are for %d", plural(players, "player"), s.rules.Players)
	}
	s.text = string(s.rules.AppendText(nil))
	return nil
}

// rulesFor reads --rules. Presets are for any number of players.
func (f *matchFlags) rulesFor(players int) (codecraft.Rules, error) {
	name := f.rules
	if name == "" {
		name = codecraft.Presets()[0]
	}
	if r, ok := codecraft.Preset(name); ok {
		if !strings.Contains(name, "-") {
			r.Players = int32(players)
		}
		return r, nil
	}
	text, err := readRules(name)
	if errors.Is(err, os.ErrNotExist) {
		err = wrongUse("%w; presets are: %s", err, strings.Join(codecraft.Presets(), ", "))
	}
	if err != nil {
		return codecraft.Rules{}, err
	}
	r, err := codecraft.ParseRules([]byte(text))
	if err != nil {
		return r, wrongUse("--rules: %s: %w", name, err)
	}
	return r, nil
}

// load reads a state file to begin with.
func (s *series) load(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	in, err := uncompressed(file)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	g, state, err := wire.LoadState(name, in, s.rules)
	if err != nil {
		return err
	}
	s.rules, s.start = g.Rules(), state
	return nil
}

// enterConfig enters the players of a config file.
func (s *series) enterConfig(config *wire.Config) error {
	for i, p := range config.Players {
		e := entrant{name: "empty"}
		switch p.Kind {
		case wire.PlayerEmpty:
		case wire.PlayerQuickStart:
			if err := s.enterPolicy(&e, "quickstart"); err != nil {
				return err
			}
		case wire.PlayerTCP:
			host := "127.0.0.1"
			if p.TCP.Host != nil {
				host = *p.TCP.Host
			}
			e.address, e.token = net.JoinHostPort(host, strconv.Itoa(p.TCP.Port)), p.TCP.Token
			e.name = fmt.Sprintf("tcp:%d", p.TCP.Port)
			e.limits = bots.Limits{Accept: inSeconds(p.TCP.AcceptTimeout), Answer: inSeconds(p.TCP.Timeout)}
		default:
			return wrongUse("--config: players[%d]: %s needs a window, and there is none", i, p.Kind)
		}
		s.entrants = append(s.entrants, e)
	}
	return nil
}

// inSeconds is a time of a config file; none is 0.
func inSeconds(n *float64) time.Duration {
	if n == nil {
		return 0
	}
	return max(time.Duration(math.Min(*n*float64(time.Second), math.MaxInt64/2)), 1)
}

// Limits of the players of --player.
const (
	defaultAnswer = 10 * time.Second
	defaultAccept = time.Minute
)

// enterPlayers enters the players of --player.
func (s *series) enterPlayers() error {
	for _, spec := range s.flags.players {
		e := entrant{name: spec}
		kind, port, _ := strings.Cut(spec, ":")
		switch {
		case spec == "empty":
		case kind == "tcp":
			n, err := strconv.ParseUint(port, 10, 16)
			if err != nil && port != "" {
				return wrongUse("--player %s: expected a port from 0 to 65535 after tcp:, or none for a free one", spec)
			}
			e.name = strings.TrimSuffix(spec, ":")
			e.address = net.JoinHostPort("127.0.0.1", strconv.FormatUint(n, 10))
			e.limits.Answer = defaultAnswer
		case strings.ContainsAny(spec, " /\\") && !strings.Contains(spec, "("):
			words, err := bots.SplitCommand(spec)
			if err != nil {
				return wrongUse("--player: %w", err)
			}
			e.command = words
			e.limits = bots.Limits{Accept: defaultAccept, Answer: defaultAnswer}
		default:
			if err := s.enterPolicy(&e, spec); err != nil {
				return err
			}
		}
		s.entrants = append(s.entrants, e)
	}
	return nil
}

// enterPolicy enters a policy.
func (s *series) enterPolicy(e *entrant, spec string) error {
	g, err := catalog.Find("codecraft")
	if err != nil {
		return err
	}
	t := &table{game: g, rules: s.text}
	v, err := t.vector(1)
	if err != nil {
		return err
	}
	t.spec = v.Spec()
	e.policy, e.name, err = t.policy("player", spec)
	if err != nil && !strings.Contains(spec, "(") {
		err = wrongUse("%w; or empty, tcp:PORT, a program's path, a command with arguments", err)
	}
	return err
}

// open opens all ports, before any client is asked to come.
func (s *series) open() error {
	for i := range s.entrants {
		e := &s.entrants[i]
		if e.address == "" {
			continue
		}
		var err error
		if e.port, err = bots.Listen(e.address, e.token); err != nil {
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

// seating says which entrant sits where in game n: everyone sits one seat further in
// each, until all have sat everywhere; then the order of the others behind the
// first is the next of all there are.
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

// permutation is the k-th permutation of the numbers below n, in the order of
// their first differences, beginning anew after the last.
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

// match sets up game n, from 0, and says which entrant sits where.
func (s *series) match(n int) (*bots.Match, []int, error) {
	seats := s.seating(n)
	m := &bots.Match{Rules: s.rules, Seed: s.seed, Start: s.start, Seats: make([]bots.Seat, len(seats))}
	if round := n / len(seats); round > 0 {
		m.Seed = rollout.GameSeed(s.seed, uint64(round))
	}
	if s.start != nil {
		start := *s.start
		start.Seed = m.Seed
		m.Start = &start
	}
	m.Vector = func() (env.Vector, error) {
		g, err := catalog.Find("codecraft")
		if err != nil {
			return nil, err
		}
		return g.New(s.text, env.Config{N: 1})
	}
	for i, k := range seats {
		e := &s.entrants[k]
		m.Seats[i] = bots.Seat{Policy: e.policy, Port: e.port, Command: e.command, Limits: e.limits}
		if len(e.command) > 0 {
			out, err := s.logFile(n, k)
			if err != nil {
				closeLogs(m)
				return nil, nil, err
			}
			m.Seats[i].Output = out
		}
	}
	return m, seats, nil
}
