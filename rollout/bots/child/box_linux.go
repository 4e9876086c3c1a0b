package child

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Bounds of what a bot may write, each: the changes of its folder, /tmp, and /dev/shm.
const bound = "size=256m,nr_inodes=50k"

// mostFile bounds a file of a bot without namespaces, in bytes.
const mostFile = 1 << 30

// devices are the files of /dev in a box.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}

// enclosure returns what this machine has for boxes, and why it is not more. It tries once.
var enclosure = sync.OnceValues(func() (Means, error) {
	if audited[runtime.GOARCH] == 0 {
		return Nothing, fmt.Errorf("there are none for processors of %s", runtime.GOARCH)
	}
	g, err := startWith(context.Background(), Limits{}, Box{Program: Program{Dir: "/usr"}}, Namespaces)
	if err == nil {
		err = g.Close()
	}
	if err == nil {
		return Namespaces, nil
	}
	err = fmt.Errorf("no namespaces: %w", cmp.Or(errors.Unwrap(err), err))
	switch version := landlockVersion(); {
	case version >= 6:
		return Landlock, err
	case version >= 4:
		return Landlock, fmt.Errorf("%w; this Linux has a Landlock that leaves signals free", err)
	case version >= 1:
		return Landlock, fmt.Errorf("%w; this Linux has a Landlock that leaves signals, and connections of codecraft's bots, free", err)
	}
	return Nothing, err
})

// Cores returns the processors that this program may use, one thread of each core, in a channel for Limits.
func Cores() (chan int, error) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return nil, err
	}
	var list []int
	for cpu := range len(all) * 64 {
		if all.IsSet(cpu) {
			text, _ := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu)) // such as "0,4" or "0-1"
			siblings := strings.FieldsFunc(string(text), func(r rune) bool { return r < '0' || r > '9' })
			if first, err := strconv.Atoi(slices.Concat(siblings, []string{"none"})[0]); err != nil || first == cpu || !all.IsSet(first) {
				list = append(list, cpu)
			}
		}
	}
	cores := make(chan int, len(list))
	for _, cpu := range list {
		cores <- cpu
	}
	return cores, nil
}

// enclose makes a guard process 1 of new namespaces. The user has the same number inside, root that
// of nobody. The guard gets the capabilities with which it prepares the box; programs that it starts
// get none.
func enclose(a *syscall.SysProcAttr) {
	const nobody = 65534
	one := func(id int) []syscall.SysProcIDMap {
		inside := id
		if id == 0 {
			inside = nobody
		}
		return []syscall.SysProcIDMap{{ContainerID: inside, HostID: id, Size: 1}}
	}
	a.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	a.UidMappings, a.GidMappings = one(os.Geteuid()), one(os.Getegid())
	a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SYS_RESOURCE, unix.CAP_DAC_OVERRIDE}
}

// enter makes a box around this process, or rules for the programs that it starts. It returns the
// descriptors of the bot's folder and of the port, as far as the box has them.
func (k *keeper) enter(p *plan) (files []int, err error) {
	switch {
	case p == nil:
		return nil, nil
	case p.Means == Landlock:
		if k.scratch, err = os.MkdirTemp("", "moonfarm-bot-"); err == nil {
			err = k.rules.withoutNamespaces(p, k.scratch)
		}
		k.setTemporary(k.scratch)
		unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: mostFile, Max: mostFile}) // of the bot's programs, too
	default:
		k.alone = true
		k.setTemporary("/tmp")
		files, err = k.enclosed(p)
	}
	if err != nil {
		err = fmt.Errorf("a box: %w", err)
	}
	return files, err
}

// setTemporary sets the folders for temporary files in the environment of the bot.
func (k *keeper) setTemporary(path string) {
	k.env = []string{"TMPDIR=" + path, "XDG_CACHE_HOME=" + path + "/cache"}
}

// enclosed makes a box around this process, which is process 1 of its namespaces.
func (k *keeper) enclosed(p *plan) (files []int, err error) {
	k.rules.setFilter([]uint32{unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK})
	resetSignals()
	if err := p.mount(); err != nil {
		return nil, err
	}
	if p.Folder != "" {
		fd, err := unix.Open(p.Folder, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("the folder %s: %w", p.Folder, err)
		}
		files = append(files, fd)
	}
	fd, err := openPort()
	if err != nil {
		return nil, fmt.Errorf("a port: %w", err)
	}
	if p.Port != 0 {
		files = append(files, fd)
	}
	if landlockVersion() > 0 { // for pipes and devices, which can be written to although their mount is read-only
		writable := []string{"/tmp", "/dev/shm"}
		if p.Folder != "" {
			writable = append(writable, p.Folder)
		}
		if err := k.rules.landlock(true, 0, writable...); err != nil {
			return nil, fmt.Errorf("rules of Landlock: %w", err)
		}
	}
	limitTasks()
	return files, finish()
}

