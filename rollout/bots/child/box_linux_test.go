package child

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
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

// TestBoxFolder: the processes of a bot share a copy of its folder. What else a bot may do in a box is tested where
// programs play.
func TestBoxFolder(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "bot")
	require.NoError(t, os.WriteFile(file, []byte("first"), 0o755))
	g := newBox(t, Limits{}, Box{Program: Program{Dir: folder}})
	for script, want := range map[string]string{"echo second >bot; cat bot": "second", "sleep 0.01; cat bot": "", "kill -9 -1": ""} {
		got, r := boxed(t, g, folder, script)
		assert.Nil(t, r.Fault)
		assert.Contains(t, got, want)
	}
	text, err := g.Folder().ReadFile("bot")
	require.NoError(t, err)
	assert.Equal(t, "second\n", string(text))
	text, err = os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "first", string(text))
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
	program := Program{Args: []string{python, "bot.py"}, Dir: folder, Typed: true}
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
	t.Setenv("SECRET", "key")
	untyped := newBox(t, Limits{Box: Strict}, Box{Program: Program{Args: []string{python, filepath.Join(home, "secret")}, Dir: folder}})
	got, _ := boxed(t, untyped, folder, "ls "+python+" ~/secret 2>&1; echo $SECRET")
	assert.NotContains(t, got, "\n"+python)
	assert.Contains(t, got, "secret': No such file")
	assert.NotContains(t, got, "key")
	_, err = Start(t.Context(), limits, Box{Program: Program{Args: []string{"sh"}, Dir: home}})
	assert.ErrorContains(t, err, "in which your home is")
}

// again runs tests of this program in another process, which change prepares and which has the value of againEnv.
func again(t *testing.T, tests, value string, change func(c *exec.Cmd)) {
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
	c.Dir, c.Env = "/", append(os.Environ(), "HOME=/nonexistent", againEnv+"="+value)
	c.SysProcAttr = &syscall.SysProcAttr{}
	change(c)
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Contains(t, string(out), "--- PASS: Test")
}

// againEnv is set in a process that again starts.
const againEnv = "CHILD_TEST_AGAIN"

// TestBoxOfNobody runs the tests of boxes as a user without rights.
func TestBoxOfNobody(t *testing.T) {
	if os.Getuid() != 0 || os.Getenv(againEnv) != "" {
		t.Skip("left out: only root can become another user")
	}
	again(t, "^(TestBoxFolder|TestStrictBox|TestBoxLimits)$", "nobody", func(c *exec.Cmd) {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
		c.Env = append(c.Env, "TMPDIR=/tmp")
	})
}

// TestNoBox: where no namespaces can be made, bots play with Landlock, or without a box, if they may, and the reason is told.
func TestNoBox(t *testing.T) {
	refused := os.Getenv(againEnv)
	if refused == "" {
		newBox(t, Limits{}, Box{})
		alone := func(c *exec.Cmd) { enclose(c.SysProcAttr); c.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER }
		again(t, "^TestNoBox$", "namespaces", alone)
		again(t, "^TestNoBox$", "calls", func(*exec.Cmd) {})
		return
	}
	want := Nothing
	if refused == "calls" {
		refuse(t)
	} else if require.NoError(t, os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0)); landlockVersion() > 0 {
		want = Landlock
	}
	means, why := Automatic.Means()
	assert.Equal(t, want, means)
	assert.ErrorContains(t, why, "no namespaces: ")
	g, err := Start(t.Context(), Limits{Box: Automatic}, Box{Program: Program{Typed: true}})
	require.NoError(t, err)
	assert.Equal(t, want, g.Means())
	got, _ := boxed(t, g, "/", "echo plays")
	assert.Equal(t, "plays", got)
	require.NoError(t, g.Close())
	_, err = Start(t.Context(), Limits{Box: Strict}, Box{})
	assert.ErrorContains(t, err, "no namespaces: ")
}

// refuse refuses this process the system calls for boxes, as containers do.
func refuse(t *testing.T) {
	op := func(code uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: code, K: k, Jt: yes, Jf: no}
	}
	const load, equal, set, end = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ, unix.BPF_JMP | unix.BPF_JSET, unix.BPF_RET
	filter := []unix.SockFilter{
		op(load, 0, 0, 0), op(equal, unix.SYS_LANDLOCK_CREATE_RULESET, 4, 0), op(equal, unix.SYS_CLONE3, 3, 0), op(equal, unix.SYS_CLONE, 0, 1),
		op(load, 16, 0, 0), op(set, unix.CLONE_NEWUSER, 0, 1), op(end, unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS), 0, 0), op(end, unix.SECCOMP_RET_ALLOW, 0, 0),
	}
	require.NoError(t, unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]})))
	require.Zero(t, e)
}
