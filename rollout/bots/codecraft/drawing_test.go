package codecraft

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/view"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
)

// red is a vertex on the map.
func red(x, y float32) protocol.ColoredVertex {
	return protocol.ColoredVertex{World: protocol.Some([2]float32{x, y}), Screen: [2]float32{3, -4}, Color: [4]float32{1, 0, 0, 0.5}}
}

// Commands of a client.
var (
	clearAll = protocol.DebugCommand{Kind: protocol.CommandClear}
	flush    = protocol.DebugCommand{Kind: protocol.CommandFlush}
)

func autoFlush(enable bool) protocol.DebugCommand {
	return protocol.DebugCommand{Kind: protocol.CommandSetAutoFlush, Enable: enable}
}

func logs(text string) protocol.DebugCommand {
	return protocol.DebugCommand{Data: protocol.DebugData{Text: text}}
}

func shapes(triangles bool, list ...protocol.ColoredVertex) protocol.DebugCommand {
	return protocol.DebugCommand{Data: protocol.DebugData{Kind: protocol.DebugPrimitives, Triangles: triangles, Vertices: list}}
}

func placed(v protocol.ColoredVertex, text string, alignment, size float32) protocol.DebugCommand {
	return protocol.DebugCommand{Data: protocol.DebugData{Kind: protocol.DebugText, Vertices: []protocol.ColoredVertex{v}, Text: text, Alignment: alignment, Size: size}}
}

