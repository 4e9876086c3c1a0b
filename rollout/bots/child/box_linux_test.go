package child

import (
	"fmt"
	"io"
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
)

// boxed runs a shell script in a box and returns what it prints. It skips the test where there are no boxes.
func boxed(t *testing.T, g *Guard, dir, script string) (string, *Exit) {
	t.Helper()
	var out strings.Builder
	p, err := g.Run(Command{Program: Program{Args: []string{"/bin/sh", "-c", script}, Dir: dir}, Log: NewLog(&out, 1<<20)})
	require.NoError(t, err)
	r := p.End(time.Now().Add(ample))
	return strings.TrimSpace(out.String()), r
}

// newBox starts a guard with a box.
func newBox(t *testing.T, limits Limits, b Box) *Guard {
	t.Helper()
	if means, why := Automatic.Means(); means != Namespaces {
		t.Skipf("left out: this machine makes no boxes: %v", why)
	}
	if limits.Box == NoBox {
		limits.Box = Automatic
	}
	g, err := Start(t.Context(), limits, b)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, g.Close()) })
	return g
}

// TestBox: what the processes of a bot cannot do in a box.
func TestBox(t *testing.T) {
	t.Setenv("LC_ALL", "C") // for the messages
	folder, elsewhere := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "bot"), []byte("first"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(elsewhere, "secret"), []byte("secret"), 0o644))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	bystander := exec.Command("sleep", "1000")
	require.NoError(t, bystander.Start())
	defer func() { bystander.Process.Kill(); bystander.Wait() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	g := newBox(t, Limits{}, Box{Program: Program{Dir: folder, Args: []string{"cat", filepath.Join(elsewhere, "secret")}}})
	for _, c := range []struct{ name, script, want string }{
		{"reads", "cat " + elsewhere + "/secret", "secret"},
		{"writes its folder", "echo second >bot; cat bot", "second"},
		{"keeps its folder in the next process", "cat bot", "second"},
		{"writes /tmp", "echo a >/tmp/x; cat /tmp/x", "a"},
		{"has a TMPDIR", "echo $TMPDIR", "/tmp"},
		{"writes elsewhere", "echo a 2>&1 >" + elsewhere + "/secret", "Read-only file system"},
		{"writes the system", "(echo a >/usr/x) 2>&1", "Read-only file system"},
		{"removes files", "rm " + elsewhere + "/secret 2>&1; cat " + elsewhere + "/secret", "secret"},
		{"kills the guard", "(for s in KILL TERM HUP INT SEGV BUS FPE ILL ABRT TRAP SYS QUIT USR1 USR2 PIPE ALRM; do kill -$s 1 || echo $s; done); sleep 0.05; echo alive", "alive"},
		{"stops the guard", "(for s in STOP TSTP TTIN TTOU; do kill -$s 1; done); sleep 0.05; echo alive", "alive"},
		{"reads the guard", "(cat /proc/1/environ; cat /proc/1/fd/2; cat /proc/1/mem; readlink /proc/1/exe || echo denied) 2>&1 | grep -c denied", "4"},
		{"sees others", fmt.Sprintf("ls -d /proc/%d 2>&1; echo /proc/[0-9]* | wc -w", bystander.Process.Pid), "No such file"},
		{"kills others", fmt.Sprintf("kill -9 %d 2>&1; kill -9 -1; true", bystander.Process.Pid), ""},
		{"connects out", "bash -c '(exec 3<>/dev/tcp/127.0.0.1/" + port + ") 2>&1 && echo connected'", ""},
		{"makes devices", "mknod x b 1 1 2>&1", "mknod"},
		{"mounts", "mount -t tmpfs x /mnt 2>&1", "mount"},
		{"unmounts", "umount /tmp 2>&1; echo $?", "umount"},
		{"makes namespaces", "unshare -U true 2>&1", "unshare failed"},
		{"has no capability", "grep CapEff /proc/self/status", "CapEff:\t0000000000000000"},
		{"gains none", "grep NoNewPrivs /proc/self/status", "NoNewPrivs:\t1"},
		{"opens sockets of files", `python3 -c 'import socket
for f in socket.AF_UNIX, 40:
	try: socket.socket(f, socket.SOCK_STREAM); print("opened")
	except OSError as e: print(e)'`, "[Errno 1] Operation not permitted\n[Errno 1] Operation not permitted"},
		{"opens sockets of the Internet", `python3 -c 'import socket
l = socket.create_server(("127.0.0.1", 0))
c = socket.create_connection(l.getsockname()); print("own")'`, "own"},
		{"sees the services of the machine", "ls /run | wc -l", "0"},
		{"sets limits of the system", "(echo 7 >/proc/sys/user/max_user_namespaces) 2>&1; (echo x >/proc/sys/kernel/core_pattern) 2>&1", "Read-only file system"},
		{"fills its folder", "head -c 400m /dev/zero >big; rm big", "No space left"},
		{"fills /tmp", "head -c 400m /dev/zero >/tmp/big; rm /tmp/big", "No space left"},
		{"fills /dev/shm", "head -c 400m /dev/zero >/dev/shm/big; rm /dev/shm/big", "No space left"},
		{"makes many files", "i=0; while [ $i -lt 60000 ] && : >/tmp/$i; do i=$((i+1)); done 2>&1 | head -1; rm /tmp/[0-9]*", "No space left"},
		{"sets the host's name", "hostname x 2>&1", "hostname"},
		{"has no route out", "[ $(wc -l </proc/net/route) = 1 ] && echo none", "none"},
		{"leaves daemons", "setsid sh -c 'sleep 1000 & sleep 1000 &' & (setsid sleep 1000 &) ; sleep 0.05; echo left", "left"},
		{"has none of them later", "cat /proc/[0-9]*/comm | sort | uniq -c", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if program, _, _ := strings.Cut(c.script, " "); !strings.ContainsAny(program, "(|;=") {
				if _, err := exec.LookPath(program); err != nil {
					t.Skipf("left out: there is no %s", program)
				}
			}
			got, r := boxed(t, g, folder, c.script)
			t.Logf("%q %+v", got, r)
			assert.Nil(t, r.Fault)
			assert.Contains(t, got, c.want)
			assert.NotContains(t, got, "connected")
			assert.NotContains(t, got, "sleep")
		})
	}
	text, err := os.ReadFile(filepath.Join(folder, "bot"))
	require.NoError(t, err)
	assert.Equal(t, "first", string(text))
	f, err := g.Folder().Open("bot")
	require.NoError(t, err)
	text, err = io.ReadAll(f)
	f.Close()
	require.NoError(t, err)
	assert.Equal(t, "second\n", string(text))
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
	p, there := readProcess(bystander.Process.Pid)
	assert.True(t, there && !p.ended, "the bystander was killed")
}