// finish takes from this process, and so from the programs in the box, what they do not need. They can
// make no namespaces, in which they would have capabilities. /proc is read-only because the system lets
// root write some of its settings without a capability.
func finish() error {
	os.WriteFile("/proc/sys/user/max_inotify_instances", []byte("16"), 0) // of all that the user may have
	return errors.Join(os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0), readOnly("/proc", 0))
}

// limitTasks bounds the processes and threads in the box. For root without a cgroup there is no limit before Linux 6.14.
func limitTasks() {
	var system unix.Utsname
	var first, second int
	unix.Uname(&system)
	fmt.Sscanf(unix.ByteSliceToString(system.Release[:]), "%d.%d", &first, &second)
	if first > 6 || first == 6 && second >= 14 { // before, the file was that of the whole machine
		os.WriteFile("/proc/sys/kernel/pid_max", []byte(strconv.Itoa(mostTasks)), 0)
	}
	unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: mostTasks, Max: mostTasks})
}

// resetSignals gives all signals but two the system's handling: it ignores those that processes
// inside send to process 1. Go's handlers would end this process. Go needs SIGURG to stop its
// goroutines, and the guard SIGCHLD.
func resetSignals() {
	var usual [4]uint64 // a struct sigaction with SIG_DFL
	for s := uintptr(1); s <= 64; s++ {
		if s != uintptr(unix.SIGCHLD) && s != uintptr(unix.SIGURG) {
			unix.RawSyscall6(unix.SYS_RT_SIGACTION, s, uintptr(unsafe.Pointer(&usual)), 0, 8, 0, 0)
		}
	}
}

// openPort starts the loopback of the box and opens a port there.
func openPort() (fd int, err error) {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	loopback, err := unix.NewIfreq("lo")
	if err == nil {
		loopback.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
		err = unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, loopback)
	}
	if err == nil {
		err = unix.Bind(s, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	}
	if err == nil {
		err = unix.Listen(s, 16)
	}
	return s, err
}

// mounted is a mount that is nowhere yet, for a path.
type mounted struct {
	path string
	fd   int
}

// step is a step of making a box, with its name for errors.
type step struct {
	what string
	do   func() error
}

// own returns the steps that make /tmp, /dev and /dev/shm.
func own() []step {
	steps := []step{
		{"/tmp", func() error { return scratch("/tmp") }},
		{"/dev", func() error { return unix.Mount("tmpfs", "/dev", "tmpfs", unix.MS_NOSUID, "size=64k,mode=755") }},
		{"/dev/shm", func() error { return errors.Join(os.Mkdir("/dev/shm", 0o755), scratch("/dev/shm")) }},
		{"/dev/fd", func() error { return os.Symlink("/proc/self/fd", "/dev/fd") }},
	}
	for i, name := range []string{"/dev/stdin", "/dev/stdout", "/dev/stderr"} {
		steps = append(steps, step{name, func() error { return os.Symlink(fmt.Sprintf("/proc/self/fd/%d", i), name) }})
	}
	return steps
}

