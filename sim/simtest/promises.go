package simtest

import (
	"bytes"
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"moonfarm/sim"
)

func (s *suite[S]) testInfo(t *testing.T) {
	i := s.info
	if i.Name == "" || i.Rules == "" {
		t.Errorf("name %q, rules %q: neither may be empty", i.Name, i.Rules)
	}
	if i.Players < 1 || i.Players > sim.MaxPlayers || i.MaxTurns < 1 || i.MaxOrders < 1 {
		t.Errorf("%d players, %d turns, %d orders: out of range", i.Players, i.MaxTurns, i.MaxOrders)
	}
	g := s.fresh()
	first := g.Info()
	g.Reset(new(S), 1)
	if again := g.Info(); first != i || again != i {
		t.Errorf("Info is not constant: %+v, then %+v, then %+v", i, first, again)
	}
}

func (s *suite[S]) testReset(t *testing.T) {
	g := s.fresh()
	clean, dirty := new(S), new(S)
	for seed := range uint64(s.Games) {
		*clean = *new(S)
		memory := bytesOf(dirty)
		for i := range memory {
			memory[i] = 0xa5
		}
		g.Reset(clean, seed)
		g.Reset(dirty, seed)
		if d := Diff(clean, dirty); d != "" {
			t.Fatalf("seed %d: Reset of a zero state and of a dirty one differ: %s", seed, d)
		}
	}
}

func (s *suite[S]) testSame(t *testing.T) {
	// The second game value has played before, and plays other games in
	// between.
	second := s.fresh()
	other := s.newPlayout(second, 1<<32)
	s.each(t, func(a *playout[S]) {
		if a.turn > 0 {
			return
		}
		first := s.newPlayout(a.game, a.seed)
		b := s.newPlayout(second, a.seed)
		for {
			if d := Diff(first.state, b.state); d != "" || first.status != b.status {
				t.Fatalf("seed %d turn %d: the same game played twice differs: %v, %v; %s", a.seed, b.turn, first.status, b.status, d)
			}
			if first.status != sim.Running || first.turn == s.Turns {
				return
			}
			first.choose()
			first.step()
			s.playOn(other)
			b.choose()
			b.step()
		}
	})
	s.testGoroutines(t)
}

// playOn plays one turn of b, after starting a new game if it has ended.
func (s *suite[S]) playOn(b *playout[S]) {
	if b.status != sim.Running || b.turn >= s.Turns {
		b.seed, b.turn, b.status = b.seed+1, 0, sim.Running
		b.game.Reset(b.state, b.seed)
	}
	b.choose()
	b.step()
}

// testGoroutines plays the same games in two goroutines, each with its own game
// value. It, or the race detector, finds memory that the values share.
func (s *suite[S]) testGoroutines(t *testing.T) {
	var ends [2][]uint64
	var wg sync.WaitGroup
	for w := range ends {
		wg.Go(func() {
			game := s.fresh()
			for seed := range uint64(min(s.Games, 4)) {
				b := s.newPlayout(game, seed)
				for b.status == sim.Running && b.turn < s.Turns {
					b.choose()
					b.step()
				}
				ends[w] = append(ends[w], game.Hash(b.state))
			}
		})
	}
	wg.Wait()
	if !slices.Equal(ends[0], ends[1]) {
		t.Errorf("two goroutines play the same games to different ends: hashes %x and %x", ends[0], ends[1])
	}
}

func (s *suite[S]) testClone(t *testing.T) {
	clone, stray, kept := new(S), new(S), new(S)
	s.each(t, func(b *playout[S]) {
		if b.turn > 0 {
			if d := Diff(b.state, clone); d != "" {
				t.Fatalf("seed %d turn %d: the clone, given the same orders, went another way: %s", b.seed, b.turn, d)
			}
		}
		if b.status != sim.Running {
			return
		}
		*clone, *stray, *kept = *b.state, *b.state, *b.state
		b.seed ^= 1 // other orders
		b.choose()
		b.seed ^= 1
		b.game.Step(stray, b.given)
		b.choose()
		b.game.Step(clone, b.given)
		if d := Diff(b.state, kept); d != "" {
			t.Fatalf("seed %d turn %d: a turn of a clone changes the original: %s", b.seed, b.turn, d)
		}
	})
}

