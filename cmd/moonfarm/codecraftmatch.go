package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/bots"
	craftbots "moonfarm/rollout/bots/codecraft"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire"
)

// codecraftSeries reads what the flags of match say.
func codecraftSeries(g catalog.Game, c *cobra.Command, f *matchFlags) (*series, error) {
	s := &series{game: g, flags: f, seed: f.seed, version: codecraft.RulesVersion}
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
			s.seed = rand.Uint64()
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
		for _, limit := range []struct {
			flag      string
			given, to *time.Duration
		}{{"timeout", &f.answer, &l.Answer}, {"accept-timeout", &f.accept, &l.Accept}, {"game-timeout", &f.game, &l.Game}} {
			if c.Flags().Changed(limit.flag) {
				*limit.to = *limit.given
			}
		}
	}
	return s, nil
}

// maxConfig bounds config files and results files.
const maxConfig = 1 << 20

func readConfig(name string) (*wire.Config, error) {
	text, err := readSmall(name, maxConfig)
	if err != nil {
		return nil, err
	}
	config, err := wire.ParseConfig(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return config, nil
}

// readRules reads the rules, and the state to begin with if the config names one.
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

// rulesFor reads --rules. A preset whose name does not say a number of players is
// for any.
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
		e := entrant{name: emptyPlayer}
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

// inSeconds is a time of a config file, 0 if it gives none.
func inSeconds(n *float64) time.Duration {
	if n == nil {
		return 0
	}
	return max(time.Duration(math.Min(*n*float64(time.Second), math.MaxInt64/2)), 1)
}

// match sets up game n, counted from 0, and returns the entrant at each seat.
func (s *series) match(n int) (*craftbots.Match, []int, error) {
	seats := s.seating(n)
	m := &craftbots.Match{Rules: s.rules, Seed: s.seed, Start: s.start, Seats: make([]craftbots.Seat, len(seats))}
	if round := n / len(seats); round > 0 {
		m.Seed = rollout.GameSeed(s.seed, uint64(round))
	}
	if s.start != nil {
		start := *s.start
		start.Seed = m.Seed
		m.Start = &start
	}
	for i, k := range seats {
		e := &s.entrants[k]
		m.Seats[i] = craftbots.Seat{Policy: e.policy, Port: e.port, Command: e.command, Limits: e.limits}
		if len(e.command) > 0 {
			out, err := s.logFile(n, k)
			if err != nil {
				return nil, nil, errors.Join(err, closeLogs(m))
			}
			m.Seats[i].Output = out
		}
	}
	return m, seats, nil
}
