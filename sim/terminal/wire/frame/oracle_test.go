package frame

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/internal/wiretest"
)

// oracle is a second, slow reader without checks: it converts the value that encoding/json
// reads from a line into a frame. It panics if the line is not a frame.
func oracle(v any) *Frame {
	o := v.(map[string]any)
	f := &Frame{Index: -1}
	info := o["turnInfo"].([]any)
	f.Phase, f.Turn, f.Number = whole(info[0]), whole(info[1]), whole(info[2])
	if len(info) > 3 {
		f.Index = whole(info[3])
	}
	for p := range 2 {
		of := "p" + strconv.Itoa(p+1)
		s := o[of+"Stats"].([]any)
		f.Stats[p] = Stats{single(s[0]), single(s[1]), single(s[2]), double(s[3])}
		for k, list := range o[of+"Units"].([]any) {
			f.Units[p][k] = []Unit{}
			for _, u := range list.([]any) {
				e := u.([]any)
				f.Units[p][k] = append(f.Units[p][k], Unit{cellOf(e), single(e[2]), idOf(e[3])})
			}
		}
	}
	if end, ok := o["endStats"].(map[string]any); ok {
		f.End = oracleEnd(end)
	}
	for key, list := range o["events"].(map[string]any) {
		for _, e := range list.([]any) {
			oracleEvent(&f.Events, key, e.([]any))
		}
	}
	return f
}

func oracleEnd(o map[string]any) *EndStats {
	e := &EndStats{
		Duration: double(o["duration"]), Winner: whole(o["winner"]),
		Turns: whole(o["turns"]), Frames: whole(o["frames"]),
	}
	for p := range e.Players {
		o := o["player"+strconv.Itoa(p+1)].(map[string]any)
		q := &e.Players[p]
		q.Crashed, _ = o["crashed"].(bool)
		q.Name, _ = o["name"].(string)
		q.TimeoutDeath, _ = o["timeout_death"].(bool)
		q.Time, q.TimeDamage = double(o["total_computation_time"]), double(o["time_damage_taken"])
		q.Points = single(o["points_scored"])
		q.MobileSpent, q.MobileLost = single(o["dynamic_resource_spent"]), single(o["dynamic_resource_destroyed"])
		q.MobileSpoiled = single(o["dynamic_resource_spoiled"])
		q.StructureSpent = single(o["stationary_resource_spent"])
		q.StructureLeft = single(o["stationary_resource_left_on_board"])
		for i, key := range playerKeys {
			if o[key] == nil {
				q.absent |= 1 << i
			}
		}
	}
	return e
}

func oracleEvent(to *Events, key string, e []any) {
	at := cellOf(e[0])
	n := len(e)
	kind := func(i int) terminal.Kind { return terminal.Kind(whole(e[i])) }
	player := func(i int) sim.Player { return sim.Player(whole(e[i]) - 1) }
	switch key {
	case "selfDestruct":
		first := int32(len(to.Targets))
		for _, target := range e[1].([]any) {
			to.Targets = append(to.Targets, cellOf(target))
		}
		to.SelfDestructs = append(to.SelfDestructs, terminal.SelfDestructEvent{At: at, First: first,
			Count: int32(len(to.Targets)) - first, Damage: single(e[2]), Kind: kind(3), ID: idOf(e[4]), Player: player(5)})
	case "breach":
		to.Breaches = append(to.Breaches, terminal.BreachEvent{At: at, Damage: single(e[1]), Kind: kind(2), ID: idOf(e[3]), Player: player(4)})
	case "damage":
		to.Damages = append(to.Damages, terminal.DamageEvent{At: at, Damage: single(e[1]), Kind: kind(2), ID: idOf(e[3]), Player: player(4)})
	case "shield":
		to.Shields = append(to.Shields, terminal.ShieldEvent{From: at, To: cellOf(e[1]), Amount: single(e[2]), Kind: kind(3),
			ID: idOf(e[4]), Unit: idOf(e[5]), Player: player(6)})
	case "move":
		to.Moves = append(to.Moves, terminal.MoveEvent{From: at, To: cellOf(e[1]), Kind: kind(3), ID: idOf(e[4]), Player: player(5)})
		if next := cellOf(e[2]); next != (terminal.Pos{}) {
			to.Planned = append(to.Planned, next)
		}
	case "spawn":
		to.Spawns = append(to.Spawns, terminal.SpawnEvent{At: at, Kind: kind(1), ID: idOf(e[2]), Player: player(3)})
	case "death":
		removed := false
		if to.Unflagged = n == 4; n > 4 {
			removed = e[4].(bool)
		}
		to.Deaths = append(to.Deaths, terminal.DeathEvent{At: at, Kind: kind(1), ID: idOf(e[2]), Player: player(3), Removed: removed})
	case "attack":
		to.Attacks = append(to.Attacks, terminal.AttackEvent{From: at, To: cellOf(e[1]), Damage: single(e[2]), Kind: kind(3),
			ID: idOf(e[4]), Target: idOf(e[5]), Player: player(6)})
	case "melee":
		to.Melees = append(to.Melees, terminal.AttackEvent{From: at, To: cellOf(e[1]), Damage: single(e[2]), Kind: kind(3),
			ID: idOf(e[4]), Player: player(5)})
	default:
		panic("event " + key)
	}
}

func double(v any) float64 {
	if v == nil {
		return 0
	}
	f, err := v.(json.Number).Float64()
	if err != nil {
		panic(err)
	}
	return f
}

func single(v any) float32 {
	if v == nil {
		return 0
	}
	f, err := strconv.ParseFloat(string(v.(json.Number)), 32)
	if err != nil {
		panic(err)
	}
	return float32(f)
}

func whole(v any) int { return int(double(v)) }

func cellOf(v any) terminal.Pos {
	e := v.([]any)
	return terminal.Pos{X: uint8(whole(e[0])), Y: uint8(whole(e[1]))}
}

func idOf(v any) uint32 {
	n, err := strconv.ParseUint(v.(string), 10, 32)
	if err != nil {
		panic(err)
	}
	return uint32(n)
}

// value decodes a JSON text and keeps the text of numbers.
func value(t testing.TB, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v))
	return v
}

// TestParseAgainstOracle compares the two readers on frames of all years. Parse reuses one
// Frame.
func TestParseAgainstOracle(t *testing.T) {
	frames := 0
	var f Frame
	for _, path := range wiretest.Recordings(t) {
		lines := wiretest.Lines(t, path)
		step := max(1, len(lines)/25)
		for i := 1; i < len(lines); i++ {
			if i%step != 0 && i != len(lines)-1 {
				continue
			}
			if err := Parse(&f, lines[i]); err != nil {
				t.Fatalf("%s: %v", filepath.Base(path), err)
			}
			got := f
			if want := tidy(oracle(value(t, lines[i]))); !reflect.DeepEqual(tidy(&got), want) {
				t.Fatalf("%s: non-blank line %d:\nread   %+v\noracle %+v", filepath.Base(path), i+1, got, want)
			}
			frames++
		}
	}
	t.Logf("%d frames", frames)
}
