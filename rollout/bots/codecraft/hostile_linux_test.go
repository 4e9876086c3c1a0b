package codecraft

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
	"moonfarm/sim/codecraft/wire/protocol"
)

// stubborn is a shell program that only SIGKILL ends.
const stubborn = "trap '' TERM HUP INT; while :; do sleep 100; done"

// flood returns the number of bytes that a client prints which prints too much.
func flood() int64 {
	if os.Getenv(longEnv) != "" {
		return 4 << 30
	}
	return 24 << 20
}

// before lets some clients act before they connect. A thief ("steals") connects with the token of another client, which
// connects later ("slow"). A parent starts a descendant that connects for it.
func before(kind string, args []string) {
	switch kind {
	case "steals":
		if conn := steal(args[2]); conn != nil {
			if _, err := conn.Read(make([]byte, 1)); err == nil { // a view, not the end of the connection
				fmt.Println("robbed")
			}
		}
	case "slow":
		dawdle(2 * thieving)
	case "parent":
		self, _ := os.Executable()
		c := exec.Command("/bin/sh", append([]string{"-c", `"$@" & wait`, "sh", self}, args...)...)
		c.Env = append(os.Environ(), clientEnv+"=child")
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		c.Stdout = os.Stdout
		c.Run()
		os.Exit(0)
	}
}

// thieving is the time that a thief takes.
const thieving = 300 * time.Millisecond

// steal connects with the token of another client, which it looks for in the command lines of
// all processes.
func steal(own string) net.Conn {
	for begin := time.Now(); time.Since(begin) < thieving; dawdle(time.Millisecond) {
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range files {
			line, _ := os.ReadFile(file)
			words := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
			n := len(words)
			if n < 4 || words[n-1] == own || words[n-4] != os.Args[0] {
				continue
			}
			conn, err := net.Dial("tcp", net.JoinHostPort(words[n-3], words[n-2]))
			if err == nil {
				conn.Write(protocol.AppendString(nil, words[n-1]))
				return conn
			}
		}
	}
	return nil
}

// hostile lets some clients misbehave after they have given their token. If it returns,
// the client plays.
func hostile(kind string, conn *net.TCPConn) {
	answer := message(protocol.ActionMessage)
	switch kind {
	case "leaves", "forks": // processes, in a session of their own or with the connection
		c := exec.Command("/bin/sh", "-c", stubborn)
		if kind == "leaves" {
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		} else if f, err := conn.File(); err == nil {
			c.ExtraFiles = []*os.File{f}
		}
		if err := c.Start(); err != nil {
			panic(err)
		}
		if kind == "forks" {
			os.Exit(5)
		}
	case "eats": // memory, until it is killed
		var all [][]byte
		for len(all) < 1000 {
			all = append(all, bytes.Repeat([]byte{1}, 1<<20))
			dawdle(time.Millisecond)
		}
	case "floods", "complains":
		to := map[string]*os.File{"floods": os.Stdout, "complains": os.Stderr}[kind]
		for line, n := bytes.Repeat([]byte("x"), 1<<20), int64(0); n < flood(); n += int64(len(line)) {
			to.Write(line)
		}
	case "is deaf":
		conn.CloseRead()
		for range 1000 {
			conn.Write(answer)
		}
		hang()
	case "repeats": // every answer
		in := protocol.NewReader(conn)
		var m protocol.ServerMessage
		for in.ServerMessage(&m) == nil && m.Kind != protocol.Finish {
			conn.Write(append(answer[:len(answer):len(answer)], answer...))
		}
		os.Exit(0)
	}
}

// left returns the processes with a mark in their environment.
func left(mark string) (list []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		if environ, _ := os.ReadFile(file); bytes.Contains(environ, []byte(mark+"\x00")) {
			list = append(list, file)
		}
	}
	return list
}

