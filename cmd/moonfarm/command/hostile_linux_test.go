package command

import (
	"crypto/rand"
	"encoding/json"
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
	"golang.org/x/sys/unix"

	"moonfarm/rollout/bots/child"
)

// behaviours are what a hostile bot tries, as scripts of sh, and a text that it then prints: in a box of namespaces, and with
// Landlock, "" if it is the same and "-" if Landlock does not keep the bot from it. OUT is a folder outside of the bot's own,
// BYSTANDER another process of the user, GUARD the guard, PORT a port of this machine, NAME an abstract socket.
var behaviours = []struct{ name, script, want, landlock string }{
	{"reads what is outside", "cat $OUT/secret", "theirs", ""},
	{"writes what is outside", "(echo a >$OUT/secret) 2>&1", "Read-only file system", "denied"},
	{"makes a file outside", "touch $OUT/new", "Read-only file system", "denied"},
	{"removes what is outside", "rm -f $OUT/secret", "Read-only file system", "denied"},
	{"renames what is outside", "mv $OUT/secret $OUT/gone", "Read-only file system", "denied"},
	{"takes what is outside", "mv $OUT/secret mine", "Read-only file system", "denied"},
	{"gives it a second name", "ln $OUT/secret second || echo linked not", "linked not", ""},
	{"writes by a link", "ln -s $OUT/secret link; (echo a >link) 2>&1", "Read-only file system", "denied"},
	{"shortens what is outside", "truncate -s 0 $OUT/secret", "Read-only file system", "denied"},
	{"changes rights outside", "chmod 777 $OUT/secret", "Read-only file system", "-"},
	{"writes a home", "(echo a >$HOME/moonfarm-test) 2>&1", "moonfarm-test: ", ""},
	{"writes the system", "(echo a >/usr/moonfarm-test) 2>&1", "moonfarm-test: ", ""},
	{"writes for the next game", "(echo a >/var/tmp/moonfarm-test) 2>&1", "moonfarm-test: ", ""},
	{"changes its program", "echo changed >self; cat self", "changed", "-"},
	{"has a folder for temporary files", "echo a >$TMPDIR/x; cat $TMPDIR/x", "a", ""},
	{"kills the guard", "for s in KILL TERM HUP INT SEGV BUS FPE ILL ABRT TRAP SYS QUIT USR1 USR2 PIPE ALRM; do kill -$s $GUARD 2>/dev/null; done; sleep 0.05; echo alive", "alive", ""},
	{"stops the guard", "for s in STOP TSTP TTIN TTOU; do kill -$s $GUARD 2>/dev/null; done; sleep 0.05; echo alive", "alive", ""},
	{"traces the guard", python("print(ctypes.CDLL(None).ptrace(16, GUARD, 0, 0))"), "-1", ""},
	{"reads the guard", "cat /proc/$GUARD/environ /proc/$GUARD/mem /proc/$GUARD/fd/2 | wc -c", "denied", ""},
	{"sees others", "ls -d /proc/$BYSTANDER", "No such file", "-"},
	{"kills others", "kill -9 $BYSTANDER || echo unkilled", "unkilled", ""},
	{"stops others", "kill -STOP $BYSTANDER || echo unstopped", "unstopped", ""},
	{"traces others", python("print(ctypes.CDLL(None).ptrace(16, BYSTANDER, 0, 0))"), "-1", ""},
	{"reads others", "cat /proc/$BYSTANDER/environ || echo unread", "unread", ""},
	{"slows others", "renice -n 19 -p $BYSTANDER", "No such process", "-"},
	{"enters namespaces of others", "nsenter -t $BYSTANDER -m true || echo stays", "stays", ""},
	{"connects out", "bash -c 'exec 3<>/dev/tcp/127.0.0.1/'$PORT || echo refused", "refused", ""},
	{"sends out", python(`s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b"x", ("192.0.2.1", 9))`), "Errno", ""},
	{"connects to an abstract socket", python(`s = socket.socket(socket.AF_UNIX); s.connect("\0" + NAME)`), "not permitted", ""},
	{"connects to a file", python(`s = socket.socket(socket.AF_UNIX); s.connect(OUT + "/socket")`), "not permitted", ""},
	{"connects to the host", python(`socket.socket(40, socket.SOCK_STREAM)`), "not permitted", ""},
	{"sends raw packets", python(`socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)`), "not permitted", ""},
	{"calls around the filter", python(`print(ctypes.CDLL(None).syscall(425, 1, 0))`), "-1", ""},
	{"limits the guard", python(`resource.prlimit(GUARD, resource.RLIMIT_NOFILE, (3, 3))`), "not permitted", ""},
	{"limits others", python(`resource.prlimit(BYSTANDER, resource.RLIMIT_CPU, (1, 1))`), "not permitted", ""},
	{"sends datagrams by a pair", python(`socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b"x", OUT + "/socket")`), "not permitted", ""},
	{"connects by another protocol", python(`socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).connect(("127.0.0.1", PORT))`), "Errno", ""},
	{"connects with data", python(`socket.socket(socket.AF_INET, socket.SOCK_STREAM).sendto(b"x", 0x20000000, ("127.0.0.1", PORT))`), "Errno", ""},
	{"listens", python(`socket.socket(socket.AF_INET, socket.SOCK_STREAM).listen(); print("to itself")`), "to itself", "not permitted"},
	{"writes to a pipe", "timeout 5 sh -c '(echo a >$OUT/pipe) 2>&1'", "denied", ""},
	{"delays others by a lease", python(`fcntl.fcntl(os.open("/etc/passwd", os.O_RDONLY), 1024, 0)`), "not permitted", ""},
	{"shares memory", python(`print(ctypes.CDLL(None).shmget(KEY, 0, 0))`), "-1", "-"},
	{"mounts", "mount -t tmpfs x $OUT", "mount", ""},
	{"unmounts", "umount /tmp || echo mounted", "mounted", ""},
	{"makes devices", "mknod device b 1 1", "mknod", ""},
	{"changes its root", "chroot . true", "chroot", ""},
	{"makes namespaces", "unshare -Ur true || echo none", "none", ""},
	{"sets the name of the host", "hostname x || echo unset", "unset", ""},
	{"sets the clock", "date -s 2000-01-01", "not permitted", ""},
	{"sets the system", "(echo x >/proc/sys/kernel/core_pattern) 2>&1 || echo unset", "unset", ""},
	{"becomes root", python("os.setuid(0)") + " || echo stays", "stays", "-"},
	{"has no capability", "grep CapEff /proc/self/status", "0000000000000000", ""},
	{"gains none", "grep NoNewPrivs /proc/self/status", "NoNewPrivs:\t1", ""},
	{"types for the user", "(echo x >/dev/tty) 2>&1", "/dev/tty", ""},
	{"fills its folder", "head -c 400m /dev/zero >big; rm big", "No space left", "-"},
	{"fills /tmp", "head -c 400m /dev/zero >/tmp/moonfarm-big; rm -f /tmp/moonfarm-big", "No space left", "/tmp/moonfarm-big"},
	{"fills /dev/shm", "head -c 400m /dev/zero >/dev/shm/big; rm -f /dev/shm/big", "No space left", "/dev/shm/big"},
	{"makes many files", "i=0; while [ $i -lt 60000 ] && : >/tmp/$i; do i=$((i+1)); done 2>&1 | head -1; rm -f /tmp/[0-9]*", "No space left", "-"},
	{"sees the services of the machine", "ls /run | wc -l", "0", "-"},
	{"leaves daemons", "(setsid sleep 1000 >/dev/null 2>&1 &); (sleep 1000 >/dev/null 2>&1 & sleep 1000 >/dev/null 2>&1 &); echo left", "left", ""},
	{"leaves a program without a file", python(`f = os.memfd_create("x"); os.write(f, open("/bin/sleep", "rb").read())
if os.fork() == 0:
	os.setsid(); n = os.open("/dev/null", os.O_RDWR); os.dup2(n, 1); os.dup2(n, 2); os.execve(f, ["x", "1000"], os.environ)
print("left")`), "left", ""},
	{"leaves a thread", "(setsid python3 -c 'import ctypes, threading, time; threading.Thread(target=time.sleep, args=(1000,)).start(); ctypes.CDLL(None).pthread_exit(0)' >/dev/null 2>&1 &); sleep 0.1; echo left", "left", ""},
	{"leaves many", "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do (setsid sleep 1000 >/dev/null 2>&1 &); done; echo left", "left", ""},
}

