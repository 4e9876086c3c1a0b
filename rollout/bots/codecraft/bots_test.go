package codecraft

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
)

// ample is a time within which all that behaves answers, on a busy machine too.
const ample = time.Minute

// longEnv asks for the long form of tests.
const longEnv = "MOONFARM_LONG"

// rules returns the rules of a preset with a limit of ticks.
func rules(t testing.TB, preset string, ticks int32) codecraft.Rules {
	t.Helper()
	r, ok := codecraft.Preset(preset)
	require.Truef(t, ok, "no preset %q", preset)
	r.MaxTurns = ticks
	return r
}

// listen opens a port on this machine for as long as the test runs.
func listen(t testing.TB, token *string) *Port {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := newPort(l, token, os.Geteuid())
	t.Cleanup(func() { p.Close() })
	return p
}

// dial connects as a client does and gives the token.
func dial(t testing.TB, p *Port, token string) *net.TCPConn {
	t.Helper()
	conn, err := net.DialTCP("tcp", nil, p.Address())
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	_, err = conn.Write(protocol.AppendString(nil, token))
	require.NoError(t, err)
	return conn
}

// talk is a client that sends the reply to each message and returns when the game is over.
func talk(conn net.Conn, reply func(m *protocol.ServerMessage) ([]byte, error)) error {
	defer conn.Close()
	in := protocol.NewReader(conn)
	var m protocol.ServerMessage
	for {
		if err := in.ServerMessage(&m); err != nil || m.Kind == protocol.Finish {
			return err
		}
		out, err := reply(&m)
		if err == nil {
			_, err = conn.Write(out)
		}
		if err != nil {
			return err
		}
	}
}

// serve is a client that behaves: it answers every view with the result of answer, or with
// no actions if answer is nil.
func serve(conn net.Conn, answer func(v *protocol.PlayerView) []protocol.EntityOrder) error {
	return talk(conn, func(m *protocol.ServerMessage) ([]byte, error) {
		reply := protocol.ClientMessage{Kind: protocol.ActionMessage}
		if answer != nil {
			reply.Action.EntityActions = answer(&m.View)
		}
		return reply.Append(nil), nil
	})
}

// stateOf returns the state of the game that a match plays.
func stateOf(v env.Vector) *codecraft.State {
	states, _ := env.States[codecraft.State](v)
	return &states[0]
}

// play plays a match that must not fail.
func play(t testing.TB, m *Match) *Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*ample)
	defer cancel()
	r, err := m.Play(ctx)
	require.NoError(t, err)
	return r
}

// TestGame: every client gets its own view of every tick, and its orders reach its
// entities, at every seat.
func TestGame(t *testing.T) {
	for _, preset := range []string{"round1", "round2", "finals", "round1-1", "round2-3"} {
		t.Run(preset, func(t *testing.T) {
			m := &Match{Rules: rules(t, preset, 12), Seed: 7}
			var clients sync.WaitGroup
			views := make([]int, m.Rules.Players)
			for seat := range m.Rules.Players {
				port := listen(t, nil)
				m.Seats = append(m.Seats, Seat{Port: port})
				conn := dial(t, port, "anything")
				clients.Go(func() {
					err := serve(conn, func(v *protocol.PlayerView) []protocol.EntityOrder {
						if v.MyID != seat+1 || v.CurrentTick != int32(views[seat]) || len(v.Players) != int(m.Rules.Players) {
							t.Errorf("%s, seat %d, tick %d: a view for %d of tick %d with %d players",
								preset, seat, views[seat], v.MyID, v.CurrentTick, len(v.Players))
						}
						views[seat]++
						return orderAll(v)
					})
					assert.NoErrorf(t, err, "%s, seat %d", preset, seat)
				})
			}
			var ticks int
			m.Watch = func(v env.Vector) error {
				s := stateOf(v)
				assert.Equalf(t, ticks, int(s.Tick), "%s: tick %d", preset, s.Tick)
				ticks++
				checkOrders(t, s)
				return nil
			}
			r := play(t, m)
			clients.Wait()
			assert.Truef(t, r.Turns == 12 && ticks == 13 && r.Status == sim.Over && r.Seed == 7, "%s: %d ticks, %d watched, %v, seed %d", preset, r.Turns, ticks, r.Status, r.Seed)
			for seat, p := range r.Players {
				if p.Crashed || p.Comment != nil || views[seat] != 12 || r.Used[seat] <= 0 {
					t.Errorf("%s, seat %d: %+v, %d views, used %v", preset, seat, p, views[seat], r.Used[seat])
				}
			}
			assert.Equalf(t, int(m.Rules.Players), len(r.Results), "%s: scores %v", preset, r.Results)
		})
	}
}

