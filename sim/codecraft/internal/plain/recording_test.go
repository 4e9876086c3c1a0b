package plain

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/recording"
	"moonfarm/sim/simtest"
)

// recorded is a recorded tick: the state before it, with the actions that are in effect, and the
// attacks.
type recorded struct {
	state codecraft.State
	hits  []recording.Event
}

// readRecording reads the recorded game. Its last element is the state after all ticks.
func readRecording(t *testing.T, rules codecraft.Rules) (ticks []recorded) {
	t.Helper()
	const name = "replay-round1-3p-ticks0-106.jsonl.gz"
	r, err := recording.NewReader(name, bytes.NewReader(simtest.Text(t, simtest.Shared(t, "traces", "codecraft", name))))
	require.NoError(t, err)
	fast, err := codecraft.New(rules)
	require.NoError(t, err)
	var s codecraft.State
	var p codecraft.Position
	turn := sim.NewTurn(fast.Info().MaxOrders)
	for end := error(nil); end == nil; {
		end = r.Next()
		require.True(t, end == nil || end == io.EOF, end)
		require.NoError(t, r.World.Position(&p, &rules))
		require.NoError(t, fast.Restore(&s, &p))
		g := New(rules)
		g.Load(&s)
		turn.Clear()
		r.Delta.Orders(turn, &r.World, &rules)
		for p := range sim.Player(rules.Players) {
			g.Command(int(p), turn.Orders(p))
		}
		g.Store(&s)
		ticks = append(ticks, recorded{s, slices.Clone(r.Events)})
	}
	return ticks
}

// counts counts the compared events.
type counts struct {
	ticks    int
	attacks  int // all attacks
	forced   int // attacks of units with a target of their attack action
	blockers int // attacks on entities in the way
	wasted   int // attacks on dead entities
	builds   int
	attempts int // attempts to build
	repairs  int
	moves    int
	chases   int // moves towards a target of an auto attack
	twofold  int // moves with more than one best step
	waits    int // units that wait for an occupied cell
	stays    int // units with a move action and without a step
}

// TestRecording compares every tick of the recorded game with the rules, from the recorded state:
// the rules must allow every attack, and no forced attack may be missing; with the recorded
// attacks, health, resource, score and ids must follow exactly; the ids of new entities must allow
// some order of builds; every step must begin a best path; and a unit that could step and did not
// must have found its cell occupied.
func TestRecording(t *testing.T) {
	rules, _ := codecraft.Preset("round1-3")
	ticks := readRecording(t, rules)
	var n counts
	for i := range len(ticks) - 1 {
		r := replay{t: t, g: New(rules), hits: ticks[i].hits, after: New(rules), n: &n}
		r.g.Load(&ticks[i].state)
		r.after.Load(&ticks[i+1].state)
		r.play()
		if t.Failed() {
			return
		}
	}
	t.Logf("%+v", n)
	want := (counts{106, 1463, 1455, 8, 10, 44, 314, 129, 812, 255, 467, 233, 296})
	assert.Truef(t, n == want, "compared %+v, want %+v", n, want)
}

// replay is one recorded tick.
type replay struct {
	t     *testing.T
	g     *Game
	hits  []recording.Event
	after *Game // the recorded state after the tick
	n     *counts
}

func (r *replay) errorf(format string, args ...any) {
	r.t.Helper()
	r.t.Errorf("tick %d: %s", r.after.Tick-1, fmt.Sprintf(format, args...))
}

func (r *replay) play() {
	var gone []uint32
	for _, e := range r.g.Entities {
		if r.after.Find(e.ID) == nil {
			gone = append(gone, e.ID)
		}
	}
	r.g.Plan()
	r.attacks()
	r.builds()
	acted := map[uint32]bool{}
	for _, e := range r.g.Entities {
		acted[e.ID] = e.acted
	}
	r.g.Repair()
	for _, e := range r.g.Entities {
		if e.acted && !acted[e.ID] {
			r.n.repairs++
		}
	}
	r.moves()
	r.g.CleanUp()
	r.compare(gone)
	r.n.ticks++
}

// attacks checks the recorded attacks and executes them.
func (r *replay) attacks() {
	g := r.g
	for _, hit := range r.hits {
		u, v := g.Find(uint32(hit.Attacker)), g.Find(uint32(hit.Victim))
		if u == nil || v == nil || u.acted {
			r.errorf("%d attacks %d: not there, or it attacked before", hit.Attacker, hit.Victim)
			continue
		}
		blocker := len(u.victims) == 0 && slices.Contains(r.blockers(u), v)
		if !blocker && !slices.Contains(u.victims, v) {
			r.errorf("%d attacks %d, allowed are %v and, in its way, %d", u.ID, v.ID, u.Victims(), len(r.blockers(u)))
		}
		if blocker {
			r.n.blockers++
		}
		if v.Health == 0 {
			r.n.wasted++
		}
		g.hit(u, v)
		r.n.attacks++
	}
	for _, u := range g.Entities {
		if len(u.victims) > 0 {
			r.n.forced++
			if !u.acted {
				r.errorf("%d does not attack any of %v", u.ID, u.Victims())
			}
		}
	}
}

