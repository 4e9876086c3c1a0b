package child

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// mostTasks bounds the processes and threads of a bot, so that one which starts them without end leaves its
// guard time to kill them.
const mostTasks = 2000

// spareMemory is what a bot gets above its limit before the system ends it: its guard looks at its memory only now
// and then, and does not count the files that it has in memory.
const spareMemory = 1 << 30

// cgroup is the folder of a control group of version 2 for a guard with its bot; "": there is none. The
// system keeps a bot in it from taking much memory between two looks of its guard.
type cgroup string

// newCgroup makes a group for a process where the user may: beside or below the group of this program, if its memory and
// tasks are delegated, as in a unit of the user's systemd: cgroups(7).
func newCgroup(l *Limits, pid int) cgroup {
	text, _ := os.ReadFile("/proc/self/cgroup")
	_, own, found := strings.Cut("\n"+string(text), "\n0::")
	if !found {
		return ""
	}
	own, _, _ = strings.Cut(own, "\n")
	own = filepath.Join("/sys/fs/cgroup", own)
	for _, parent := range []string{own, filepath.Dir(own)} {
		delegated, _ := os.ReadFile(filepath.Join(parent, "cgroup.subtree_control"))
		if !strings.Contains(string(delegated), "memory") || !strings.Contains(string(delegated), "pids") {
			continue
		}
		c := cgroup(filepath.Join(parent, "moonfarm-"+rand.Text()))
		if os.Mkdir(string(c), 0o755) != nil {
			continue
		}
		most := "max"
		if l.Memory > 0 {
			most = strconv.FormatInt(l.Memory+spareMemory, 10)
		}
		if cmp.Or(c.set("memory.max", most), c.set("pids.max", strconv.Itoa(mostTasks)), c.set("cgroup.procs", strconv.Itoa(pid))) == nil {
			c.set("memory.swap.max", "0") // not there without swap
			return c
		}
		c.remove()
	}
	return ""
}

// set writes a file of the group.
func (c cgroup) set(file, value string) error {
	return os.WriteFile(filepath.Join(string(c), file), []byte(value), 0)
}

// killed returns how many processes the system has killed because the group had no memory left.
func (c cgroup) killed() (n int) {
	if c != "" {
		text, _ := os.ReadFile(filepath.Join(string(c), "memory.events"))
		_, count, _ := strings.Cut(string(text), "\noom_kill ")
		fmt.Sscan(count, &n)
	}
	return n
}

// remove removes the group, whose processes have ended; the system may still be at work on that.
func (c cgroup) remove() {
	for end := time.Now().Add(time.Second); c != "" && os.Remove(string(c)) != nil && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}
