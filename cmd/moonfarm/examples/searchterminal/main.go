// Searchterminal is a bot of C1 Terminal that searches: it draws many random turns, simulates
// each of them against random turns of the opponent, and gives the turn with the best result.
// The original engine starts it once per match, sends its config and then a line for every
// frame, and reads two lines of commands for each deploy frame:
//
//	go build -o searchterminal ./cmd/moonfarm/examples/searchterminal
//	moonfarm match terminal --player ./searchterminal --player starter
package main

import (
	"bufio"
	"bytes"
	"flag"
	"io"
	"log"
	"os"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/terminal/wire/frame"
)

func main() {
	log.SetFlags(0)
	turns := flag.Int("turns", 200, "turns that are tried")
	depth := flag.Int("depth", 2, "turns of a playout")
	replies := flag.Int("replies", 4, "playouts of each turn that is tried")
	flag.Parse()
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	line, err := in.ReadBytes('\n')
	if err != nil {
		log.Fatal(err)
	}
	c, err := config.Parse(line)
	if err != nil {
		log.Fatal(err)
	}
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		var f frame.Frame
		if err := frame.Parse(&f, bytes.TrimSpace(line)); err != nil {
			log.Fatal(err)
		}
		if f.Phase == frame.PhaseEnd {
			return
		}
		if f.Phase != frame.PhaseDeploy {
			continue
		}
		g, s, err := frame.ReadState(bytes.TrimSpace(line), c.Rules, 0) // both seats see themselves below
		if err != nil {
			log.Fatal(err)
		}
		orders := search(g, s, *turns, *replies, *depth)
		os.Stdout.Write(frame.AppendAnswer(nil, orders, &c.Shorthands, 0))
	}
}

// search returns the orders of the simulated turn with the best result.
func search(g *terminal.Game, s *terminal.State, turns, replies, depth int) (best []sim.Order) {
	r := prng.New(uint64(s.Turn))
	most := 0.0
	for n := range turns {
		var orders []sim.Order // the first turn has none
		if n > 0 {
			orders = g.Playout(nil, s, 0, &r)
		}
		sum := 0.0
		for range replies {
			sum += playout(g, *s, orders, &r, depth)
		}
		if n == 0 || sum > most {
			best, most = orders, sum
		}
	}
	return best
}

// playout simulates a copy of the state, in which seat 0 begins with the orders, and returns
// the difference of the healths plus a small weight of the structures.
func playout(g *terminal.Game, s terminal.State, orders []sim.Order, r *prng.Rand, depth int) float64 {
	var t sim.Turn
	t.Set(0, orders)
	t.Set(1, g.Playout(nil, &s, 1, r))
	for status := g.Step(&s, &t); status == sim.Running && depth > 0; depth-- {
		for p := range sim.Player(2) {
			t.Set(p, g.Playout(nil, &s, p, r))
		}
		status = g.Step(&s, &t)
	}
	built := len(s.AppendStructures(nil, 0)) - len(s.AppendStructures(nil, 1))
	return float64(s.Health[0]-s.Health[1]) + 0.05*float64(built)
}
