package child

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rules are what the programs of a bot may not do, beside what namespaces keep from them.
type rules struct {
	core   int               // the only one that they run on; −1: all
	filter []unix.SockFilter // of system calls; nil: none
	files  int               // a ruleset of Landlock; 0: none
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

// audited are the names of the system's calling conventions that have the calls of filter alone, and no call
// socketcall.
var audited = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64, "riscv64": unix.AUDIT_ARCH_RISCV64}

// Parts of filters of system calls: seccomp(2).
func load(at uint32) unix.SockFilter { // of a struct seccomp_data: 0 is the number of the call, 4 its convention, 16 and on its arguments
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
}

func jump(code uint16, k uint32, yes, no int) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | code, K: k, Jt: uint8(yes), Jf: uint8(no)}
}

var (
	refused = unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}
	allowed = unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}
)

// any32 is the mask of a whole argument, and typeMask that of a socket's type without its flags.
const (
	any32    = ^uint32(0)
	typeMask = ^uint32(unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK)
)

// but is the part of a filter that refuses a call, unless an argument, counted from 0, has one of the values after the mask. Without
// values it refuses it always.
func but(call uint32, argument, mask uint32, values ...uint32) []unix.SockFilter {
	list := []unix.SockFilter{load(0), jump(unix.BPF_JEQ, call, 0, len(values)+3),
		load(16 + 8*argument), {Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: mask}}
	for i, v := range values {
		list = append(list, jump(unix.BPF_JEQ, v, len(values)-i, 0))
	}
	return append(list, refused)
}

// not is the part of a filter that refuses a call if an argument has one of the values after the mask.
func not(call uint32, argument, mask uint32, values ...uint32) []unix.SockFilter {
	list := []unix.SockFilter{load(0), jump(unix.BPF_JEQ, call, 0, 2*len(values)+2),
		load(16 + 8*argument), {Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: mask}}
	for _, v := range values {
		list = append(list, jump(unix.BPF_JEQ, v, 0, 1), refused)
	}
	return list
}

// never is the part of a filter that refuses calls.
func never(calls ...uint32) (list []unix.SockFilter) {
	for _, call := range calls {
		list = append(list, load(0), jump(unix.BPF_JEQ, call, 0, 1), refused)
	}
	return list
}

// setFilter makes the filter of these parts and of those of all boxes, with sockets of these families alone. Unix sockets, also those of
// socketpair, reach files of sockets such as Docker's although these are read-only; sockets of other families reach machines of the host.
// prlimit sets limits of all processes of the user, the guard's, too. Programs of other calling conventions, such as those of
// 32 bits, and io_uring would come around the filter.
func (r *rules) setFilter(families []uint32, parts ...[]unix.SockFilter) {
	const x32 = 0x40000000 // and above: the numbers of amd64's second convention
	r.filter = []unix.SockFilter{load(4), jump(unix.BPF_JEQ, audited[runtime.GOARCH], 1, 0), refused, load(0), jump(unix.BPF_JGE, x32, 0, 1), refused}
	if r.core >= 0 {
		parts = append(parts, never(unix.SYS_SCHED_SETAFFINITY))
	}
	r.filter = append(r.filter, slices.Concat(never(unix.SYS_IO_URING_SETUP), but(unix.SYS_SOCKET, 0, any32, families...),
		but(unix.SYS_SOCKETPAIR, 1, typeMask, unix.SOCK_STREAM, unix.SOCK_SEQPACKET), but(unix.SYS_PRLIMIT64, 0, any32, 0),
		not(unix.SYS_FCNTL, 1, any32, unix.F_SETLEASE), slices.Concat(parts...), []unix.SockFilter{allowed})...)
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

// landlock makes a ruleset: programs write in these folders alone. If they are not in namespaces, they connect to the port alone, and signal
// and trace their own processes alone. Libraries of Landlock are not used, because they restrict all threads of a process: a bot could signal
// its guard.
func (r *rules) landlock(alone bool, port int, folders ...string) (err error) {
	version := landlockVersion()
	var files uint64
	for _, of := range landlockRights {
		if version >= of.version {
			files |= of.rights
		}
	}
	set := unix.LandlockRulesetAttr{Handled_access_fs: files}
	if !alone && version >= 4 {
		set.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if !alone && version >= 6 {
		set.Scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	fd, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&set)), unsafe.Sizeof(set), 0)
	if e != 0 {
		return e
	}
	r.files = int(fd)
	add := func(kind int, rule unsafe.Pointer) {
		if _, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, fd, uintptr(kind), uintptr(rule), 0, 0, 0); e != 0 {
			err = errors.Join(err, e)
		}
	}
	const node = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
	const device = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	for i, path := range slices.Concat(folders, devices) {
		rights := files &^ node
		if i >= len(folders) {
			rights = files & device
		}
		below, failed := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if failed != nil {
			return fmt.Errorf("%s: %w", path, failed)
		}
		add(unix.LANDLOCK_RULE_PATH_BENEATH, unsafe.Pointer(&unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(below)}))
		unix.Close(below)
	}
	if set.Handled_access_net != 0 && port != 0 {
		const onPort = 2 // LANDLOCK_RULE_NET_PORT
		add(onPort, unsafe.Pointer(&struct{ rights, port uint64 }{unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, uint64(port)}))
	}
	return err
}