func (s *suite[S]) testOrders(t *testing.T) {
	second := s.fresh()
	seen := map[sim.Order]bool{}
	s.each(t, func(b *playout[S]) {
		for seat := range s.info.Players {
			p := sim.Player(seat)
			const mark = sim.Order(0xfeedfacecafebeef)
			got := b.game.AppendOrders([]sim.Order{mark}, b.state, p)
			if len(got) < 2 || got[0] != mark || got[1] != 0 {
				t.Fatalf("seed %d turn %d seat %d: AppendOrders must append, and the first must be 0: %#x", b.seed, b.turn, p, got)
			}
			clear(seen)
			for _, o := range got[1:] {
				if seen[o] {
					t.Fatalf("seed %d turn %d seat %d: order %#x is listed twice", b.seed, b.turn, p, o)
				}
				seen[o] = true
			}
			if again := second.AppendOrders(nil, b.state, p); !slices.Equal(got[1:], again) {
				t.Fatalf("seed %d turn %d seat %d: asked twice, the orders are %#x and %#x", b.seed, b.turn, p, got[1:], again)
			}
		}
	})
}

func (s *suite[S]) testIllegal(t *testing.T) {
	for seed := range uint64(s.Games) {
		s.testScribbled(t, seed)
	}
}

// testScribbled plays a game of legal turns and turns of random bits, twice.
func (s *suite[S]) testScribbled(t *testing.T, seed uint64) {
	a, b := s.newPlayout(s.fresh(), seed), s.newPlayout(s.fresh(), seed)
	defer func() {
		if fault := recover(); fault != nil {
			t.Fatalf("seed %d turn %d: orders of random bits, then panic: %v\n%s", seed, a.turn, fault, debug.Stack())
		}
	}()
	for a.status == sim.Running && a.turn < s.Turns {
		// Legal turns in between bring the game to states in which random bits
		// could do harm.
		if a.turn%3 == 0 {
			a.scribble()
			b.scribble()
		} else {
			a.choose()
			b.choose()
		}
		a.step()
		b.step()
		if d := Diff(a.state, b.state); d != "" || a.status != b.status {
			t.Fatalf("seed %d turn %d: after orders of random bits the same game differs: %v, %v; %s", seed, a.turn, a.status, b.status, d)
		}
		s.checkOutcome(t, a)
	}
}

func (s *suite[S]) testEnds(t *testing.T) {
	ended := 0
	s.each(t, func(b *playout[S]) {
		if b.status > sim.Cut {
			t.Fatalf("seed %d turn %d: status %d is not valid", b.seed, b.turn, b.status)
		}
		if b.status != sim.Running {
			ended++
		} else if b.turn >= s.info.MaxTurns {
			t.Fatalf("seed %d turn %d: still running, but Info.MaxTurns is %d", b.seed, b.turn, s.info.MaxTurns)
		}
	})
	t.Logf("%d of %d random games ended within %d turns", ended, s.Games, s.Turns)
}

func (s *suite[S]) testOutcome(t *testing.T) {
	s.each(t, func(b *playout[S]) { s.checkOutcome(t, b) })
}

func (s *suite[S]) checkOutcome(t *testing.T, b *playout[S]) {
	t.Helper()
	sum := 0.0
	for seat := range s.info.Players {
		o := b.game.Outcome(b.state, sim.Player(seat))
		if !(o.Result >= -1 && o.Result <= 1) || math.IsNaN(o.Score) || math.IsInf(o.Score, 0) {
			t.Fatalf("seed %d turn %d seat %d: outcome %+v is out of range", b.seed, b.turn, seat, o)
		}
		sum += float64(o.Result)
	}
	if math.Abs(sum) > 1e-6 {
		t.Fatalf("seed %d turn %d: the results sum to %g, not to 0", b.seed, b.turn, sum)
	}
}

