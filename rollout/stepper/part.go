package stepper

import (
	"errors"
	"fmt"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// part is a range of the games with its own Vector and policies. One goroutine
// at a time uses it.
type part struct {
	stepper *Stepper
	block   int
	first   int // index of the first game
	players int
	inner   env.Vector // the Vector below auto
	auto    *env.Autoreset

	mine  *env.Batch // the caller's observations; it shares all other slabs with all
	all   *env.Batch // the opponents' observations, and all other slabs for every seat
	wants env.Want   // the observations in all
	slabs Slabs      // the caller's slabs of these games

	opponents []rollout.Policy
	drawn     []uint8         // [games × seats] index of the opponent at the seat
	lists     [][]int32       // [opponents] the rows that it plays
	weights   rollout.Weights // of the opponents; nil: equal
	seats     []sim.Player    // [games] the caller's seat; nil with AllSeats
	shown     []sim.Player    // seats, if each game has one row; nil: every seat is a row
	played    []sim.Player    // [games] shown in the latest turn played

	askers     map[string]*asker
	sequential bool // the form is sequential

	base    []uint64 // [games] base seeds
	begun   []bool   // [games]
	fresh   int      // number of games that have not begun
	refused error    // error of the first invalid action
	fault   error    // panic of the latest run
}

// seen selects the observations in a Batch.
const seen = env.WantPlanes | env.WantPacked | env.WantScalars | env.WantMask | env.WantRowSeed

// newPart makes a part of block b with n games from game first on. The first
// part also sets the Stepper's spec.
func newPart(s *Stepper, b, first, n int) (*part, error) {
	c := s.c.Env
	c.N = n
	v, err := s.c.Vector(c)
	if err != nil {
		return nil, err
	}
	spec := v.Spec()
	if spec.Games != n {
		return nil, fmt.Errorf("Setup.Vector made %d games, expected %d", spec.Games, n)
	}
	if len(s.parts) == 0 {
		s.spec, s.players = spec, spec.Info.Players
		s.spec.Games, s.runs = s.c.Env.N, runsOf(spec.Heads)
		if err := s.c.checkSeat(spec.Info.Name, s.players); err != nil {
			return nil, err
		}
	}
	k := &part{
		stepper: s, block: b, first: first, players: s.players, inner: v,
		drawn: make([]uint8, n*s.players), base: make([]uint64, n), begun: make([]bool, n), fresh: n,
		sequential: spec.Sequential,
	}
	if s.c.Seat != AllSeats {
		k.seats = make([]sim.Player, n)
	}
	if !s.everySeat {
		k.shown, k.played = k.seats, make([]sim.Player, n)
	}
	for i := range n {
		k.base[i] = s.c.Seed + uint64(first+i)
	}
	if k.opponents, err = rollout.NewSeats(s.c.Opponents, spec); err != nil {
		return nil, err
	}
	for _, p := range k.opponents {
		s.slow = s.slow || rollout.Has[rollout.Interruptible](p)
		k.wants |= p.Wants() & seen
		k.lists = append(k.lists, make([]int32, 0, n*s.players))
	}
	k.all = env.NewBatch(spec, n, k.wants|env.WantAction)
	k.mine = k.view()
	k.auto, err = env.NewAutoreset(v, s.c.Autoreset, k.begin, k.view())
	if err != nil {
		return nil, errors.Join(err, rollout.CloseSeats(k.opponents...))
	}
	return k, nil
}

// view returns a Batch of the caller's rows that shares all slabs of k.all but
// the observations.
func (k *part) view() *env.Batch {
	b := *k.all
	b.Planes, b.Packed, b.Scalars, b.Mask, b.RowSeed = nil, nil, nil, nil, nil
	b.Seats = k.shown
	return &b
}

// begin draws the seat and the opponents of a new episode of game i, and
// returns the episode's seed. It is called when the episode begins.
func (k *part) begin(i int, episode uint64) uint64 {
	seed := rollout.GameSeed(k.base[i], episode)
	k.draw(i, seed)
	k.writeEpisode(i, episode)
	return seed
}

// draw draws the seat and the opponents of an episode of game i.
func (k *part) draw(i int, seed uint64) {
	if k.seats != nil {
		seat := k.stepper.c.Seat
		if seat == AnySeat {
			r := prng.New(prng.StreamSeed(seed, 0, 0, 0, prng.PurposeSeat))
			seat = r.IntN(k.players)
		}
		k.seats[i] = sim.Player(seat)
	}
	if n := len(k.opponents); n > 1 {
		for p := range k.players {
			r := prng.New(prng.StreamSeed(seed, 0, 0, uint64(p), prng.PurposeOpponent))
			j := 0
			if k.weights == nil {
				j = r.IntN(n)
			} else {
				j = k.weights.Draw(r.Uint64())
			}
			k.drawn[i*k.players+p] = uint8(j)
		}
	}
}

// writeEpisode writes the number, the seat and the opponents of game i's
// episode to the caller's slabs.
func (k *part) writeEpisode(i int, episode uint64) {
	if k.slabs.Episode != nil {
		k.slabs.Episode[i] = episode
	}
	if k.slabs.Seat != nil {
		k.slabs.Seat[i] = k.seats[i]
	}
	if k.slabs.Opponent != nil {
		all := k.slabs.Opponent[i*k.players:][:k.players]
		copy(all, k.drawn[i*k.players:])
		all[k.seats[i]] = NoOpponent
	}
}

// bind takes the part's share of the caller's slabs into use.
func (k *part) bind(all *Slabs) {
	s, n := k.stepper, len(k.base)
	k.slabs = all.cutFor(s.spec.Games, s.Rows(), k.first, n)
	b := &k.slabs
	k.all.Turn = moved(b.Turn, k.all.Turn)
	*k.mine = *k.view()
	k.mine.Planes = seenBy(b.Planes, k.all.Planes)
	k.mine.Packed = seenBy(b.Packed, k.all.Packed)
	k.mine.Scalars = seenBy(b.Scalars, k.all.Scalars)
	k.mine.Mask = seenBy(b.Mask, k.all.Mask)
	k.mine.RowSeed = seenBy(b.RowSeed, k.all.RowSeed)
	if k.shown == nil && b.Reward != nil {
		k.mine.Reward = b.Reward
	}
	k.choose(b.Action)
	k.auto.Terminated, k.auto.Truncated = moved(b.Terminated, k.auto.Terminated), moved(b.Truncated, k.auto.Truncated)
	f := k.view()
	f.Planes, f.Packed, f.Scalars = b.FinalPlanes, b.FinalPacked, b.FinalScalars
	k.auto.Final = f
	for i := range n {
		k.writeEpisode(i, k.auto.Episode(i))
	}
}

// inPlace reports whether the games read the caller's actions in place: all rows are the caller's.
func (k *part) inPlace() bool { return k.shown == nil && !k.stepper.opposed }

// rowOf returns the row in all of a row of the caller.
func (k *part) rowOf(row int) int {
	if k.shown == nil {
		return row
	}
	return row*k.players + int(k.shown[row])
}

// choose takes the actions of the caller into use.
func (k *part) choose(actions []int32) {
	k.slabs.Action, k.mine.Action, k.mine.ActionReadOnly = actions, k.all.Action, false
	if k.inPlace() && actions != nil {
		k.mine.Action, k.mine.ActionReadOnly = actions, true
	}
}

// seenBy returns the slab into which the games write the caller's observations.
// It is nil if the opponents see the same slab, from which the caller's is then
// copied.
func seenBy[T any](mine, all []T) []T {
	if all != nil {
		return nil
	}
	return mine
}

// moved copies old into the slab that replaces it and returns that slab, or a
// new one if slab is nil.
func moved[T any](slab, old []T) []T {
	if slab == nil {
		slab = make([]T, len(old))
	}
	copy(slab, old)
	return slab
}

// observe writes the observations of the opponents and the caller.
func (k *part) observe() {
	if k.wants != 0 {
		k.auto.Observe(k.all)
	}
	k.auto.Observe(k.mine)
	if k.wants == 0 && k.slabs.Waits == nil {
		return
	}
	for i := range k.base {
		k.copySeen(i)
		k.writeWaits(i)
	}
}

// observeGame is observe for game i.
func (k *part) observeGame(i int) {
	if k.wants != 0 {
		k.auto.ObserveGame(k.all, i)
	}
	k.auto.ObserveGame(k.mine, i)
	k.copySeen(i)
	k.writeWaits(i)
}

// copySeen copies the caller's rows of observations that the opponents see, too.
func (k *part) copySeen(i int) {
	if k.wants == 0 {
		return
	}
	first, end := k.rowsOf(i)
	b, all, n, rows := &k.slabs, k.all, len(k.base)*(end-first), k.all.Rows
	for to := first; to < end; to++ {
		row := k.rowOf(to)
		copyRow(b.Planes, all.Planes, n, to, rows, row)
		copyRow(b.Packed, all.Packed, n, to, rows, row)
		copyRow(b.Scalars, all.Scalars, n, to, rows, row)
		copyRow(b.Mask, all.Mask, n, to, rows, row)
		copyRow(b.RowSeed, all.RowSeed, n, to, rows, row)
	}
}

// rowsOf returns the caller's rows of game i: from first to before end.
func (k *part) rowsOf(i int) (first, end int) {
	if k.shown != nil {
		return i, i + 1
	}
	return i * k.players, (i + 1) * k.players
}

// writeWaits writes which of the caller's rows of game i wait.
func (k *part) writeWaits(i int) {
	if k.slabs.Waits == nil {
		return
	}
	first, end := k.rowsOf(i)
	for row := first; row < end; row++ {
		k.slabs.Waits[row] = k.waits(k.rowOf(row))
	}
}

// copyRow copies row from of src, which has srcRows rows, to row to of dst. It
// does nothing if one of them is nil.
func copyRow[T any](dst, src []T, dstRows, to, srcRows, from int) {
	if dst == nil || src == nil {
		return
	}
	size := len(dst) / dstRows
	copy(dst[to*size:(to+1)*size], src[from*size:][:size])
}

// step plays a turn with the actions that take has checked.
func (k *part) step() {
	k.act()
	if k.interrupted() { // by Abandon
		return
	}
	k.play()
}

// play plays a turn after the opponents have chosen.
func (k *part) play() {
	copy(k.played, k.shown)
	k.auto.Step(k.mine)
	k.pay()
	k.observe()
}

// atOnce is the number of rows that an opponent chooses for between two checks
// for an interruption: half a second of the slowest script. Networks evaluate
// fewer at once.
const atOnce = 256

// act lets the opponents choose in all running games.
func (k *part) act() {
	if !k.stepper.opposed {
		return
	}
	for j := range k.lists {
		k.lists[j] = k.lists[j][:0]
	}
	for i, status := range k.mine.Status {
		if status != sim.Running {
			continue
		}
		for p := range k.players {
			if row := i*k.players + p; sim.Player(p) != k.seats[i] && !k.waits(row) {
				j := k.drawn[row]
				k.lists[j] = append(k.lists[j], int32(row))
			}
		}
	}
	for j, rows := range k.lists {
		for len(rows) > 0 && !k.interrupted() {
			n := min(len(rows), atOnce)
			k.opponents[j].Act(k.auto, k.all, rows[:n])
			rows = rows[n:]
		}
	}
}

// pay writes the caller's rewards of the turn, and the outcomes of the games
// that have ended.
func (k *part) pay() {
	if k.shown != nil && k.slabs.Reward != nil {
		for i, p := range k.played {
			k.slabs.Reward[i] = k.mine.Reward[i*k.players+int(p)]
		}
	}
	if k.slabs.FinalScore == nil && k.slabs.FinalResult == nil {
		return
	}
	for i, over := range k.auto.Terminated {
		if !over && !k.auto.Truncated[i] {
			continue
		}
		if k.shown != nil {
			k.outcome(i, i*k.players+int(k.played[i]))
			continue
		}
		for row := i * k.players; row < (i+1)*k.players; row++ {
			k.outcome(row, row)
		}
	}
}

// outcome writes the outcome of a row of all to a row of the caller.
func (k *part) outcome(mine, row int) {
	o := &k.auto.FinalOutcome[row]
	if k.slabs.FinalScore != nil {
		k.slabs.FinalScore[mine] = float32(o.Score)
	}
	if k.slabs.FinalResult != nil {
		k.slabs.FinalResult[mine] = o.Result
	}
}