// python returns a script that runs a program of Python, which sees the words in capitals as variables.
func python(program string) string {
	return "python3 -c '\nimport ctypes, fcntl, os, resource, socket\nfor n in \"GUARD\", \"BYSTANDER\", \"KEY\", \"PORT\": globals()[n] = int(os.environ[n])\nOUT, NAME = os.environ[\"OUT\"], os.environ[\"NAME\"]\n" + program + "'"
}

// tries reports whether the bot tries a behaviour: a Landlock before version 6 does not keep it from signals to others, and
// before version 4 not from connections, where it has one.
func (h *hostileGame) tries(name string) bool {
	version := landlockVersion()
	free := version < 6 && (name == "kills others" || name == "stops others") || version < 4 && h.game == "codecraft" && name == "connects out"
	if name == "writes to a pipe" {
		return version > 0
	}
	return h.means != child.Landlock || !free
}

// landlockVersion returns the version of the system's Landlock; 0: none.
func landlockVersion() int {
	version, _, err := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if err != 0 {
		return 0
	}
	return int(version)
}

// script returns a bot that tries all behaviours, in a game once, and then plays by another program.
func (h *hostileGame) script(plays string, variables ...string) string {
	var s strings.Builder
	s.WriteString("#!/bin/sh\nexport GUARD=$PPID " + strings.Join(variables, " ") + "\nif ! [ -e $TMPDIR/tried ]; then\n: >$TMPDIR/tried\n")
	for _, b := range behaviours {
		if !h.tries(b.name) {
			continue
		}
		fmt.Fprintf(&s, "said=$( { %s\n} 2>&1 </dev/null)\nprintf '== %s\\n%%.600s\\n' \"$said\" >&2\n", b.script, b.name)
	}
	return s.String() + "echo == >&2\nfi\nexec " + plays + "\n"
}