// TestHostileClients: whatever the process of a client does, the game is played within its
// limits, the results name the fault, the other client plays to the end, and no process is left
// running. TestCrashes has what a client may send.
func TestHostileClients(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	mark := "MOONFARM_TEST_MARK=" + rand.Text()
	name, value, _ := strings.Cut(mark, "=")
	t.Setenv(name, value)
	const short = 300 * time.Millisecond
	for _, c := range []struct {
		kind, fault string // "": none
		limits      bots.Limits
		uses        child.Limits
		logged      bool // up to the limit of the log
	}{
		{kind: "leaves"},
		{kind: "forks", fault: "exit status 5"}, // before or after its connection was accepted
		{kind: "floods", logged: true},
		{kind: "complains", logged: true},
		{kind: "eats", fault: "the limit is 104.9 MB", uses: child.Limits{Memory: 100 << 20}},
		{kind: "ends", fault: "the client ended before it was connected: exit status 0"},
		{kind: "sleeps", fault: "no client within 300ms", limits: bots.Limits{Accept: short}},
		{kind: "is deaf"},
		{kind: "repeats"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			t.Setenv(clientEnv, c.kind)
			out, err := os.Create(filepath.Join(t.TempDir(), "out"))
			require.NoError(t, err)
			defer out.Close()
			port := listen(t, nil)
			good := make(chan error, 1)
			conn := dial(t, port, "")
			go func() { good <- serve(conn, orderAll) }()
			begin := time.Now()
			seat := Seat{Program: child.Program{Args: []string{self}}, Log: child.NewLog(out, maxLog), Limits: c.limits, Process: c.uses}
			r := play(t, &Match{Rules: rules(t, "round1-2", 30), Seats: []Seat{{Port: port}, seat}})
			if err := <-good; err != nil || r.Crashes[0] != nil || r.Turns != 30 {
				t.Errorf("%s: %d ticks, the other client: %v, crash %+v", c.kind, r.Turns, err, r.Crashes[0])
			}
			t.Logf("%s: %v", c.kind, time.Since(begin))
			comment := ""
			if r.Players[1].Comment != nil {
				comment = *r.Players[1].Comment
			}
			assert.Truef(t, strings.Contains(comment, c.fault) && (comment == "") == (c.fault == ""), "%s: comment %q, want %q", c.kind, comment, c.fault)
			info, err := out.Stat()
			require.NoErrorf(t, err, "%s: a log of %d bytes", c.kind, info.Size())
			assert.Truef(t, info.Size() <= maxLog+100 && (!c.logged || info.Size() >= maxLog), "%s: a log of %d bytes", c.kind, info.Size())
			list := left(mark)
			assert.Nilf(t, list, "%s: %v are left", c.kind, list)
		})
	}
}

// TestStolenToken: in a box a client gets no seat of another one, which keeps its own. A descendant of a client may connect
// for it.
func TestStolenToken(t *testing.T) {
	if means, why := child.Automatic.Means(); means == child.Nothing {
		t.Skipf("left out: this machine makes no boxes: %v", why)
	}
	self, err := os.Executable()
	require.NoError(t, err)
	var said bytes.Buffer
	client := func(kind string) Seat {
		return Seat{Program: child.Program{Args: []string{"env", clientEnv + "=" + kind, self}}, Log: child.NewLog(&said, maxLog),
			Limits: bots.Limits{Accept: 2 * ample, Answer: ample}, Process: child.Limits{Box: child.Automatic}}
	}
	for _, seats := range [][]Seat{{client("steals"), {Program: client("slow").Program, Limits: client("slow").Limits, Process: client("slow").Process}}, {client("parent"), {}}} {
		r := play(t, &Match{Rules: rules(t, "finals-2", 5), Seats: seats})
		for i, c := range r.Crashes {
			assert.Nilf(t, c, "seat %d crashed: %+v", i+1, c)
		}
	}
	assert.NotContains(t, said.String(), "robbed")
	assert.Contains(t, said.String(), "finished")
}
