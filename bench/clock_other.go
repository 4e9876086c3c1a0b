//go:build !linux

package bench

import "time"

// processorClock returns a clock of the time since the call, as only Linux tells the
// processor time of a thread.
func processorClock() func() time.Duration {
	begin := time.Now()
	return func() time.Duration { return time.Since(begin) }
}

// processTime returns 0, which means that the processor time is unknown.
func processTime() time.Duration { return 0 }
