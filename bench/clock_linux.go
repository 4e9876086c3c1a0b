package bench

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorClock returns a clock of the processor time of the calling thread, which does
// not count the time of other programs.
func processorClock() func() time.Duration {
	return func() time.Duration {
		var t unix.Timespec
		unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // does not fail: Linux has had this clock since 2.6.12
		return time.Duration(t.Nano())
	}
}

// processTime returns the processor time of all threads of this program.
func processTime() time.Duration {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) // does not fail, as above
	return time.Duration(t.Nano())
}
