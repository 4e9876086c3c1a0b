package bench

import (
	"errors"
	"fmt"

	"moonfarm/env"
	scripts "moonfarm/rollout/policy/codecraft"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
)

// craftSeeds are the seeds of the measured games. Maps and games differ in the number of
// entities, so that a figure holds for these games alone.
var craftSeeds = [...]uint64{1000, 1001, 1002, 1003, 1004}

// craftFigures lists the figures of CodeCraft.
func craftFigures() []measure {
	played := func(what, note string, c craftGames) measure {
		return measure{what: what, unit: "ticks/s", note: note, setup: c.setup}
	}
	return []measure{
		{what: "step", unit: "ticks/s", setup: setupCraftStep, note: "the games of playout with the orders given beforehand"},
		played("playout", "finals, econ against econ to the end, five games, the scripts too", craftGames{"finals", "econ", 0}),
		played("playout-300", "their first 300 ticks", craftGames{"finals", "econ", 300}),
		played("playout-near", "the same with armies sent four cells ahead at a time", craftGames{"finals", "econ-near", 0}),
		played("playout-break", "the same with units that break through what is in their way", craftGames{"finals", "econ-break", 0}),
		played("playout-4p", "round 1, four times econ, no fog", craftGames{"round1", "econ", 0}),
		{what: "policy", unit: "turns/s", setup: setupCraftPolicy, note: "orders of econ for one seat, in states of playout"},
		craftObserved("observe", env.WantPlanes|env.WantScalars|env.WantMask),
		craftObserved("observe-packed", env.WantPacked|env.WantScalars|env.WantMask),
		{what: "clone", unit: "clones/s", setup: setupCraftClone, note: "State.Clone of the state with the most entities of playout's first game"},
	}
}

// craftGames are games of one script against itself.
type craftGames struct {
	preset, script string
	ticks          int32 // limit of the ticks; 0: to the end
}

// craftSession plays craftGames, one after the other.
type craftSession struct {
	game   *codecraft.Game
	script *scripts.ScriptPlayer
	state  codecraft.State
	turn   *sim.Turn
	orders []sim.Order
	seeds  []uint64
	ticks  int32
}

func (c craftGames) session() (*craftSession, error) {
	r, ok := codecraft.Preset(c.preset)
	if !ok {
		return nil, fmt.Errorf("no preset %q", c.preset)
	}
	g, err := codecraft.New(r)
	if err != nil {
		return nil, err
	}
	script, err := scripts.NewScriptPlayer(c.script)
	if err != nil {
		return nil, err
	}
	room := g.Info().MaxOrders
	t := &craftSession{game: g, script: script, turn: sim.NewTurn(room), orders: make([]sim.Order, 0, room), seeds: craftSeeds[:], ticks: r.MaxTurns}
	if c.ticks != 0 {
		t.ticks = min(t.ticks, c.ticks)
	}
	return t, nil
}

// choose sets the orders that the script gives at each seat.
func (c *craftSession) choose() {
	for p := range sim.Player(c.game.Info().Players) {
		c.orders = c.script.AppendOrders(c.orders[:0], c.game, &c.state, p)
		c.turn.Set(p, c.orders)
	}
}

// play plays all games and returns their checksum and the number of ticks. It calls each,
// if not nil, when the orders of a tick are chosen.
func (c *craftSession) play(each func()) (sum uint64, ticks int) {
	for _, seed := range c.seeds {
		c.game.Reset(&c.state, seed)
		for status := sim.Running; status == sim.Running && c.state.Tick < c.ticks; ticks++ {
			c.choose()
			if each != nil {
				each()
			}
			status = c.game.Step(&c.state, c.turn)
		}
		sum = craftDigest(sum, &c.state)
	}
	return sum, ticks
}

// craftDigest mixes the result of a game into a checksum that does not depend on the layout
// of the state.
func craftDigest(sum uint64, s *codecraft.State) uint64 {
	mix := func(x uint64) { sum = prng.Mix(sum ^ x) }
	mix(uint64(s.Tick)<<32 | uint64(s.NextID))
	for p, score := range s.Score {
		mix(uint64(score)<<32 | uint64(uint32(s.Resource[p])))
	}
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		mix(uint64(u.ID)<<32 | uint64(u.X)<<24 | uint64(u.Y)<<16 | uint64(uint16(u.Health)))
	}
	for i, h := range s.Health {
		if h != 0 {
			sum = sum*31 + uint64(i)<<8 + uint64(h)
		}
	}
	return sum
}

