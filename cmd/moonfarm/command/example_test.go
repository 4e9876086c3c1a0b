package command

import (
	"context"
	"fmt"
	"log"
	"math/bits"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// This is the code of README and of env/README.md on searches.
func Example_search() {
	g, err := terminal.New(terminal.DefaultRules())
	if err != nil {
		log.Fatal(err)
	}
	var now, then terminal.State
	g.Reset(&now, 0)
	orders := sim.NewTurn(8)
	orders.SetOne(0, terminal.Spawn(terminal.Scout, 13, 0, 1)) // seat 0; seat 1 does nothing
	x := g.Simulate(&then, &now, orders)                       // sets then: the state after the action phase
	fmt.Println(x.Breaches[0], x.Health[1], x.Structures[0])   // scored, health taken, own structures lost
	// Output: 1 1 0
}

// This is the code of env/README.md.
func Example_library() {
	game, err := catalog.Find("towerdefence")
	if err != nil {
		log.Fatal(err)
	}
	v, err := game.New("", env.Settings{N: 256}) // 256 games with the default rules
	if err != nil {
		log.Fatal(err)
	}
	b := env.NewBatch(v.Spec(), v.Spec().Games, env.WantPlanes|env.WantScalars|env.WantMask|env.WantAction)
	played := 0
	for range 1000 {
		v.Observe(b) // writes b.Planes [rows, planes, height, width], b.Scalars, b.Mask …
		for row := range b.Rows {
			b.Action[row] = choose(b.Mask[row*v.Spec().MaskWords:][:v.Spec().MaskWords])
		}
		v.Step(b) // plays a turn of every game, writes b.Reward, b.Status …
		for i, status := range b.Status {
			if status != sim.Running {
				played++
				v.Reset(i, uint64(played))
			}
		}
	}

	ctx, sink := context.Background(), &tally{}
	maker, err := policy.New("towerdefence", "mix(0.8*econ,0.2*random)")
	if err != nil {
		log.Fatal(err)
	}
	strong, err := maker(v.Spec())
	if err != nil {
		log.Fatal(err)
	}
	mine := firstLegal{words: v.Spec().MaskWords}
	err = rollout.Shard(ctx, v, []rollout.Policy{strong, mine}, 1, 0, 100, sink) // seed 1, episodes 0 … 99

	fmt.Println(played > 0, err, sink.episodes, sink.won > 90)
	// Output: true <nil> 100 true
}

// choose chooses the first legal choice.
func choose(mask []uint64) int32 {
	for i, word := range mask {
		if word != 0 {
			return int32(i*64 + bits.TrailingZeros64(word))
		}
	}
	return 0
}

// firstLegal is a policy that always takes the first legal choice.
type firstLegal struct{ words int }

func (f firstLegal) Name() string { return "first-legal" }

func (f firstLegal) Wants() env.Want { return env.WantMask | env.WantAction }

func (f firstLegal) Act(_ env.Vector, b *env.Batch, rows []int32) {
	for _, row := range rows {
		b.Action[row] = choose(b.Mask[int(row)*f.words:][:f.words])
	}
}

// tally counts the games that seat 0 won.
type tally struct{ episodes, won int }

func (t *tally) Episode(e *rollout.Episode) error {
	t.episodes++
	if e.Outcome[0].Result > 0 {
		t.won++
	}
	return nil
}
