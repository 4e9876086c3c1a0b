package codecraft

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/bots"
	"moonfarm/sim"
	"moonfarm/sim/codecraft/wire/protocol"
	"moonfarm/sim/codecraft/wire/replay"
)

// draw is a client that uses the debug interface whenever it is asked, also if it was told
// that there is none, as the published clients do in debug_update. It returns the kinds of
// the messages that it got.
func draw(conn net.Conn, seat int32) (kinds []protocol.ServerKind, err error) {
	said := (&protocol.ClientMessage{Command: logs("here I am")}).Append(nil)
	none := (&protocol.DebugState{PlayerIndex: seat}).Append(nil)
	err = talk(conn, func(m *protocol.ServerMessage) ([]byte, error) {
		kinds = append(kinds, m.Kind)
		for range 2 {
			if _, err := conn.Write(slices.Concat(said, said, message(protocol.RequestDebugState))); err != nil {
				return nil, err
			}
			state := make([]byte, len(none))
			if _, err := io.ReadFull(conn, state); err != nil || !bytes.Equal(state, none) {
				return nil, fmt.Errorf("debug state %x, %v, want %x", state, err, none)
			}
		}
		if m.Kind == protocol.DebugUpdate {
			return message(protocol.DebugUpdateDone), nil
		}
		return message(protocol.ActionMessage), nil
	})
	return kinds, err
}

// TestDebugInterface: clients that draw and ask for the debug state are answered, with a
// debug interface, where they draw before every tick, and without one.
func TestDebugInterface(t *testing.T) {
	for _, debug := range []bool{false, true} {
		t.Run(fmt.Sprintf("debug %v", debug), func(t *testing.T) {
			var want []protocol.ServerKind
			for range 3 {
				if debug {
					want = append(want, protocol.DebugUpdate)
				}
				want = append(want, protocol.GetAction)
			}
			m := &Match{Rules: rules(t, "round2-2", 3), Debug: debug}
			var clients sync.WaitGroup
			for seat := range int32(2) {
				port := listen(t, nil)
				conn := dial(t, port, "")
				m.Seats = append(m.Seats, Seat{Port: port})
				clients.Go(func() {
					kinds, err := draw(conn, seat)
					assert.Truef(t, err == nil && slices.Equal(kinds, want), "debug %v, seat %d: %v, messages %v, want %v", debug, seat, err, kinds, want)
				})
			}
			r := play(t, m)
			clients.Wait()
			for _, p := range r.Players {
				if p.Crashed || r.Turns != 3 {
					t.Errorf("debug %v: %d ticks, %s", debug, r.Turns, *p.Comment)
				}
			}
		})
	}
}

// TestActionInDebugUpdate: a client that answers DebugUpdate with an action has crashed.
func TestActionInDebugUpdate(t *testing.T) {
	port := listen(t, nil)
	conn := dial(t, port, "")
	go serve(conn, orderAll)
	r := play(t, &Match{Rules: rules(t, "finals-1", 3), Debug: true, Seats: []Seat{{Port: port}}})
	want := "Player crashed: tick 0: the client sent an action where DebugUpdateDone was expected"
	c := r.Players[0].Comment
	assert.Truef(t, c != nil && *c == want, "%+v, want %s", r.Players[0], want)
}

// TestStopWhenCrashed: a game whose clients have all crashed ends only with
// StopWhenCrashed.
func TestStopWhenCrashed(t *testing.T) {
	quits := func(after int32) Seat {
		port := listen(t, nil)
		conn := dial(t, port, "")
		go serve(conn, func(v *protocol.PlayerView) []protocol.EntityOrder {
			if v.CurrentTick == after {
				conn.Close()
			}
			return nil
		})
		return Seat{Port: port}
	}
	stays := func() Seat {
		port := listen(t, nil)
		go serve(dial(t, port, ""), nil)
		return Seat{Port: port}
	}
	missing := Seat{Port: listen(t, nil), Limits: bots.Limits{Accept: 1}}
	for _, c := range []struct {
		what  string
		seats []Seat
		stop  bool
		ticks int // the last crash is in the last tick
	}{
		{"two that quit", []Seat{quits(3), quits(5)}, true, 6},
		{"two that quit, as the local runner goes on", []Seat{quits(3), quits(5)}, false, 30},
		{"one that quits, and nobody", []Seat{quits(3), {}}, true, 4},
		{"one that quits, and a policy", []Seat{quits(3), {Policy: maker(t, "quickstart")}}, true, 30},
		{"one that quits, and one that stays", []Seat{quits(3), stays()}, true, 30},
		{"one that never comes", []Seat{missing, {}}, true, 0},
		{"nobody at all", []Seat{{}, {}}, true, 30},
	} {
		t.Run(c.what, func(t *testing.T) {
			var file bytes.Buffer
			m := &Match{Rules: rules(t, "round1-2", 30), Seats: c.seats, StopWhenCrashed: c.stop, Replay: &file}
			r := play(t, m)
			assert.Truef(t, r.Turns == c.ticks && (r.Status == sim.Cut) == (c.ticks < 30), "%s: %d ticks, %v, want %d", c.what, r.Turns, r.Status, c.ticks)
			recorded, err := replay.Read(c.what, &file)
			require.NoErrorf(t, err, "%s: the replay", c.what)
			assert.Equalf(t, c.ticks, recorded.Ticks(), "%s: the replay", c.what)
		})
	}
}