func (c craftGames) setup(*Options) (pass, int, error) {
	t, err := c.session()
	if err != nil {
		return nil, 0, err
	}
	pass := func() (uint64, error) {
		sum, _ := t.play(nil)
		return sum, nil
	}
	_, ticks := t.play(nil) // to count them
	return pass, ticks, nil
}

// setupCraftStep plays the games of playout from their orders.
func setupCraftStep(o *Options) (pass, int, error) {
	if len(o.Recordings) > 0 {
		return nil, 0, errors.New("recordings of codecraft are not played here; see moonfarm replay verify")
	}
	t, err := craftGames{preset: "finals", script: "econ"}.session()
	if err != nil {
		return nil, 0, err
	}
	var list []sim.Order
	var ends []int // where the orders of a seat end in list, tick by tick and seat by seat
	_, ticks := t.play(func() {
		for p := range sim.Player(2) {
			list = append(list, t.turn.Orders(p)...)
			ends = append(ends, len(list))
		}
	})
	pass := func() (uint64, error) {
		sum := uint64(0)
		from, k := 0, 0
		for _, seed := range craftSeeds {
			t.game.Reset(&t.state, seed)
			for status := sim.Running; status == sim.Running; k += 2 {
				t.turn.Set(0, list[from:ends[k]])
				t.turn.Set(1, list[ends[k]:ends[k+1]])
				from = ends[k+1]
				status = t.game.Step(&t.state, t.turn)
			}
			sum = craftDigest(sum, &t.state)
		}
		return sum, nil
	}
	return pass, ticks, nil
}

// craftStates returns a state of every few ticks of the games of playout.
func craftStates(every int32) (*craftSession, []codecraft.State, error) {
	t, err := craftGames{preset: "finals", script: "econ"}.session()
	if err != nil {
		return nil, nil, err
	}
	var states []codecraft.State
	t.play(func() {
		if t.state.Tick%every == every-1 {
			states = append(states, t.state)
		}
	})
	return t, states, nil
}

// setupCraftPolicy measures the script alone. Its states exceed the second-level cache, as
// in a game, where a tick evicts the state.
func setupCraftPolicy(*Options) (pass, int, error) {
	t, states, err := craftStates(50)
	if err != nil {
		return nil, 0, err
	}
	const rounds = 100
	pass := func() (uint64, error) {
		sum := uint64(0)
		for range rounds {
			for i := range states {
				for p := range sim.Player(2) {
					t.orders = t.script.AppendOrders(t.orders[:0], t.game, &states[i], p)
					for _, o := range t.orders {
						sum = sum*31 + uint64(o)
					}
				}
			}
		}
		return sum, nil
	}
	return pass, rounds * len(states) * 2, nil
}

// setupCraftClone clones a state back and forth between a few.
func setupCraftClone(*Options) (pass, int, error) {
	t, err := craftGames{preset: "finals", script: "econ"}.session()
	if err != nil {
		return nil, 0, err
	}
	var first codecraft.State
	t.seeds = t.seeds[:1]
	t.play(func() {
		if t.state.N > first.N {
			first = t.state
		}
	})
	const clones = 1 << 16
	states := make([]codecraft.State, 4) // fill the cache like the states of a search
	pass := func() (uint64, error) {
		for i := range states {
			states[i].Clone(&first)
			states[i].NextID += uint32(i)
		}
		sum := uint64(0)
		for i := range clones {
			states[(i*7+5)%len(states)].Clone(&states[i%len(states)])
			sum = sum*31 + uint64(states[i*7%len(states)].NextID)
		}
		return sum, nil
	}
	return pass, clones, nil
}

// craftObserved measures the games of playout with the observations of both
// seats before every tick.
func craftObserved(what string, want env.Want) measure {
	setup := func(*Options) (pass, int, error) {
		v, err := vectorOf("codecraft", 1)
		if err != nil {
			return nil, 0, err
		}
		script, err := playerOf(v, "econ")
		if err != nil {
			return nil, 0, err
		}
		b := env.NewBatch(v.Spec(), 1, want|script.Wants())
		rows := []int32{0, 1}
		ticks := 0
		pass := func() (uint64, error) {
			sum := uint64(0)
			ticks = 0
			for _, seed := range craftSeeds {
				v.Reset(0, seed)
				for b.Status[0] = sim.Running; b.Status[0] == sim.Running; ticks++ {
					v.Observe(b)
					script.Act(v, b, rows)
					if ticks%256 == 0 {
						sum = digest(sum, b)
					}
					v.Step(b)
				}
			}
			return sum, nil
		}
		_, err = pass() // to count the ticks
		return pass, ticks, err
	}
	return measure{what: what, unit: "ticks/s", setup: setup,
		note: "the games of playout, with observations and masks of both seats before every tick"}
}
