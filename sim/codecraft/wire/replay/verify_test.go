package replay

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/internal/wiretest"
	"moonfarm/sim/codecraft/wire/protocol"
	"moonfarm/sim/codecraft/wire/recording"
)

// TestVerifyRecordedGame checks all ticks of the recorded game.
func TestVerifyRecordedGame(t *testing.T) {
	want := Report{Games: 1, Ticks: 106, Last: 106, Counts: [Counts]int{1463, 8, 10, 44, 270, 129, 812, 1045, 37, 43}}
	for name, file := range map[string][]byte{"lines": wiretest.Unpack(t, wiretest.RecordedGame), "replay": recordedReplay(t)} {
		t.Run(name, func(t *testing.T) {
			r, err := Verify(name, bytes.NewReader(file), wiretest.Round1())
			require.NoErrorf(t, err, "%s", name)
			assert.Equalf(t, want, r, "first %v", r.First)
		})
	}
}

// changes has possible faults of a recorded tick. Each function changes the k-th item of its kind
// and returns a part of the expected difference, "" if the tick has no such item.
var changes = map[string]func(r *recording.Reader, k int) string{
	"no attack": func(r *recording.Reader, k int) string {
		if len(r.Events) == 0 {
			return ""
		}
		k %= len(r.Events)
		r.Events = append(r.Events[:k], r.Events[k+1:]...)
		return "attack: recorded none, by the rules on "
	},
	"attack of another": func(r *recording.Reader, k int) string {
		if len(r.Events) == 0 {
			return ""
		}
		r.Events[k%len(r.Events)].Victim = 4
		return "attack: recorded on 4, by the rules "
	},
	"attack by nobody": func(r *recording.Reader, _ int) string {
		r.Events = append(r.Events, recording.Event{Attacker: 3, Victim: 4})
		return "attack: recorded on 4, by the rules none: it is not a unit"
	},
	"attack by a building": func(r *recording.Reader, _ int) string {
		r.Events = append(r.Events, recording.Event{Attacker: 4, Victim: 5})
		return "attack: recorded on 5, by the rules none: it cannot"
	},
	"attack twice": func(r *recording.Reader, k int) string {
		if len(r.Events) == 0 {
			return ""
		}
		r.Events = append(r.Events, r.Events[k%len(r.Events)])
		return "attack: recorded two, by the rules one"
	},
	"health": func(r *recording.Reader, k int) string {
		if len(r.Delta.Entities.Changed) == 0 {
			return ""
		}
		r.Delta.Entities.Changed[k%len(r.Delta.Entities.Changed)].Health++
		return "health: recorded "
	},
	"active": func(r *recording.Reader, k int) string {
		if len(r.Delta.Entities.Changed) == 0 {
			return ""
		}
		e := &r.Delta.Entities.Changed[k%len(r.Delta.Entities.Changed)]
		e.Active = !e.Active
		return "active: recorded "
	},
	"jump": func(r *recording.Reader, k int) string {
		if len(r.Delta.Entities.Changed) == 0 {
			return ""
		}
		e := &r.Delta.Entities.Changed[k%len(r.Delta.Entities.Changed)]
		e.X = (e.X + 40) % codecraft.Side
		return ": recorded "
	},
	"score": func(r *recording.Reader, k int) string {
		changedPlayer(r, k).Score++
		return "score of player "
	},
	"resource": func(r *recording.Reader, k int) string {
		changedPlayer(r, k).Resource++
		return "resource of player "
	},
	"next id": func(r *recording.Reader, _ int) string {
		r.Delta.NextID++
		return "next_id: recorded "
	},
	"removed": func(r *recording.Reader, k int) string {
		at := k % len(r.World.Entities)
		id := r.World.Entities[at].ID
		for _, e := range r.Delta.Entities.Changed {
			if e.ID == id {
				return ""
			}
		}
		for _, gone := range r.Delta.Entities.Removed {
			if gone == id {
				return ""
			}
		}
		r.Delta.Entities.Removed = append(r.Delta.Entities.Removed, id)
		for _, a := range r.World.Actions {
			if a.ID == id {
				r.Delta.Actions.Removed = append(r.Delta.Actions.Removed, id)
				for i, c := range r.Delta.Actions.Changed {
					if c.ID == id {
						r.Delta.Actions.Changed = append(r.Delta.Actions.Changed[:i], r.Delta.Actions.Changed[i+1:]...)
						break
					}
				}
			}
		}
		return ": recorded "
	},
	"not removed": func(r *recording.Reader, _ int) string {
		if len(r.Delta.Entities.Removed) == 0 {
			return ""
		}
		r.Delta.Entities.Removed = r.Delta.Entities.Removed[1:]
		return ", by the rules 0, and removed"
	},
	"nothing built": func(r *recording.Reader, _ int) string {
		if len(r.Delta.Entities.New) == 0 {
			return ""
		}
		r.Delta.Entities.New = r.Delta.Entities.New[1:]
		return "build: recorded failed, by the rules built"
	},
	"another built": func(r *recording.Reader, _ int) string {
		if len(r.Delta.Entities.New) == 0 {
			return ""
		}
		r.Delta.Entities.New[0].Type = codecraft.Turret
		return "build: recorded Turret, by the rules nothing"
	},
	"action of nothing": func(r *recording.Reader, _ int) string {
		r.Delta.Actions.New = append(r.Delta.Actions.New, protocol.EntityOrder{ID: 2})
		return "stored action: recorded one, by the rules none: it is not a unit"
	},
	"another player": func(r *recording.Reader, _ int) string {
		changedPlayer(r, 1).Index = 9
		return "players: recorded "
	},
}

