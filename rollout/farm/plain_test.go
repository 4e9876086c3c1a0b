package farm

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPlainFiles: the decisions of a coordinator know no lock, no clock and no network.
func TestPlainFiles(t *testing.T) {
	for _, file := range []string{"queue.go", "leases.go", "audits.go", "sampling.go", "commits.go", "stragglers.go", "workers.go", "state.go", "assign.go"} {
		t.Run(file, func(t *testing.T) {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			require.NoError(t, err)
			for _, i := range f.Imports {
				path, err := strconv.Unquote(i.Path.Value)
				require.NoError(t, err)
				require.Contains(t, []string{"crypto/hmac", "crypto/sha256", "encoding/binary", "fmt", "maps", "slices", "time"}, path)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" {
						require.NotContains(t, []string{"Now", "Since", "Until", "Sleep", "After", "NewTimer", "NewTicker"}, s.Sel.Name)
					}
				}
				return true
			})
		})
	}
}

// letter is a message that keeps how it was answered.
type letter struct{ said []string }

func (l *letter) say(word string) error { l.said = append(l.said, word); return nil }
func (l *letter) Ack() error            { return l.say("ack") }
func (l *letter) Nak() error            { return l.say("nak") }
func (l *letter) InProgress() error     { return l.say("extend") }

// TestQueue: a shard goes through the queue, and every step of its message is counted.
func TestQueue(t *testing.T) {
	type counts struct{ published, unassigned, assigned int }
	is := func(q *queue, want counts) {
		t.Helper()
		require.Equal(t, want, counts{q.published, q.unassigned, len(q.assigned)})
	}
	committed := func(shard int) bool { return shard == 1 }
	q := newQueue(6)
	require.Equal(t, []int{0, 2, 3}, q.take(3, committed))
	q.accepted(2, []int{3})
	is(&q, counts{2, 2, 0})
	require.Empty(t, q.take(2, committed), "the window is full")
	require.Equal(t, []int{3, 4, 5}, q.take(10, committed), "retries come first")
	q.accepted(3, nil)
	require.False(t, q.drained())

	a, b := new(letter), new(letter)
	q.fetched()
	q.assign(0, a)
	q.fetched()
	q.assign(2, b)
	is(&q, counts{5, 3, 2})
	q.extend(0)
	q.settle(0)
	q.settle(0)
	q.giveBack(2)
	q.giveBack(2)
	is(&q, counts{4, 4, 0})
	require.Equal(t, []string{"extend", "ack"}, a.said)
	require.Equal(t, []string{"nak"}, b.said)

	q.recount(0, 0, true)
	require.True(t, q.drained(), "a complete run needs no message")
	q.recount(0, 0, false)
	require.Equal(t, []int{0, 2, 3, 4, 5}, q.take(10, committed), "the stream has lost all messages")
	q.retry(1)
	require.False(t, q.drained())
	require.Equal(t, []int{1}, q.take(10, committed), "a reverted shard is published whatever its bit says")
	q.restart()
	require.Len(t, q.take(10, committed), 5)
	q.reset(7)
	is(&q, counts{7, 7, 0})
}

// TestLeases: leases are found by shard and by worker, and end for both.
func TestLeases(t *testing.T) {
	now := time.Unix(1000, 0)
	make1, audit1 := claim{"r", 1, false}, claim{"r", 1, true}
	x := newLeases()
	one := x.grant("a", make1, now)
	two := x.grant("b", make1, now.Add(time.Second))
	x.grant("b", audit1, now.Add(2*time.Second))
	x.grant("c", claim{"other", 1, false}, now.Add(3*time.Second))
	require.Equal(t, 1, x.held("r"))
	require.Equal(t, 2, x.count("b"))
	require.Len(t, x.holders(make1), 2)
	require.Same(t, two, x.of("b", make1))
	require.Equal(t, []*lease{one}, x.silent(now.Add(time.Second)))
	require.Empty(t, x.slow("r", false, now.Add(time.Hour)), "two workers have it")
	require.False(t, x.end(one), "another worker has it too")
	require.Equal(t, []claim{make1}, x.slow("r", false, now.Add(time.Hour)))
	require.True(t, x.end(two))
	require.Zero(t, x.held("r"))
	require.True(t, x.audited("r")(1))
	x.giveBack("b", make1)
	require.True(t, x.gaveBack("b", make1))
	x.grant("b", make1, now)
	require.False(t, x.gaveBack("b", make1), "it has it again")
	x.endClaim(audit1)
	require.Equal(t, 1, x.count("b"))
	x.endRun("r")
	require.Zero(t, x.count("b"))
	require.Equal(t, 1, x.held("other"))
	require.Nil(t, x.of("b", make1))
}