// hostileGame is a game of a hostile bot against an honest policy, and how moonfarm runs it.
type hostileGame struct {
	game, plays string
	box         string
	means       child.Means
	user        int // 0: this one
	change      func(c *exec.Cmd)
}

// TestHostileBots: whatever a bot tries, in each protocol, as this user and as one without rights, with namespaces and without,
// nothing of it runs on or was written outside, it plays on, and its opponent's game is as it was.
func TestHostileBots(t *testing.T) {
	best, why := child.Automatic.Means()
	alone := func(c *exec.Cmd) { // a user namespace in which no others can be made
		id := []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: id, GidMappings: id, AmbientCaps: []uintptr{24}} // CAP_SYS_RESOURCE
		c.Path, c.Args = "/bin/sh", append([]string{"sh", "-c", `echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"`, "sh", c.Path}, c.Args[1:]...)
	}
	root := os.Geteuid() == 0
	for game, plays := range map[string]string{"towerdefence": "towerbot x", "terminal": "algobot x", "codecraft": `craftclient x "$@"`} {
		for how, g := range map[string]hostileGame{
			"boxed":     {game, plays, "auto", child.Namespaces, 0, nil},
			"strict":    {game, plays, "strict", child.Namespaces, 0, nil},
			"of nobody": {game, plays, "auto", child.Namespaces, 65534, nil},
			"landlock":  {game, plays, "auto", child.Landlock, 0, alone},
		} {
			t.Run(game+" "+how, func(t *testing.T) {
				switch {
				case g.means > best || g.means == child.Landlock && landlockVersion() == 0:
					t.Skipf("left out: this machine does not have it: %v", why)
				case g.user != 0 && !root:
					t.Skip("left out: only root can become another user")
				case g.means == best:
					g.change = nil
				}
				t.Parallel()
				g.play(t)
			})
		}
	}
}