// changedPlayer returns the new value of a player in the delta.
func changedPlayer(r *recording.Reader, k int) *recording.PlayerRecord {
	p := r.World.Players[k%len(r.World.Players)]
	for i := range r.Delta.Players.Changed {
		if r.Delta.Players.Changed[i].ID == p.ID {
			return &r.Delta.Players.Changed[i]
		}
	}
	r.Delta.Players.Changed = append(r.Delta.Players.Changed, p)
	return &r.Delta.Players.Changed[len(r.Delta.Players.Changed)-1]
}

// TestVerifyDifference makes all these changes in the ticks of the recorded game; each must be
// found.
func TestVerifyDifference(t *testing.T) {
	file := recordedReplay(t)
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			made := 0
			r, err := recording.NewReader("changed", bytes.NewReader(file))
			require.NoError(t, err)
			var v verifier
			v.tick.rules, err = r.World.Rules(wiretest.Round1())
			require.NoError(t, err)
			v.tick.game = wiretest.NewGame(t, v.tick.rules)
			for k := 0; r.Next() == nil; k++ {
				if k%4 != 0 && !strings.Contains(name, "removed") && !strings.Contains(name, "built") {
					continue // a quarter of the ticks is enough for changes that every tick allows
				}
				events, delta := slices.Clone(r.Events), cloneDelta(&r.Delta)
				want := change(r, 7*k)
				if want == "" {
					continue
				}
				made++
				require.NoError(t, v.tick.begin(r))
				d := v.tick.check()
				assert.Truef(t, d != nil && strings.Contains(d.Error(), want) && d.Tick == k, "%s in tick %d: %v, want %q", name, k, d, want)
				r.Events, r.Delta = events, delta
			}
			require.GreaterOrEqual(t, made, 10, "changes made")
		})
	}
}

// cloneDelta returns a copy of d with its own lists.
func cloneDelta(d *recording.Delta) recording.Delta {
	c := *d
	c.Players, c.Entities, c.Actions = cloneChanges(&d.Players), cloneChanges(&d.Entities), cloneChanges(&d.Actions)
	return c
}

func cloneChanges[T any](c *recording.Changes[T]) recording.Changes[T] {
	return recording.Changes[T]{New: slices.Clone(c.New), Removed: slices.Clone(c.Removed), Changed: slices.Clone(c.Changed)}
}

// TestVerifyOther verifies files that hold no game.
func TestVerifyOther(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "recording x: tick 0: byte 0: next_id: EOF"},
		{`{"kind":"config"}`, `recording x: line 1: found a line of kind "config", expected "initial"`},
		{`{"kind":"view","map_size":80}`, "views x: line 1: "},
		{`{"kind":"view"}` + "\n" + `{"kind":"tick"}`, "views x: line 1: "},
		{`{"kind":"raw_get_action","base64":"AQ=="}`, "messages x: line 1: byte 0: message to a client: "},
		{`{"kind":"raw_get_action","base64":"AQAAAAA="}`, "messages x: line 1: byte 4: something follows the message"},
		{`{"kind":"raw_get_action","base64":5}`, "messages x: line 1: json: "},
		{strings.Replace(wiretest.OneTick(), `"size":1`, `"size":0`, 1), "line 1: Wall.size is 0, expected 1 to 5"},
		{strings.Replace(wiretest.OneTick(), `"x":4`, `"x":7,"z":4`, 1), "(7, 5)"},
		{strings.Replace(wiretest.OneTick(), `"max_tick_count":1000`, `"max_tick_count":0`, 1), "max_tick_count is 0"},
	} {
		t.Run(c.want, func(t *testing.T) {
			r, err := Verify("x", strings.NewReader(c.text), wiretest.Round1())
			if c.want == "(7, 5)" { // it can be read
				require.NoError(t, err)
				assert.Equalf(t, 1, r.Different, "error, %+v", r)
				return
			}
			assert.ErrorContainsf(t, err, c.want, "%.40s", c.text)
		})
	}
}

// FuzzVerify verifies any bytes.
func FuzzVerify(f *testing.F) {
	f.Add([]byte(wiretest.OneTick()))
	_, file := playedReplay(f, "round1-2", 3, 2)
	f.Add(file)
	f.Add([]byte(`{"kind":"view","my_id":1,"map_size":80,"max_tick_count":9,"max_pathfind_nodes":9,"players":[{"id":1}],` +
		`"entities":[{"id":2,"player":1,"type":"House","x":4,"y":5,"health":9,"active":false}]}`))
	f.Add([]byte(`{"kind":"raw_get_action","base64":"AQAAAA=="}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := Verify("x", bytes.NewReader(file), wiretest.Round1())
		if err == io.EOF || r.Different > 0 != (r.First != nil) {
			t.Errorf("error %v, report %+v", err, r)
		}
	})
}
