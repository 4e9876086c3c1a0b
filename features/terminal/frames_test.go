package terminal

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
	tm "moonfarm/sim/terminal"
)

// plainFrames counts the events of a Record, and follows the units by events alone.
func plainFrames(r *tm.Record, seat sim.Player) (events [][2][FrameEvents]int32, units []map[[4]int]int) {
	type unit struct {
		at   tm.Pos
		kind tm.Kind
		p    sim.Player
	}
	alive := map[uint32]unit{}
	for i := range r.Ends {
		f := r.Frame(i)
		var n [2][FrameEvents]int32
		for _, e := range f.Spawns {
			n[e.Player^seat][0]++
			if e.Kind.Mobile() {
				alive[e.ID] = unit{e.At, e.Kind, e.Player}
			}
		}
		for _, e := range f.Moves {
			n[e.Player^seat][1]++
			alive[e.ID] = unit{e.To, e.Kind, e.Player}
		}
		for _, e := range f.Breaches {
			n[e.Player^seat][2]++
		}
		for _, e := range f.Shields {
			n[e.Player^seat][3]++
		}
		for _, e := range f.SelfDestructs {
			n[e.Player^seat][4]++
		}
		for _, e := range f.Damages {
			n[e.Player^seat][5]++
		}
		for _, e := range f.Deaths {
			if e.Repeated {
				continue
			}
			n[e.Player^seat][6]++
			delete(alive, e.ID)
		}
		for _, e := range f.Attacks {
			n[e.Player^seat][7]++
		}
		on := map[[4]int]int{}
		for _, u := range alive {
			x, y := int(u.at.X), int(u.at.Y)
			if seat == 1 {
				x, y = 27-x, 27-y
			}
			on[[4]int{int(u.p ^ seat), int(u.kind - tm.Scout), y, x}]++
		}
		events, units = append(events, n), append(units, on)
	}
	return events, units
}

func TestFramesTwin(t *testing.T) {
	r := rules(t, "2022")
	g, twin := newGame(t, r), newGame(t, r)
	random := prng.New(4)
	turn := sim.NewTurn(tm.PlayoutOrders)
	const room = 400
	frames := Frames{Events: make([]int32, room*2*FrameEvents), Units: make([]uint8, room*FramePlanes*planeBytes)}
	seen := [FrameEvents]int32{}
	visit(g, 12, 60, func(s *tm.State) {
		for p := range sim.Player(2) {
			turn.Set(p, g.Playout(nil, s, p, &random))
		}
		if s.Turn == 0 { // the unit is walled in and explodes
			turn.Set(0, []sim.Order{tm.Place(tm.Wall, 13, 1), tm.Place(tm.Wall, 14, 0), tm.Spawn(tm.Interceptor, 13, 0, 1)})
		}
		seat := sim.Player(s.Turn & 1)
		var record tm.Record
		want, got := *s, *s
		twin.Record(&record)
		wantStatus := twin.Step(&want, turn)
		n, status := frames.Play(g, &got, turn, seat)
		d := simtest.Diff(&want, &got)
		require.Truef(t, d == "" && status == wantStatus && n == len(record.Ends), "turn %d: %d frames, %v, want %d, %v; %s", s.Turn, n, status, len(record.Ends), wantStatus, d)
		events, units := plainFrames(&record, seat)
		for f := range n {
			for q := range 2 {
				counts := frames.Events[(f*2+q)*FrameEvents:][:FrameEvents]
				if !slices.Equal(counts, events[f][q][:]) {
					t.Fatalf("turn %d frame %d: events %v, want %v", s.Turn, f, counts, events[f][q])
				}
				for e, c := range counts {
					seen[e] += c
				}
			}
			for i, v := range frames.Units[f*FramePlanes*planeBytes:][:FramePlanes*planeBytes] {
				plane, cell := i/planeBytes, i%planeBytes
				if want := units[f][[4]int{plane / 3, plane % 3, cell / side, cell % side}]; int(v) != min(want, 255) {
					t.Fatalf("turn %d frame %d plane %d row %d column %d: %d units, want %d", s.Turn, f, plane, cell/side, cell%side, v, want)
				}
			}
		}
	})
	assert.Falsef(t, slices.Contains(seen[:], 0), "some kind of event never came: %v", seen)
}

// TestFramesBounds plays turns with slabs that are too short, nil, or longer than needed.
func TestFramesBounds(t *testing.T) {
	g := newGame(t, rules(t, "2026"))
	var s tm.State
	g.Reset(&s, 0)
	turn := sim.NewTurn(1)
	turn.Set(0, []sim.Order{tm.Spawn(tm.Scout, 13, 0, 1)})
	play := func(f *Frames) int {
		after := s
		n, _ := f.Play(g, &after, turn, 0)
		return n
	}
	n := play(new(Frames))
	require.GreaterOrEqualf(t, n, 20, "a scout needs %d frames", n)
	full := Frames{Events: slices.Repeat([]int32{-1}, (n+2)*2*FrameEvents), Units: slices.Repeat([]uint8{77}, (n+2)*FramePlanes*planeBytes)}
	m := play(&full)
	assert.Equalf(t, n, m, "%d frames, then %d", n, m)
	for _, v := range full.Events[n*2*FrameEvents:] {
		require.Equal(t, int32(-1), v, "events beyond the last frame")
	}
	for _, v := range full.Units[n*FramePlanes*planeBytes:] {
		require.Equal(t, uint8(77), v, "units beyond the last frame")
	}
	short := Frames{Events: make([]int32, 3*2*FrameEvents+1), Units: make([]uint8, 2*FramePlanes*planeBytes)}
	m = play(&short)
	assert.Equalf(t, n, m, "%d frames, with short slabs %d", n, m)
	assert.True(t, slices.Equal(short.Events[:3*2*FrameEvents], full.Events[:3*2*FrameEvents]) && short.Events[3*2*FrameEvents] == 0 && slices.Equal(short.Units, full.Units[:2*FramePlanes*planeBytes]), "short slabs do not hold the first frames")
	allocs := testing.AllocsPerRun(5, func() { play(&full) })
	assert.Zerof(t, allocs, "%v allocations a turn", allocs)
	// A stack of more than 255 on one cell.
	s.Bits[0] = 1e4
	g2 := newGame(t, func() tm.Rules { r := rules(t, "2026"); r.StartBits, r.BitDecay = 400, 0; return r }())
	turn.Set(0, []sim.Order{tm.Spawn(tm.Scout, 13, 0, 300)})
	after := s
	full.Play(g2, &after, turn, 0)
	assert.Equal(t, uint8(255), full.Units[1*side+13], "300 units are shown")
}
