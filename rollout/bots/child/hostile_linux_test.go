package child

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mark adds a mark to the environment of a command and returns it.
func mark(c *Command) string {
	m := "CHILD_TEST_MARK=" + rand.Text()
	c.Args = append([]string{"env", m}, c.Args...)
	return m
}

// marked returns the running processes with a mark in their environment.
func marked(m string) (pids []int) {
	for _, pid := range processIDs() {
		environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if bytes.Contains(environ, []byte(m+"\x00")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// requireMarked waits until at least a number of processes run, or, with 0, until none runs.
func requireMarked(t *testing.T, m string, least int) {
	t.Helper()
	reached := func() bool {
		n := len(marked(m))
		return n == least || least > 0 && n > least
	}
	if !assert.Eventually(t, reached, ample, 5*time.Millisecond) {
		t.Fatalf("processes %v run, want %d", marked(m), least)
	}
}

// requireNone fails if processes run now.
func requireNone(t *testing.T, m string) {
	t.Helper()
	if pids := marked(m); len(pids) > 0 {
		t.Errorf("left running: %v", pids)
		for _, pid := range pids { // started by this test
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// stubborn is a shell program that only SIGKILL ends. family starts many such processes, in sessions of their own and
// without parents too, and leaves does so and ends.
const (
	stubborn = `trap "" TERM HUP INT; while :; do sleep 100; done`
	parent   = `(setsid sh -c '` + stubborn + `' & sh -c '` + stubborn + `' &); ` + stubborn
	family   = `sh -c "$1" & setsid sh -c "$1" & (setsid sh -c "$1" &); sleep 0.1; echo ready; ` + stubborn
	leaves   = `(setsid sh -c "$1" &); sleep 0.1; echo ready`
)

// members is the least number of processes of a family.
const members = 1 + 3 + 3*2

// eachMeans runs a test with each of the means for boxes that this machine has.
func eachMeans(t *testing.T, test func(t *testing.T, means Means)) {
	t.Helper()
	for _, means := range []Means{Nothing, Landlock, Namespaces} {
		t.Run(means.String(), func(t *testing.T) {
			if best, why := Automatic.Means(); means > best || means == Landlock && landlockVersion() == 0 {
				t.Skipf("left out: this machine does not have it: %v", why)
			}
			test(t, means)
		})
	}
}

// guardWith starts a Guard with these means, for as long as the test runs.
func guardWith(t *testing.T, means Means, limits Limits, b Box) *Guard {
	t.Helper()
	g, err := startWith(t.Context(), limits, b, means)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, g.Close()) })
	return g
}

// TestFamilies: however a bot ends, its descendants end before its end is reported.
func TestFamilies(t *testing.T) {
	eachMeans(t, func(t *testing.T, means Means) {
		g := guardWith(t, means, Limits{}, Box{})
		for _, script := range []string{leaves, family, family} {
			c := shell(script, parent)
			m := mark(&c)
			p := start(t, g, c)
			readLine(t, p)
			switch {
			case script == leaves:
				r, err := p.Wait(soon())
				assert.Truef(t, err == nil && r.Code == 0 && r.Processes >= 1, "%+v, %v", r, err)
			case g.runs == 2:
				requireMarked(t, m, members)
				p.Kill()
			default:
				requireMarked(t, m, members)
				assert.NoError(t, g.Close())
			}
			requireNone(t, m)
		}
	})
}

// TestProgramKilled: after any end of this program no process of its bots is left running, even if another process
// keeps the connection to the guard.
func TestProgramKilled(t *testing.T) {
	eachMeans(t, func(t *testing.T, means Means) {
		for _, end := range []syscall.Signal{syscall.SIGKILL, syscall.SIGHUP} {
			if signal.Ignored(end) {
				t.Skip("the tests run under nohup, so their children ignore the signal, too")
			}
			plays := exec.Command(os.Args[0], "bot", "moonfarm")
			m := "CHILD_TEST_MARK=" + rand.Text()
			plays.Env = append(os.Environ(), m, fmt.Sprint(meansEnv, "=", int(means)))
			pipe, err := plays.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, plays.Start())
			out, holder, guard := bufio.NewReader(pipe), 0, 0
			line, _ := out.ReadString('\n')
			_, err = fmt.Sscanf(line, "holds %d", &holder)
			require.NoErrorf(t, err, "%q", line)
			defer syscall.Kill(holder, syscall.SIGKILL)
			line, _ = out.ReadString('\n')
			_, err = fmt.Sscanf(line, "ready <nil> %d", &guard)
			require.NoErrorf(t, err, "%q", line)
			requireMarked(t, m, 1+members)
			plays.Process.Signal(end)
			plays.Wait()
			assert.Eventually(t, func() bool { return slices.Equal(marked(m), []int{holder}) }, ample, 5*time.Millisecond)
			assert.Eventually(t, func() bool { p, ok := readProcess(guard); return !ok || p.ended }, ample, 5*time.Millisecond, "the guard runs")
		}
	})
}

// TestReset: a guard whose program was killed before it read a report gets an error.
func TestReset(t *testing.T) {
	ours, theirs, err := channels()
	require.NoError(t, err)
	defer ours.Close()
	_, err = ours.Write([]byte("report"))
	require.NoError(t, err)
	theirs.Close()
	n, err := ours.Read(make([]byte, 1))
	assert.Truef(t, n == 0 && errors.Is(err, syscall.ECONNRESET), "%d, %v", n, err)
}

// meansEnv are the Means of the bot "moonfarm".
const meansEnv = "CHILD_TEST_MEANS"

// TestProgramKilledAnyTime: no process is left, whether this program is killed before the
// guard is ready, while a bot is started, or later.
func TestProgramKilledAnyTime(t *testing.T) {
	times := 5
	if os.Getenv("MOONFARM_LONG") != "" {
		times = 100
	}
	eachMeans(t, func(t *testing.T, means Means) {
		for k := range times {
			plays := exec.Command(os.Args[0], "bot", "moonfarm", "alone")
			m := "CHILD_TEST_MARK=" + rand.Text()
			plays.Env = append(os.Environ(), m, fmt.Sprint(meansEnv, "=", int(means)))
			require.NoError(t, plays.Start())
			time.AfterFunc(time.Duration(k*17%200)*time.Millisecond, func() { plays.Process.Kill() })
			plays.Wait()
			requireMarked(t, m, 0)
		}
	})
}

// TestGuardKilled: with the guard of a box all processes of its bot end.
func TestGuardKilled(t *testing.T) {
	c := shell(family, parent)
	m := mark(&c)
	g := newBox(t, Limits{}, Box{Program: c.Program})
	p := start(t, g, c)
	readLine(t, p)
	requireMarked(t, m, members)
	g.starts.(*remote).cmd.Process.Kill()
	_, err := p.ReadLine(soon())
	assert.True(t, kindOf(t, err) == Lost && strings.Contains(err.Error(), "signal: killed"), err)
	requireNone(t, m)
	_, err = g.Run(c)
	assert.ErrorContains(t, err, "guard")
}

// shell is a bot written for the shell.
func shell(script string, args ...string) Command {
	return Command{Program: Program{Args: append([]string{"/bin/sh", "-c", script, "sh"}, args...)}, Output: true}
}

// bomb is a binary tree of shells, six levels deep: 127 processes, few enough for a machine
// that allows some hundred processes.
const bomb = `f() { if [ $1 -gt 0 ]; then f $(($1-1)) & f $(($1-1)) & fi; wait; sleep 100; }; f 6`

// hops starts three chains of processes, each of which starts the next one and ends.
const hops = `f() { if [ $1 -lt 30000 ]; then f $(($1+1)) & fi; }; for i in 1 2 3; do f 0 & done; echo ready; sleep 100`

// TestHops: processes that end before they can be found do not outrun the guard.
func TestHops(t *testing.T) {
	eachMeans(t, func(t *testing.T, means Means) {
		c := shell(hops)
		m := mark(&c)
		p := start(t, guardWith(t, means, Limits{}, Box{}), c)
		readLine(t, p)
		first := marked(m)
		hopped := func() bool {
			return slices.ContainsFunc(marked(m), func(pid int) bool { return !slices.Contains(first, pid) })
		}
		require.Eventually(t, hopped, ample, time.Millisecond)
		p.Kill()
		requireNone(t, m)
	})
}

func TestForkBomb(t *testing.T) {
	eachMeans(t, func(t *testing.T, means Means) {
		c := shell(bomb)
		m := mark(&c)
		p := start(t, guardWith(t, means, Limits{Processes: 60}, Box{}), c)
		_, err := p.ReadLine(soon())
		assert.True(t, kindOf(t, err) == Processes && strings.Contains(err.Error(), "the limit is 60"), err)
		requireNone(t, m)
		r := p.Kill()
		assert.Truef(t, r.Processes > 60, "%+v", r)
		c = shell(bomb)
		m = mark(&c)
		p = start(t, guardWith(t, means, Limits{}, Box{}), c)
		requireMarked(t, m, 100)
		r = p.Kill()
		assert.Nilf(t, r.Fault, "%+v", r)
		requireNone(t, m)
	})
}

func TestMemory(t *testing.T) {
	const limit = 150 << 20                                                                 // one or two of the three processes use less
	eat := strings.Repeat("head -c 70m /dev/zero | tail -c 70m | sleep 100 & ", 3) + "wait" // tail waits for sleep to read
	c := shell(eat)
	m := mark(&c)
	p := start(t, guard(t, Limits{Memory: limit}), c)
	_, err := p.ReadLine(soon())
	assert.True(t, kindOf(t, err) == Memory && strings.Contains(err.Error(), "the limit is 157.3 MB"), err)
	r := p.Kill()
	assert.Truef(t, r.Memory > limit, "%+v", r)
	requireNone(t, m)
	// On a busy machine the guard looks less often.
	for wait := 4 * interval; ; wait *= 2 {
		p = start(t, guard(t, Limits{Memory: 4 << 30}), shell(eat))
		_, err := p.ReadLine(time.Now().Add(wait)) // it prints nothing
		require.Equal(t, Time, kindOf(t, err))
		r := p.Kill()
		if r.Memory < 200<<20 && wait < ample/4 {
			continue
		}
		assert.Truef(t, r.Fault == nil && r.Memory >= 200<<20 && r.Memory <= 1<<30 && r.Processes >= 7, "%+v", r)
		break
	}
}

// TestCgroup: where a control group can be made, a guard has one, and the system ends what takes too much memory in it.
func TestCgroup(t *testing.T) {
	c := exec.Command("/bin/sh", "-c", "read go && head -c 2G /dev/zero | tail -c 2G >/dev/null")
	in, err := c.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	defer c.Wait()
	defer in.Close()
	group := newCgroup(&Limits{Memory: 1}, c.Process.Pid)
	if group == "" {
		t.Skip("left out: no control group of version 2 is delegated to this user")
	}
	assert.Zero(t, group.killed())
	in.Write([]byte("go\n"))
	assert.ErrorContains(t, c.Wait(), "exit status 137")
	assert.Equal(t, 1, group.killed())
	group.remove()
	assert.NoDirExists(t, string(group))
	g := guard(t, Limits{})
	group = g.starts.(*remote).group
	most, err := os.ReadFile(string(group) + "/pids.max")
	require.NoError(t, err)
	assert.Equal(t, "2000\n", string(most))
	require.NoError(t, g.Close())
	assert.NoDirExists(t, string(group))
}

// TestCPU: the time of all processes counts, ended or not, in this run or another.
func TestCPU(t *testing.T) {
	const limit = 300 * time.Millisecond
	g := guard(t, Limits{CPU: limit})
	p := start(t, g, shell("while :; do sh -c 'sh -c \"i=0; while [ \\$i -lt 9999 ]; do i=\\$((i+1)); done\"; :'; done"))
	_, err := p.ReadLine(soon())
	assert.True(t, kindOf(t, err) == CPU && strings.Contains(err.Error(), "the limit is 300ms"), err)
	r := p.Kill()
	assert.Truef(t, r.CPU > limit, "%+v", r)
	_, err = g.Run(talks(t, "exit", "0"))
	assert.Equal(t, CPU, kindOf(t, err), err)
	g = guard(t, Limits{CPU: limit})
	for k := 0; ; k++ {
		p, err := g.Run(self(t, "spin", "30"))
		if err != nil {
			assert.Truef(t, kindOf(t, err) == CPU && k >= 2, "process %d: %v", k, err)
			break
		}
		r := p.End(soon())
		assert.Truef(t, (r.Fault == nil || r.Fault.Kind == CPU) && r.CPU > 0 && r.CPU <= ample, "%+v", r)
		require.LessOrEqual(t, k, 1000, "no end")
	}
}

// TestKilled: a process that a signal ends by itself has no fault, and core files are off.
func TestKilled(t *testing.T) {
	g := guard(t, Limits{})
	p := start(t, g, shell("ulimit -c"))
	assert.Equal(t, "0", readLine(t, p))
	p.End(soon())
	r := start(t, g, shell("kill -9 $$")).End(soon())
	assert.Truef(t, r.Status == "signal: killed" && r.Code == -1 && r.Fault == nil, "%+v", r)
}

// TestProgramsThatDoNotStart: the errors of existing programs that cannot be started name
// the cause.
func TestProgramsThatDoNotStart(t *testing.T) {
	g := guard(t, Limits{})
	for text, want := range map[string]string{
		"#!/no/such/interpreter -x\n": `its first line is "#!/no/such/interpreter -x": is that program there?`,
		"echo hello\n":                "a script needs a first line such as #!/bin/sh",
	} {
		t.Run(text, func(t *testing.T) {
			file := t.TempDir() + "/program"
			require.NoError(t, os.WriteFile(file, []byte(text), 0o700))
			_, err := g.Run(Command{Program: Program{Args: []string{file}}})
			assert.ErrorContains(t, err, want)
		})
	}
}

// TestInheritance: a bot has only its three standard files open and leads a session.
func TestInheritance(t *testing.T) {
	var pipe [2]int
	require.NoError(t, syscall.Pipe(pipe[:])) // every child inherits it
	defer syscall.Close(pipe[0])
	defer syscall.Close(pipe[1])
	eachMeans(t, func(t *testing.T, means Means) {
		p := start(t, guardWith(t, means, Limits{}, Box{}), shell(`for f in 3 4 5 6 7 8 9 10 11 12; do ! [ -e /proc/$$/fd/$f ] || echo $f; done; cut -d" " -f 5,6 /proc/$$/stat; echo $$ $$`))
		assert.Equal(t, readLine(t, p), readLine(t, p))
	})
}

// TestCores: guards with cores have different ones, wait for one that is free, and give theirs back.
func TestCores(t *testing.T) {
	all, err := Cores()
	require.NoError(t, err)
	n := len(all)
	require.Positive(t, n)
	cores := make(chan int, 1)
	cores <- <-all
	limits := Limits{Cores: cores}
	eachMeans(t, func(t *testing.T, means Means) {
		g, err := startWith(t.Context(), limits, Box{}, means)
		require.NoError(t, err)
		p := start(t, g, shell("nproc; taskset -pc 0-63 $$ >/dev/null 2>&1; nproc; sleep 100"))
		assert.Equal(t, "1", readLine(t, p))
		if again := readLine(t, p); means != Nothing {
			assert.Equal(t, "1", again, "it has freed itself")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err = startWith(ctx, limits, Box{}, means)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, g.Close())
		_, err = startWith(t.Context(), limits, Box{Program: Program{Dir: "/nowhere"}}, Namespaces)
		assert.Error(t, err)
		assert.Len(t, cores, 1)
	})
}