// withoutNamespaces makes the rules of a bot without namespaces. The filter refuses what Landlock does not: protocols other than TCP,
// connections that begin with data, ports that listen, settings of the processor for other processes, memory that outlives its processes,
// and, for versions before 6, signals to the guard.
func (r *rules) withoutNamespaces(p *plan, scratch string) error {
	folders := []string{scratch}
	if p.Folder != "" {
		folders = append(folders, p.Folder)
	}
	if err := r.landlock(false, p.Port, folders...); err != nil {
		return err
	}
	var families []uint32
	if p.Port != 0 {
		families = []uint32{unix.AF_INET, unix.AF_INET6}
	}
	var signals []unix.SockFilter
	if landlockVersion() < 6 {
		self := uint32(os.Getpid())
		for _, call := range []uint32{unix.SYS_KILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO} {
			signals = append(signals, not(call, 0, any32, self, -self, any32)...) // the guard, its group, all
		}
		signals = slices.Concat(signals, never(unix.SYS_TKILL, unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_SEND_SIGNAL),
			not(unix.SYS_FCNTL, 1, any32, unix.F_SETOWN, unix.F_SETOWN_EX, unix.F_SETSIG))
	}
	r.setFilter(families, signals, but(unix.SYS_SOCKET, 1, typeMask, unix.SOCK_STREAM), but(unix.SYS_SOCKET, 2, any32, 0, unix.IPPROTO_TCP),
		not(unix.SYS_SENDTO, 3, unix.MSG_FASTOPEN, unix.MSG_FASTOPEN), not(unix.SYS_SENDMSG, 2, unix.MSG_FASTOPEN, unix.MSG_FASTOPEN),
		not(unix.SYS_SENDMMSG, 3, unix.MSG_FASTOPEN, unix.MSG_FASTOPEN), never(unix.SYS_LISTEN, unix.SYS_SHMGET, unix.SYS_MSGGET, unix.SYS_SEMGET),
		but(unix.SYS_SCHED_SETSCHEDULER, 0, any32, 0), but(unix.SYS_SCHED_SETPARAM, 0, any32, 0), but(unix.SYS_SCHED_SETATTR, 0, any32, 0),
		but(unix.SYS_SCHED_SETAFFINITY, 0, any32, 0), but(unix.SYS_SETPRIORITY, 0, any32, unix.PRIO_PROCESS),
		but(unix.SYS_SETPRIORITY, 1, any32, 0), but(unix.SYS_IOPRIO_SET, 0, any32, 1), but(unix.SYS_IOPRIO_SET, 1, any32, 0))
	return nil
}