// mount makes everything read-only but a copy of the bot's folder, which has its changes in memory,
// and /tmp and /dev/shm, which are empty; and it mounts /proc and /dev of the box.
func (p *plan) mount() error {
	var later []mounted
	steps := []step{
		{"a view of the files of its own", func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") }},
	}
	keep := func(path string, mount func(path string) (int, error)) {
		steps = append(steps, step{path, func() error {
			fd, err := mount(path)
			later = append(later, mounted{path, fd})
			return err
		}})
	}
	clone := func(path string) (int, error) {
		return unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.AT_RECURSIVE|unix.OPEN_TREE_CLOEXEC)
	}
	for _, path := range devices {
		keep(path, clone)
	}
	steps = append(steps, step{"files that are read-only", func() error { return readOnly("/", unix.AT_RECURSIVE) }})
	for _, path := range slices.Sorted(slices.Values(p.Shown)) { // a folder comes before its files
		keep(path, clone)
	}
	if p.Folder != "" {
		keep(p.Folder, copied)
	}
	steps = append(steps, own()...)
	hide := func(within bool) { // the folders within the bot's folder, or the others
		for _, path := range p.Hidden {
			if within == p.within(path) {
				steps = append(steps, step{path, func() error {
					return unix.Mount("tmpfs", path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=64k,mode=755")
				}})
			}
		}
	}
	hide(false)
	steps = append(steps, step{"what it shows", func() error {
		for _, m := range later {
			if err := m.place(m.path == p.Folder); err != nil {
				return fmt.Errorf("%s: %w", m.path, err)
			}
		}
		return nil
	}})
	hide(true)
	for _, path := range p.Hidden {
		if path != p.Folder {
			steps = append(steps, step{path, func() error { return readOnly(path, 0) }})
		}
	}
	steps = append(steps, step{"/proc", func() error {
		return unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	}})
	for _, s := range steps {
		if err := s.do(); err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
	}
	return nil
}

// place puts a mount to its path, if nothing is there or always.
func (m mounted) place(always bool) error {
	defer unix.Close(m.fd)
	if _, err := os.Stat(m.path); err == nil && !always {
		return nil
	}
	var info unix.Stat_t
	err := unix.Fstat(m.fd, &info)
	switch {
	case err != nil:
	case info.Mode&unix.S_IFMT == unix.S_IFDIR:
		err = os.MkdirAll(m.path, 0o755)
	default:
		err = errors.Join(os.MkdirAll(filepath.Dir(m.path), 0o755), os.WriteFile(m.path, nil, 0o600))
	}
	return errors.Join(err, unix.MoveMount(m.fd, "", unix.AT_FDCWD, m.path, unix.MOVE_MOUNT_F_EMPTY_PATH))
}

// readOnly makes a mount read-only, without devices.
func readOnly(path string, flags uint) error {
	return unix.MountSetattr(unix.AT_FDCWD, path, flags, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NODEV})
}

// scratch mounts an empty folder that everybody may write to.
func scratch(path string) error {
	return unix.Mount("tmpfs", path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, bound+",mode=1777")
}

// copied returns a mount, which is nowhere yet, of a folder with changes that are kept in a file
// system in memory, which is nowhere.
func copied(folder string) (fd int, err error) {
	below, err := os.OpenFile(folder, unix.O_PATH|unix.O_DIRECTORY, 0) // before something hides it
	if err != nil {
		return -1, err
	}
	defer below.Close()
	if err := unix.Mount("tmpfs", "/tmp", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, bound+",mode=700"); err != nil {
		return -1, err
	}
	defer unix.Unmount("/tmp", unix.MNT_DETACH)
	info, err := below.Stat()
	if err != nil {
		return -1, err
	}
	if err = errors.Join(os.Mkdir("/tmp/upper", 0o700), os.Chmod("/tmp/upper", info.Mode().Perm()|0o700), os.Mkdir("/tmp/work", 0o700)); err != nil {
		return -1, err
	}
	layers, err := unix.Fsopen("overlay", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(layers)
	for _, set := range [][2]string{{"lowerdir", fmt.Sprintf("/proc/self/fd/%d", below.Fd())}, {"upperdir", "/tmp/upper"}, {"workdir", "/tmp/work"}} {
		if err := unix.FsconfigSetString(layers, set[0], set[1]); err != nil {
			return -1, err
		}
	}
	if err = unix.FsconfigSetFlag(layers, "userxattr"); err == nil {
		err = unix.FsconfigCreate(layers)
	}
	if errors.Is(err, unix.EINVAL) {
		return -1, errors.New("the folder cannot be copied, perhaps since something is mounted in it; expected a folder of the bot's own, or no box")
	}
	if err != nil {
		return -1, fmt.Errorf("overlay: %w", err)
	}
	return unix.Fsmount(layers, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
}

// open takes the files of the box that the guard has made: those of the bot's folder and of the port, as far as it has them.
func (g *Guard) open(folder bool, files []int) (err error) {
	for _, fd := range files {
		f := os.NewFile(uintptr(fd), "box")
		defer f.Close()
		switch {
		case err != nil:
		case folder && g.folder == nil:
			g.folder, err = os.OpenRoot(fmt.Sprintf("/proc/self/fd/%d", fd))
		default:
			g.port, err = net.FileListener(f)
		}
	}
	if err == nil && (folder && g.folder == nil || g.box.Port && g.port == nil) {
		err = errors.New("the bot's guard did not send the files of its box")
	}
	return err
}
