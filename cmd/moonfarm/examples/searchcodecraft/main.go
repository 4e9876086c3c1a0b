// Searchcodecraft is a bot of CodeCraft 2020 that searches over plans, which are built-in
// policies. Every few ticks it simulates the game from its view once for each plan, with the
// plan at all seats, and continues with the plan that earns it most. Its arguments are host,
// port and token:
//
//	go build -o searchcraft ./cmd/moonfarm/examples/searchcodecraft
//	moonfarm match codecraft --player ./searchcraft --player quickstart
//
// Under fog it knows only visible entities. recording.StateOfView documents the assumptions about
// the others.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"strings"

	"moonfarm/env"
	features "moonfarm/features/codecraft"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
	"moonfarm/sim/codecraft/wire/recording"
)

func main() {
	log.SetFlags(0)
	plans := flag.String("plans", "econ,turtle,quickstart", "policies to choose from")
	depth := flag.Int("depth", 30, "ticks of a playout")
	every := flag.Int("every", 20, "ticks from one search to the next")
	flag.Parse()
	if flag.NArg() != 3 {
		log.Fatal("expected host, port and token")
	}
	conn, err := net.Dial("tcp", net.JoinHostPort(flag.Arg(0), flag.Arg(1)))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	b := &bot{plans: strings.Split(*plans, ","), depth: *depth, every: *every}
	conn.Write(protocol.AppendString(nil, flag.Arg(2)))
	in := protocol.NewReader(conn)
	var m protocol.ServerMessage
	for {
		if err := in.ServerMessage(&m); err != nil {
			log.Fatal(err)
		}
		if m.Kind == protocol.Finish {
			return
		}
		answer, err := b.answer(&m.View)
		if err != nil {
			log.Fatal(err)
		}
		if _, err := conn.Write(answer); err != nil {
			log.Fatal(err)
		}
	}
}

// bot plays a game.
type bot struct {
	plans        []string
	depth, every int
	ticks        int

	vector   env.Vector       // a game for each plan, in which all seats follow it
	batch    *env.Batch       // of all games
	policies []rollout.Policy // by plan
	rows     [][]int32        // of each game
	best     int
}

// open makes the games by the rules in the first view.
func (b *bot) open(g *codecraft.Game) (err error) {
	if b.vector, err = env.New(g, features.Kit(g), env.Settings{N: len(b.plans)}); err != nil {
		return err
	}
	spec, wants := b.vector.Spec(), env.Want(0)
	for i, plan := range b.plans {
		maker, err := policy.New(spec.Info.Name, plan)
		if err != nil {
			return err
		}
		p, err := maker(spec)
		if err != nil {
			return err
		}
		b.policies, wants = append(b.policies, p), wants|p.Wants()
		var rows []int32
		for q := range spec.Info.Players {
			rows = append(rows, int32(i*spec.Info.Players+q))
		}
		b.rows = append(b.rows, rows)
	}
	b.batch = env.NewBatch(spec, len(b.plans), wants)
	return nil
}

// answer returns the message with the orders of the best plan.
func (b *bot) answer(v *protocol.PlayerView) ([]byte, error) {
	g, s, err := recording.StateOfView(v, codecraft.DefaultRules())
	if err == nil && b.vector == nil {
		err = b.open(g)
	}
	if err != nil {
		return nil, fmt.Errorf("tick %d: %w", v.CurrentTick, err)
	}
	me := sim.Player(v.MyID - 1)
	if b.ticks%b.every == 0 {
		b.search(s, me)
	}
	b.ticks++
	env.Load(b.vector, b.best, s, 0)
	b.act(b.best)
	row, most := b.rows[b.best][me], b.vector.Spec().Info.MaxOrders
	orders := b.batch.Orders[int(row)*most:][:max(b.batch.OrderLen[row], 0)]
	return protocol.AppendAnswer(nil, g, s, me, orders), nil
}

// search simulates every plan and keeps the plan with the best score.
func (b *bot) search(s *codecraft.State, me sim.Player) {
	for i := range b.plans {
		env.Load(b.vector, i, s, 0)
	}
	for range b.depth {
		for i := range b.plans {
			b.act(i)
		}
		b.vector.Step(b.batch)
	}
	most := 0.0
	for i := range b.plans {
		gain := b.vector.Outcome(i, me).Score // not compared with the others, as they follow the same plan
		if i == 0 || gain > most {
			b.best, most = i, gain
		}
	}
}

// act sets the orders of the plan of game i at all seats.
func (b *bot) act(i int) {
	b.vector.ObserveGame(b.batch, i)
	b.policies[i].Act(b.vector, b.batch, b.rows[i])
}
