//go:build !linux

package bench

import "time"

// processorClock tells the time since it was made: the processor time of a thread is
// known on Linux alone.
func processorClock() func() time.Duration {
	begin := time.Now()
	return func() time.Duration { return time.Since(begin) }
}
