// Searchtowerdefence is a bot of Tower Defence that searches: it plays random games from the
// current round, tries the commands with the best results most often (UCB1), and gives the
// command that it tried most. The original engine starts it every round, in a folder with
// state.json, and reads its command.txt:
//
//	go build -o searchtd ./cmd/moonfarm/examples/searchtowerdefence
//	moonfarm match towerdefence --player ./searchtd --player econ
package main

import (
	"flag"
	"log"
	"math"
	"os"
	"time"

	"moonfarm/sim"
	"moonfarm/sim/bounded"
	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/command"
	"moonfarm/sim/towerdefence/wire/display"
)

func main() {
	log.SetFlags(0)
	think := flag.Duration("think", 200*time.Millisecond, "time for a round")
	games := flag.Int("games", 1<<30, "playouts of a round")
	depth := flag.Int("depth", 24, "rounds of a playout")
	flag.Parse()
	text, err := bounded.ReadFile(os.Open, "state.json", 4<<20)
	if err != nil {
		log.Fatal(err)
	}
	g, s, me, err := display.ReadState(text, towerdefence.DefaultRules())
	if err != nil {
		log.Fatal(err)
	}
	o := search(g, s, me, time.Now().Add(*think), *games, *depth)
	if err := os.WriteFile("command.txt", command.Append(nil, o), 0o666); err != nil {
		log.Fatal(err)
	}
}

// arm is a command with the results of its playouts, from 0 to 1.
type arm struct {
	order sim.Order
	sum   float64
	n     float64
}

// search returns the most tried command of the seat.
func search(g *towerdefence.Game, s *towerdefence.State, me sim.Player, until time.Time, games, depth int) sim.Order {
	r := prng.New(uint64(s.Round))
	arms := []arm{{}} // the first does nothing
	for _, o := range g.AppendOrders(nil, s, me) {
		arms = append(arms, arm{order: o})
	}
	turn := sim.NewTurn(1)
	for n := range games {
		if n > len(arms) && n%16 == 0 && time.Now().After(until) {
			break
		}
		a := next(arms, float64(n))
		a.sum += playout(g, *s, me, a.order, turn, &r, depth)
		a.n++
	}
	best := &arms[0]
	for i := range arms {
		if arms[i].n > best.n {
			best = &arms[i]
		}
	}
	return best.order
}

// next returns the first arm that was never tried, or else the arm with the highest upper
// confidence bound.
func next(arms []arm, n float64) *arm {
	best, most := &arms[0], -1.0
	for i := range arms {
		a := &arms[i]
		if a.n == 0 {
			return a
		}
		if bound := a.sum/a.n + math.Sqrt(0.1*math.Log(n)/a.n); bound > most {
			best, most = a, bound
		}
	}
	return best
}

// playout simulates a copy of the state, in which seat me begins with the order, and returns
// its result from 0 to 1, by the difference of the scores.
func playout(g *towerdefence.Game, s towerdefence.State, me sim.Player, o sim.Order, t *sim.Turn, r *prng.Rand, depth int) float64 {
	before := g.Score(&s, me) - g.Score(&s, me^1)
	t.Set(me, []sim.Order{o})
	t.Set(me^1, []sim.Order{g.Playout(&s, me^1, r)})
	for status := g.Step(&s, t); status == sim.Running && depth > 0; depth-- {
		for p := range sim.Player(2) {
			t.Set(p, []sim.Order{g.Playout(&s, p, r)})
		}
		status = g.Step(&s, t)
	}
	const scale = 200 // points of a clear win
	gain := g.Score(&s, me) - g.Score(&s, me^1) - before
	return 1 / (1 + math.Exp(-float64(gain)/scale))
}