// orderAll orders every own entity to (3, 4) in the own frame. It also gives orders to
// entities of others and to one that does not exist.
func orderAll(v *protocol.PlayerView) (list []protocol.EntityOrder) {
	move := protocol.EntityAction{Move: protocol.Some(protocol.MoveAction{X: 3, Y: 4, FindClosestPosition: true})}
	for _, e := range v.Entities {
		if e.PlayerID.Given && e.PlayerID.Value == v.MyID {
			list = append(list, protocol.EntityOrder{ID: e.ID, EntityAction: move})
		} else {
			bad := move
			bad.Move.Value.X = 60
			list = append(list, protocol.EntityOrder{ID: e.ID, EntityAction: bad})
		}
	}
	return append(list, protocol.EntityOrder{ID: 1 << 30, EntityAction: move})
}

// checkOrders checks that the state has the orders of orderAll.
func checkOrders(t *testing.T, s *codecraft.State) {
	t.Helper()
	if s.Tick == 0 {
		return // nobody was asked
	}
	for i, u := range s.Units[:s.N] {
		x, y := codecraft.TurnBack(u.Owner, 3, 4, 1)
		want := codecraft.Action{Parts: codecraft.Given | codecraft.HasMove | codecraft.FindClosest, MoveX: uint8(x), MoveY: uint8(y)}
		require.Truef(t, s.Acts[i] == want, "tick %d, unit %d of player %d: %+v, want %+v", s.Tick, u.ID, u.Owner, s.Acts[i], want)
	}
}

// firstAnswer returns the answer of seat 1, ordering all its entities, to its first view of the
// game with seed 0.
func firstAnswer(t *testing.T, r codecraft.Rules) []byte {
	t.Helper()
	g, err := codecraft.New(r)
	require.NoError(t, err)
	start := new(codecraft.State)
	g.Reset(start, 0)
	var view protocol.PlayerView
	protocol.View(&view, g, start, 1)
	reply := protocol.ClientMessage{Kind: protocol.ActionMessage, Action: protocol.Action{EntityActions: orderAll(&view)}}
	return reply.Append(nil)
}

// message returns an encoded message of a client.
func message(kind protocol.ClientKind) []byte {
	return (&protocol.ClientMessage{Kind: kind}).Append(nil)
}