// blockers returns the entities that u may have to attack because they stand in its way.
func (r *replay) blockers(u *Entity) (list []*Entity) {
	for d := range directions {
		if u.steps>>d&1 != 0 {
			if e := r.g.occupied(u.At.step(d)); e != nil && e.Owner != u.Owner {
				list = append(list, e)
			}
		}
	}
	return list
}

// builds checks the new entities by the build actions, in the order of ids, and builds them. All
// ids between two new entities belong to failed attempts. An attempt that fails once also fails at
// every later time, so it does not matter which attempt took which id.
func (r *replay) builds() {
	g := r.g
	var order []*Entity
	for _, e := range g.Entities {
		if e.Active && e.Action != nil && e.Action.Build != nil && g.of(e).CanBuild && !e.acted {
			order = append(order, e)
		}
	}
	r.n.attempts += len(order)
	end := g.NextID + uint32(len(order))
	if end != r.after.NextID {
		r.errorf("%d build from id %d on, but the next is %d", len(order), g.NextID, r.after.NextID)
	}
	for ; g.NextID < end; g.NextID++ {
		made := r.after.Find(g.NextID)
		i := slices.IndexFunc(order, func(u *Entity) bool {
			b := u.Action.Build
			if made == nil {
				return !g.buildable(u, b)
			}
			return g.buildable(u, b) && b.At == made.At && b.Type == made.Type && u.Owner == made.Owner
		})
		if i < 0 {
			r.errorf("id %d: built %+v: no one of %d can be it", g.NextID, made, len(order))
			return
		}
		if made != nil {
			r.n.builds++
			order[i].acted = true
			g.create(order[i], order[i].Action.Build)
		}
		order = slices.Delete(order, i, i+1)
	}
}

// moves checks the recorded moves and executes them.
func (r *replay) moves() {
	g := r.g
	type move struct {
		u  *Entity
		to Pos
	}
	var list []move
	start := g.grid
	for _, u := range g.Entities {
		e := r.after.Find(u.ID)
		if e == nil || e.At == u.At {
			continue
		}
		to := e.At
		d := slices.IndexFunc(directions[:], func(d Pos) bool { return to == Pos{u.At.X + d.X, u.At.Y + d.Y} })
		if u.acted || d < 0 || u.steps>>d&1 == 0 {
			r.errorf("%d at %v moves to %v: steps %04b, acted %v", u.ID, u.At, to, u.steps, u.acted)
			continue
		}
		r.n.moves++
		if u.steps&(u.steps-1) != 0 {
			r.n.twofold++
		}
		if u.Action.Auto != nil && g.chase(u) != 0 {
			r.n.chases++
		}
		list = append(list, move{u, to})
	}
	for again := true; again; {
		again = false
		list = slices.DeleteFunc(list, func(m move) bool {
			if g.occupied(m.to) != nil {
				return false
			}
			g.grid[m.u.At.X][m.u.At.Y], g.grid[m.to.X][m.to.Y] = nil, m.u
			m.u.At, again = m.to, true
			m.u.acted = true
			return true
		})
	}
	if len(list) > 0 {
		r.errorf("%d moves into cells that are not free, the first by %d", len(list), list[0].u.ID)
	}
	for _, u := range g.Entities {
		switch {
		case u.acted || u.steps == 0:
			if !u.acted && u.Action != nil && u.Action.Move != nil {
				r.n.stays++
			}
		case !r.waits(u, &start):
			r.errorf("%d at %v with steps %04b and next cells not taken does not move", u.ID, u.At, u.steps)
		default:
			r.n.waits++
		}
	}
}

// waits reports whether a possible next cell of u had no entity to attack and is occupied after the
// tick.
func (r *replay) waits(u *Entity, start *[side][side]*Entity) bool {
	for d := range directions {
		c := u.At.step(d)
		if u.steps>>d&1 == 0 || r.g.occupied(c) == nil {
			continue
		}
		if e := start[c.X][c.Y]; e == nil || e.Owner == u.Owner {
			return true
		}
	}
	return false
}

// compare compares everything after the tick; gone has the removed entities.
func (r *replay) compare(gone []uint32) {
	g, want := r.g, r.after
	if g.Score != want.Score || g.Resource != want.Resource {
		r.errorf("scores and resources %v, %v, recorded %v, %v", g.Score, g.Resource, want.Score, want.Resource)
	}
	if g.Tick != want.Tick || g.NextID != want.NextID {
		r.errorf("tick and next id %d, %d, recorded %d, %d", g.Tick, g.NextID, want.Tick, want.NextID)
	}
	if died := slices.Sorted(slices.Values(g.Died)); !slices.Equal(died, gone) {
		r.errorf("removed are %v, recorded %v", died, gone)
	}
	if len(want.Entities) != len(g.Entities) {
		r.errorf("%d entities, recorded %d", len(g.Entities), len(want.Entities))
		return
	}
	for i, e := range g.Entities {
		if d := differs(want.Entities[i], e); d != "" {
			r.errorf("recorded and played: %s", d)
		}
	}
}

// differs returns the first difference between two entities, not counting actions, "" if there is
// none.
func differs(a, b *Entity) string {
	if a.ID != b.ID || a.Owner != b.Owner || a.Type != b.Type || a.At != b.At || a.Health != b.Health || a.Active != b.Active || a.size != b.size {
		return fmt.Sprintf("%+v, %+v", *a, *b)
	}
	return ""
}
