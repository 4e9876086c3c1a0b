//go:build cgo

package main

/*
#include <stdlib.h>
*/
import "C"

import (
	"bufio"
	"fmt"
	"math/bits"
	"os"
	"runtime"

	"moonfarm/datasets"
	"moonfarm/rollout/stepper"
)

// Sizes of memory in bytes.
const (
	fewBytes = 64 << 20 // so much is asked for without a check
	spare    = 96 << 20 // so much must stay for threads, for what is made later and for the runtime, which takes 64 MiB at once
)

// needMemory returns an error if there is no memory of so many bytes for the argument. It is asked before the runtime allocates
// them, because without memory the runtime ends the whole program.
func needMemory(bytes uint64, format string, a ...any) error {
	if bytes < fewBytes {
		return nil
	}
	least := "the limit of the process allows less"
	if has := memoryThere(); bytes > has {
		least = fmt.Sprintf("the machine has %d MiB", has>>20)
	} else if canAllocate(bytes+spare) || idleMemory() >= bytes {
		return nil
	}
	return fault{codeMemory, fmt.Sprintf("%s needs %d MiB of memory, %s", fmt.Sprintf(format, a...), bytes>>20, least)}
}

// canAllocate reports whether the system gives the process so much memory: a limit such as that of ulimit -v may be smaller than the
// machine.
func canAllocate(bytes uint64) bool {
	p := C.calloc(1, C.size_t(bytes))
	C.free(p)
	return p != nil
}

// idleMemory returns how many bytes the runtime has that nothing uses any more.
func idleMemory() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapIdle
}

// checkMemory returns an error if there is not enough memory for all games. Many games need as much each as a few of them.
func checkMemory(c stepper.Setup) error {
	n := uint64(c.Env.N)
	c.Env.N, c.Batch, c.Workers = 1, 0, 1
	v, err := c.Vector(c.Env)
	if err != nil {
		return wrong("%v", err)
	}
	const games = "num_envs is %d: making the games"
	each := uint64(len(v.AppendSnapshot(nil, 0))) // their states alone
	if err := needMemory(n*each, games, n); err != nil {
		return err
	}
	if n*each >= fewBytes {
		const few, some = 16, 80
		least, err := allocated(c, few)
		if err != nil {
			return err
		}
		most, err := allocated(c, some)
		if err != nil {
			return err
		}
		each = max(each, (most-min(most, least))/(some-few))
	}
	return needMemory(n*each, games, n)
}

// allocated returns how many bytes it takes to make n games.
func allocated(c stepper.Setup, n int) (uint64, error) {
	var before, after runtime.MemStats
	c.Env.N = n
	runtime.ReadMemStats(&before)
	s, err := stepper.New(c)
	if err != nil {
		return 0, wrong("%v", err)
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, s.Close()
}

// checkReading returns an error if there is not enough memory for the batches and windows of reading the columns.
func checkReading(o datasets.ReadOptions, columns []datasets.Column) error {
	if o.Whole {
		return nil
	}
	row := uint64(8)
	for _, c := range columns {
		row += uint64(c.Width())
	}
	windows := uint64(1)
	if o.Workers > 1 {
		windows = 2
	}
	over, bytes := bits.Mul64(row, windows*uint64(max(o.Rows, o.Shuffle)))
	if over != 0 {
		bytes = 1 << 63
	}
	return needMemory(bytes, "size %d, shuffle %d: keeping so many rows", o.Rows, o.Shuffle)
}

// memoryThere returns how much memory the machine can give, or more than most
// machines have if that is unknown.
func memoryThere() uint64 {
	const unknown = 64 << 30
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return unknown
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var kilobytes uint64
		if n, _ := fmt.Sscanf(s.Text(), "MemAvailable: %d kB", &kilobytes); n == 1 {
			return kilobytes << 10
		}
	}
	return unknown
}
