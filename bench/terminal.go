package bench

import (
	"errors"
	"math"
	"slices"

	"moonfarm/env"
	"moonfarm/rollout/recordings"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
)

// terminalTurns is the number of turns in a pass of the simulator.
const terminalTurns = 1 << 14

// terminalFigures lists the figures of Terminal.
func terminalFigures() []measure {
	random := prng.New(1)
	choose := func(dst []sim.Order, v env.Vector, i int, p sim.Player) []sim.Order {
		states, _ := env.States[terminal.State](v)
		game, _ := env.Rules[terminal.State](v)
		return game.(*terminal.Game).Playout(dst, &states[i], p, &random)
	}
	search := searchBench{"terminal", 50, "rollout=playout,horizon=0", "maze", 3}
	return append([]measure{
		{what: "step", unit: "turns/s", note: "whole turns of recordings, or of random playouts where none are given, without events",
			setup: func(o *Options) (pass, int, error) { return setupTerminalStep(o, nil) }},
		{what: "step-events", unit: "turns/s", note: "the same with all events of every frame in memory",
			setup: func(o *Options) (pass, int, error) {
				return setupTerminalStep(o, new(terminal.Record))
			}},
		{what: "playout", unit: "turns/s", setup: setupTerminalPlayout, note: "Playout for both players"},
		observed("terminal", "observe", env.WantPlanes|env.WantScalars|env.WantMask, 128, choose),
		observed("terminal", "observe-packed", env.WantPacked|env.WantScalars|env.WantMask, 128, choose),
		{what: "field", unit: "fields/s", setup: setupTerminalField, note: "distance fields of whole boards, to each side in turn"},
		{what: "clone", unit: "clones/s", setup: setupTerminalClone, note: "copies of a state between turns"},
	}, search.figures()...)
}

// terminalMatch has the orders of a match by turn and player.
type terminalMatch struct {
	game  *terminal.Game
	turns [][2][]sim.Order
}

// terminalDigest mixes the health, cores and bits after a turn into a checksum.
func terminalDigest(sum uint64, s *terminal.State) uint64 {
	mix := func(x uint32) { sum = (sum ^ uint64(x)) * 0x9e3779b97f4a7c15 }
	for p := range 2 {
		mix(math.Float32bits(s.Health[p]))
		mix(math.Float32bits(s.Cores[p]))
		mix(math.Float32bits(s.Bits[p]))
	}
	mix(s.NextID)
	return sum ^ sum>>32
}

// setupTerminalStep plays matches from their orders.
func setupTerminalStep(o *Options, rec *terminal.Record) (pass, int, error) {
	matches, err := terminalMatches(o.Recordings)
	if err != nil {
		return nil, 0, err
	}
	turns := 0
	for _, m := range matches {
		turns += len(m.turns)
	}
	if turns == 0 {
		return nil, 0, errors.New("the recordings hold no turn")
	}
	repeat := max(1, terminalTurns/turns)
	t := sim.NewTurn(64)
	pass := func() (uint64, error) {
		sum := uint64(0)
		for range repeat {
			for i := range matches {
				sum = matches[i].play(sum, t, rec)
			}
		}
		return sum, nil
	}
	return pass, repeat * turns, nil
}

// play plays the match once.
func (m *terminalMatch) play(sum uint64, t *sim.Turn, rec *terminal.Record) uint64 {
	var s terminal.State
	m.game.Record(rec)
	m.game.Reset(&s, 0)
	for _, orders := range m.turns {
		t.Set(0, orders[0])
		t.Set(1, orders[1])
		if rec != nil {
			rec.Clear()
		}
		m.game.Step(&s, t)
		sum = terminalDigest(sum, &s)
		if rec != nil {
			sum += uint64(len(rec.Moves)*3 + len(rec.Damages)*5 + len(rec.Deaths)*7 + len(rec.Shields)*11 + len(rec.Ends))
		}
	}
	return sum
}

