package rows

import (
	"fmt"
	"slices"
	"sync"

	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// Spec says which rows are made.
type Spec struct {
	Players   int
	MaxTurns  []int        // of an episode, for each set of rules
	MaxOrders []int        // of a seat in a turn, for each set of rules
	Width     [Columns]int // bytes of a row of each wanted column; 0: not wanted
	Heads     int          // of an action
	Memory    bool         // games remember the planes that were looked at
	// Sequential is set if the games have a sequential form. A Stream then makes
	// the rows of steps (rollout.Steps) where it makes the rows of turns otherwise.
	Sequential bool

	Discount float64 // of returns
	Steps    int     // actions of the column NStep, and to the next observation

	// Keep reports whether a row is wanted, for the column Wanted. Several goroutines
	// call it at once. nil: there is no such column.
	Keep func(e *rollout.Episode, turn, seat int) bool
}

func (s *Spec) wants(c Column) bool { return s.Width[c] > 0 }

// sums reports whether rows depend on the rewards of later turns.
func (s *Spec) sums() bool { return s.wantsAny(Return, NStep) }

// plays reports whether any column is wanted that the episodes do not hold.
func (s *Spec) plays() bool { return s.wantsAny(Planes, NStep) }

// observes reports whether observations, masks or actions are wanted.
func (s *Spec) observes() bool { return s.wantsAny(Planes, Opponent) }

// next reports whether the observations of a later action are wanted.
func (s *Spec) next() bool { return s.wantsAny(NextPlanes, NextMask) }

// wantsAny reports whether one of the columns from first to last is wanted.
func (s *Spec) wantsAny(first, last Column) bool {
	return slices.Max(s.Width[first:last+1]) > 0
}

// check fails if an episode does not fit the game.
func (s *Spec) check(e *rollout.Episode, rules int) error {
	if e.Players != s.Players || rules < 0 || rules >= len(s.MaxTurns) {
		return fmt.Errorf("episode %d: %d seats, rules number %d; the game has %d, and %d sets of rules", e.ID, e.Players, rules, s.Players, len(s.MaxTurns))
	}
	if e.Turns > s.MaxTurns[rules] {
		return fmt.Errorf("episode %d: %d turns, the game has at most %d", e.ID, e.Turns, s.MaxTurns[rules])
	}
	return nil
}

// Replays returns a Replayer for an episode with the rules of that number. One
// goroutine uses it.
type Replays func(rules int, e *rollout.Episode) (*rollout.Replayer, error)

// turns yields the rows of an episode turn by turn. A rollout.Replayer does so by
// playing it again.
type turns interface {
	// Step writes the rows of the next turn into the slabs of the batch.
	Step(b *env.Batch) error
	// Final writes the observations after the last turn.
	Final(b *env.Batch)
}

// keptTurns yields the turns of an episode that holds its rows, but not the rewards,
// which the Maker takes all at once.
type keptTurns struct {
	rows          *rollout.Rows
	turn, players int
}

// Step implements turns.
func (k *keptTurns) Step(b *env.Batch) error {
	n := k.players
	p, row := k.rows.Pages[k.turn/rollout.PageTurns], k.turn%rollout.PageTurns*n
	copyRows(b.Planes, p.Planes, row, n)
	copyRows(b.Packed, p.Packed, row, n)
	copyRows(b.Scalars, p.Scalars, row, n)
	copyRows(b.Mask, p.Mask, row, n)
	copyRows(b.Action, p.Action, row, n)
	k.turn++
	return nil
}

// Final implements turns.
func (k *keptTurns) Final(b *env.Batch) {
	copy(b.Planes, k.rows.Final.Planes)
	copy(b.Packed, k.rows.Final.Packed)
	copy(b.Scalars, k.rows.Final.Scalars)
}

// copyRows fills dst, which has n rows, with rows from the given one on.
func copyRows[T any](dst, rows []T, row, n int) { copy(dst, rows[row*(len(dst)/n):]) }

// episode is an episode whose rows are made, possibly by several Makers that each
// make some of its turns.
type episode struct {
	rollout.Episode
	rules int
	moves Moves // of its searches, if they are wanted

	mu    sync.Mutex // guards the fields below
	known bool       // returns and nsteps are computed
	sums  sums
}

// stepInts returns how many numbers the steps of the episode are.
func (e *episode) stepInts() int {
	if e.Steps == nil {
		return 0
	}
	return len(e.Steps.Action) + len(e.Steps.Turn) + len(e.Steps.Step)
}

// Maker makes the rows of one episode after the other: Start it, Write its turns in
// order, and then Final. One goroutine uses it at a time.
type Maker struct {
	spec    *Spec
	replays Replays
	batch   *env.Batch
	turn    *Slabs // scratch: the rows of one turn, to be shuffled, or with columns from which others are computed
	piece   *Slabs // scratch: the other columns of rows to be shuffled
	started episode

	rewards []float32 // of the turns that were played [turns, seats]
	whole   sums      // of an episode that was played in one go
	late    [][]int32 // for each seat the places of rows that lack their next observation, the oldest first; -1: a row of another piece
	places  []int32   // scratch: of rows in order

	// The source yields turn number `at` of the episode `in` next.
	source turns
	in     *episode // nil: none
	at     int
	kept   keptTurns
	replay *rollout.Replayer
	played *episode // by replay
}

// NewMaker returns a Maker. It uses replays for the episodes that hold no rows.
func NewMaker(s *Spec, replays Replays) *Maker {
	turn, piece := s.Width, s.Width
	for c := range Columns {
		if c.played() {
			piece[c] = 0
		} else {
			turn[c] = 0
		}
	}
	if s.wants(Opponent) || s.Sequential {
		turn[Action] = s.Heads * 4
	}
	for _, c := range nexts {
		turn[c.now], turn[c.next] = max(turn[c.now], turn[c.next]), 0
	}
	return &Maker{spec: s, replays: replays, late: make([][]int32, s.Players), turn: newSlabs(turn, s.Players), piece: newSlabs(piece, 0), batch: &env.Batch{
		Rows: s.Players, CutMask: true, OrderLen: make([]int32, s.Players), Status: make([]sim.Status, 1), Turn: make([]int32, 1),
	}}
}

// Start begins an episode, which must stay unchanged until its last row is made. It
// fails if the episode cannot be one of the game.
func (m *Maker) Start(e *rollout.Episode, rules int) error {
	m.started = episode{Episode: *e, rules: rules, sums: m.started.sums}
	m.drop()
	return m.begin(&m.started)
}

// Write makes the rows of the turns from first up to end, from the given row of the
// slabs on. It fails if the game does not go as the episode says. An episode that is
// written in several pieces and does not hold its rewards is played for them first.
func (m *Maker) Write(to *Slabs, row, first, end int) error {
	return m.write(target{slabs: to, row: row}, &m.started, first, end)
}

// Final writes the observations after the last turn into the given row of the slabs
// and the next ones.
func (m *Maker) Final(to *Slabs, row int) error {
	n := m.spec.Players
	return m.final(&m.started, &features.Rows{
		Planes: to.Bytes(Planes, row, n), Packed: view[uint64](to, Packed, row, n), Scalars: view[float32](to, Scalars, row, n),
	})
}

// final writes the observations after the last turn of an episode.
func (m *Maker) final(e *episode, to *features.Rows) error {
	if err := m.seek(e, e.Turns, m.spec.Memory); err != nil {
		return err
	}
	m.batch.Planes, m.batch.Packed, m.batch.Scalars = to.Planes, to.Packed, to.Scalars
	m.source.Final(m.batch)
	return nil
}

// target is where rows are written.
type target struct {
	slabs *Slabs
	row   int     // the first
	order []int32 // row k goes to row order[k] of the slabs; nil: to row row+k
}

// write makes the rows of some turns of an episode.
func (m *Maker) write(to target, e *episode, first, end int) error {
	returns, rows := &m.whole, (end-first)*m.spec.Players
	if to.order == nil && m.spec.next() {
		to.order = m.inOrder(to.row, rows)
	}
	if m.spec.plays() {
		whole := first == 0 && end == e.Turns
		if m.spec.sums() && (!whole || e.Rows != nil || e.Steps != nil) {
			if err := m.ahead(e); err != nil {
				return err
			}
			returns = &e.sums
		}
		if err := m.seek(e, first, m.spec.Memory); err != nil {
			return err
		}
		if err := m.play(to, e, end); err != nil {
			return err
		}
		if m.spec.sums() && returns == &m.whole {
			m.whole.compute(m.spec, &e.Episode, m.rewards[:e.Turns*m.spec.Players])
		}
	}
	if to.order == nil {
		m.fill(to.slabs, to.row, e, first, end, returns)
		return nil
	}
	m.piece.grow(rows)
	m.fill(m.piece, 0, e, first, end, returns)
	scatter(to, m.piece, rows)
	return nil
}

// ahead computes the returns of all turns of an episode, unless they are known. An
// episode that does not hold its rewards is played to its end for them.
func (m *Maker) ahead(e *episode) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known {
		return nil
	}
	var rewards []float32
	if e.Rows != nil {
		rewards = e.Rows.Reward
	} else if e.Steps != nil {
		rewards = e.Steps.Reward
	} else if err := m.seek(e, e.Turns, false); err != nil {
		return err
	} else {
		rewards = m.rewards[:e.Turns*m.spec.Players]
	}
	e.sums.compute(m.spec, &e.Episode, rewards)
	e.known = true
	return nil
}