// TestBoxLimits: limits hold in a box, where a bot starts processes without end.
func TestBoxLimits(t *testing.T) {
	for _, c := range []struct {
		limits Limits
		script string
		kind   FaultKind
	}{
		{Limits{Processes: 40}, "f() { while :; do sleep 100 & done; }; f & f & f & wait", Processes},
		{Limits{Processes: 40}, "b() { b | b & }; b; sleep 100", Processes}, // takes seconds as root, before Linux 6.14
		{Limits{Memory: 100 << 20}, "head -c 300m /dev/zero | tail", Memory},
		{Limits{CPU: 300 * time.Millisecond}, "while :; do :; done", CPU},
	} {
		t.Run(c.script, func(t *testing.T) {
			if strings.HasPrefix(c.script, "b()") && os.Getenv("MOONFARM_LONG") == "" {
				t.Skip("left out: MOONFARM_LONG is not set")
			}
			g := newBox(t, c.limits, Box{Program: Program{Dir: t.TempDir()}})
			_, r := boxed(t, g, os.TempDir(), c.script)
			require.NotNil(t, r.Fault, "%+v", r)
			assert.Equal(t, c.kind, r.Fault.Kind, r.Fault.Text)
			if c.kind != CPU { // the next one would be refused
				got, r := boxed(t, g, "/", "echo /proc/[0-9]*")
				assert.Nil(t, r.Fault)
				assert.Len(t, strings.Fields(got), 2, got)
			}
		})
	}
}