// TestCrashes: bad clients crash, each for its own reason, and the other player plays to
// the end of the game.
func TestCrashes(t *testing.T) {
	log := (&protocol.ClientMessage{Command: protocol.DebugCommand{Data: protocol.DebugData{Text: strings.Repeat("x", 1000)}}}).Append(nil)
	silent := func(conn *net.TCPConn) { io.Copy(io.Discard, conn) }
	sends := func(b []byte) func(*net.TCPConn) {
		return func(conn *net.TCPConn) { conn.Write(b); silent(conn) }
	}
	for _, c := range []struct {
		what string
		does func(conn *net.TCPConn) // after its first view
		want string
	}{
		{"leaves", func(conn *net.TCPConn) { conn.Close() }, "the client closed the connection"},
		{"aborts", func(conn *net.TCPConn) { conn.SetLinger(0); conn.Close() }, "the client closed the connection"},
		{"stops in the middle", func(conn *net.TCPConn) {
			conn.Write(message(protocol.ActionMessage)[:6])
			conn.CloseWrite()
			silent(conn)
		}, "unexpected EOF"},
		{"is silent", silent, "no answer within 100ms"},
		{"never reads", func(*net.TCPConn) {}, "no answer within 100ms"},
		{"drips", func(conn *net.TCPConn) {
			var err error
			for err == nil {
				dawdle(10 * time.Millisecond)
				_, err = conn.Write(message(protocol.DebugMessage)[:1])
			}
		}, "no answer within 100ms"},
		{"sends garbage", sends([]byte("GET / HTTP/1.0\r\n\r\n")), "message of a client: found tag 542393671, expected 0 to 3"},
		{"sends a negative id", sends([]byte("\x01\x00\x00\x00\x01\x00\x00\x00\xff\xff\xff\xff\x00\x00\x00\x00")), "id of an entity: found -1, expected 0 or more"},
		{"sends a bad bool", sends([]byte("\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x02")), "move_action: found byte 2, expected 0 or 1"},
		{"sends a huge length", sends([]byte("\x01\x00\x00\x00\xff\xff\xff\x7f")), "entity_actions: found a count of 2147483647"},
		{"asks for ever", func(conn *net.TCPConn) {
			go io.Copy(io.Discard, conn)
			for {
				if _, err := conn.Write(message(protocol.RequestDebugState)); err != nil {
					return
				}
			}
		}, "asked for the debug state more than 1000 times"},
		{"ends what has not begun", sends(message(protocol.DebugUpdateDone)), "DebugUpdateDone where an action was expected"},
		{"floods", func(conn *net.TCPConn) {
			for {
				if _, err := conn.Write(log); err != nil {
					return
				}
			}
		}, "bytes that are allowed"},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			good, bad := listen(t, nil), listen(t, nil)
			limits := bots.Limits{Answer: ample}
			if strings.HasPrefix(c.want, "no answer") {
				limits.Answer = 100 * time.Millisecond
			}
			m := &Match{Rules: rules(t, "round2-2", 40), Seats: []Seat{{Port: good}, {Port: bad, Limits: limits}}}
			var clients sync.WaitGroup
			fine := dial(t, good, "")
			clients.Go(func() {
				assert.NoError(t, serve(fine, orderAll))
			})
			conn := dial(t, bad, "")
			conn.Write(firstAnswer(t, m.Rules)) // before it is asked: no limit of time can be too short for it
			clients.Go(func() {
				in := protocol.NewReader(conn)
				var view protocol.ServerMessage
				if err := in.ServerMessage(&view); err != nil {
					t.Error(err)
					return
				}
				c.does(conn)
			})
			m.Watch = func(v env.Vector) error {
				s := stateOf(v)
				checkOrders(t, s) // the entities of the bad client keep their last actions
				return nil
			}
			r := play(t, m)
			clients.Wait()
			require.Truef(t, r.Turns == 40 && !r.Players[0].Crashed && r.Players[1].Crashed, "%d ticks, %+v", r.Turns, r.Players)
			got := *r.Players[1].Comment
			assert.Truef(t, strings.HasPrefix(got, protocol.CrashComment) && strings.Contains(got, c.want), "comment %q, want %q", got, c.want)
		})
	}
}

// TestGameLimit: the time of all answers together is limited, too.
func TestGameLimit(t *testing.T) {
	port := listen(t, nil)
	conn := dial(t, port, "")
	go serve(conn, func(*protocol.PlayerView) []protocol.EntityOrder { dawdle(20 * time.Millisecond); return nil })
	m := &Match{Rules: rules(t, "finals-1", 100), Seats: []Seat{{Port: port, Limits: bots.Limits{Answer: ample, Game: 200 * time.Millisecond}}}}
	r := play(t, m)
	assert.Truef(t, r.Players[0].Crashed && regexp.MustCompile(`^Player crashed: tick \d+: the 200ms for all answers of a game are used up$`).MatchString(*r.Players[0].Comment), "%+v", r.Players[0])
	assert.Truef(t, r.Used[0] >= 200*time.Millisecond && r.Used[0] <= ample && r.Turns == 100, "used %v, %d ticks", r.Used[0], r.Turns)
}