// TestAudits: no worker audits its own shard, or one that is decided otherwise.
func TestAudits(t *testing.T) {
	free := func(int) bool { return false }
	a := newAudits()
	a.add(1, "maker")
	a.add(2, "maker")
	a.add(3, "other")
	_, ok := a.next("maker", func(shard int) bool { return shard == 3 })
	require.False(t, ok, "its own shards, and one that a worker has")
	shard, ok := a.next("other", free)
	require.True(t, ok)
	require.Equal(t, 1, shard)
	a.dispute(2)
	_, ok = a.next("other", free)
	require.False(t, ok, "one is assigned, one disputed, and one lost its entry")
	require.False(t, a.idle())
	a.giveBack(1)
	a.giveBack(7)
	shard, _ = a.next("third", free)
	require.Equal(t, 1, shard)
	a.settle(2)
	shard, _ = a.next("third", free)
	require.Equal(t, 2, shard)
	for shard := range 4 {
		a.drop(shard)
	}
	require.True(t, a.idle())
	a.dispute(9)
	require.False(t, a.idle(), "a shard without an audit is disputed")
	a.settle(9)
	require.True(t, a.idle())
}

// TestWaivable: an audit is waived when no other worker was there during the wait.
func TestWaivable(t *testing.T) {
	at := time.Unix(1000, 0)
	for _, c := range []struct {
		name    string
		others  []string
		trusted []string
		leased  bool
		after   time.Duration // since the first look
		waived  bool
		waiting int
	}{
		{name: "just now", waiting: 1},
		{name: "after the wait", after: time.Minute, waived: true},
		{name: "the maker alone is there", others: []string{"maker"}, after: time.Minute, waived: true},
		{name: "another is there", others: []string{"other"}, after: time.Minute},
		{name: "two are there", others: []string{"maker", "other"}, after: time.Minute},
		{name: "a worker has it", leased: true, after: time.Minute},
		{name: "the maker is trusted", trusted: []string{"maker"}, waived: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newAudits()
			a.add(5, "maker")
			v := waivers{c.others, time.Minute, c.trusted, func(int) bool { return c.leased }}
			list, waiting, all := a.waivable(&v, at)
			if c.after > 0 {
				list, waiting, all = a.waivable(&v, at.Add(c.after))
			}
			require.True(t, all)
			require.Equal(t, c.waived, slices.Contains(list, 5))
			require.Equal(t, c.waiting, waiting)
		})
	}
	a := newAudits()
	for shard := range 2 * maxWaive {
		a.add(shard, "maker")
	}
	list, _, all := a.waivable(&waivers{trusted: []string{"maker"}, leased: func(int) bool { return false }}, at)
	require.Len(t, list, maxWaive)
	require.False(t, all)
}

// TestCommits: a shard counts once, and reverting it undoes all of it.
func TestCommits(t *testing.T) {
	c := newCommits(130)
	v := &Receipt{Episodes: 2, Rows: 3, Bytes: 4}
	for _, shard := range []int{0, 63, 64, 129} {
		require.True(t, c.add(shard, v))
		require.False(t, c.add(shard, v))
		require.True(t, c.has(shard))
	}
	require.Equal(t, []uint64{4, 8, 12, 16}, []uint64{uint64(c.made), c.played, c.rows, c.bytes})
	require.True(t, c.revert(63, v))
	require.False(t, c.revert(63, v))
	require.False(t, c.has(63) || !c.has(64))
	require.Equal(t, []uint64{3, 6, 9, 12}, []uint64{uint64(c.made), c.played, c.rows, c.bytes})
}

