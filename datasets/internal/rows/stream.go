package rows

import (
	"fmt"
	"io"
	"slices"
	"sync"

	"moonfarm/features"
	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// StreamOptions say which rows a Stream makes, and how it hands them out.
type StreamOptions struct {
	Spec
	Orders bool // whether batches have orders
	Moves  bool // whether batches have the moves of searches

	Rows    int  // of a batch
	Shuffle int  // rows of a window in which they are shuffled, rounded up to whole batches and turns; 0: in order
	Whole   bool // a batch is an episode, in order
	Workers int  // goroutines; with 1 the caller's does everything

	Replays func() Replays // of a worker
}

const (
	taskRows = 512       // that a worker makes at a time, in whole pieces
	mostHeld = 256 << 20 // bytes of the episodes of a window
)

// Batch is some rows, valid until the next batch is asked for.
type Batch struct {
	Slabs     *Slabs
	From, To  int // rows
	Orders    []sim.Order
	OrderEnds []int32 // [rows+1]

	Searches             rollout.SearchResults // the moves of all rows: Shares, Choices, Counts
	MoveEnds, ChoiceEnds []int32               // [rows+1] of each row's moves, and of their choices

	Final   *features.Rows   // with StreamOptions.Whole: the observations after the last turn
	Episode *rollout.Episode // with StreamOptions.Whole; its policies are left out
}

// piece is some turns of an episode, and the first of the window's rows for them.
type piece struct {
	e        *episode
	from, to int // turns
	row      int // of the window, before it is shuffled
}

// window is the rows that are made at once.
type window struct {
	slabs  *Slabs
	rows   int
	held   int     // bytes of the episodes
	order  []int32 // the place of each row; nil: rows are in order
	back   []int32 // the row at each place, if lists are wanted
	pieces []piece
	final  *features.Rows

	mu     sync.Mutex
	failed int // the first piece with an error
	err    error
	tasks  sync.WaitGroup
}

// task is some pieces of a window.
type task struct {
	w        *window
	from, to int
}

// do makes the rows of the pieces of a task.
func (m *Maker) do(t task) {
	defer t.w.tasks.Done()
	for i := t.from; i < t.to; i++ {
		if err := m.guarded(t.w, t.w.pieces[i]); err != nil {
			t.w.mu.Lock()
			if t.w.err == nil || i < t.w.failed {
				t.w.failed, t.w.err = i, err
			}
			t.w.mu.Unlock()
			return
		}
	}
}

// guarded makes the rows of a piece. It returns a panic of the game as an error: in a
// goroutine of a Stream it would end the program.
func (m *Maker) guarded(w *window, q piece) (err error) {
	defer func() {
		if r := recover(); r != nil {
			m.drop()
			err = fmt.Errorf("episode %d: %v", q.e.ID, r)
		}
	}()
	to := target{slabs: w.slabs, row: q.row}
	if w.order != nil {
		to.order = w.order[q.row:]
	}
	if err := m.write(to, q.e, q.from, q.to); err != nil {
		return err
	}
	if w.final == nil || !m.spec.plays() {
		return nil
	}
	return m.final(q.e, w.final)
}

// Source yields the next episode, which is copied, and the number of its rules;
// io.EOF after the last.
type Source func() (e *rollout.Episode, rules int, err error)

// Stream makes the rows of the episodes of a Source, in its order. It is not safe for
// concurrent use.
type Stream struct {
	c      *StreamOptions
	rand   *prng.Rand
	source Source

	alone   *Maker  // the only worker; nil: there are several
	unfold  Replays // in a sequential form; nil: none was unfolded yet
	work    chan task
	working sync.WaitGroup
	room    int // rows of a window

	e     *episode // in hand; its next turn is turn
	turn  int
	ended error // of the source
	free  []*window
	sent  []*window // whose rows are being made, in order
	out   *window   // its batches are being handed out
	batch Batch
}

// NewStream returns a Stream, whose Close must be called. rand draws the order of the
// rows in windows.
func NewStream(c StreamOptions, rand *prng.Rand, source Source) *Stream {
	s := &Stream{c: &c, rand: rand, source: source}
	whole := c.Rows // rows that are whole batches and whole turns
	for whole%c.Players != 0 {
		whole += c.Rows
	}
	s.room = (max(c.Rows, c.Shuffle) + whole - 1) / whole * whole
	windows := 1
	if c.Workers > 1 {
		if windows = 2; c.Shuffle == 0 || c.Whole {
			windows = c.Workers + 2
		}
		s.work = make(chan task)
		for range c.Workers {
			m := NewMaker(&c.Spec, c.Replays())
			s.working.Go(func() {
				for t := range s.work {
					m.do(t)
				}
			})
		}
	} else {
		s.alone = NewMaker(&c.Spec, c.Replays())
	}
	for range windows {
		s.free = append(s.free, s.newWindow())
	}
	return s
}

// Close ends the workers.
func (s *Stream) Close() {
	if s.work != nil {
		close(s.work)
		s.working.Wait()
		s.work = nil
	}
}

// Next returns the next batch, valid until the next call, and io.EOF after the last. It
// returns the first error of the Source and of the games. It hands out no rows of a
// window with an error.
func (s *Stream) Next() (*Batch, error) {
	if w := s.out; w != nil && s.batch.To == w.rows {
		s.free, s.out = append(s.free, w), nil
	}
	for s.ended == nil && len(s.free) > 0 {
		s.ended = s.gather()
	}
	if s.out == nil {
		if len(s.sent) == 0 {
			return nil, s.ended
		}
		s.out = s.sent[0]
		s.sent = append(s.sent[:0], s.sent[1:]...)
		s.out.tasks.Wait()
		if s.out.err != nil {
			s.ended, s.free, s.sent = s.out.err, nil, nil
			s.out = nil
			return nil, s.ended
		}
		s.batch.To = 0
	}
	return s.hand(), nil
}

func (s *Stream) newWindow() *window {
	if s.c.Whole {
		return &window{slabs: newSlabs(s.c.Width, 0), final: newFinal(&s.c.Spec)}
	}
	return &window{slabs: newSlabs(s.c.Width, s.room)}
}

// take takes the next episode in hand.
func (s *Stream) take() error {
	e, rules, err := s.source()
	if err != nil {
		return err
	}
	if err := s.c.check(e, rules); err != nil {
		return err
	}
	own := &episode{Episode: *e, rules: rules}
	s.e, s.turn = own, 0
	if s.c.Sequential {
		err = s.unfolded(own, e)
	} else {
		s.copied(own)
	}
	own.Policies = nil
	if s.c.Keep != nil {
		own.Policies = slices.Clone(e.Policies)
	}
	return err
}

// copied copies the lists of an episode.
func (s *Stream) copied(own *episode) {
	e := &own.Episode
	own.Orders, own.Ends, own.Chosen = slices.Clone(e.Orders), slices.Clone(e.Ends), slices.Clone(e.Chosen)
	own.AskedOrders, own.AskedEnds = slices.Clone(e.AskedOrders), slices.Clone(e.AskedEnds)
	f := &own.Searches
	*f = rollout.SearchResults{Value: slices.Clone(f.Value), Ends: slices.Clone(f.Ends), Shares: slices.Clone(f.Shares), Choices: slices.Clone(f.Choices), Counts: slices.Clone(f.Counts)}
	if s.c.Moves {
		own.moves.Set(f)
	}
	own.Recording, own.Rows = slices.Clone(e.Recording), nil
}

// unfolded divides an episode into steps. To know their number it replays the episode.
func (s *Stream) unfolded(own *episode, e *rollout.Episode) error {
	if s.unfold == nil {
		s.unfold = s.c.Replays()
	}
	r, err := s.unfold(own.rules, e)
	if err != nil {
		return err
	}
	own.Episode = rollout.Episode{}
	return r.Unfold(&own.Episode, e)
}

// gather fills a free window with pieces and has its rows made. It returns the error
// that ended the source; the last window may be short.
func (s *Stream) gather() error {
	c, w := s.c, s.free[len(s.free)-1]
	clear(w.pieces)
	w.pieces, w.rows, w.held, w.err = w.pieces[:0], 0, 0, nil
	var err error
	for s.room-w.rows >= c.Players && !(c.Whole && w.rows > 0) {
		if s.e == nil || s.turn == s.e.Turns {
			s.e = nil // also an episode without a turn
			if err = s.take(); err != nil {
				break
			}
			continue
		}
		e, to := s.e, s.e.Turns
		if c.Whole {
			w.slabs.grow(to * c.Players)
		} else {
			to = min(to, s.turn+(s.room-w.rows)/c.Players)
		}
		if w.held += 8*len(e.Orders) + 4*len(e.Ends) + 4*e.stepInts() + len(e.Recording) + 4*(2*len(e.Searches.Value)+3*len(e.Searches.Shares)+len(e.Searches.Choices)); w.held > mostHeld && len(w.pieces) > 0 {
			return fmt.Errorf("episode %d: the episodes of %d rows take more than %d bytes; read fewer rows at once", e.ID, w.rows, mostHeld)
		}
		w.pieces = append(w.pieces, piece{e, s.turn, to, w.rows})
		w.rows, s.turn = w.rows+(to-s.turn)*c.Players, to
	}
	if w.rows > 0 && (err == nil || err == io.EOF) {
		s.free = s.free[:len(s.free)-1]
		s.send(w)
	}
	return err
}

// send has the rows of a window made.
func (s *Stream) send(w *window) {
	s.shuffle(w)
	s.sent = append(s.sent, w)
	for from, to := 0, 0; from < len(w.pieces); from = to {
		rows := 0
		for ; to < len(w.pieces) && rows < taskRows; to++ {
			rows += (w.pieces[to].to - w.pieces[to].from) * s.c.Players
		}
		w.tasks.Add(1)
		if s.alone != nil {
			s.alone.do(task{w, from, to})
		} else {
			s.work <- task{w, from, to}
		}
	}
}

// shuffle draws the order of the rows of a window.
func (s *Stream) shuffle(w *window) {
	if s.c.Shuffle == 0 || s.c.Whole {
		return
	}
	w.order = Shuffled(w.order, w.rows, s.rand)
	if s.c.Orders || s.c.Moves {
		w.back = slices.Grow(w.back[:0], w.rows)[:w.rows]
		for row, at := range w.order {
			w.back[at] = int32(row)
		}
	}
}

// Shuffled returns the numbers below n in random order, in the memory of a list; without rand in their order.
func Shuffled(list []int32, n int, rand *prng.Rand) []int32 {
	list = list[:0]
	for i := range n {
		list = append(list, int32(i))
	}
	for i := n - 1; i > 0 && rand != nil; i-- {
		k := rand.IntN(i + 1)
		list[i], list[k] = list[k], list[i]
	}
	return list
}

// hand returns the next batch of the window that is being handed out.
func (s *Stream) hand() *Batch {
	w, b := s.out, &s.batch
	b.Slabs, b.From, b.To = w.slabs, b.To, min(b.To+s.c.Rows, w.rows)
	if s.c.Whole {
		b.To, b.Final, b.Episode = w.rows, w.final, &w.pieces[0].e.Episode
	}
	if s.c.Orders || s.c.Moves {
		s.lists(w)
	}
	return b
}

// lists gathers the lists of the rows of the batch in hand.
func (s *Stream) lists(w *window) {
	b, n := &s.batch, s.c.Players
	if s.c.Orders {
		b.Orders, b.OrderEnds = b.Orders[:0], append(b.OrderEnds[:0], 0)
	}
	if s.c.Moves {
		b.Searches = rollout.SearchResults{Shares: b.Searches.Shares[:0], Choices: b.Searches.Choices[:0], Counts: b.Searches.Counts[:0]}
		b.MoveEnds, b.ChoiceEnds = append(b.MoveEnds[:0], 0), append(b.ChoiceEnds[:0], 0)
	}
	for at := b.From; at < b.To; at++ {
		row := at
		if w.order != nil {
			row = int(w.back[at])
		}
		k, found := slices.BinarySearchFunc(w.pieces, row, func(q piece, row int) int { return q.row - row })
		if !found {
			k--
		}
		q := w.pieces[k]
		turn, seat := q.from+(row-q.row)/n, (row-q.row)%n
		if s.c.Orders {
			b.Orders = append(b.Orders, q.e.OrdersOf(turn, sim.Player(seat))...)
			b.OrderEnds = append(b.OrderEnds, int32(len(b.Orders)))
		}
		if s.c.Moves {
			b.moves(q.e, turn*n+seat)
		}
	}
}

// moves appends the moves of a row of an episode.
func (b *Batch) moves(e *episode, row int) {
	f := e.moves.Of(row, row+1)
	b.Searches.Shares = append(b.Searches.Shares, f.Shares...)
	b.Searches.Choices = append(b.Searches.Choices, f.Choices...)
	b.Searches.Counts = append(b.Searches.Counts, f.Counts...)
	b.MoveEnds = append(b.MoveEnds, int32(len(b.Searches.Shares)))
	b.ChoiceEnds = append(b.ChoiceEnds, int32(len(b.Searches.Choices)))
}
