package farm

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/farm/farmtest"
)

// spent returns the processor time and the peak memory (in MB) of a process so far.
func (p *process) spent() (cpu time.Duration, memory int) {
	p.t.Helper()
	dir := fmt.Sprintf("/proc/%d/", p.cmd.Process.Pid)
	stat, err := os.ReadFile(dir + "stat")
	if err != nil {
		p.t.Skipf("no figures of processes here: %v", err)
	}
	f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	for _, i := range []int{11, 12} { // utime, stime in hundredths
		n, _ := strconv.Atoi(f[i])
		cpu += time.Duration(n) * 10 * time.Millisecond
	}
	status, _ := os.ReadFile(dir + "status")
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	memory, _ = strconv.Atoi(strings.Fields(rest)[0])
	return cpu, memory / 1024
}

// speedServer starts a server and coordinator on one processor, and returns a crowd for it.
func speedServer(t *testing.T) (*process, *Client, child) {
	t.Helper()
	if !long() {
		t.Skip("takes a minute: set MOONFARM_LONG")
	}
	address, dir := freePort(t), t.TempDir()
	key, url := filepath.Join(dir, KeyFile), "nats://"+address
	server := child{Role: "serve", Dir: dir, Address: address, Name: "server", Lapse: 30 * time.Second}.start(t, "GOMAXPROCS=1")
	return server, people(t, url, key), child{Role: "crowd", Address: url, Key: key, Name: "crowd"}
}

// await waits until n shards of the first run are made.
func await(t *testing.T, c *Client, n int) (r *RunStatus) {
	t.Helper()
	farmtest.Within(t, 4*time.Minute, fmt.Sprintf("%d shards are made", n), func() bool {
		s := ask(t, c)
		if s == nil || len(s.Runs) == 0 {
			return false
		}
		r = &s.Runs[0]
		return r.Made >= n || r.State == Done
	})
	return r
}

// TestSpeed measures a thousand workers with a connection each and one server on one processor:
// claims and commits per second, and their cost for the server. It compares processor time, since
// the workers use the other processors.
func TestSpeed(t *testing.T) {
	server, client, crowd := speedServer(t)
	s := spec(40, 60_000, 50*time.Millisecond)
	begin(t, client, s)
	crowd.Workers = 1000
	crowd.start(t)
	first := await(t, client, 5000)
	cpu0, _ := server.spent()
	begun := time.Now()
	last := await(t, client, 55_000)
	cpu1, memory := server.spent()
	wall, cpu := time.Since(begun), cpu1-cpu0
	shards, audits := last.Made-first.Made, last.Audits.Passed-first.Audits.Passed
	each := cpu / time.Duration(shards+audits)
	t.Logf("%d shards and %d audits in %.1f s: %.0f shards, %.0f claims and commits a second; the server used %.0f %% of a processor, %v each, so at most %.0f a second; %d MB",
		shards, audits, wall.Seconds(), float64(shards)/wall.Seconds(), float64(shards+audits)/wall.Seconds(),
		100*cpu.Seconds()/wall.Seconds(), each.Round(time.Microsecond), float64(time.Second)/float64(each), memory)
	assert.LessOrEqualf(t, each, 500*time.Microsecond, "a claim and commit cost %v of a processor, want 500µs at most: 2,000 a second", each)
	assert.LessOrEqualf(t, memory, 500, "the server used %d MB, want 500 at most", memory)
}

// TestSick: with 10 % dead workers and 10 % that are ten times slower, a run takes at most 1.2
// times as long as with perfectly spread work.
func TestSick(t *testing.T) {
	_, client, crowd := speedServer(t)
	const workers, shards, delay = 1000, 20_000, 1500 * time.Millisecond
	s := spec(41, shards, delay)
	begin(t, client, s)
	crowd.Workers, crowd.Dead, crowd.Slow = workers, 10, 10
	crowd.start(t)
	await(t, client, 1)
	begun := time.Now().Add(-delay)
	r := await(t, client, shards+1)
	require.Equalf(t, Done, r.State, "the run ended as %+v", r)
	wall := time.Since(begun)
	work := float64(shards + r.Audits.Passed)
	ideal := time.Duration(work / (0.8*workers + 0.1*workers/10) * float64(delay))
	t.Logf("%d shards and %d audits, %d given twice: %.1f s, the ideal is %.1f s: %.2f times", shards, r.Audits.Passed, r.Duplicates, wall.Seconds(), ideal.Seconds(), wall.Seconds()/ideal.Seconds())
	assert.LessOrEqualf(t, wall, ideal*12/10, "%v, want 1.2 times %v at most", wall, ideal)
}

// TestMemory: a coordinator needs one bit of memory per shard, and the server beside it some bytes
// per record.
func TestMemory(t *testing.T) {
	if !long() {
		t.Skip("takes a minute: set MOONFARM_LONG")
	}
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc >> 10)
	}
	begun := func(shards int) (*farm, *Spec, int) {
		f := newFarm(t)
		s := spec(42, shards, time.Hour)
		f.submit(s)
		stop := f.work("idle", opener(f.store), func(o *WorkerOptions) { o.Grace = time.Millisecond })
		f.until("the queue is fed", func() bool { return f.run(s.ID()).Held == 2 })
		require.NoError(t, stop())
		return f, s, steady(f, heap)
	}
	_, _, few := begun(1000)
	f, s, many := begun(1_000_000)
	t.Logf("heap of server, coordinator and worker: %d kB with 10³ shards to make, %d kB with 10⁶", few, many)
	assert.LessOrEqualf(t, many, few+4096, "%d kB more with 10⁶ shards than with 10³, want 4 MB at most", many-few)
	at := func(n int) int {
		f.until(fmt.Sprintf("%d are made", n), func() bool { return f.run(s.ID()).Made >= n })
		return heap()
	}
	for i := range 4 {
		f.work(fmt.Sprintf("w%d", i), opener(discard{}, func(k *fake) { k.job.Delay = 0 }), func(o *WorkerOptions) { o.Slots = 8 })
	}
	early, half, late := at(1000), at(21_000), at(41_000)
	t.Logf("heap with 1,000, 21,000 and 41,000 records: %d, %d, %d kB: %d bytes a record", early, half, late, (late-half)*1024/20_000)
	assert.LessOrEqualf(t, late, half+20_000*400/1024, "%d kB more with 20,000 records, want 400 bytes a record at most", late-half)
}

// steady waits until the heap no longer shrinks, and returns its size in kB.
func steady(f *farm, heap func() int) int {
	size, looks := heap(), 0
	f.until("the heap is steady", func() bool {
		now := heap()
		if looks++; now < size {
			size, looks = now, 0
		}
		return looks == 20
	})
	return size
}
