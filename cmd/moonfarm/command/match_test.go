package command

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/sim/codecraft/wire/protocol"
)

// craftClient is a program that plays CodeCraft: craftclient KIND HOST PORT
// TOKEN. It sends all its units to a corner. The kind "quits" leaves after ten
// ticks.
func craftClient() {
	if len(os.Args) != 5 {
		fmt.Println("arguments:", os.Args[1:])
		os.Exit(2)
	}
	conn, err := net.Dial("tcp", net.JoinHostPort(os.Args[2], os.Args[3]))
	if err == nil {
		err = playCraft(conn, os.Args[4], os.Args[1])
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("finished")
}

func playCraft(conn net.Conn, token, how string) error {
	defer conn.Close()
	conn.Write(protocol.AppendString(nil, token))
	in := protocol.NewReader(conn)
	var m protocol.ServerMessage
	for {
		if err := in.ServerMessage(&m); err != nil || m.Kind == protocol.Finish {
			return err
		}
		if how == "quits" && m.View.CurrentTick == 10 {
			return nil
		}
		if how == "draws" && m.Kind == protocol.DebugUpdate {
			if err := drawCraft(conn); err != nil {
				return err
			}
			continue
		}
		answer := protocol.ClientMessage{Kind: protocol.ActionMessage}
		for _, e := range m.View.Entities {
			if e.PlayerID == protocol.Some(m.View.MyID) {
				a := protocol.EntityAction{Move: protocol.Some(protocol.MoveAction{X: 79, Y: 79, FindClosestPosition: true})}
				answer.Action.EntityActions = append(answer.Action.EntityActions, protocol.EntityOrder{ID: e.ID, EntityAction: a})
			}
		}
		if _, err := conn.Write(answer.Append(nil)); err != nil {
			return err
		}
	}
}

// drawCraft asks for the state of the window, as clients do between two ticks.
func drawCraft(conn net.Conn) error {
	conn.Write((&protocol.ClientMessage{Kind: protocol.RequestDebugState}).Append(nil))
	state := make([]byte, len((&protocol.DebugState{}).Append(nil)))
	if _, err := io.ReadFull(conn, state); err != nil {
		return err
	}
	_, err := conn.Write((&protocol.ClientMessage{Kind: protocol.DebugUpdateDone}).Append(nil))
	return err
}

// startMatch starts match with clients that connect by themselves, and returns
// the addresses where they are expected.
func startMatch(t *testing.T, out *bytes.Buffer, args ...string) (*exec.Cmd, []string) {
	t.Helper()
	c := exec.Command("moonfarm", append([]string{"match", "codecraft"}, args...)...)
	c.Stdout = out
	stderr, err := c.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() { c.Process.Kill() })
	var addresses []string
	lines := bufio.NewScanner(stderr)
	for _, a := range args {
		if a != "tcp" {
			continue
		}
		require.Truef(t, lines.Scan(), "%v: no line with an address", args)
		m := regexp.MustCompile(`^tcp: waits for clients at (127\.0\.0\.1:[0-9]+)$`).FindStringSubmatch(lines.Text())
		if m == nil {
			t.Fatalf("%v: told %q", args, lines.Text())
		}
		addresses = append(addresses, m[1])
	}
	go func() {
		for lines.Scan() {
			t.Log(lines.Text())
		}
	}()
	return c, addresses
}