// TestPermanent: two workers, or one worker three times, fail a run by one shard.
func TestPermanent(t *testing.T) {
	r := newRun("r", &runRecord{Spec: spec(1, 5, 0)}, 1)
	require.False(t, r.fails(1, "a"))
	require.False(t, r.fails(2, "b"), "another shard")
	require.False(t, r.fails(1, "a"))
	require.True(t, r.fails(1, "a"))
	require.True(t, r.fails(2, "a"))
}

// TestAllowance: a worker that lets leases lapse gets fewer at a time, but always one.
func TestAllowance(t *testing.T) {
	for lapses, want := range map[int]int{0: 8, 3: 8, 4: 4, 8: 2, 12: 1, 400: 1} {
		w := worker{lapses: lapses}
		w.Slots = 8
		require.Equal(t, want, w.allowance(), "%d lapses", lapses)
	}
}

// TestProcesses: a worker begins again when it names a process that it has not named before.
func TestProcesses(t *testing.T) {
	w := worker{}
	for i, c := range []struct {
		process string
		begins  bool
	}{{"", false}, {"one", false}, {"one", false}, {"two", true}, {"one", false}, {"not a name", false}, {"three", true}} {
		require.Equal(t, c.begins, w.begins(c.process), "request %d, of %q", i, c.process)
	}
}

// TestWaiting: claims are served in their order, and no more messages are fetched than
// claims wait.
func TestWaiting(t *testing.T) {
	a, b := &worker{name: "a"}, &worker{name: "b"}
	var x waiting
	for _, w := range []*worker{a, b, a} {
		x.add(&waiter{w: w})
	}
	anyWorker := func(*worker) bool { return true }
	isB := func(w *worker) bool { return w == b }
	require.Equal(t, []int{2, 1}, []int{a.waiting, b.waiting})
	require.Equal(t, 2, x.reserve(2, anyWorker))
	require.Equal(t, 1, x.reserve(2, anyWorker))
	require.Zero(t, x.reserve(2, anyWorker))
	require.Same(t, b, x.first(isB).w)
	require.Nil(t, x.first(isB))
	x.remove(func(t *waiter) bool { return t.w == a })
	require.Equal(t, []int{0, 0, 0}, []int{a.waiting, b.waiting, len(x.list)})
}

// TestSlowClaims: a second worker gets the claims that last longer than half as long again
// as the median.
func TestSlowClaims(t *testing.T) {
	start := time.Unix(1000, 0)
	x, a := newLeases(), newAudits()
	var p stragglers
	x.grant("a", claim{"r", 1, false}, start)
	x.grant("b", claim{"r", 2, false}, start.Add(10*time.Second))
	x.grant("a", claim{"r", 3, true}, start)
	a.add(3, "b")
	find := func(audits bool) { p.find(&x, "r", audits, start.Add(16*time.Second)) }
	for range minPace - 1 {
		p.add(10 * time.Second)
	}
	find(true)
	require.Empty(t, p.list, "too few commits")
	p.add(10 * time.Second)
	find(false)
	require.Equal(t, []claim{{"r", 1, false}}, p.list)
	_, ok := p.take(&x, &a, "a")
	require.False(t, ok, "it has the claim already")
	k, ok := p.take(&x, &a, "b")
	require.True(t, ok)
	require.Equal(t, claim{"r", 1, false}, k)
	p.list = []claim{{"r", 3, true}}
	_, ok = p.take(&x, &a, "b")
	require.False(t, ok, "it made the shard")
	p.list = []claim{{"r", 3, true}}
	k, _ = p.take(&x, &a, "c")
	require.Equal(t, claim{"r", 3, true}, k)
}