// terminalMatches reads the matches of the recordings, or makes random ones.
func terminalMatches(files []string) ([]terminalMatch, error) {
	var list []terminalMatch
	games := map[string]*terminal.Game{} // by rules
	err := recorded(files, func(r *recordings.RecordedGame) error {
		if games[r.Rules] == nil {
			rules, err := terminal.ParseRules([]byte(r.Rules))
			if err == nil {
				games[r.Rules], err = terminal.New(rules)
			}
			if err != nil {
				return err
			}
		}
		m := terminalMatch{game: games[r.Rules], turns: make([][2][]sim.Order, r.Episode.Turns)}
		for i := range m.turns {
			for p := range sim.Player(2) {
				m.turns[i][p] = slices.Clone(r.Episode.OrdersOf(i, p))
			}
		}
		list = append(list, m)
		return nil
	})
	if err != nil || len(files) > 0 {
		return list, err
	}
	g, err := terminal.New(terminal.DefaultRules())
	if err != nil {
		return nil, err
	}
	random := prng.New(2)
	t := sim.NewTurn(terminal.PlayoutOrders)
	for range 60 {
		m := terminalMatch{game: g}
		var s terminal.State
		g.Reset(&s, 0)
		for status := sim.Running; status == sim.Running; {
			var orders [2][]sim.Order
			for p := range sim.Player(2) {
				orders[p] = g.Playout(nil, &s, p, &random)
				t.Set(p, orders[p])
			}
			m.turns = append(m.turns, orders)
			status = g.Step(&s, t)
		}
		list = append(list, m)
	}
	return list, nil
}

// setupTerminalPlayout plays random games, and draws the orders during the pass.
func setupTerminalPlayout(*Options) (pass, int, error) {
	g, err := terminal.New(terminal.DefaultRules())
	if err != nil {
		return nil, 0, err
	}
	t := sim.NewTurn(terminal.PlayoutOrders)
	var orders []sim.Order
	pass := func() (uint64, error) {
		random := prng.New(1)
		sum := uint64(0)
		var s terminal.State
		g.Reset(&s, 0)
		for range terminalTurns {
			for p := range sim.Player(2) {
				orders = g.Playout(orders[:0], &s, p, &random)
				t.Set(p, orders)
			}
			if g.Step(&s, t) != sim.Running {
				sum = terminalDigest(sum, &s)
				g.Reset(&s, 0)
			}
		}
		return terminalDigest(sum, &s), nil
	}
	return pass, terminalTurns, nil
}

// setupTerminalField fills the distance fields of boards from random games.
func setupTerminalField(*Options) (pass, int, error) {
	matches, err := terminalMatches(nil)
	if err != nil {
		return nil, 0, err
	}
	var boards []bitboard.Diamond
	t := sim.NewTurn(terminal.PlayoutOrders)
	for _, m := range matches {
		var s terminal.State
		m.game.Reset(&s, 0)
		for _, orders := range m.turns {
			t.Set(0, orders[0])
			t.Set(1, orders[1])
			m.game.Step(&s, t)
		}
		free := bitboard.DiamondBoard
		free.AndNot(&s.Own[0])
		free.AndNot(&s.Own[1])
		boards = append(boards, free)
	}
	const fields = 1 << 18
	pass := func() (uint64, error) {
		sum := uint64(0)
		var f bitboard.Field
		for i := range fields {
			f.Fill(&boards[i/4%len(boards)], &terminalSides[i%4], i&1, &bitboard.Everywhere)
			sum = sum*31 + f.Step[1][i%8]
		}
		return sum, nil
	}
	return pass, fields, nil
}

// terminalSides are the sides of the arena: top right, top left, bottom left,
// bottom right.
var terminalSides = func() (t [4]bitboard.Diamond) {
	for i := range 14 {
		for side, at := range [4][2]int{{14 + i, 27 - i}, {13 - i, 27 - i}, {13 - i, i}, {14 + i, i}} {
			cell, _ := bitboard.DiamondCell(at[0], at[1])
			t[side].Add(cell)
		}
	}
	return t
}()

// setupTerminalClone copies a state back and forth between a few.
func setupTerminalClone(*Options) (pass, int, error) {
	matches, err := terminalMatches(nil)
	if err != nil {
		return nil, 0, err
	}
	var first terminal.State
	t := sim.NewTurn(terminal.PlayoutOrders)
	matches[0].game.Reset(&first, 0)
	for _, orders := range matches[0].turns[:len(matches[0].turns)-1] {
		t.Set(0, orders[0])
		t.Set(1, orders[1])
		matches[0].game.Step(&first, t)
	}
	const clones = 1 << 18
	var states [16]terminal.State
	pass := func() (uint64, error) {
		for i := range states {
			states[i] = first
			states[i].NextID += uint32(i)
		}
		sum := uint64(0)
		for i := range clones {
			states[(i*7+5)%16] = states[i%16]
			sum = sum*31 + uint64(states[i*7%16].NextID)
		}
		return sum, nil
	}
	return pass, clones, nil
}
