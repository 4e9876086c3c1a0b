package players

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/view"
	"moonfarm/sim/codecraft/wire/protocol"
)

// craft is a client of CodeCraft. It prints its working directory, and sends its units to a corner until the game is over.
// Where it is offered the debug interface it draws and logs. Its arguments end with host, port and token.
func craft(args []string) int {
	dir, _ := os.Getwd()
	fmt.Println("works in", filepath.Base(dir), strings.Join(args[:len(args)-3], " "))
	args = args[len(args)-3:]
	conn, err := net.Dial("tcp", net.JoinHostPort(args[0], args[1]))
	if err != nil {
		return 1
	}
	defer conn.Close()
	conn.Write(protocol.AppendString(nil, args[2]))
	in := protocol.NewReader(conn)
	var m protocol.ServerMessage
	for {
		switch err := in.ServerMessage(&m); {
		case err != nil:
			return 2
		case m.Kind == protocol.Finish:
			return 0
		}
		var out []byte
		for _, data := range []protocol.DebugData{
			{Text: fmt.Sprintf("kind %d, tick %d", m.Kind, m.View.CurrentTick)},
			{Kind: protocol.DebugPrimitives, Vertices: []protocol.ColoredVertex{
				{World: protocol.Some([2]float32{1, 2}), Color: [4]float32{1, 0, 0, 1}}, {World: protocol.Some([2]float32{5, 2}), Color: [4]float32{1, 0, 0, 1}}}},
		} {
			if m.DebugAvailable || m.Kind == protocol.DebugUpdate {
				out = (&protocol.ClientMessage{Command: protocol.DebugCommand{Data: data}}).Append(out)
			}
		}
		reply := protocol.ClientMessage{Kind: protocol.DebugUpdateDone}
		if m.Kind == protocol.GetAction {
			reply.Kind = protocol.ActionMessage
			for _, e := range m.View.Entities {
				move := protocol.EntityAction{Move: protocol.Some(protocol.MoveAction{X: 79, Y: 79, FindClosestPosition: true})}
				reply.Action.EntityActions = append(reply.Action.EntityActions, protocol.EntityOrder{ID: e.ID, EntityAction: move})
			}
		}
		conn.Write(reply.Append(out))
	}
}

// TestCodecraftFolder: a folder of CodeCraft plays by its run.sh, or by its command file.
func TestCodecraftFolder(t *testing.T) {
	if filepath.Separator == '\\' {
		t.Skip("a script for sh")
	}
	self, err := filepath.Abs(os.Args[0])
	require.NoError(t, err)
	g := open(t, Options{Rules: "max_tick_count=3\n", Seats: 2}, "codecraft")
	var seats []*Entrant
	for i, file := range []struct {
		name, text string
		mode       os.FileMode
	}{
		{"run.sh", "#!/bin/sh\nexec '" + self + "' bot craft script \"$@\"\n", 0o777},
		{"run.sh", "exec '" + self + "' bot craft lost \"$@\"\n", 0o666},
		{"command", "'" + self + "' bot craft line {host} {port} {token}\n", 0o666},
	} {
		dir := filepath.Join(t.TempDir(), fmt.Sprint("bot ", i))
		require.NoError(t, os.Mkdir(dir, 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dir, file.name), []byte(file.text), file.mode))
		p, err := g.Enter("bot:" + dir)
		require.NoError(t, err)
		assert.Equalf(t, Folder, p.Kind, "%s is of kind", p.Name)
		seats = append(seats, p)
	}
	for _, pair := range [][2]int{{0, 1}, {2, 2}} {
		t.Run(fmt.Sprint(pair), func(t *testing.T) {
			var logs [2]bytes.Buffer
			o, err := g.Play(t.Context(), &Meeting{Seats: []*Entrant{seats[pair[0]], seats[pair[1]]}, Log: func(i int) io.Writer { return &logs[i] }})
			require.NoError(t, err)
			require.Equalf(t, 3, o.Turns, "%+v", o)
			for i := range o.Seats {
				want := fmt.Sprintf("works in bot %d %s\n", pair[i], []string{"script", "lost", "line"}[pair[i]])
				if printed(logs[i].String()) != want || o.Seats[i].Crash != nil {
					t.Errorf("seat %d: %+v, it printed %q, want %q", i, o.Seats[i].Crash, logs[i].String(), want)
				}
			}
		})
	}
}

// TestCodecraftFolderRefused: Enter refuses folders without a client.
func TestCodecraftFolderRefused(t *testing.T) {
	g := open(t, Options{}, "codecraft")
	for text, want := range map[string]string{
		"":                         "command: expected the name of a program",
		"./none {host}":            "none",
		"a\nb":                     "command: expected one line of at most",
		"'a":                       "is not closed",
		strings.Repeat("x", 1<<17): "command: expected one line of at most",
	} {
		t.Run(fmt.Sprintf("%.20q", text), func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "command"), []byte(text), 0o666))
			_, err := g.Enter("bot:" + dir)
			assert.ErrorContainsf(t, err, want, "%.20q", text)
		})
	}
}

// TestCodecraftDrawn: what a bot draws is in the frames of the game that is shown. The game is the same as one that
// nobody looks at.
func TestCodecraftDrawn(t *testing.T) {
	if filepath.Separator == '\\' {
		t.Skip("a script for sh")
	}
	self, err := filepath.Abs(os.Args[0])
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.sh"), []byte("#!/bin/sh\nexec '"+self+"' bot craft \"$@\"\n"), 0o777))
	g := open(t, Options{Rules: "max_tick_count=5\n", Seats: 2}, "codecraft")
	bot, err := g.Enter("bot:" + dir)
	require.NoError(t, err)
	econ, err := g.Enter("econ")
	require.NoError(t, err)

	plain, err := g.Play(t.Context(), &Meeting{Seed: 3, Seats: []*Entrant{econ, bot}})
	require.NoError(t, err)
	live := view.NewLive("codecraft", "", []string{"econ", "bot"}, false)
	shown, err := g.Play(t.Context(), &Meeting{Seed: 3, Seats: []*Entrant{econ, bot}, Drawn: live.Draw, Show: func(scene Scene) error { live.Show(scene); return nil }})
	require.NoError(t, err)
	for _, o := range []*Outcome{plain, shown} {
		require.Nil(t, o.Seats[1].Crash)
		require.Equal(t, 5, o.Turns)
	}
	assert.Equal(t, plain.Sum, shown.Sum)
	assert.Equal(t, plain.Original, shown.Original)

	text, err := live.Answer("frames.json?game=0&seat=-1&from=0")
	require.NoError(t, err)
	type drawing struct {
		Seat    int
		Lines   []float64
		Log     []string
		Colours []string
	}
	var k struct {
		Drawings []struct {
			Turn  int
			Seats []drawing
		}
	}
	require.NoError(t, json.Unmarshal(text, &k))
	require.Len(t, k.Drawings, 6)
	for position, d := range k.Drawings {
		tick := min(position, 4) // the newest position shows the drawings of the last tick
		assert.Equal(t, tick, d.Turn)
		assert.Equal(t, []drawing{{
			Seat: 1, Lines: []float64{79, 78, 0, 0, 0, 75, 78, 0, 0, 0, 79, 78, 0, 0, 0, 75, 78, 0, 0, 0}, Colours: []string{"#ff0000ff"},
			Log: []string{fmt.Sprint("kind 2, tick ", tick), fmt.Sprint("kind 0, tick ", tick)},
		}}, d.Seats)
	}
}