func (s *suite[S]) testHash(t *testing.T) {
	second, copied := s.fresh(), new(S)
	last := uint64(0)
	s.each(t, func(b *playout[S]) {
		*copied = *b.state
		h := b.game.Hash(b.state)
		if again := second.Hash(copied); h != again {
			t.Fatalf("seed %d turn %d: a state hashes to %#x, its clone to %#x", b.seed, b.turn, h, again)
		}
		if b.turn > 0 && h == last {
			t.Fatalf("seed %d turn %d: the hash %#x is the same as in the turn before", b.seed, b.turn, h)
		}
		last = h
	})
}

func (s *suite[S]) testReadOnly(t *testing.T) {
	before := []byte(nil)
	s.each(t, func(b *playout[S]) {
		before = append(before[:0], bytesOf(b.state)...)
		for seat := range s.info.Players {
			b.legal = b.game.AppendOrders(b.legal[:0], b.state, sim.Player(seat))
			b.game.Outcome(b.state, sim.Player(seat))
		}
		b.game.Hash(b.state)
		if !bytes.Equal(before, bytesOf(b.state)) {
			t.Fatalf("seed %d turn %d: AppendOrders, Outcome or Hash changes the state", b.seed, b.turn)
		}
	})
}

func (s *suite[S]) testAllocations(t *testing.T) {
	b := s.newPlayout(s.fresh(), 1)
	turns := []*sim.Turn{}
	room := 0
	for b.status == sim.Running && b.turn < min(s.Turns, 200) {
		b.choose()
		turn := sim.NewTurn(s.info.MaxOrders)
		for seat := range s.info.Players {
			turn.Set(sim.Player(seat), b.given.Orders(sim.Player(seat)))
			room = max(room, len(b.game.AppendOrders(nil, b.state, sim.Player(seat))))
		}
		turns = append(turns, turn)
		b.step()
	}
	clone, dst := new(S), make([]sim.Order, 0, room)
	sum := 0.0
	check := func(what string, f func()) {
		t.Helper()
		b.game.Reset(b.state, 1)
		if n := testing.AllocsPerRun(2, f); n != 0 {
			t.Errorf("%s: %g allocations in %d turns, want none", what, n, len(turns))
		}
	}
	play := func(each func(p sim.Player)) func() {
		return func() {
			b.game.Reset(b.state, 1)
			for _, turn := range turns {
				b.game.Step(b.state, turn)
				for seat := range s.info.Players {
					each(sim.Player(seat))
				}
			}
		}
	}
	check("Reset", func() { b.game.Reset(b.state, 1) })
	check("Step", play(func(sim.Player) {}))
	check("AppendOrders", play(func(p sim.Player) { dst = b.game.AppendOrders(dst[:0], b.state, p) }))
	check("Outcome", play(func(p sim.Player) { sum += b.game.Outcome(b.state, p).Score }))
	check("Hash", play(func(sim.Player) { sum += float64(b.game.Hash(b.state)) }))
	check("clone", play(func(sim.Player) { *clone = *b.state }))
}

func (s *suite[S]) testMirror(t *testing.T) {
	mirrored, expected := new(S), new(S)
	turn := sim.NewTurn(s.info.MaxOrders)
	game := s.fresh()
	s.each(t, func(b *playout[S]) {
		if b.turn > 0 {
			s.Mirror(expected, b.state)
			if d := Diff(expected, mirrored); d != "" {
				t.Fatalf("seed %d turn %d: the mirrored game goes another way (expected, got): %s", b.seed, b.turn, d)
			}
		}
		if b.status != sim.Running {
			return
		}
		s.Mirror(mirrored, b.state)
		b.choose() // as the caller will do again
		turn.Clear()
		for seat := range s.info.Players {
			for _, o := range b.given.Orders(sim.Player(seat)) {
				if s.MirrorOrder != nil {
					o = s.MirrorOrder(o)
				}
				turn.Add(sim.Player(s.info.Players-1-seat), o)
			}
		}
		game.Step(mirrored, turn)
	})
}