// TestStrictBox: a strict box also hides homes and more folders, but not what the bot needs.
func TestStrictBox(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("LC_ALL", "C")
	other, err := os.CreateTemp("/var/tmp", "moonfarm")
	require.NoError(t, err)
	defer os.Remove(other.Name())
	for name, text := range map[string]string{
		"secret": "keys", ".pyenv/versions/3/bin/python9": "#!/bin/sh\necho interpreted; cat $HOME/.pyenv/versions/3/lib/data", ".pyenv/versions/3/lib/data": "library",
		"bots/mine/bot.py": "print", "bots/mine/cup/games.jsonl": "games", "outputs/other.log": "log", "data/book": "opening",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(home, name), []byte(text), 0o755))
	}
	python, folder := filepath.Join(home, ".pyenv/versions/3/bin/python9"), filepath.Join(home, "bots/mine")
	program := Program{Args: []string{python, "bot.py"}, Dir: folder}
	limits := Limits{Box: Strict, Folders: BoxFolders{Hidden: []string{filepath.Join(home, "outputs"), filepath.Join(folder, "cup")}, Shown: []string{filepath.Join(home, "data")}}}
	g := newBox(t, limits, Box{Program: program})
	for script, want := range map[string]string{
		"cat ~/secret 2>&1":                "No such file",
		"ls -A ~":                          ".pyenv\nbots\ndata",
		python:                             "interpreted\nlibrary",
		"cat ~/data/book":                  "opening",
		"cat bot.py; echo x >log; cat log": "printx",
		"ls cup; (echo x >cup/y) 2>&1":     "Read-only",
		"cat cup/games.jsonl 2>&1":         "No such file",
		"ls ~/bots":                        "mine",
		"(echo x >~/data/book) 2>&1":       "Read-only",
		"(echo x >/home/y) 2>&1":           "Read-only",
		"cat " + other.Name() + " 2>&1":    "No such file",
		"ls ~/outputs 2>&1":                "No such file",
		"id >/dev/null && ls /usr/bin/env": "/usr/bin/env",
	} {
		t.Run(script, func(t *testing.T) {
			got, r := boxed(t, g, folder, script)
			assert.Nil(t, r.Fault)
			assert.Contains(t, got, want)
		})
	}
	_, err = Start(t.Context(), limits, Box{Program: Program{Args: []string{"sh"}, Dir: home}})
	assert.ErrorContains(t, err, "in which your home is")
}

// again runs tests of this program in another process, which change prepares, and returns its output.
func again(t *testing.T, tests string, change func(c *exec.Cmd)) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "again")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	program, err := os.ReadFile("/proc/self/exe") // whose folder others may not enter
	require.NoError(t, err)
	name := filepath.Join(dir, "test")
	require.NoError(t, os.WriteFile(name, program, 0o755))
	require.NoError(t, os.Chmod(dir, 0o755))
	c := exec.Command(name, "-test.run", tests, "-test.v")
	c.Dir, c.Env = "/", append(os.Environ(), "HOME=/nonexistent", againEnv+"=1")
	c.SysProcAttr = &syscall.SysProcAttr{}
	change(c)
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

// againEnv is set in a process that again starts.
const againEnv = "CHILD_TEST_AGAIN"

// TestBoxOfNobody runs the tests of boxes as a user without rights.
func TestBoxOfNobody(t *testing.T) {
	if os.Getuid() != 0 || os.Getenv(againEnv) != "" {
		t.Skip("left out: only root can become another user")
	}
	out := again(t, "^(TestBox|TestStrictBox|TestBoxLimits)$", func(c *exec.Cmd) {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
		c.Env = append(c.Env, "TMPDIR=/tmp")
	})
	assert.Contains(t, out, "PASS: TestStrictBox")
}

// TestNoBox: where no namespaces can be made, bots play without a box if they may, and the reason is told.
func TestNoBox(t *testing.T) {
	if os.Getenv(againEnv) != "" {
		require.NoError(t, os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0))
		means, why := Automatic.Means()
		require.Less(t, means, Namespaces)
		require.Error(t, why)
		g, err := Start(t.Context(), Limits{Box: Automatic}, Box{})
		require.NoError(t, err)
		assert.Equal(t, means, g.Means())
		require.NoError(t, g.Close())
		_, err = Start(t.Context(), Limits{Box: Strict}, Box{})
		assert.ErrorContains(t, err, "the guard of a bot could not be started")
		return
	}
	if means, why := Automatic.Means(); means != Namespaces {
		t.Skipf("left out: this machine makes no boxes: %v", why)
	}
	assert.Contains(t, again(t, "^TestNoBox$", func(c *exec.Cmd) { enclose(c.SysProcAttr); c.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER }), "PASS: TestNoBox")
}
