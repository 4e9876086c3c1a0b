package towerdefence

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
)

// hostile has bots that misbehave, by kind.
var hostile = map[string]func(args []string) int{
	"floods": func([]string) int {
		say("0,0,2")
		line := bytes.Repeat([]byte("all work and no play\n"), 1000)
		for {
			os.Stdout.Write(line)
			os.Stderr.Write(line)
		}
	},
	"prints": func([]string) int {
		os.Stdout.Write(bytes.Repeat([]byte("all work and no play\n"), 10000))
		return 0
	},
	"huge": func([]string) int { // a command of gigabytes, most of them zero bytes
		say("1,1,2,")
		os.Truncate(commandFile, 5<<30)
		return 0
	},
	"fills": func([]string) int { // its copy
		os.Remove(stateFile)
		os.Remove(textFile)
		say("0,0,2")
		if f, err := os.Create("big"); err == nil {
			io.Copy(f, zeros{})
		}
		return 0
	},
	"long": func([]string) int { say(strings.Repeat("1,1,2,", 1<<20)); return 0 },
	"pipe": func([]string) int {
		exec.Command("mkfifo", commandFile).Run()
		return 0
	},
	"folder": func([]string) int {
		os.MkdirAll(filepath.Join(commandFile, "inside"), 0o777)
		return 0
	},
	"zero": func([]string) int {
		if err := os.Symlink("/dev/zero", commandFile); err != nil {
			fmt.Println(err)
		}
		return 0
	},
	"linked": func([]string) int {
		writeOrPrint("elsewhere", []byte("0,0,2"))
		os.Symlink("elsewhere", commandFile)
		return 0
	},
	"blocks": func([]string) int { // folders where the game writes
		os.Remove(stateFile)
		os.MkdirAll(filepath.Join(stateFile, "inside"), 0o777)
		return 0
	},
	"stranger": func([]string) int { // links where the game writes
		for _, name := range []string{stateFile, textFile} {
			os.Remove(name)
			os.Symlink("/dev/full", name)
		}
		say("0,0,2")
		return 0
	},
	"seconds": func(args []string) int { // gives files elsewhere the names of the game's files
		for _, name := range []string{stateFile, textFile} {
			os.Remove(name)
			if err := os.Link(filepath.Join(args[0], name), name); err != nil {
				fmt.Println(err)
			}
		}
		say("0,0,2")
		return 0
	},
	"moves": func(args []string) int { // puts a link to another folder in the place of its own
		dir, _ := os.Getwd()
		os.Rename(dir, dir+"-moved")
		if err := os.Symlink(args[0], dir); err != nil {
			fmt.Println(err)
		}
		say("0,0,2")
		return 0
	},
	"forks": func([]string) int { // leaves processes behind, one of them in a session of its own
		fork("stays", false)
		fork("stays", true)
		say("0,0,2")
		return 0
	},
	"stays": func([]string) int { // and would answer later
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
		dawdle(300 * time.Millisecond)
		say("7,7,1")
		hang()
		return 0
	},
	"drips": func([]string) int { // a byte a second
		f, err := os.Create(commandFile)
		for err == nil {
			_, err = f.WriteString(" ")
			dawdle(time.Second)
		}
		return 0
	},
	"garbage": func([]string) int {
		junk := make([]byte, 1<<20)
		for i := range junk {
			junk[i] = byte(0x80 + i*i>>7&0x3F) // never the first byte of a character
		}
		writeOrPrint(commandFile, junk)
		return 0
	},
	"quits": func([]string) int { return 0 },
	"twice": func([]string) int { // writes another command
		say("0,0,2")
		say("1,1,2\n2,2,2\n")
		return 0
	},
	"lies": func([]string) int { // about the round, in the files and with more commands than one
		writeOrPrint(stateFile, []byte(`{"gameDetails":{"round":300}}`))
		writeOrPrint(textFile, []byte("Round Number : 300\n"))
		say("0,0,2")
		return 0
	},
	"loop": func([]string) int { // a link to itself
		os.Symlink(commandFile, commandFile)
		return 0
	},
	"socket": func([]string) int {
		if _, err := net.Listen("unix", commandFile); err != nil {
			fmt.Println(err)
		}
		syscall.Kill(os.Getpid(), syscall.SIGKILL) // leaves the socket
		return 0
	},
	"eats": func([]string) int {
		var all [][]byte
		for {
			b := make([]byte, 8<<20)
			for i := range b {
				b[i] = byte(i)
			}
			all = append(all, b)
			if len(all) > 200 {
				return 0
			}
		}
	},
}

// zeros is a file without end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// fork starts another process and does not wait for it.
func fork(kind string, session bool) {
	self, _ := os.Executable()
	c := exec.Command(self, botMark, kind)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Start(); err != nil {
		fmt.Println(err)
	}
}

