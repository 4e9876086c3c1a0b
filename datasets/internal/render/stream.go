package render

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

// Config says what is rendered, and how.
type Config struct {
	Players  int
	MaxTurns []int        // of each set of rules
	Width    [Columns]int // bytes of a row of each wanted column; 0: not wanted
	Heads    int          // of an action
	Orders   bool         // whether batches have orders
	Moves    bool         // whether they have the moves of searches
	Memory   bool         // games remember the planes that were looked at

	Discount float64 // of returns
	Steps    int     // turns of the column NStep

	Rows    int  // of a batch
	Shuffle int  // rows of a window in which they are shuffled, rounded up to whole batches and turns; 0: in order
	Whole   bool // a batch is an episode, in order
	Workers int  // goroutines; of 1 all is done in the caller's

	Games func() Games // of a worker

	// Keep tells which rows are wanted, for the column Kept. It is called by several
	// goroutines at once. nil: there is no such column.
	Keep func(e *rollout.Episode, turn, seat int) bool
}

func (c *Config) wants(k Column) bool { return c.Width[k] > 0 }
func (c *Config) heads() int          { return c.Heads }

// sums reports whether rows depend on later ones.
func (c *Config) sums() bool { return c.wants(Return) || c.wants(NStep) }

// plays reports whether anything is wanted that the episodes do not tell.
func (c *Config) plays() bool {
	for k := Planes; k <= NStep; k++ {
		if c.wants(k) {
			return true
		}
	}
	return false
}

const (
	taskRows = 512       // a worker takes so many rows at a time, or a piece
	mostHeld = 256 << 20 // bytes of the episodes of a window
)

// Batch is some rendered rows, valid until the next are asked for.
type Batch struct {
	Slabs     *Slabs
	From, To  int // rows
	Orders    []sim.Order
	OrderEnds []int32 // [rows+1]

	Found                rollout.SearchResults // the moves of all rows: Shares, Choices, Counts
	MoveEnds, ChoiceEnds []int32               // [rows+1] of each row's moves, and of their choices

	Final   *features.Rows   // with Config.Whole: what is seen after the last turn
	Episode *rollout.Episode // with Config.Whole; its policies are left out
}

// window is what is rendered at once.
type window struct {
	slabs  *Slabs
	rows   int
	held   int     // bytes of the episodes
	order  []int32 // the place of each row; nil: its own
	back   []int32 // the row at each place, if lists are wanted
	pieces []piece
	final  *features.Rows

	mu     sync.Mutex
	failed int // the first piece that did
	err    error
	tasks  sync.WaitGroup
}

// at is the place of a row.
func (w *window) at(row int) int {
	if w.order == nil {
		return row
	}
	return int(w.order[row])
}

// task is some pieces of a window.
type task struct {
	w        *window
	from, to int
}

// do renders the pieces of a task.
func (p *player) do(t task) {
	defer t.w.tasks.Done()
	for i := t.from; i < t.to; i++ {
		if err := p.guarded(t.w, t.w.pieces[i]); err != nil {
			t.w.mu.Lock()
			if t.w.err == nil || i < t.w.failed {
				t.w.failed, t.w.err = i, err
			}
			t.w.mu.Unlock()
			return
		}
	}
}

// guarded makes an error of a panic of the game, which would end the program in a
// goroutine of ours.
func (p *player) guarded(w *window, q piece) (err error) {
	defer func() {
		if r := recover(); r != nil {
			p.in = nil
			err = fmt.Errorf("episode %d: %v", q.e.ID, r)
		}
	}()
	return p.render(w, q)
}

// Source yields the next episode, which is copied, and the number of its rules;
// io.EOF after the last.
type Source func() (e *rollout.Episode, rules int, err error)

// Stream renders the episodes of a Source in their order. It is not safe for
// concurrent use.
type Stream struct {
	c      *Config
	rand   *prng.Rand
	source Source

	alone   *player // of one worker
	work    chan task
	working sync.WaitGroup
	room    int // rows of a window

	e     *episode // in hand, of which turns are left from turn on
	turn  int
	ended error // of the source
	free  []*window
	sent  []*window // being rendered, in order
	out   *window   // of which batches are handed out
	batch Batch
}

