package read

import (
	"fmt"
	"io"
	"iter"
	"slices"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/filter"
	"moonfarm/datasets/internal/games"
	"moonfarm/datasets/internal/rows"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// Split is a part of the episodes.
type Split uint8

const (
	All        Split = iota
	Train            // all but the validation and test parts
	Validation       // a share of the games, the same for every reader
	Test             // another share
)

// ReadOptions say which rows are read, and in which order. The zero value reads all
// rows in order.
type ReadOptions struct {
	Columns []string // step columns wanted; none: all
	Rows    int      // rows in a batch; the last may have fewer; 0: 1024

	// Shuffle > 0 reads the shards in random order and shuffles rows within windows of
	// Shuffle rows. Seed and Epoch choose the order.
	Shuffle     int
	Seed, Epoch uint64

	// Validation and Test are the shares of the different games for validation and for
	// tests; their sum is at most 1. Split is the part to read. Episodes that play the
	// same game are in the same part.
	Split            Split
	Validation, Test float64

	// Filter leaves out rows. It does not change parts and windows of Shuffle, but that
	// they have fewer rows. It cannot be used with Whole.
	Filter filter.Filter

	// With Parts > 1 only part number Part of the episodes is read, from 0, before the
	// Split. Parts of equal options have no episode in common, and together they have
	// all, in any epoch; their sizes differ by at most one episode. So each rank of a
	// training and each worker of a loader reads its own part.
	Part, Parts int

	// Makers, if not nil, replay the episodes to make the rows, which are then not read
	// from the files of steps. Their Vector must play the rules of the dataset, in the
	// same version. Shuffle then also mixes the episodes of a file, and rounds windows
	// up to whole batches. The options below need Makers.
	Makers *about.Makers

	// Form is the form of the rows; "": as in the dataset. In a sequential form a row is
	// an action of a seat, and the turns of a seat that waits for others have no rows.
	Form string

	Obs      about.Obs // form of the observations; ObsNone also leaves out masks and actions; "": as in the dataset
	Memory   bool      // as Job.Memory, if Obs is given
	Reward   string    // name of the reward; "": as in the dataset
	Discount float64   // of the returns; 0: as in the dataset
	// Steps > 0 adds the column "nstep": the return of that number of turns, in a sequential
	// form of actions of the seat.
	Steps int
	// Next adds the observation and the mask that a seat has Steps of its actions later (0 is
	// 1), or after the last turn, as "next_planes" and so on; and "next_discount", the weight
	// of its value: Discount to the power of the actions, 0 if the rules had ended the episode.
	// It cannot be used with Whole.
	Next bool

	// Whole makes each batch an episode, with its rows ordered by turn and seat, and
	// Batch.Final. Rows is then ignored, and Shuffle > 0 shuffles only the order of the
	// episodes.
	Whole bool

	// Workers is the number of goroutines that play; with 0 or 1 only the caller's
	// plays. More workers take the memory of two windows; without Shuffle, of two
	// windows and one for each worker.
	Workers int
}

// Batch holds some step rows, slab by slab: a column of shape [A, B] is one slice of
// Rows×A×B values, row-major. Columns that were not asked for, or are not in the
// dataset, are nil. A Batch is valid until the next one is read.
type Batch struct {
	Rows int

	Episode    []uint64  // [Rows]
	Turn       []int32   // [Rows]
	Seat       []uint8   // [Rows]
	Planes     []uint8   // [Rows, P, H, W]
	Packed     []uint64  // [Rows, Words]
	Scalars    []float32 // [Rows, S]
	Mask       []uint64  // [Rows, MaskWords]
	Action     []int32   // [Rows, heads]
	Asked      []int32   // [Rows, heads] what the policy of Job.Ask would choose
	Orders     []sim.Order
	OrderEnds  []int32   // [Rows+1]: the orders of row i are Orders[OrderEnds[i]:OrderEnds[i+1]]
	Reward     []float32 // [Rows]
	Return     []float32 // [Rows]
	Outcome    []float32 // [Rows]
	Terminated []uint8   // [Rows] 0 or 1
	Truncated  []uint8   // [Rows] 0 or 1
	Chosen     []uint8   // [Rows] which member of the policy chose; where Job.Members has lists

	// Results of searches, if Job.Search is set: the columns search_value and so on.
	// Counts are nil in games of one head.
	SearchValue      []float32 // [Rows]
	SearchPolicy     []float32
	SearchCounts     []int32
	SearchEnds       []int32 // [Rows+1]: the moves of row i are those from SearchEnds[i] up to SearchEnds[i+1]
	SearchChoices    []int32
	SearchChoiceEnds []int32 // [Rows+1]: the same for the choices of the moves

	// Columns of replayed rows (ReadOptions.Makers).
	NStep        []float32 // [Rows] return of ReadOptions.Steps turns
	Step         []int32   // [Rows] number of the action in its turn, in a sequential form
	Opponent     []int32   // [Rows, seats-1, heads] actions of the other seats in the turn, from the next seat on; if Columns names it
	NextPlanes   []uint8   // [Rows, P, H, W], with ReadOptions.Next, as those below
	NextPacked   []uint64  // [Rows, Words]
	NextScalars  []float32 // [Rows, S]
	NextMask     []uint64  // [Rows, MaskWords]
	NextDiscount []float32 // [Rows]

	Final *Final // with ReadOptions.Whole: the observations after the last turn; nil without observations

	table *arrowfile.RecordBatch
}

// Shape returns the shape of a column of the batch: the rows, then the shape of a row.
// It returns nil for lists and for columns not asked for.
func (b *Batch) Shape(column string) []int {
	d := b.table.Col(column)
	if d == nil || d.Column.List {
		return nil
	}
	return append([]int{b.Rows}, d.Column.Shape...)
}

// BatchOf returns the first rows of a table of steps or finals.
func BatchOf(t *arrowfile.RecordBatch, rows int) Batch {
	b := Batch{Rows: rows, table: t}
	column(&b.Episode, t, about.ColEpisode, rows)
	column(&b.Turn, t, about.ColTurn, rows)
	column(&b.Seat, t, about.ColSeat, rows)
	column(&b.Planes, t, about.ColPlanes, rows)
	column(&b.Packed, t, about.ColPacked, rows)
	column(&b.Scalars, t, about.ColScalars, rows)
	column(&b.Mask, t, about.ColMask, rows)
	column(&b.Action, t, about.ColAction, rows)
	column(&b.Asked, t, about.ColAsked, rows)
	b.OrderEnds = column(&b.Orders, t, about.ColOrders, rows)
	column(&b.Reward, t, about.ColReward, rows)
	column(&b.Return, t, about.ColReturn, rows)
	column(&b.Outcome, t, about.ColOutcome, rows)
	column(&b.Terminated, t, about.ColTerminated, rows)
	column(&b.Truncated, t, about.ColTruncated, rows)
	column(&b.Chosen, t, about.ColChosen, rows)
	column(&b.SearchValue, t, about.ColSearchValue, rows)
	b.SearchEnds = column(&b.SearchPolicy, t, about.ColSearchPolicy, rows)
	if ends := column(&b.SearchCounts, t, about.ColSearchCounts, rows); ends != nil {
		b.SearchEnds = ends
	}
	b.SearchChoiceEnds = column(&b.SearchChoices, t, about.ColSearchChoices, rows)
	column(&b.NStep, t, about.ColNStep, rows)
	column(&b.Step, t, about.ColStep, rows)
	column(&b.Opponent, t, about.ColOpponent, rows)
	column(&b.NextPlanes, t, about.ColNextPlanes, rows)
	column(&b.NextPacked, t, about.ColNextPacked, rows)
	column(&b.NextScalars, t, about.ColNextScalars, rows)
	column(&b.NextMask, t, about.ColNextMask, rows)
	column(&b.NextDiscount, t, about.ColNextDiscount, rows)
	return b
}

// column sets a slice to the first rows of a column of the table, if that has it. It returns the ends of lists.
func column[T arrowfile.Number](to *[]T, t *arrowfile.RecordBatch, name string, rows int) (ends []int32) {
	d := t.Col(name)
	if d == nil {
		return nil
	}
	*to = arrowfile.View[T](d.Values(rows))
	return d.Ends
}

// check fills in defaults, and fails if an option is out of range.
func (r *ReadOptions) check() error {
	if r.Rows == 0 {
		r.Rows = 1024
	}
	if r.Parts == 0 {
		r.Parts = 1
	}
	if r.Next && r.Steps == 0 {
		r.Steps = 1
	}
	if r.Rows < 0 || r.Rows > about.MaxWindow || r.Shuffle < 0 || r.Shuffle > about.MaxWindow {
		return fmt.Errorf("read: %d rows, shuffle %d: there may be up to %d", r.Rows, r.Shuffle, about.MaxWindow)
	}
	if !(r.Validation >= 0 && r.Test >= 0 && r.Validation+r.Test <= 1) || r.Split > Test {
		return fmt.Errorf("read: split %d, validation share %g, test share %g", r.Split, r.Validation, r.Test)
	}
	if r.Parts < 1 || r.Parts > about.MaxParts || r.Part < 0 || r.Part >= r.Parts {
		return fmt.Errorf("read: part %d of %d, from 0; there may be %d", r.Part, r.Parts, about.MaxParts)
	}
	if r.Whole && !r.Filter.Empty() {
		return fmt.Errorf("read: whole episodes have all their rows, and a filter leaves some out")
	}
	if r.Whole && r.Next {
		return fmt.Errorf("read: the next observations of whole episodes are their own rows, expected Whole without Next")
	}
	if r.Makers == nil && (r.Form != "" || r.Obs != "" || r.Memory || r.Reward != "" || r.Discount != 0 || r.Steps != 0 || r.Next || r.Whole || r.Workers != 0) {
		return fmt.Errorf("read: rows of other forms, observations, rewards or discounts, or in whole episodes, are made by playing again, for which ReadOptions.Makers is missing")
	}
	return nil
}

// has reports whether an episode with that draw is in the split.
func (r *ReadOptions) has(draw float64) bool {
	if r.Split == All {
		return true
	}
	switch {
	case draw < r.Validation:
		return r.Split == Validation
	case draw >= 1-r.Test:
		return r.Split == Test
	}
	return r.Split == Train
}

// Batches reads step rows. It takes the memory of two batches of the file, of one batch
// of ReadOptions.Rows, and of the shuffle window. With ReadOptions.Makers it takes the
// memory of a batch of the file of episodes, and of the windows (ReadOptions.Workers).
// The iteration ends after the first error: of the options, of the disk, or of a
// damaged file or episode, which it names.
func (d *Dataset) Batches(o ReadOptions) iter.Seq2[*Batch, error] {
	return sequence(func(yield func(*Batch) error) error {
		if err := o.check(); err != nil {
			return err
		}
		if o.Makers != nil {
			return d.rendered(o, yield)
		}
		if err := d.maskedActions(); err != nil {
			return err
		}
		g, err := d.gather(o)
		if err != nil {
			return err
		}
		g.yield = yield
		way, err := d.route(&o, about.StepsTable, &g.rand)
		if err != nil {
			return err
		}
		// The split and the filter need columns even if they are not asked for.
		want := func(name string) bool {
			return g.asked(name) || (o.Split != All || o.Parts > 1 || g.filters()) && name == about.ColEpisode || g.filters() && slices.Contains(filterColumns, name)
		}
		r, err := d.Reader(about.StepsTable, want)
		if err != nil {
			return err
		}
		defer r.Close()
		defer g.known.close()
		for {
			s, err := way.next()
			if err == io.EOF {
				break
			}
			if err == nil {
				err = g.look(s)
			}
			if err == nil {
				err = r.Read(s.file(), func(uint64) error { return g.batch(r.Table, s) })
			}
			if err != nil {
				return err
			}
		}
		if err = g.empty(); err != nil {
			return err
		}
		return g.flush()
	})
}

// gatherer copies rows from the batches of files to the shuffle window, if there is
// one, and from there to the batches that it yields.
type gatherer struct {
	o     ReadOptions
	m     *about.Manifest
	who   *filter.Players
	known *episodeReader // facts about episodes that rows lack; nil: not needed
	asked func(column string) bool
	pool  *arrowfile.RecordBatch // the shuffle window; nil: none
	out   *arrowfile.RecordBatch
	rand  prng.Rand
	order []int32
	yield func(*Batch) error
}

func (d *Dataset) gather(o ReadOptions) (*gatherer, error) {
	if _, _, err := d.Find(about.StepsDir, o.Columns...); err != nil {
		return nil, err
	}
	g := &gatherer{o: o, m: d.manifest, rand: o.rand()}
	g.asked = func(name string) bool { return len(o.Columns) == 0 || slices.Contains(o.Columns, name) }
	var err error
	if g.out, err = arrowfile.NewRecordBatch(d.Tables[about.StepsTable].Schema, o.Rows, g.asked); err == nil && o.Shuffle > 0 {
		g.pool, err = arrowfile.NewRecordBatch(d.Tables[about.StepsTable].Schema, o.Shuffle, g.asked)
	}
	if err != nil {
		return nil, err
	}
	g.who = d.manifest.Players()
	if err := o.Filter.Check(g.who); err != nil {
		return nil, fmt.Errorf("%s: read: %w", d.Dir, err)
	}
	names := len(o.Filter.Policies) > 0 && d.manifest.Job.Imported()
	if names || o.Split != All {
		g.known, err = d.episodeReader(names)
	}
	return g, err
}

// rand returns the generator of the order of reading.
func (r *ReadOptions) rand() prng.Rand {
	return prng.New(prng.StreamSeed(r.Seed, r.Epoch, 0, 0, prng.PurposeShuffle))
}

// batch passes on the rows of a batch of a file that are in the stretch, in the split
// and wanted by the filter.
func (g *gatherer) batch(in *arrowfile.RecordBatch, s stretch) error {
	to, full := g.out, g.flush
	if g.pool != nil {
		to, full = g.pool, g.empty
	}
	var episode []uint64
	if d := in.Col(about.ColEpisode); d != nil {
		episode = arrowfile.View[uint64](d.Fixed)
	}
	var batch Batch
	if g.filters() {
		batch = BatchOf(in, in.Rows)
	}
	for i := range in.Rows {
		if g.o.Parts > 1 && (episode[i] < s.from || episode[i] >= s.to) || !g.inSplit(episode, i) || g.filters() && !g.wanted(&batch, i) {
			continue
		}
		appendRow(to, in, i)
		if to.Rows == to.Cap {
			if err := full(); err != nil {
				return err
			}
		}
	}
	return nil
}

// appendRow copies row i of from to the end of to, which may have fewer
// columns.
func appendRow(to, from *arrowfile.RecordBatch, i int) {
	for k, d := range to.Data {
		if d != nil {
			d.AppendRow(to.Rows, from.Data[k], i)
		}
	}
	to.Rows++
}

// empty passes on the rows of the shuffle window in random order.
func (g *gatherer) empty() error {
	if g.pool == nil {
		return nil
	}
	g.order = rows.Shuffled(g.order, g.pool.Rows, &g.rand)
	for _, i := range g.order {
		appendRow(g.out, g.pool, int(i))
		if g.out.Rows == g.out.Cap {
			if err := g.flush(); err != nil {
				return err
			}
		}
	}
	g.pool.Reset()
	return nil
}

// flush hands over the rows gathered so far.
func (g *gatherer) flush() error {
	if g.out.Rows == 0 {
		return nil
	}
	b := BatchOf(g.out, g.out.Rows)
	if err := g.yield(&b); err != nil {
		return err
	}
	g.out.Reset()
	return nil
}

// look reads the facts about the episodes of a stretch that rows lack.
func (g *gatherer) look(s stretch) error {
	if g.known == nil {
		return nil
	}
	return g.known.read(s.episodes(), s.first)
}

// inSplit reports whether row i, of the episodes of a batch, is in the split. It
// returns false for a row of an episode that the shard does not have.
func (g *gatherer) inSplit(episode []uint64, i int) bool {
	if g.o.Split == All {
		return true
	}
	game, ok := g.known.game(episode[i])
	return ok && g.o.has(games.Draw(game))
}

// filterColumns lists the columns that a Filter needs.
var filterColumns = []string{about.ColTurn, about.ColSeat, about.ColOutcome, about.ColChosen}

// filters reports whether there is a filter.
func (g *gatherer) filters() bool { return !g.o.Filter.Empty() }

// wanted reports whether the filter wants row i of a batch of a file. It returns false
// for a row with a seat or an episode that does not exist.
func (g *gatherer) wanted(b *Batch, i int) bool {
	r := filter.Row{Turn: int(b.Turn[i]), Seat: int(b.Seat[i]), Result: b.Outcome[i]}
	if r.Seat >= g.who.Seats {
		return false
	}
	if b.Chosen != nil {
		r.Chosen = int(b.Chosen[i])
	}
	if p := g.m.Job.Policies; len(p) > 0 {
		r.Policy = p[r.Seat]
	} else if g.known != nil {
		r.Policy = g.known.policy(b.Episode[i], r.Seat)
	}
	return g.o.Filter.Has(g.who, &r)
}
