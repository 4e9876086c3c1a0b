package child

import (
	"fmt"
	"time"
)

// FaultKind is what a bot did wrong.
type FaultKind uint8

// The kinds of faults.
const (
	Exited    FaultKind = iota + 1 // it ended by itself, with any exit status or by a signal
	Closed                         // it closed its standard output or input and runs on
	Time                           // it did not answer, read or end before the deadline
	CPU                            // Limits.CPU
	Memory                         // Limits.Memory
	Processes                      // Limits.Processes
	Output                         // Limits.Answer or Limits.Output
	Lost                           // its guard has ended, or its processes cannot be killed
)

// String returns one word for people and journals.
func (k FaultKind) String() string {
	names := [...]string{Exited: "exited", Closed: "closed", Time: "time", CPU: "cpu", Memory: "memory",
		Processes: "processes", Output: "output", Lost: "lost"}
	if int(k) < len(names) && k > 0 {
		return names[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Fault says what a bot did wrong. It is an error.
type Fault struct {
	Kind FaultKind
	// Limit and Measured are, for Time and CPU, nanoseconds; for Memory and Output
	// bytes; for Processes their number; 0 for other kinds.
	Limit, Measured int64
	Text            string // one line, with the limit and what was measured
}

// Error implements error.
func (f *Fault) Error() string { return f.Text }

// cpuFault and the functions below it make faults with their text.
func cpuFault(limit, measured time.Duration) *Fault {
	return &Fault{CPU, int64(limit), int64(measured),
		fmt.Sprintf("used %v of processor time, the limit is %v", measured.Round(time.Millisecond), limit)}
}

func memoryFault(limit, measured int64) *Fault {
	return &Fault{Memory, limit, measured,
		fmt.Sprintf("used %s of memory, the limit is %s", megabytes(measured), megabytes(limit))}
}

func processesFault(limit, measured int) *Fault {
	return &Fault{Processes, int64(limit), int64(measured),
		fmt.Sprintf("had %d processes, the limit is %d", measured, limit)}
}

func timeFault(what string, limit, measured time.Duration) *Fault {
	return &Fault{Time, int64(limit), int64(measured), fmt.Sprintf("%s within %v", what, limit.Round(time.Millisecond))}
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

// Exit tells how a process ended and what it used, descendants included.
type Exit struct {
	Status string // such as "exit status 1" or "signal: killed"
	Code   int    // the exit status; −1: a signal ended it
	// Fault is a limit that was exceeded and for which the process was killed;
	// nil if it ended by itself or by Kill.
	Fault *Fault

	CPU       time.Duration // of this process and its descendants, not of the match
	Memory    int64         // the most that all had in memory together at a time, as far as seen, in bytes
	Processes int           // the most at a time, as far as seen
	Time      time.Duration // from start to end by the clock
	Lines     []string      // the last lines that went to the log, in a form that can be shown
}

// exited is the fault of a process that ended when it was still needed.
func (r *Exit) exited() *Fault {
	if r.Fault != nil {
		return r.Fault
	}
	return &Fault{Kind: Exited, Text: "the program has ended: " + r.Status}
}

// endReport is what is known of a process where it was started.
type endReport struct {
	Number    int
	Status    string
	Code      int
	Fault     *Fault
	CPU       time.Duration
	Memory    int64
	Processes int
}