// NewStream begins to render. rand draws the order of the rows in windows. Close
// must be called.
func NewStream(c Config, rand *prng.Rand, source Source) *Stream {
	s := &Stream{c: &c, rand: rand, source: source}
	whole := c.Rows * c.Players / gcd(c.Rows, c.Players) // batches and turns
	s.room = (max(c.Rows, c.Shuffle) + whole - 1) / whole * whole
	windows := 1
	if c.Workers > 1 {
		if windows = 2; c.Shuffle == 0 || c.Whole {
			windows = c.Workers + 2
		}
		s.work = make(chan task)
		for range c.Workers {
			p := newPlayer(&c, c.Games())
			s.working.Go(func() {
				for t := range s.work {
					p.do(t)
				}
			})
		}
	} else {
		s.alone = newPlayer(&c, c.Games())
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

// Next returns the next batch, valid until the call after it; io.EOF after the
// last. It returns the first error of the Source and of the games. The rows of a
// window in which something failed are not handed out.
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
		return &window{slabs: newSlabs(s.c.Width, 0), final: newFinal(s.c)}
	}
	return &window{slabs: newSlabs(s.c.Width, s.room)}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
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
	own.Orders, own.Ends, own.Chosen = slices.Clone(e.Orders), slices.Clone(e.Ends), slices.Clone(e.Chosen)
	f := &own.Searches
	*f = rollout.SearchResults{Value: slices.Clone(f.Value), Ends: slices.Clone(f.Ends), Shares: slices.Clone(f.Shares), Choices: slices.Clone(f.Choices), Counts: slices.Clone(f.Counts)}
	if s.c.Moves {
		own.choices = f.AppendChoiceEnds(nil)
	}
	own.Recording, own.Policies, own.Rows = slices.Clone(e.Recording), nil, nil
	if s.c.Keep != nil {
		own.Policies = slices.Clone(e.Policies)
	}
	s.e, s.turn = own, 0
	return nil
}

// gather fills a free window with pieces and has it rendered. It returns the error
// that ended the source, whose last window may be short.
func (s *Stream) gather() error {
	c, w := s.c, s.free[len(s.free)-1]
	clear(w.pieces)
	w.pieces, w.rows, w.held, w.err = w.pieces[:0], 0, 0, nil
	var err error
	for s.room-w.rows >= c.Players && !(c.Whole && w.rows > 0) {
		if s.e == nil || s.turn == s.e.Turns {
			s.e = nil // of those without a turn nothing is left, too
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
		if w.held += 8*len(e.Orders) + 4*len(e.Ends) + len(e.Recording) + 4*(2*len(e.Searches.Value)+3*len(e.Searches.Shares)+len(e.Searches.Choices)); w.held > mostHeld && len(w.pieces) > 0 {
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

// send has a window rendered.
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
	w.order = w.order[:0]
	for i := range w.rows {
		w.order = append(w.order, int32(i))
	}
	for i := len(w.order) - 1; i > 0; i-- {
		k := s.rand.IntN(i + 1)
		w.order[i], w.order[k] = w.order[k], w.order[i]
	}
	if s.c.Orders || s.c.Moves {
		w.back = slices.Grow(w.back[:0], w.rows)[:w.rows]
		for row, at := range w.order {
			w.back[at] = int32(row)
		}
	}
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
		b.Found = rollout.SearchResults{Shares: b.Found.Shares[:0], Choices: b.Found.Choices[:0], Counts: b.Found.Counts[:0]}
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
	f, move, choice := &e.Searches, int32(0), int32(0)
	if row > 0 {
		move, choice = f.Ends[row-1], e.choices[row-1]
	}
	b.Found.Shares = append(b.Found.Shares, f.Shares[move:f.Ends[row]]...)
	b.Found.Choices = append(b.Found.Choices, f.Choices[choice:e.choices[row]]...)
	if len(f.Counts) > 0 {
		b.Found.Counts = append(b.Found.Counts, f.Counts[move:f.Ends[row]]...)
	}
	b.MoveEnds = append(b.MoveEnds, int32(len(b.Found.Shares)))
	b.ChoiceEnds = append(b.ChoiceEnds, int32(len(b.Found.Choices)))
}