func TestTokens(t *testing.T) {
	token := "secret"
	port := listen(t, &token)
	wrong := dial(t, port, "guess")
	mute, err := net.DialTCP("tcp", nil, port.Address()) // never gives one
	require.NoError(t, err)
	defer mute.Close()
	_, err = wrong.Read(make([]byte, 1))
	assert.Error(t, err, "a client with the wrong token got an answer")
	m := &Match{Rules: rules(t, "finals-1", 2), Seats: []Seat{{Port: port, Limits: bots.Limits{Accept: 50 * time.Millisecond}}}}
	r := play(t, m)
	want := "Player crashed: no client within 50ms; a client from " + wrong.LocalAddr().String() + " was sent away: it gave the wrong token"
	if !r.Players[0].Crashed || *r.Players[0].Comment != want {
		t.Errorf("%s, want %s", *r.Players[0].Comment, want)
	}
	m.Seats[0].Limits.Accept = time.Minute
	right := dial(t, port, token)
	go serve(right, nil)
	if r := play(t, m); r.Players[0].Crashed {
		t.Error(*r.Players[0].Comment)
	}
	long := dial(t, port, strings.Repeat("x", maxToken+1))
	_, err = long.Read(make([]byte, 1))
	assert.Error(t, err, "a client with an endless token got an answer")
}

// TestManyGames: a port serves games at the same time, each with another client.
func TestManyGames(t *testing.T) {
	games, ticks := 24, int32(20)
	if os.Getenv(longEnv) != "" {
		games, ticks = 200, 1000
	}
	ports := []*Port{listen(t, nil), listen(t, nil)}
	var clients, matches sync.WaitGroup
	var finished atomic.Int32
	for g := range games {
		matches.Go(func() {
			for _, p := range ports {
				conn := dial(t, p, "")
				clients.Go(func() {
					if err := serve(conn, orderAll); err != nil {
						t.Error(err)
						return
					}
					finished.Add(1)
				})
			}
			m := &Match{Rules: rules(t, "round2-2", ticks), Seed: uint64(g), Seats: []Seat{{Port: ports[0]}, {Port: ports[1]}}}
			r, err := m.Play(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			for _, p := range r.Players {
				if p.Crashed {
					t.Error(*p.Comment)
				}
			}
		})
		if g%4 == 3 {
			matches.Wait() // four at once
		}
	}
	matches.Wait()
	clients.Wait()
	assert.Equalf(t, int32(2*games), finished.Load(), "%d clients finished, want %d", finished.Load(), 2*games)
}

// TestInterrupt: a match that is interrupted ends at once while it waits for a connection
// or for an answer.
func TestInterrupt(t *testing.T) {
	cause := errors.New("enough")
	for _, connected := range []bool{false, true} {
		t.Run(fmt.Sprintf("connected %v", connected), func(t *testing.T) {
			port := listen(t, nil)
			if connected {
				dial(t, port, "") // and never answers; there is no limit
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(50*time.Millisecond, func() { cancel(cause) })
			begin := time.Now()
			_, err := (&Match{Rules: rules(t, "finals", 1000), Seats: []Seat{{Port: port}, {}}}).Play(ctx)
			took := time.Since(begin)
			assert.Truef(t, errors.Is(err, cause) && took <= ample, "connected %v: %v after %v", connected, err, took)
		})
	}
}

func TestRefusedMatches(t *testing.T) {
	port := listen(t, nil)
	finals := rules(t, "finals", 1000)
	stop := errors.New("stop")
	for _, c := range []struct {
		match Match
		want  string
	}{
		{Match{Rules: finals, Seats: make([]Seat, 3)}, "3 seats for a game of 2 players"},
		{Match{Rules: codecraft.Rules{}}, "players is 0"},
		{Match{Rules: finals, Seats: []Seat{{}, {Port: port, Program: child.Program{Args: []string{"x"}}}}}, "seat 2: more than one of"},
		{Match{Rules: finals, Seats: []Seat{{}, {Limits: bots.Limits{Game: -1}}}}, "seat 2: a negative limit"},
		{Match{Rules: finals, Seats: make([]Seat, 2), Hooks: bots.Hooks{Watch: func(env.Vector) error { return stop }}}, "stop"},
	} {
		t.Run(c.want, func(t *testing.T) {
			_, err := c.match.Play(t.Context())
			assert.ErrorContains(t, err, c.want)
		})
	}
}

// TestEmptyPlayers: a game without policies and clients is played to its end.
func TestEmptyPlayers(t *testing.T) {
	r := play(t, &Match{Rules: rules(t, "round1", 1000), Seats: make([]Seat, 4)})
	assert.Truef(t, r.Turns == 1000 && r.Status == sim.Over && fmt.Sprint(r.Results) == "[0 0 0 0]", "%d ticks, %v, %v", r.Turns, r.Status, r.Results)
}
