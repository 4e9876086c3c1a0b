package players

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/codecraft/wire/protocol"
)

// craft is a client of CodeCraft. It prints its working directory, and gives no orders until
// the game is over. Its arguments end with host, port and token.
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
	nothing := (&protocol.ClientMessage{Kind: protocol.ActionMessage}).Append(nil)
	for {
		switch err := in.ServerMessage(&m); {
		case err != nil:
			return 2
		case m.Kind == protocol.Finish:
			return 0
		}
		conn.Write(nothing)
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
