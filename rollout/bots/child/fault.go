package child

import (
	"fmt"
	"time"
)

// FaultKind is the kind of a fault.
type FaultKind uint8

// The kinds of faults.
const (
	Exited    FaultKind = iota + 1 // the process ended by itself, with any exit status or by a signal
	Closed                         // the process closed its standard output or input and runs on
	Time                           // the process did not answer, read or end before the deadline
	CPU                            // Limits.CPU
	Memory                         // Limits.Memory
	Processes                      // Limits.Processes
	Output                         // MaxAnswer
	Lost                           // the guard has ended, or the bot's processes cannot be killed
)

// Fault is an error of a bot.
type Fault struct {
	Kind FaultKind
	Text string // one line, with the limit and the measured value
}

// Error implements error.
func (f *Fault) Error() string { return f.Text }

// cpuFault and the functions below it make faults with their text.
func cpuFault(limit, measured time.Duration) *Fault {
	return &Fault{CPU, fmt.Sprintf("used %v of processor time, the limit is %v", measured.Round(time.Millisecond), limit)}
}

func memoryFault(limit, measured int64) *Fault {
	return &Fault{Memory, fmt.Sprintf("used %s of memory, the limit is %s", megabytes(measured), megabytes(limit))}
}

func processesFault(limit, measured int) *Fault {
	return &Fault{Processes, fmt.Sprintf("had %d processes, the limit is %d", measured, limit)}
}

func timeFault(what string, limit time.Duration) *Fault {
	return &Fault{Time, fmt.Sprintf("%s within %v", what, limit.Round(time.Millisecond))}
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

// Exit describes how a process ended and what it used, descendants included.
type Exit struct {
	Status string // such as "exit status 1" or "signal: killed"
	Code   int    // the exit status; −1: a signal ended it
	// Fault is the exceeded limit for which the process was killed; nil if it ended by
	// itself or by Kill.
	Fault *Fault

	CPU       time.Duration // processor time of this process and its descendants, not of the whole match
	Memory    int64         // highest measured memory at a time, in bytes; Linux only
	Processes int           // highest measured number of processes at a time; Linux only
	Time      time.Duration // real time from start to end
	Lines     []string      // the last lines written to the log, without unprintable characters
}

// exited returns the fault of a process that ended when it was still needed.
func (e *Exit) exited() *Fault {
	if e.Fault != nil {
		return e.Fault
	}
	return &Fault{Kind: Exited, Text: "the program has ended: " + e.Status}
}

// endReport is the end of a process in the words of the starter, which does not know Time
// and Lines.
type endReport struct {
	Number int
	Exit
}