// play plays the game and checks what the bot could do.
func (h *hostileGame) play(t *testing.T) {
	dir, err := os.MkdirTemp("/var/tmp", "moonfarm-hostile-")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	require.NoError(t, os.Chmod(dir, 0o777))
	folder, outside, bin := filepath.Join(dir, "bot"), filepath.Join(dir, "outside"), filepath.Join(dir, "bot", "bin")
	for _, d := range []string{folder, outside, bin} {
		require.NoError(t, os.Mkdir(d, 0o777))
		require.NoError(t, os.Chmod(d, 0o777))
	}
	program, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	for _, name := range []string{"towerbot", "algobot", "craftclient"} {
		require.NoError(t, os.Symlink("moonfarm", filepath.Join(bin, name)))
	}
	name := "moonfarm-" + rand.Text()
	abstract, err := net.Listen("unix", "@"+name)
	require.NoError(t, err)
	defer abstract.Close()
	file, err := net.Listen("unix", filepath.Join(outside, "socket"))
	require.NoError(t, err)
	defer file.Close()
	require.NoError(t, syscall.Mkfifo(filepath.Join(outside, "pipe"), 0o666))
	port, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer port.Close()
	bystander := exec.Command("sleep", "1000")
	c := exec.Command(filepath.Join(bin, "moonfarm"), "match", h.game, "--player", "cmd:"+filepath.Join(folder, "bot.sh"), "--player", "random", "--seed", "3", "--json",
		"--box", h.box, "--logs", filepath.Join(dir, "logs"), "--timeout", "600", "--accept-timeout", "600")
	c.Dir, c.SysProcAttr, bystander.SysProcAttr = folder, &syscall.SysProcAttr{}, &syscall.SysProcAttr{}
	if h.user != 0 {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(h.user), Gid: uint32(h.user)}
	}
	if h.change != nil {
		h.change(c)
	}
	bystander.SysProcAttr.Credential = c.SysProcAttr.Credential
	require.NoError(t, bystander.Start())
	defer func() { bystander.Process.Kill(); bystander.Wait() }()
	mark := "LC_MOONFARM_TEST=" + rand.Text() // a strict box passes few variables on
	c.Env = append(os.Environ(), mark, "LC_ALL=C")
	var printed, said strings.Builder
	c.Stdout, c.Stderr = &printed, &said
	script := h.script(filepath.Join(bin, h.plays), "OUT="+outside, fmt.Sprint("BYSTANDER=", bystander.Process.Pid), "KEY=4711", "NAME="+name,
		fmt.Sprint("PORT=", port.Addr().(*net.TCPAddr).Port))
	for name, text := range map[string]string{
		filepath.Join(bin, "moonfarm"): string(program), filepath.Join(folder, "bot.sh"): script,
		filepath.Join(outside, "secret"): "theirs", filepath.Join(folder, "self"): "first",
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o755))
		require.NoError(t, os.Chmod(name, 0o755))
		if h.user != 0 {
			require.NoError(t, os.Chown(name, h.user, h.user))
		}
	}
	begin := time.Now()
	require.NoError(t, c.Run(), "%s", said.String())
	t.Logf("%v: %s", time.Since(begin), strings.SplitN(said.String(), "\n", 2)[0])
	assert.Contains(t, said.String(), "box: "+h.means.String())
	var result struct {
		Games []struct {
			Seats []struct {
				Crashed bool
				Faults  []any
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(printed.String()), &result))
	for i, seat := range result.Games[0].Seats {
		assert.Falsef(t, seat.Crashed, "seat %d: %s", i+1, said.String())
		for _, f := range seat.Faults { // towerbot orders what it cannot pay
			assert.Contains(t, fmt.Sprint(f), "refused", "seat %d", i+1)
		}
	}
	logs, err := filepath.Glob(filepath.Join(dir, "logs", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, logs)
	log, err := os.ReadFile(logs[0])
	require.NoError(t, err)
	h.tried(t, string(log))
	for _, pid := range running(mark) {
		assert.Fail(t, "it left a process", "%s", pid)
	}
	assert.NoError(t, bystander.Process.Signal(syscall.Signal(0)))
	text, err := os.ReadFile(filepath.Join(outside, "secret"))
	require.NoError(t, err)
	assert.Equal(t, "theirs", string(text))
	for at, names := range map[string][]string{outside: {"secret", "socket", "pipe"}, dir: {"bot", "logs", "outside"}} {
		entries, err := os.ReadDir(at)
		require.NoError(t, err)
		assert.Len(t, entries, len(names), "%v", entries)
	}
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	if h.means == child.Namespaces {
		assert.Len(t, entries, 3, "%v", entries)
	}
}

// tried checks what the behaviours printed.
func (h *hostileGame) tried(t *testing.T, log string) {
	for _, b := range behaviours {
		if !h.tries(b.name) {
			continue
		}
		_, said, found := strings.Cut(log, "== "+b.name+"\n")
		require.True(t, found, "%s: %s", b.name, log)
		said, _, _ = strings.Cut(said, "\n==")
		want := b.want
		switch {
		case h.means == child.Landlock && b.landlock == "-":
			continue
		case h.means == child.Landlock && b.landlock != "":
			want = b.landlock
		case h.box == "strict" && b.name == "reads what is outside":
			want = "No such file"
		case h.box == "strict" && strings.Contains(b.script, "$OUT"):
			continue // it is not there
		}
		t.Run(b.name, func(t *testing.T) {
			if program, _, _ := strings.Cut(b.script, " "); strings.Contains(said, program+": not found") {
				t.Skipf("left out: there is no %s", program)
			}
			assert.Contains(t, strings.ToLower(said), strings.ToLower(want))
		})
	}
}

// running returns the processes with a mark in their environment.
func running(mark string) (list []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		if environ, _ := os.ReadFile(file); strings.Contains(string(environ), mark+"\x00") {
			list = append(list, file)
		}
	}
	return list
}
