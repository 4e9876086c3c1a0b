package tracker

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"moonfarm/rollout/shard"
)

// TestQueue: a queue hands out every shard that is not taken, returned ones first.
func TestQueue(t *testing.T) {
	taken := map[int]bool{1: true}
	q := NewQueue(5)
	next := func() int {
		shard, ok := q.Next(func(shard int) bool { return taken[shard] })
		if !ok {
			return -1
		}
		return shard
	}
	require.Equal(t, []int{0, 2}, []int{next(), next()})
	q.Return(0)
	q.Return(2)
	q.Return(2) // is there
	q.Return(4) // is there as a new one
	taken[0] = true
	require.Equal(t, []int{2, 3, 4}, []int{next(), next(), next()}, "a returned shard that is taken again is left out")
	require.True(t, q.Drained())
	require.Equal(t, -1, next())
	q.Return(3)
	require.False(t, q.Drained())
	taken = map[int]bool{2: true, 4: true}
	q.Restart()
	require.Equal(t, []int{3, 0, 1, 3, -1}, []int{next(), next(), next(), next(), next()})
}

// TestLeases: leases are found by shard and by worker, and end for both.
func TestLeases(t *testing.T) {
	now := time.Unix(1000, 0)
	make1, audit1 := Claim{"r", 1, false}, Claim{"r", 1, true}
	x := NewLeases()
	one := x.Grant("a", make1, now)
	two := x.Grant("b", make1, now.Add(time.Second))
	x.Grant("b", audit1, now.Add(2*time.Second))
	x.Grant("c", Claim{"other", 1, false}, now.Add(3*time.Second))
	require.Equal(t, 1, x.Held("r"))
	require.Equal(t, 2, x.Count("b"))
	require.Len(t, x.Holders(make1), 2)
	require.Same(t, two, x.Of("b", make1))
	require.Equal(t, []*Lease{one}, x.Silent(now.Add(time.Second)))
	require.Empty(t, x.slow("r", false, now.Add(time.Hour)), "two workers have it")
	require.False(t, x.End(one), "another worker has it too")
	require.Equal(t, []Claim{make1}, x.slow("r", false, now.Add(time.Hour)))
	require.True(t, x.End(two))
	require.Zero(t, x.Held("r"))
	require.True(t, x.Audited("r")(1))
	x.GiveBack("b", make1)
	require.True(t, x.GaveBack("b", make1))
	x.Grant("b", make1, now)
	require.False(t, x.GaveBack("b", make1), "it has it again")
	x.EndClaim(audit1)
	require.Equal(t, 1, x.Count("b"))
	x.EndRun("r")
	require.Zero(t, x.Count("b"))
	require.Equal(t, 1, x.Held("other"))
	require.Nil(t, x.Of("b", make1))
}

// TestAudits: no worker audits its own shard, or one that is already being decided.
func TestAudits(t *testing.T) {
	free := func(int) bool { return false }
	a := NewAudits()
	a.Add(1, "maker")
	a.Add(2, "maker")
	a.Add(3, "other")
	_, ok := a.Next("maker", func(shard int) bool { return shard == 3 })
	require.False(t, ok, "its own shards, and one that a worker has")
	shard, ok := a.Next("other", free)
	require.True(t, ok)
	require.Equal(t, 1, shard)
	a.Dispute(2)
	_, ok = a.Next("other", free)
	require.False(t, ok, "one is assigned, one disputed, and one lost its entry")
	require.False(t, a.Idle())
	a.GiveBack(1)
	a.GiveBack(7)
	shard, _ = a.Next("third", free)
	require.Equal(t, 1, shard)
	a.Settle(2)
	shard, _ = a.Next("third", free)
	require.Equal(t, 2, shard)
	for shard := range 4 {
		a.Drop(shard)
	}
	require.True(t, a.Idle())
	a.Dispute(9)
	require.False(t, a.Idle(), "a shard without an audit is disputed")
	a.Settle(9)
	require.True(t, a.Idle())
}

// TestWaivable: an audit is waived if no other worker was available during the wait.
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
			a := NewAudits()
			a.Add(5, "maker")
			v := Waivers{c.others, time.Minute, c.trusted, func(int) bool { return c.leased }}
			list, waiting, all := a.Waivable(&v, at)
			if c.after > 0 {
				list, waiting, all = a.Waivable(&v, at.Add(c.after))
			}
			require.True(t, all)
			require.Equal(t, c.waived, slices.Contains(list, 5))
			require.Equal(t, c.waiting, waiting)
		})
	}
	a := NewAudits()
	for shard := range 2 * maxWaive {
		a.Add(shard, "maker")
	}
	list, _, all := a.Waivable(&Waivers{Trusted: []string{"maker"}, Leased: func(int) bool { return false }}, at)
	require.Len(t, list, maxWaive)
	require.False(t, all)
}

// TestCommits: a shard counts once, and Revert undoes Add.
func TestCommits(t *testing.T) {
	c := NewCommits(130)
	v := &shard.Receipt{Episodes: 2, Rows: 3, Bytes: 4}
	for _, shard := range []int{0, 63, 64, 129} {
		require.True(t, c.Add(shard, v))
		require.False(t, c.Add(shard, v))
		require.True(t, c.Has(shard))
	}
	require.Equal(t, []uint64{4, 8, 12, 16}, []uint64{uint64(c.Made), c.Played, c.Rows, c.Bytes})
	require.True(t, c.Revert(63, v))
	require.False(t, c.Revert(63, v))
	require.False(t, c.Has(63) || !c.Has(64))
	require.Equal(t, []uint64{3, 6, 9, 12}, []uint64{uint64(c.Made), c.Played, c.Rows, c.Bytes})
}

// TestSlowClaims: a second worker gets the claims that take longer than 1.5 times the median.
func TestSlowClaims(t *testing.T) {
	start := time.Unix(1000, 0)
	x, a := NewLeases(), NewAudits()
	var p Stragglers
	x.Grant("a", Claim{"r", 1, false}, start)
	x.Grant("b", Claim{"r", 2, false}, start.Add(10*time.Second))
	x.Grant("a", Claim{"r", 3, true}, start)
	a.Add(3, "b")
	find := func(audits bool) { p.Find(&x, "r", audits, start.Add(16*time.Second)) }
	for range minPace - 1 {
		p.Add(10 * time.Second)
	}
	find(true)
	require.Empty(t, p.List, "too few commits")
	p.Add(10 * time.Second)
	p.Find(&x, "r", true, start.Add(14*time.Second))
	require.Empty(t, p.List, "not yet one and a half times as long as usual")
	find(false)
	require.Equal(t, []Claim{{"r", 1, false}}, p.List)
	_, ok := p.Take(&x, &a, "a")
	require.False(t, ok, "it has the claim already")
	k, ok := p.Take(&x, &a, "b")
	require.True(t, ok)
	require.Equal(t, Claim{"r", 1, false}, k)
	p.List = []Claim{{"r", 3, true}}
	_, ok = p.Take(&x, &a, "b")
	require.False(t, ok, "it made the shard")
	p.List = []Claim{{"r", 3, true}}
	k, _ = p.Take(&x, &a, "c")
	require.Equal(t, Claim{"r", 3, true}, k)
}
