package write

import (
	"sort"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/read"
	"moonfarm/datasets/internal/rows"
	"moonfarm/rollout"
)

const orderBytes = 8 // of a sim.Order

// tableWriter writes the rows of one table, batch by batch.
type tableWriter struct {
	Writer *arrowfile.Writer
	rows   *arrowfile.RecordBatch
	slabs  *rows.Slabs                        // the columns of rows, for a rows.Maker
	data   read.Batch                         // the same columns, with room for all rows
	Full   func(*arrowfile.RecordBatch) error // takes every batch: the Write of w; Verify compares it first
}

// newTableWriter returns a writer of a kind of table into the files of w.
func newTableWriter(t about.TableKind, w *arrowfile.Writer) (*tableWriter, error) {
	table, err := arrowfile.NewRecordBatch(t.Schema, t.Rows, nil)
	if err != nil {
		return nil, err
	}
	var width [rows.Columns]int
	var data [rows.Columns][]byte
	for _, d := range table.Data {
		if as, ok := about.FixedColumns[d.Column.Name]; ok && d.Fixed != nil {
			width[as], data[as] = d.Column.Width(), d.Fixed
		}
	}
	return &tableWriter{w, table, rows.Over(width, data), read.BatchOf(table, table.Cap), w.Write}, nil
}

// stepRows writes the step rows of an episode, batch by batch, and its finals.
func (x *Encoder) stepRows(e *rollout.Episode) error {
	if err := x.maker.Start(e, x.rules); err != nil {
		return err
	}
	w := x.Tables[about.StepsTable]
	t := w.rows
	for turn := 0; turn < e.Turns; {
		first := turn
		turn += x.fitting(e, first)
		if err := x.maker.Write(w.slabs, t.Rows, first, turn); err != nil {
			return err
		}
		x.lists(e, first, turn)
		if t.Rows += (turn - first) * x.Players; t.Rows < t.Cap && t.ListBytes() <= x.layout.Lists {
			continue
		}
		if err := x.flushSteps(); err != nil {
			return err
		}
	}
	return x.finalRows(e)
}

// fitting returns how many turns of an episode, from the given one on, go into the
// current batch: until the batch is full, or its lists have more bytes than a batch should have.
func (x *Encoder) fitting(e *rollout.Episode, first int) int {
	t := x.Tables[about.StepsTable].rows
	most := x.listsBefore(e, first) + x.layout.Lists - t.ListBytes()
	return 1 + sort.Search(min(e.Turns-first, (t.Cap-t.Rows)/x.Players)-1, func(k int) bool {
		return x.listsBefore(e, first+k+1) > most
	})
}

// listsBefore returns how many bytes of lists an episode has before a turn.
func (x *Encoder) listsBefore(e *rollout.Episode, turn int) int {
	moves, choices := x.moves.Before(turn * e.Players)
	n := orderBytes*ordersBefore(e, turn) + 4*moves + 4*choices
	if len(e.Searches.Counts) > 0 {
		n += 4 * moves
	}
	return n
}

// ordersBefore returns how many orders an episode has before a turn.
func ordersBefore(e *rollout.Episode, turn int) int {
	if turn == 0 {
		return 0
	}
	return int(e.Ends[turn*e.Players-1])
}

// lists appends the columns of lists of the rows of some turns.
func (x *Encoder) lists(e *rollout.Episode, first, end int) {
	t, from, to := x.Tables[about.StepsTable].rows, first*x.Players, end*x.Players
	before := ordersBefore(e, first)
	arrowfile.AppendLists(t.Col(about.ColOrders), e.Orders[before:ordersBefore(e, end)], before, e.Ends[from:to])
	if !x.layout.Job.Search {
		return
	}
	move, choice := x.moves.Before(from)
	moveEnds, choiceEnds := x.moves.Ends(from, to)
	f := x.moves.Of(from, to)
	arrowfile.AppendLists(t.Col(about.ColSearchPolicy), f.Shares, move, moveEnds)
	arrowfile.AppendLists(t.Col(about.ColSearchChoices), f.Choices, choice, choiceEnds)
	if d := t.Col(about.ColSearchCounts); d != nil {
		arrowfile.AppendLists(d, f.Counts, move, moveEnds)
	}
}

// finalRows writes the finals of an episode, if the dataset has any.
func (x *Encoder) finalRows(e *rollout.Episode) error {
	if len(x.Tables) <= about.FinalsTable {
		return nil
	}
	w := x.Tables[about.FinalsTable]
	t := w.rows
	if err := x.maker.Final(w.slabs, t.Rows); err != nil {
		return err
	}
	s := &w.data
	for p := range x.Players {
		k := t.Rows + p
		s.Episode[k], s.Turn[k], s.Seat[k] = e.ID, int32(e.Turns), uint8(p)
	}
	if t.Rows += x.Players; t.Rows < t.Cap {
		return nil
	}
	return w.flush()
}

// flushSteps adds the step rows in hand to the statistics, and writes them.
func (x *Encoder) flushSteps() error {
	w := x.Tables[about.StepsTable]
	if x.sampler != nil { // while the rows are in the cache
		s := &w.data
		if err := x.sampler.Batch(s.Planes, s.Packed, s.Scalars, uint64(w.Writer.Rows()), w.rows.Rows); err != nil {
			return err
		}
	}
	return w.flush()
}

// flush writes the rows in hand.
func (t *tableWriter) flush() error {
	if t.rows.Rows == 0 {
		return nil
	}
	err := t.Full(t.rows)
	t.rows.Reset()
	return err
}