// gone checks that no process runs in the bot's folder or was started there.
func gone(t testing.TB, p *Program) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	for _, process := range all {
		dir, _ := os.Readlink(process + "/cwd")
		environ, _ := os.ReadFile(process + "/environ")
		if strings.HasPrefix(dir, p.Dir) || bytes.Contains(environ, []byte("PWD="+p.Dir)) {
			id := filepath.Base(process)
			line, _ := os.ReadFile(process + "/cmdline")
			t.Errorf("process %s runs in %s: %q", id, dir, line)
			if pid, err := strconv.Atoi(id); err == nil {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}

// TestHostile: against bots that misbehave (package child has more of them) the match ends in time, their faults are counted
// and named, none of their processes runs on, the log is small, and the other bot plays to
// the end.
func TestHostile(t *testing.T) {
	const last = 1
	for _, c := range []struct {
		kind    string
		args    string
		faults  map[FaultKind]int
		kindOf  FaultKind
		text    string // in the first of this kind
		command string // in the log of the second round
		crash   string
	}{
		{"sleeps", "1h", map[FaultKind]int{Late: 2}, Late, "did not end within 1s", "", ""},
		{"floods", "", map[FaultKind]int{Late: 2, Refused: 1}, Late, "did not end within 3s", "0,0,2", ""},
		{"huge", "", map[FaultKind]int{Refused: 1, Garbled: 2}, Garbled, `"1,1,2,\x00`, "1,1,2," + strings.Repeat("\x00", maxCommand-6), ""},
		{"long", "", map[FaultKind]int{Refused: 1, Garbled: 2}, Garbled, `"1,1,2,1,1`, strings.Repeat("1,1,2,", maxCommand/6) + "1,1,", ""},
		{"pipe", "", map[FaultKind]int{Missing: 2}, Missing, "command.txt: it is not a file", "", ""},
		{"folder", "", map[FaultKind]int{Missing: 2}, Missing, "command.txt: it is not a file", "", ""},
		{"zero", "", map[FaultKind]int{Missing: 2}, Missing, "command.txt: it is not a file", "", ""},
		{"linked", "", map[FaultKind]int{Refused: 1}, Refused, `"0,0,2"`, "0,0,2", ""},
		{"blocks", "", map[FaultKind]int{Missing: 1}, Missing, "command.txt: no such", "", "the files of the round cannot be written: remove"},
		{"stranger", "", map[FaultKind]int{Refused: 1}, Refused, `"0,0,2"`, "0,0,2", ""},
		{"forks", "", map[FaultKind]int{Refused: 1}, Refused, `"0,0,2"`, "0,0,2", ""},
		{"drips", "", map[FaultKind]int{Late: 2}, Late, "did not end within 3s", "No Command", ""},
		{"garbage", "", map[FaultKind]int{Garbled: 2}, Garbled, "command.txt is not UTF-8", "No Command", ""},
		{"quits", "", map[FaultKind]int{Missing: 2}, Missing, "command.txt: no such file", "", ""},
		{"twice", "", map[FaultKind]int{Refused: 1}, Refused, `"1,1,2"`, "1,1,2", ""},
		{"lies", "", map[FaultKind]int{Refused: 1}, Refused, `"0,0,2"`, "0,0,2", ""},
		{"loop", "", map[FaultKind]int{Missing: 2}, Missing, "command.txt: too many levels", "", ""},
		{"socket", "", map[FaultKind]int{Failed: 2}, Failed, "signal: killed", "", ""},
		{"leaves", "", map[FaultKind]int{Missing: 1}, Missing, "command.txt: no such", "", "the files of the round cannot be written: stat "},
		{"eats", "", map[FaultKind]int{Killed: 2}, Killed, "of memory, the limit is ", "", ""},
		{"nonsense", "", map[FaultKind]int{Failed: 2}, Failed, "exit status 2: no bot of kind nonsense", "", ""},
	} {
		for _, box := range []child.BoxKind{child.NoBox, child.Automatic} {
			means, _ := box.Means()
			if c.kind == "leaves" && means == child.Namespaces {
				continue // in a box its folder cannot be removed
			}
			text := c.text
			if c.kind == "zero" && means == child.Namespaces {
				text = "command.txt: path escapes from parent"
			}
			t.Run(fmt.Sprint(c.kind, " ", box), func(t *testing.T) {
				t.Parallel()
				bad, good := bot(t, c.kind, c.args), scripted(t, "script", quoted("1,1,2")...)
				s := Seat{Program: bad, Limits: bots.Limits{Answer: ample}, Process: child.Limits{Box: box}}
				switch c.kind {
				case "sleeps":
					s.Limits.Answer = time.Second
				case "floods", "drips":
					s.Limits.Answer = 3 * time.Second // they leave a command first, on a busy machine too
				case "eats":
					s.Process.Memory = 60 << 20
				}
				m := &Match{Rules: rules(last), Seats: []Seat{s, {Program: good}}}
				r, l := play(t, m)
				gone(t, bad)
				for k, f := range r.Records[0].Faults {
					assert.Equalf(t, c.faults[FaultKind(k)], f.Count, "%v: %+v", FaultKind(k), f)
				}
				assert.Containsf(t, r.Records[0].Faults[c.kindOf].Text, text, "%v", c.kindOf)
				assert.Equal(t, c.command, l.text(t, 1, "A - "+bad.Name, "PlayerCommand.txt"), "command")
				crash := r.Crashes[0]
				assert.Truef(t, (crash != nil) == (c.crash != "") && (crash == nil || strings.HasPrefix(crash.Err.Error(), c.crash) && crash.Turn == 1), "crash %+v, want %q", crash, c.crash)
				n := l.bytes()
				assert.LessOrEqualf(t, n, 1<<20, "the log has %d bytes", n)
				clean(t, r.Records[1], Refused)
				assert.Truef(t, r.Turns == last+1 && r.Records[1].Rounds == last+1 && r.Score[1] != 0 && r.Crashes[1] == nil, "the other one: %d rounds, %+v, %+v", r.Turns, r.Records[1], r.Crashes[1])
			})
		}
	}
}

// TestBoxedFolders: a bot in a box that fills its copy crashes, and so does one whose author names a folder outside of its own.
func TestBoxedFolders(t *testing.T) {
	if means, why := child.Automatic.Means(); means != child.Namespaces {
		t.Skipf("left out: this machine makes no boxes: %v", why)
	}
	outside, fills := bot(t, "counts"), bot(t, "fills")
	outside.Work = t.TempDir()
	require.NoError(t, os.Symlink(outside.Work, filepath.Join(outside.Dir, "link")))
	linked := *outside
	linked.Work = filepath.Join(outside.Dir, "link")
	for _, c := range []struct {
		bot   *Program
		crash string
	}{{outside, "outside of its folder"}, {&linked, "outside of its folder"}, {fills, "no space left"}} {
		s := Seat{Program: c.bot, Limits: bots.Limits{Answer: ample}, Process: child.Limits{Box: child.Automatic}}
		r, _ := play(t, &Match{Rules: rules(2), Seats: []Seat{s, {Program: scripted(t, "script", quoted("1,1,2")...)}}})
		require.NotNil(t, r.Crashes[0], "%s: %+v", c.crash, r.Records[0])
		assert.ErrorContains(t, r.Crashes[0].Err, c.crash)
		assert.Nil(t, r.Crashes[1])
	}
	entries, err := os.ReadDir(outside.Work)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

// TestElsewhere: a bot cannot make the game write or delete files outside of its folder.
func TestElsewhere(t *testing.T) {
	for _, kind := range []string{"seconds", "moves"} {
		t.Run(kind, func(t *testing.T) {
			outside := t.TempDir()
			for _, name := range []string{stateFile, textFile, commandFile} {
				write(t, filepath.Join(outside, name), "theirs")
			}
			bad, good := bot(t, kind, outside), scripted(t, "script", quoted("1,1,2")...)
			r, _ := play(t, &Match{Rules: rules(2), Seats: []Seat{{Program: bad, Limits: bots.Limits{Answer: ample}}, {Program: good}}})
			for _, name := range []string{stateFile, textFile, commandFile} {
				assert.Equal(t, "theirs", read(t, filepath.Join(outside, name)), name)
			}
			if kind == "moves" {
				require.NotNil(t, r.Crashes[0])
				assert.ErrorContains(t, r.Crashes[0].Err, "is another folder than when the match began")
			}
			clean(t, r.Records[1], Refused)
			assert.Nil(t, r.Crashes[1])
		})
	}
}

// TestOutputLimit: the output of a bot in the match log is bounded, in a round and in all.
func TestOutputLimit(t *testing.T) {
	_, all := play(t, &Match{Rules: rules(1), Seats: []Seat{{Program: bot(t, "prints"), Name: "x"}, {}}})
	got := all.text(t, 1, "A - x", "Console/BotOutput.txt")
	assert.Truef(t, len(got) >= maxRoundOutput && len(got) <= maxRoundOutput+100, "%d bytes of a round", len(got))
	m := &Match{Rules: rules(2), Seats: []Seat{{Program: bot(t, "prints")}, {}}}
	l := &log{files: fstest.MapFS{}}
	m.Create = l.create
	h, err := m.newHost()
	require.NoError(t, err)
	h.bots[0].output = maxMatchOutput - 10
	h.bots[0].dir = m.Seats[0].Program.Work
	h.bots[0].work, h.bots[0].args = rootOf(t, h.bots[0].dir), m.Seats[0].Program.args("")
	_, err = h.play(t.Context())
	require.NoError(t, err)
	for round, want := range []string{"all work a\n[the limit of 10 bytes is reached", "[the limit of ", "[the limit of "} {
		got := l.text(t, round, "A - "+m.Seats[0].Program.Name, "Console/BotOutput.txt")
		assert.Truef(t, strings.HasPrefix(got, want) && len(got) <= 200, "round %d: %q, want %q", round, got, want)
	}
}
