package plain

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"testing"

	"moonfarm/sim/codecraft"
	"moonfarm/sim/simtest"
)

// What the lines of a recording hold: traces/codecraft/INDEX.md.

type recEntity struct {
	ID     uint32
	Player *int
	Type   string
	X, Y   int
	Health int
	Active bool
}

type recAction struct {
	Move *struct {
		Target       [2]int
		FindClosest  bool `json:"find_closest"`
		BreakThrough bool `json:"break_through"`
	}
	Build *struct {
		Type     string
		Position [2]int
	}
	Attack *struct {
		Target *uint32
		Auto   *struct {
			PathfindRange int      `json:"pathfind_range"`
			ValidTargets  []string `json:"valid_targets"`
		}
	}
	Repair *uint32 // target
}

type recLine struct {
	Kind    string
	Tick    int32
	NextID  uint32 `json:"next_id"`
	Players []struct{ Index, Score, Resource int32 }

	Entities []recEntity // of the initial line

	Events []struct {
		Type             string
		Attacker, Target uint32
	}
	ActionsSet      map[uint32]recAction `json:"actions_set"`
	ActionsRemoved  []uint32             `json:"actions_removed"`
	EntitiesNew     []recEntity          `json:"entities_new"`
	EntitiesRemoved []uint32             `json:"entities_removed"`
	EntitiesUpdated []recEntity          `json:"entities_updated"`
}

// readRecording reads all lines of the full game on record.
func readRecording(t *testing.T) (lines []recLine) {
	t.Helper()
	f, err := os.Open(simtest.Shared(t, "traces", "codecraft", "replay-round1-3p-ticks0-106.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(bufio.NewReader(z)); d.More(); {
		var l recLine
		if err := d.Decode(&l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

func typeNamed(t *testing.T, name string) codecraft.Type {
	t.Helper()
	k, ok := codecraft.TypeNamed(name)
	if !ok {
		t.Fatalf("no type %q", name)
	}
	return k
}

// action is a recorded action as the game keeps it.
func (a recAction) action(t *testing.T) *Action {
	t.Helper()
	r := &Action{}
	if m := a.Move; m != nil {
		to := Pos{m.Target[0], m.Target[1]}
		r.Move = &Move{
			To: Pos{min(max(to.X, 0), side-1), min(max(to.Y, 0), side-1)}, Outside: !to.inside(),
			Closest: m.FindClosest, Break: m.BreakThrough,
		}
	}
	if b := a.Build; b != nil {
		r.Build = &Build{typeNamed(t, b.Type), Pos{b.Position[0], b.Position[1]}}
	}
	if k := a.Attack; k != nil {
		r.Target = k.Target
		if k.Auto != nil {
			r.Auto = &Auto{Range: k.Auto.PathfindRange}
			for _, name := range k.Auto.ValidTargets {
				r.Auto.Valid |= 1 << typeNamed(t, name)
			}
			if r.Auto.Valid == 0 {
				r.Auto.Valid = codecraft.EveryType &^ (1 << codecraft.Resource)
			}
		}
	}
	r.Repair = a.Repair
	return r
}

// begin makes the game of the first line of a recording.
func begin(t *testing.T, l recLine) *Game {
	t.Helper()
	rules, ok := codecraft.Preset("round1-3")
	if !ok {
		t.Fatal("no such preset")
	}
	g := New(rules)
	g.NextID, g.Tick = l.NextID, l.Tick
	for _, p := range l.Players {
		g.Score[p.Index], g.Resource[p.Index] = p.Score, p.Resource
	}
	for _, r := range l.Entities {
		e := r.entity(t, g)
		if e.Owner == nobody {
			if len(g.start) == 0 {
				g.firstID = e.ID
			}
			g.start = append(g.start, e.At)
		}
		g.Entities = append(g.Entities, e)
	}
	return g
}

// entity is a recorded entity as the game keeps it.
func (r recEntity) entity(t *testing.T, g *Game) *Entity {
	t.Helper()
	e := &Entity{ID: r.ID, Owner: nobody, Type: typeNamed(t, r.Type), At: Pos{r.X, r.Y}, Health: r.Health, Active: r.Active}
	if r.Player != nil {
		e.Owner = *r.Player - 1
	}
	e.size = int(g.of(e).Size)
	return e
}

// reload sends the game through a state and back.
func reload(t *testing.T, g *Game) *Game {
	t.Helper()
	var s, again codecraft.State
	g.Store(&s)
	h := New(g.Rules)
	h.Load(&s)
	h.Store(&again)
	if d := simtest.Diff(&s, &again); d != "" {
		t.Fatalf("tick %d: stored, loaded and stored again: %s", g.Tick, d)
	}
	if len(h.Entities) != len(g.Entities) {
		t.Fatalf("tick %d: %d entities, %d after loading", g.Tick, len(g.Entities), len(h.Entities))
	}
	for i, e := range g.Entities {
		if d := differs(e, h.Entities[i]); d != "" {
			t.Fatalf("tick %d: after loading: %s", g.Tick, d)
		}
	}
	return h
}