// TestMatchPorts plays several games, two at a time, with clients that connect to the same
// two ports for all games.
func TestMatchPorts(t *testing.T) {
	games := 6
	if os.Getenv(longEnv) != "" {
		games = 200
	}
	var out bytes.Buffer
	c, addresses := startMatch(t, &out, "--player", "tcp", "--player", "tcp", "--games", fmt.Sprint(games), "--concurrency", "2", "--json")
	var clients sync.WaitGroup
	for _, address := range addresses {
		for range 2 { // --concurrency
			clients.Go(func() {
				for range games / 2 {
					conn, err := net.Dial("tcp", address)
					if err == nil {
						err = playCraft(conn, "any", "")
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	clients.Wait()
	require.NoError(t, c.Wait())
	var r matchReport
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	assert.Truef(t, len(r.Games) == games && r.Players[0].Crashes+r.Players[1].Crashes == 0, "%d games, %d and %d crashes; want %d and none", len(r.Games), r.Players[0].Crashes, r.Players[1].Crashes, games)
	for i, g := range r.Games {
		assert.Truef(t, g.Number == i+1 && g.Turns == 1000 && (g.Seed == 1) == (i < 2) && (i%2 != 1 || g.Seed == r.Games[i-1].Seed), "game %d: number %d, %d turns, seed %d", i+1, g.Number, g.Turns, g.Seed)
	}
}

// TestMatchInterrupt stops a match that waits for clients, and one whose client
// does not answer.
func TestMatchInterrupt(t *testing.T) {
	for _, connects := range []bool{false, true} {
		t.Run(fmt.Sprintf("connects %v", connects), func(t *testing.T) {
			var out bytes.Buffer
			c, addresses := startMatch(t, &out, "--player", "tcp", "--player", "empty", "--timeout", "0")
			if connects {
				conn, err := net.Dial("tcp", addresses[0])
				require.NoError(t, err)
				defer conn.Close()
				conn.Write(protocol.AppendString(nil, ""))
				conn.Read(make([]byte, 1)) // the game has begun
			}
			c.Process.Signal(syscall.SIGINT)
			done := make(chan error, 1)
			go func() { done <- c.Wait() }()
			select {
			case <-done:
			case <-time.After(20 * time.Second):
				t.Fatal("it goes on")
			}
			got := c.ProcessState.ExitCode()
			assert.Truef(t, got == console.ExitInterrupted && out.Len() == 0, "connects %v: status %d, printed %q", connects, got, &out)
		})
	}
}

// TestMatchInterrupted stops a match in its second game: the first one is printed.
func TestMatchInterrupted(t *testing.T) {
	var out bytes.Buffer
	c, addresses := startMatch(t, &out, "--player", "tcp", "--player", "empty", "--rules", "round1", "--games", "3", "--json", "--save-results", t.TempDir()+"/{game}")
	conn, err := net.Dial("tcp", addresses[0])
	require.NoError(t, err)
	require.NoError(t, playCraft(conn, "", ""))
	commandtest.WaitFor(t, c.Args[len(c.Args)-1][:len(c.Args[len(c.Args)-1])-len(gameMark)]+"0001")
	second, err := net.Dial("tcp", addresses[0])
	require.NoError(t, err)
	defer second.Close()
	second.Write(protocol.AppendString(nil, ""))
	second.Read(make([]byte, 1)) // the second game has begun
	c.Process.Signal(os.Interrupt)
	c.Wait()
	var r matchReport
	err = json.Unmarshal(out.Bytes(), &r)
	require.NoErrorf(t, err, "%v: printed %q", err, &out)
	assert.Truef(t, c.ProcessState.ExitCode() == console.ExitInterrupted && !r.Complete && len(r.Games) == 1 && r.Games[0].Turns == 1000 && r.Players[0].Games == 1, "%v, %+v", c.ProcessState, r)
}

// TestMatchFirst: --first plays the same games as the whole series has from there on.
func TestMatchFirst(t *testing.T) {
	games := func(args ...string) []matchGame {
		var r matchReport
		out, err := exec.Command("moonfarm", append([]string{"match", "tron", "--player", "safe", "--player", "random", "--json"}, args...)...).Output()
		if err == nil {
			err = json.Unmarshal(out, &r)
		}
		require.NoError(t, err)
		for i := range r.Games {
			r.Games[i].Seconds = 0
		}
		return r.Games
	}
	all, rest := games("--games", "5"), games("--games", "3", "--first", "3")
	got, want := fmt.Sprint(rest), fmt.Sprint(all[2:])
	assert.Truef(t, len(all) == 5 && got == want, "games 3 to 5 are\n%s, alone\n%s", want, got)
	f := matchFlags{first: 3}
	n := f.unbroken([]matchGame{{Number: 3}, {Number: 4}, {Number: 6}})
	assert.Equalf(t, 2, n, "%d games without a gap, want 2", n)
}