// seek puts the source before a turn of the episode. With watch it observes the planes
// of the turns before, so that the game remembers what they showed.
func (m *Maker) seek(e *episode, turn int, watch bool) error {
	if m.in != e || m.at > turn {
		if err := m.begin(e); err != nil {
			return err
		}
	}
	b := m.batch
	b.Planes, b.Packed, b.Scalars, b.Mask, b.Action = nil, nil, nil, nil, nil
	if m.replay != nil {
		m.replay.Asked = nil
	}
	if m.spec.Sequential {
		b.Action = view[int32](m.turn, Action, 0, m.spec.Players)
	}
	if watch {
		b.Planes = m.turn.Bytes(Planes, 0, m.spec.Players)
	}
	for m.at < turn {
		if err := m.step(); err != nil {
			return err
		}
	}
	return nil
}

// begin puts the source before the first turn of an episode. An episode that was just
// played holds its rewards, and may hold its other rows; any other is played again.
func (m *Maker) begin(e *episode) error {
	m.in = nil
	n := m.spec.Players
	if r := e.Rows; r != nil && (len(r.Pages) > 0 || !m.spec.observes()) {
		m.kept = keptTurns{rows: r, players: n}
		m.source = &m.kept
		m.rewards = append(m.rewards[:0], r.Reward...)
		if len(r.Pages) == 0 { // nothing but rewards is wanted
			m.in, m.at = e, e.Turns
			return nil
		}
	} else {
		if m.played != e {
			r, err := m.replays(e.rules, &e.Episode)
			if err != nil {
				return err
			}
			m.replay, m.played = r, e
		}
		if err := m.replay.Start(&e.Episode); err != nil {
			return err
		}
		m.source = m.replay
	}
	m.in, m.at = e, 0
	if n := n * m.spec.MaxOrders[e.rules]; cap(m.batch.Orders) < n {
		m.batch.Orders = make([]sim.Order, n)
	} else {
		m.batch.Orders = m.batch.Orders[:n]
	}
	m.rewards = resized(m.rewards, e.Turns*n)
	return nil
}

