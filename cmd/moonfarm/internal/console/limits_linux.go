package console

import "syscall"

// addressLimit returns the limit of the virtual memory of this process in bytes.
func addressLimit() uint64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &l) != nil {
		return unlimited
	}
	return uint64(l.Cur)
}
