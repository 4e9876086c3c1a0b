package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"moonfarm/cmd/moonfarm/internal/cli"
	"moonfarm/rollout/arena"
	"moonfarm/rollout/arena/schedule"
)

// journal opens the journal of --out and lets the players enter; nil if there is
// to be none.
func (f *evalFlags) journal(stages evalStages, s schedule.Schedule, c *arena.Tournament) (*arena.Journal, error) {
	if f.out == "" {
		return nil, nil
	}
	if err := onDisk(f.out); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(f.out, 0o777); err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	rules, sum := stages[0].spec.Info, sha256.New()
	for _, t := range stages {
		io.WriteString(sum, t.spec.Info.Config)
	}
	j, err := arena.OpenJournal(filepath.Join(f.out, journalName), arena.Terms{
		Game: rules.Name, Rules: rules.Rules, RulesSum: hex.EncodeToString(sum.Sum(nil)),
		Seed: f.seed, MaxTurns: f.maxTurns, Schedule: f.terms(s),
	}, f.locks)
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	order, err := j.Enter(namesOf(c.Players))
	if err != nil {
		j.Close()
		return nil, cli.WrongUse("--out %s: %w", f.out, err)
	}
	players := make([]arena.Player, len(order))
	for i, k := range order {
		players[i] = c.Players[k]
	}
	c.Players, c.Known = players, j.Games
	return j, nil
}