// drop lets go of the episode in hand.
func (m *Maker) drop() { m.in, m.played = nil, nil }

// step yields the next turn.
func (m *Maker) step() error {
	n := m.spec.Players
	m.batch.Reward = m.rewards[m.at*n : (m.at+1)*n]
	if err := m.source.Step(m.batch); err != nil {
		m.drop()
		return err
	}
	m.at++
	return nil
}

// play writes the columns that playing yields, of the turns up to end.
func (m *Maker) play(to target, e *episode, end int) error {
	n := m.spec.Players
	s := to.slabs
	if to.order != nil {
		s = m.turn
		m.window(s, 0)
	}
	for m.at < end {
		row := 0
		if to.order == nil {
			row = to.row
			m.window(s, row)
		}
		if err := m.step(); err != nil {
			return err
		}
		if m.spec.wants(Opponent) {
			m.opponents(s, row)
		}
		if to.order != nil {
			m.reach(to.slabs, e, to.order[:n])
			scatter(to, s, n)
			to.order = to.order[n:]
		}
		to.row += n
	}
	return m.playOn(to.slabs, e)
}

// window points the batch at the rows of a turn, from the given row on.
func (m *Maker) window(to *Slabs, row int) {
	b, n := m.batch, m.spec.Players
	b.Planes = to.Bytes(Planes, row, n)
	b.Packed = view[uint64](to, Packed, row, n)
	b.Scalars = view[float32](to, Scalars, row, n)
	b.Mask = view[uint64](to, Mask, row, n)
	if b.Action = view[int32](to, Action, row, n); b.Action == nil {
		b.Action = view[int32](m.turn, Action, 0, n)
	}
	if m.replay != nil {
		m.replay.Asked = view[int32](to, Asked, row, n)
	}
}

// opponents writes the column Opponent of the turn in the batch.
func (m *Maker) opponents(to *Slabs, row int) {
	n, heads := m.spec.Players, m.spec.Heads
	for seat := range n {
		dst := view[int32](to, Opponent, row+seat, 1)
		for k := range n - 1 {
			other := (seat + 1 + k) % n
			copy(dst[k*heads:], m.batch.Action[other*heads:(other+1)*heads])
		}
	}
}

// scatter copies n rows of the columns of both slabs to the places of a target.
func scatter(to target, from *Slabs, n int) {
	for c, size := range from.width {
		if size == 0 || to.slabs.width[c] == 0 {
			continue
		}
		dst, src := to.slabs.data[c], from.data[c]
		for k, at := range to.order[:n] {
			copy(dst[int(at)*size:][:size], src[k*size:])
		}
	}
}

// newFinal returns memory for the observations of all seats after the last turn.
func newFinal(s *Spec) *features.Rows {
	m := newSlabs(s.Width, s.Players)
	return &features.Rows{Planes: m.Bytes(Planes, 0, s.Players), Packed: view[uint64](m, Packed, 0, s.Players), Scalars: view[float32](m, Scalars, 0, s.Players)}
}
