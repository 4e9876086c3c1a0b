package child

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rules are what the programs of a bot may not do, beside what namespaces keep from them.
type rules struct {
	core    int               // the only one that they run on; −1: all
	filter  []unix.SockFilter // of system calls; nil: none
	files   int               // a ruleset of Landlock; 0: none
	scratch string            // the folder for what would be in /tmp; "": /tmp
}

// obey applies the rules to this thread, and so to the programs that it starts. They gain no
// rights from set-uid programs in any case.
func (r *rules) obey() error {
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if err == nil && r.core >= 0 {
		var one unix.CPUSet
		one.Set(r.core)
		err = unix.SchedSetaffinity(0, &one)
	}
	if err == nil && r.files != 0 {
		if _, _, e := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.files), 0, 0); e != 0 {
			err = e
		}
	}
	if err != nil || r.filter == nil {
		return err
	}
	unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0) // fails where the kernel has no keys
	none := [2]unix.CapUserData{}
	if err = unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err == nil {
		program := unix.SockFprog{Len: uint16(len(r.filter)), Filter: &r.filter[0]}
		err = unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
	}
	return err
}

// audited are the names of the system's calling conventions on which sockets works: those without a call
// socketcall.
var audited = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64, "riscv64": unix.AUDIT_ARCH_RISCV64}

// Parts of filters of system calls: seccomp(2).
func load(at uint32) unix.SockFilter { // of a struct seccomp_data: 0 the number of the call, 4 the convention, 16, 24 … its arguments
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
}

func jump(code uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | code, K: k, Jt: yes, Jf: no}
}

var (
	refused = unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}
	allowed = unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}
)

// sockets returns a filter of system calls that allows sockets of these families alone, and of one type if
// it is not 0. Files of Unix sockets, such as those of Docker, can be connected to although they are
// read-only, and machines of the host by sockets of other families. Programs of other calling
// conventions, such as those of 32 bits, and io_uring would come around the filter.
func sockets(kind uint32, families ...uint32) []unix.SockFilter {
	const x32 = 0x40000000 // and above: the numbers of amd64's second convention
	list := []unix.SockFilter{
		load(4), jump(unix.BPF_JEQ, audited[runtime.GOARCH], 1, 0), refused,
		load(0), jump(unix.BPF_JGE, x32, 0, 1), refused, jump(unix.BPF_JEQ, unix.SYS_IO_URING_SETUP, 0, 1), refused,
		jump(unix.BPF_JEQ, unix.SYS_SOCKET, 1, 0), allowed,
	}
	if kind != 0 {
		const flags = unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK
		list = append(list, load(24), unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: ^uint32(flags)}, jump(unix.BPF_JEQ, kind, 1, 0), refused)
	}
	list = append(list, load(16))
	for _, f := range families {
		list = append(list, jump(unix.BPF_JEQ, f, 0, 1), allowed)
	}
	return append(list, refused)
}

// unsignalled returns the beginning of a filter that refuses signals to this process, by its ID, that of its group, or to all.
func unsignalled() (list []unix.SockFilter) {
	self := uint32(os.Getpid())
	for _, call := range []uint32{unix.SYS_KILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_PIDFD_OPEN} {
		list = append(list, load(0), jump(unix.BPF_JEQ, call, 0, 7), load(16))
		for _, id := range []uint32{self, -self, ^uint32(0)} {
			list = append(list, jump(unix.BPF_JEQ, id, 0, 1), refused)
		}
	}
	return append(list, load(0), jump(unix.BPF_JEQ, unix.SYS_TKILL, 0, 1), refused) // the ID may be that of a thread
}

// landlockRights are the rights of Landlock that a bot has for its folders alone, by the version that
// has them first.
var landlockRights = []struct {
	version int
	rights  uint64
}{
	{1, unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM},
	{2, unix.LANDLOCK_ACCESS_FS_REFER}, {3, unix.LANDLOCK_ACCESS_FS_TRUNCATE}, {5, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
}

// landlockVersion returns the version of Landlock that the system has: landlock(7). 0: none.
func landlockVersion() int {
	version, _, err := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if err != 0 {
		return 0
	}
	return int(version)
}

// landlock makes the rules of a bot without namespaces. It writes its folder and a folder for what would
// be in /tmp alone, connects to its port alone, and signals and traces its own processes alone. A program
// of x/sys, since libraries of Landlock restrict all threads of a process: the guard, which a bot must
// not signal, would be as its bot is.
func (p *plan) landlock(core int) (r rules, err error) {
	r.core = core
	version := landlockVersion()
	var files uint64
	for _, of := range landlockRights {
		if version >= of.version {
			files |= of.rights
		}
	}
	set := unix.LandlockRulesetAttr{Handled_access_fs: files}
	if version >= 4 {
		set.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= 6 {
		set.Scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	fd, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&set)), unsafe.Sizeof(set), 0)
	if e != 0 {
		return r, e
	}
	r.files = int(fd)
	if r.scratch, err = os.MkdirTemp("", "moonfarm-bot-"); err != nil {
		return r, err
	}
	add := func(kind int, rule unsafe.Pointer) error {
		if _, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, fd, uintptr(kind), uintptr(rule), 0, 0, 0); e != 0 {
			return e
		}
		return nil
	}
	const device = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	writable := map[string]uint64{r.scratch: files, p.Folder: files}
	for _, path := range devices {
		writable[path] = files & device
	}
	for path, rights := range writable {
		below, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err == nil {
			err = add(unix.LANDLOCK_RULE_PATH_BENEATH, unsafe.Pointer(&unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(below)}))
			unix.Close(below)
		}
		if err != nil && path != "" {
			return r, fmt.Errorf("%s: %w", path, err)
		}
	}
	if version < 6 {
		r.filter = unsignalled()
	}
	if p.Port == 0 {
		r.filter = append(r.filter, sockets(0)...)
		return r, nil
	}
	r.filter = append(r.filter, sockets(unix.SOCK_STREAM, unix.AF_INET, unix.AF_INET6)...)
	if version >= 4 {
		const onPort = 2 // LANDLOCK_RULE_NET_PORT
		err = add(onPort, unsafe.Pointer(&struct{ rights, port uint64 }{unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, uint64(p.Port)}))
	}
	return r, err
}

// restrict takes from this process, and so from the programs in the box, what they do not need. They can
// make no namespaces, in which they would have capabilities. /proc is read-only because the system lets
// root write some of its settings without a capability.
func restrict() error {
	return errors.Join(os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0), readOnly("/proc", 0))
}