// TestSketchCommands: commands take effect at once, or with Flush after SetAutoFlush(false).
func TestSketchCommands(t *testing.T) {
	for _, c := range []struct {
		name     string
		commands []protocol.DebugCommand
		want     string // the log
	}{
		{"nothing", nil, ""},
		{"add", []protocol.DebugCommand{logs("a"), logs("b")}, "a b"},
		{"lines", []protocol.DebugCommand{logs("a\r\nb")}, "a b"},
		{"clear", []protocol.DebugCommand{logs("a"), clearAll, logs("b")}, "b"},
		{"a flush of nothing", []protocol.DebugCommand{logs("a"), flush}, "a"},
		{"not flushed", []protocol.DebugCommand{logs("a"), autoFlush(false), clearAll, logs("b")}, "a"},
		{"flushed", []protocol.DebugCommand{logs("a"), autoFlush(false), logs("b"), flush, logs("c")}, "a b"},
		{"a clear that waits", []protocol.DebugCommand{logs("a"), autoFlush(false), logs("b"), clearAll, logs("c"), flush}, "c"},
		{"a clear that is done once", []protocol.DebugCommand{autoFlush(false), clearAll, flush, logs("a"), flush, logs("b"), flush}, "a b"},
		{"flushed by SetAutoFlush", []protocol.DebugCommand{autoFlush(false), logs("a"), autoFlush(true), logs("b")}, "a b"},
		{"set twice", []protocol.DebugCommand{autoFlush(false), logs("a"), autoFlush(false), logs("b"), flush}, "a b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var k sketch
			for i := range c.commands {
				k.perform(&c.commands[i])
			}
			got := ""
			if d := k.drawing(); d != nil {
				got = strings.Join(d.Log, " ")
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// TestSketchDrawing: lines, triangles and texts have their places in the frame of the world, offsets and colours.
func TestSketchDrawing(t *testing.T) {
	free := protocol.ColoredVertex{Screen: [2]float32{10, 20}, Color: [4]float32{-1, 2, 0.5, 1}}
	k := sketch{player: 1}
	for _, c := range []protocol.DebugCommand{
		shapes(true, red(0, 0), red(1, 0), red(0, 1)), shapes(false, red(2, 3), free, red(4, 5)), placed(free, "here", 0.5, 12), placed(red(8, 9), "there", 7, 1e9),
	} {
		k.perform(&c)
	}
	at := func(x, y float32) view.Vertex {
		return view.Vertex{Placed: true, X: x, Y: y, DX: 3, DY: -4, Colour: [4]uint8{255, 0, 0, 128}}
	}
	none := view.Vertex{DX: 10, DY: 20, Colour: [4]uint8{0, 255, 128, 255}}
	assert.Equal(t, &view.Drawing{
		Triangles: []view.Vertex{at(80, 80), at(79, 80), at(80, 79)}, Lines: []view.Vertex{at(78, 77), none},
		Texts:   []view.PlacedText{{Vertex: none, Text: "here", Alignment: 0.5, Size: 12}, {Vertex: at(72, 71), Text: "there", Alignment: 1, Size: maxFont}},
		Dropped: 1, // a vertex without a second one
	}, k.drawing())
}

// TestSketchFrames: the corners of a cell are turned as the cell is.
func TestSketchFrames(t *testing.T) {
	for p := range sim.Player(4) {
		x, y := codecraft.TurnBack(p, 7, 21, 1)
		corners := map[[2]float32]bool{}
		for _, d := range [][2]float32{{0, 0}, {0, 1}, {1, 0}, {1, 1}} {
			v := red(7+d[0], 21+d[1])
			w, ok := vertexOf(p, &v)
			require.True(t, ok)
			corners[[2]float32{w.X - float32(x), w.Y - float32(y)}] = true
		}
		assert.Equal(t, map[[2]float32]bool{{0, 0}: true, {0, 1}: true, {1, 0}: true, {1, 1}: true}, corners, "player %d", p)
	}
}

// TestSketchBounds: what is beyond the bounds, or has numbers that nobody can draw, is dropped and counted.
func TestSketchBounds(t *testing.T) {
	many := make([]protocol.ColoredVertex, maxVertices+9)
	for i := range many {
		many[i] = red(1, 1)
	}
	long := strings.Repeat("ä", maxTextSize)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	bad := func(change func(v *protocol.ColoredVertex)) protocol.ColoredVertex {
		v := red(1, 1)
		change(&v)
		return v
	}
	repeated := func(n int, c protocol.DebugCommand) (list []protocol.DebugCommand) {
		return slices.Repeat([]protocol.DebugCommand{c}, n)
	}
	for _, c := range []struct {
		name                                string
		commands                            []protocol.DebugCommand
		triangles, lines, texts, log, drops int
	}{
		{"triangles", repeated(1, shapes(true, many...)), 39999, 0, 0, 0, 4},
		{"lines", repeated(1, shapes(false, many...)), 0, 40000, 0, 0, 5},
		{"lines and triangles", []protocol.DebugCommand{shapes(true, many[:30000]...), shapes(false, many[:20000]...), shapes(true, many[:3]...)}, 30000, 10000, 0, 0, 5001},
		{"no vertices", repeated(1, shapes(true)), 0, 0, 0, 0, 0},
		{"texts", repeated(maxTexts+2, placed(red(1, 1), "x", 0, 10)), 0, 0, maxTexts, 0, 2},
		{"long texts", repeated(200, placed(red(1, 1), long, 0, 10)), 0, 0, maxTextBytes / maxTextSize, 0, 200 - maxTextBytes/maxTextSize},
		{"a long log", repeated(200, logs(long)), 0, 0, 0, maxTextBytes / maxTextSize, 200 - maxTextBytes/maxTextSize},
		{"many lines", repeated(2, logs(strings.Repeat("\n", 1<<20))), 0, 0, 0, maxLines, 2},
		{"many logs", repeated(maxLines+3, logs("")), 0, 0, 0, maxLines, 3},
		{"no numbers", []protocol.DebugCommand{shapes(false,
			red(1, 1), bad(func(v *protocol.ColoredVertex) { v.World.Value[0] = nan }), bad(func(v *protocol.ColoredVertex) { v.World.Value[1] = inf }), red(1, 1),
			red(1, 1), bad(func(v *protocol.ColoredVertex) { v.World.Value[1] = -1e30 }), red(1, 1), bad(func(v *protocol.ColoredVertex) { v.Screen[0] = nan }),
			red(1, 1), bad(func(v *protocol.ColoredVertex) { v.Screen[1] = 1e6 }), red(1, 1), bad(func(v *protocol.ColoredVertex) { v.Color[3] = nan }),
			red(1, 1), bad(func(v *protocol.ColoredVertex) { v.Color[0] = -inf }), red(1, 1), red(2, 2),
		)}, 0, 2, 0, 0, 7},
		{"texts without numbers", []protocol.DebugCommand{
			placed(red(nan, 1), "x", 0, 10), placed(red(1, 1), "x", nan, 10), placed(red(1, 1), "x", 0, nan), placed(red(1, 1), "x", 0, 0), placed(red(1, 1), "x", 0, -3), placed(red(1, 1), "x", 0, inf),
		}, 0, 0, 1, 0, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, waits := range []bool{false, true} {
				var k sketch
				commands := c.commands
				if waits {
					commands = append(append([]protocol.DebugCommand{autoFlush(false)}, commands...), flush)
				}
				for i := range commands {
					k.perform(&commands[i])
				}
				d := k.drawing()
				if d == nil {
					d = &view.Drawing{}
				}
				assert.Equal(t, []int{c.triangles, c.lines, c.texts, c.log, c.drops}, []int{len(d.Triangles), len(d.Lines), len(d.Texts), len(d.Log), d.Dropped}, "waits: %v", waits)
				for _, text := range d.Log {
					assert.True(t, len(text) <= maxTextSize && utf8.ValidString(text))
				}
				k.shown.clear()
				assert.Nil(t, k.drawing())
			}
		})
	}
	// Repeated flushes keep within the bounds, too.
	k := sketch{manual: true}
	for range 5 {
		for _, c := range []protocol.DebugCommand{shapes(false, many[:30000]...), logs(long), flush} {
			k.perform(&c)
		}
	}
	assert.Len(t, k.drawing().Lines, maxVertices)
	assert.Equal(t, 5*15000-maxVertices/2, k.drawing().Dropped)
}

// scribble is a client that draws in DebugUpdate and before its action: commands returns what.
func scribble(conn net.Conn, commands func(kind protocol.ServerKind, tick int32) []protocol.DebugCommand) error {
	return talk(conn, func(m *protocol.ServerMessage) (out []byte, err error) {
		for _, c := range commands(m.Kind, m.View.CurrentTick) {
			out = (&protocol.ClientMessage{Command: c}).Append(out)
		}
		reply := protocol.ClientMessage{Kind: protocol.DebugUpdateDone}
		if m.Kind == protocol.GetAction {
			reply.Kind, reply.Action.EntityActions = protocol.ActionMessage, orderAll(&m.View)
		}
		return reply.Append(out), nil
	})
}

// TestDrawn: a match passes on what clients draw, tick by tick and seat by seat. It is the same match as without.
func TestDrawn(t *testing.T) {
	const ticks = 6
	var sums []any
	for _, drawn := range []bool{false, true} {
		var got []string
		m := &Match{Rules: rules(t, "round2-3", ticks), Seed: 5, Debug: drawn}
		if drawn {
			m.Drawn = func(list []*view.Drawing) {
				for seat, d := range list {
					if d != nil {
						got = append(got, fmt.Sprint(seat, d.Log, len(d.Lines)))
					}
				}
			}
		}
		var clients sync.WaitGroup
		for seat := range 2 {
			port := listen(t, nil)
			conn := dial(t, port, "")
			m.Seats = append(m.Seats, Seat{Port: port})
			clients.Go(func() {
				err := scribble(conn, func(kind protocol.ServerKind, tick int32) []protocol.DebugCommand {
					switch {
					case seat == 1 && tick == 0: // seat 1 draws nothing in some ticks, and leaves something unflushed
						return nil
					case seat == 1 && kind == protocol.GetAction:
						return []protocol.DebugCommand{autoFlush(false), logs(fmt.Sprint("late ", tick))}
					case seat == 1 && tick%2 == 0:
						return []protocol.DebugCommand{flush}
					case seat == 1:
						return nil
					case kind == protocol.DebugUpdate:
						return []protocol.DebugCommand{logs(fmt.Sprint("update ", tick))}
					}
					return []protocol.DebugCommand{logs(fmt.Sprint("action ", tick)), shapes(false, red(1, 2), red(3, 4))}
				})
				assert.True(t, err == nil || err == io.EOF, "%v", err)
			})
		}
		m.Seats = append(m.Seats, Seat{Policy: maker(t, "econ")})
		r := play(t, m)
		clients.Wait()
		for _, p := range r.Players {
			assert.False(t, p.Crashed)
		}
		sums = append(sums, r.Sum)
		var want []string
		for tick := 0; drawn && tick < ticks; tick++ {
			want = append(want, fmt.Sprintf("0 [update %d action %d] 2", tick, tick))
			if tick == 2 {
				want = append(want, "1 [late 1] 0")
			} else if tick == 4 {
				want = append(want, "1 [late 2 late 3] 0")
			}
		}
		assert.Equal(t, want, got)
	}
	assert.Equal(t, sums[0], sums[1])
}

// FuzzSketch: whatever a client sends, its drawing keeps within the bounds and has finite numbers.
func FuzzSketch(f *testing.F) {
	for _, list := range [][]protocol.DebugCommand{
		{shapes(true, red(0, 0), red(1, 0), red(0, 1)), logs("a\nb"), placed(red(1, 1), "x", 0.5, 12)}, {autoFlush(false), clearAll, shapes(false, red(1, 2), red(3, 4)), flush},
	} {
		var text []byte
		for _, c := range list {
			text = (&protocol.ClientMessage{Command: c}).Append(text)
		}
		f.Add(uint8(1), text)
	}
	f.Fuzz(func(t *testing.T, seat uint8, text []byte) {
		k := sketch{player: sim.Player(seat % sim.MaxPlayers)}
		in := protocol.NewReader(bytes.NewReader(text))
		in.Limit(int64(len(text)) + 1)
		var m protocol.ClientMessage
		for in.ClientMessage(&m) == nil {
			if m.Kind == protocol.DebugMessage {
				k.perform(&m.Command)
			}
		}
		for _, s := range []*sheet{&k.shown, &k.queued} {
			if len(s.Triangles)%3 != 0 || len(s.Lines)%2 != 0 || len(s.Triangles)+len(s.Lines) > maxVertices || len(s.Texts) > maxTexts || len(s.Log) > maxLines || s.bytes > maxTextBytes {
				t.Fatalf("%d and %d vertices, %d texts, %d lines of the log, %d bytes", len(s.Triangles), len(s.Lines), len(s.Texts), len(s.Log), s.bytes)
			}
			all := slices.Concat(s.Triangles, s.Lines)
			for _, one := range s.Texts {
				if all = append(all, one.Vertex); !(one.Size > 0 && one.Size <= maxFont && one.Alignment >= 0 && one.Alignment <= 1) {
					t.Fatalf("%+v", one)
				}
			}
			for _, v := range all {
				if !within(v.X, maxWorld+codecraft.Side) || !within(v.Y, maxWorld+codecraft.Side) || !within(v.DX, maxScreen) || !within(v.DY, maxScreen) {
					t.Fatalf("%+v", v)
				}
			}
		}
	})
}
