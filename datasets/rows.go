package datasets

import (
	"slices"
	"sort"

	"moonfarm/datasets/derive"
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim"
)

const orderBytes = 8 // of a sim.Order

// stepData are the columns of a table of steps or finals. Columns that the table
// does not have are nil.
type stepData struct {
	episode               []uint64
	turn                  []int32
	seat                  []uint8
	planes                []uint8
	packed                []uint64
	scalars               []float32
	mask                  []uint64
	action                []int32
	orders                *arrowfile.Data
	reward, ret, outcome  []float32
	terminated, truncated []uint8
	chosen                []uint8
	value                 []float32
	search                [searchLists]*arrowfile.Data
}

// The lists of moves of searches, in stepData.search.
const (
	searchPolicy = iota
	searchChoices
	searchCounts
	searchLists
)

// newStepData returns the first rows of the columns of a table.
func newStepData(t *arrowfile.Table, rows int) stepData {
	b := func(name string) []byte {
		if d := t.Col(name); d != nil {
			return columnBytes(d, rows)
		}
		return nil
	}
	s := stepData{
		episode: arrowfile.View[uint64](b(ColEpisode)), turn: arrowfile.View[int32](b(ColTurn)), seat: b(ColSeat),
		planes: b(ColPlanes), packed: arrowfile.View[uint64](b(ColPacked)), scalars: arrowfile.View[float32](b(ColScalars)),
		mask: arrowfile.View[uint64](b(ColMask)), action: arrowfile.View[int32](b(ColAction)), orders: t.Col(ColOrders),
		reward: arrowfile.View[float32](b(ColReward)), ret: arrowfile.View[float32](b(ColReturn)),
		outcome: arrowfile.View[float32](b(ColOutcome)), terminated: b(ColTerminated), truncated: b(ColTruncated), chosen: b(ColChosen),
		value: arrowfile.View[float32](b(ColSearchValue)),
	}
	for i, name := range [searchLists]string{ColSearchPolicy, ColSearchChoices, ColSearchCounts} {
		s.search[i] = t.Col(name)
	}
	return s
}

// part is the values of n rows of a column from a row on; nil if there is no
// such column.
func part[T any](column []T, row, n, size int) []T {
	if column == nil {
		return nil
	}
	return column[row*size : (row+n)*size]
}

// turns yields an episode turn by turn. A rollout.Replayer does so by playing
// it again.
type turns interface {
	// Step writes the rows of the next turn into the slabs of the batch.
	Step(b *env.Batch) error
	// Final writes what is seen after the last turn.
	Final(b *env.Batch)
}

// keptTurns yields the turns of an episode that holds its rows.
type keptTurns struct {
	rows          *rollout.Rows
	turn, players int
}

// Step implements turns.
func (k *keptTurns) Step(b *env.Batch) error {
	if n := k.players; len(k.rows.Pages) > 0 {
		p, row := k.rows.Pages[k.turn/rollout.PageTurns], k.turn%rollout.PageTurns*n
		copyRows(b.Planes, p.Planes, row, n)
		copyRows(b.Packed, p.Packed, row, n)
		copyRows(b.Scalars, p.Scalars, row, n)
		copyRows(b.Mask, p.Mask, row, n)
		copyRows(b.Action, p.Action, row, n)
	}
	copyRows(b.Reward, k.rows.Reward, k.turn*k.players, k.players)
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

// turnRows writes the rows of an episode: its steps, batch by batch, and its
// finals.
func (x *encoder) turnRows(e *rollout.Episode) error {
	from, err := x.turnsOf(e)
	if err != nil {
		return err
	}
	t, n := x.tables[stepsTable].rows, x.players
	for turn := 0; turn < e.Turns; {
		first, row := turn, t.Rows
		for turn += x.fitting(e, first); t.Rows < row+(turn-first)*n; t.Rows += n {
			x.window(&x.step, t.Rows)
			if err := from.Step(x.batch); err != nil {
				return err
			}
		}
		x.fill(e, first, turn, row)
		if t.Rows < t.Cap && t.ListBytes() <= x.layout.lists {
			continue
		}
		if err := x.flushSteps(); err != nil {
			return err
		}
	}
	return x.finalRows(e, from)
}

// fitting returns how many turns of an episode, from the given one on, go into the
// batch in hand: until it has all its rows, or more bytes of lists than it should.
func (x *encoder) fitting(e *rollout.Episode, first int) int {
	t := x.tables[stepsTable].rows
	most := x.listsBefore(e, first) + x.layout.lists - t.ListBytes()
	return 1 + sort.Search(min(e.Turns-first, (t.Cap-t.Rows)/x.players)-1, func(k int) bool {
		return x.listsBefore(e, first+k+1) > most
	})
}

// listsBefore returns how many bytes of lists an episode has before a turn.
func (x *encoder) listsBefore(e *rollout.Episode, turn int) int {
	n := orderBytes * ordersBefore(e, turn)
	if row := turn * e.Players; row > 0 && len(x.choices) > 0 {
		moves := int(e.Searches.Ends[row-1])
		n += 4*moves + 4*int(x.choices[row-1])
		if len(e.Searches.Counts) > 0 {
			n += 4 * moves
		}
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

// turnsOf returns the turns of an episode, and computes its returns, for which all
// its rewards must be known. An episode that was just played holds its rewards,
// and may hold its other rows. Any other is played for its rewards first.
func (x *encoder) turnsOf(e *rollout.Episode) (turns, error) {
	if e.Rows != nil {
		x.returns = append(x.returns[:0], e.Rows.Reward...)
		x.sumReturns()
		if len(e.Rows.Pages) > 0 || x.layout.job.Obs == ObsNone {
			x.kept = keptTurns{rows: e.Rows, players: x.players}
			return &x.kept, nil
		}
	}
	r, err := x.replays.of(x.rules, e)
	if err != nil {
		return nil, err
	}
	if e.Rows == nil {
		if err := x.playRewards(r, e); err != nil {
			return nil, err
		}
	}
	return r, r.Start(e)
}

// playRewards plays an episode for its rewards alone, and computes its returns.
func (x *encoder) playRewards(r *rollout.Replayer, e *rollout.Episode) error {
	if err := r.Start(e); err != nil {
		return err
	}
	n := e.Turns * x.players
	x.returns = slices.Grow(x.returns[:0], n)[:n]
	rewards := stepData{reward: x.returns}
	for turn := range e.Turns {
		x.window(&rewards, turn*x.players)
		if err := r.Step(x.batch); err != nil {
			return err
		}
	}
	x.sumReturns()
	return nil
}

// sumReturns replaces the rewards in x.returns by the returns.
func (x *encoder) sumReturns() {
	derive.Returns(x.returns, x.returns, x.players, x.layout.job.Discount)
}

// window points the slabs of the batch at the rows of one turn, from the given row
// of the columns on.
func (x *encoder) window(s *stepData, row int) {
	b, z, n := x.batch, &x.shapes, x.players
	b.Planes, b.Packed = part(s.planes, row, n, z.planes), part(s.packed, row, n, z.words)
	b.Scalars = part(s.scalars, row, n, z.scalars)
	b.Mask, b.Action = part(s.mask, row, n, z.mask), part(s.action, row, n, z.heads)
	if s.reward != nil { // a batch always has rewards
		b.Reward = s.reward[row : row+n]
	}
}

// fill writes those columns of the rows of some turns, from the given row on, that
// the batch does not hold.
func (x *encoder) fill(e *rollout.Episode, first, end, row int) {
	s, n := &x.step, x.players
	from, to := first*n, end*n
	copy(s.ret[row:], x.returns[from:to])
	if s.chosen != nil {
		copy(s.chosen[row:], e.Chosen[from:to])
	}
	if s.value != nil {
		x.fillFound(&e.Searches, from, to, row)
	}
	before := ordersBefore(e, first)
	arrowfile.AppendLists(s.orders, e.Orders[before:ordersBefore(e, end)], before, e.Ends[from:to])
	rows := to - from
	clear(part(s.terminated, row, rows, 1))
	clear(part(s.truncated, row, rows, 1))
	for p := range n {
		id, turn, seat, outcome := s.episode[row:][:rows], s.turn[row:][:rows], s.seat[row:][:rows], s.outcome[row:][:rows]
		for k := p; k < rows; k += n {
			id[k], turn[k], seat[k], outcome[k] = e.ID, int32(first+k/n), uint8(p), e.Outcome[p].Result
		}
		if end == e.Turns {
			s.terminated[row+rows-n+p], s.truncated[row+rows-n+p] = flag(e.Status == sim.Over), flag(e.Status == sim.Cut)
		}
	}
}

// fillFound writes what was found for the rows of an episode from one up to another.
func (x *encoder) fillFound(f *rollout.SearchResults, from, to, row int) {
	s := &x.step
	copy(s.value[row:], f.Value[from:to])
	move, choice := int32(0), int32(0)
	if from > 0 {
		move, choice = f.Ends[from-1], x.choices[from-1]
	}
	ends, choices := f.Ends[from:to], x.choices[from:to]
	last, end := ends[len(ends)-1], choices[len(choices)-1]
	arrowfile.AppendLists(s.search[searchPolicy], f.Shares[move:last], int(move), ends)
	arrowfile.AppendLists(s.search[searchChoices], f.Choices[choice:end], int(choice), choices)
	if d := s.search[searchCounts]; d != nil {
		arrowfile.AppendLists(d, f.Counts[move:last], int(move), ends)
	}
}

func flag(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// flushSteps writes the step rows in hand.
func (x *encoder) flushSteps() error {
	w := x.tables[stepsTable]
	if x.sampler != nil { // while the rows are in the cache
		if err := x.sampler.Batch(x.step.planes, x.step.packed, x.step.scalars, uint64(w.w.Rows()), w.rows.Rows); err != nil {
			return err
		}
	}
	return w.flush()
}

// finalRows writes the finals of an episode whose turns were yielded.
func (x *encoder) finalRows(e *rollout.Episode, from turns) error {
	if len(x.tables) <= finalsTable {
		return nil
	}
	w, s := x.tables[finalsTable], &x.final
	t := w.rows
	x.window(s, t.Rows)
	from.Final(x.batch)
	for p := range x.players {
		k := t.Rows + p
		s.episode[k], s.turn[k], s.seat[k] = e.ID, int32(e.Turns), uint8(p)
	}
	if t.Rows += x.players; t.Rows < t.Cap {
		return nil
	}
	return w.flush()
}

// empty takes all rows out, and keeps the memory.
func (b *Batch) empty(t *arrowfile.Table) {
	*b = Batch{
		Episode: b.Episode[:0], Turn: b.Turn[:0], Seat: b.Seat[:0], Planes: b.Planes[:0], Packed: b.Packed[:0], Scalars: b.Scalars[:0],
		Mask: b.Mask[:0], Action: b.Action[:0], Orders: b.Orders[:0], OrderEnds: b.OrderEnds[:0],
		Reward: b.Reward[:0], Return: b.Return[:0], Outcome: b.Outcome[:0], Terminated: b.Terminated[:0], Truncated: b.Truncated[:0],
		Chosen: b.Chosen[:0], SearchValue: b.SearchValue[:0], SearchPolicy: b.SearchPolicy[:0], SearchCounts: b.SearchCounts[:0],
		SearchEnds: b.SearchEnds[:0], SearchChoices: b.SearchChoices[:0], SearchChoiceEnds: b.SearchChoiceEnds[:0],
		NStep: b.NStep[:0], Opponent: b.Opponent[:0], table: t,
	}
}

// take appends a row of another batch.
func (b *Batch) take(from *Batch, row int) {
	n := from.Rows
	b.Episode, b.Turn, b.Seat = taken(b.Episode, from.Episode, row, n), taken(b.Turn, from.Turn, row, n), taken(b.Seat, from.Seat, row, n)
	b.Planes, b.Packed, b.Scalars = taken(b.Planes, from.Planes, row, n), taken(b.Packed, from.Packed, row, n), taken(b.Scalars, from.Scalars, row, n)
	b.Mask, b.Action, b.Opponent = taken(b.Mask, from.Mask, row, n), taken(b.Action, from.Action, row, n), taken(b.Opponent, from.Opponent, row, n)
	b.Reward, b.Return, b.NStep = taken(b.Reward, from.Reward, row, n), taken(b.Return, from.Return, row, n), taken(b.NStep, from.NStep, row, n)
	b.Outcome, b.Chosen = taken(b.Outcome, from.Outcome, row, n), taken(b.Chosen, from.Chosen, row, n)
	b.Terminated, b.Truncated = taken(b.Terminated, from.Terminated, row, n), taken(b.Truncated, from.Truncated, row, n)
	b.SearchValue = taken(b.SearchValue, from.SearchValue, row, n)
	b.Orders, b.OrderEnds = takenList(b.Orders, b.OrderEnds, from.Orders, from.OrderEnds, row)
	ends := b.SearchEnds // of both lists of moves
	b.SearchCounts, b.SearchEnds = takenList(b.SearchCounts, ends, from.SearchCounts, from.SearchEnds, row)
	b.SearchPolicy, _ = takenList(b.SearchPolicy, ends, from.SearchPolicy, from.SearchEnds, row)
	b.SearchChoices, b.SearchChoiceEnds = takenList(b.SearchChoices, b.SearchChoiceEnds, from.SearchChoices, from.SearchChoiceEnds, row)
	b.Rows++
}

// taken appends row of n of a column; nothing if there is no such column.
func taken[T any](to, from []T, row, n int) []T {
	if from == nil {
		return nil
	}
	size := len(from) / n
	return append(to, from[row*size:(row+1)*size]...)
}

// takenList appends the values of a row of a column of lists and where they end.
func takenList[T any](to []T, ends []int32, from []T, fromEnds []int32, row int) ([]T, []int32) {
	if fromEnds == nil {
		return nil, nil
	}
	if len(ends) == 0 {
		ends = append(ends, 0)
	}
	if to == nil && from != nil {
		to = []T{} // a column of lists, all of which may be empty
	}
	if n := int(fromEnds[row+1] - fromEnds[row]); from != nil {
		to = append(to, from[fromEnds[row]:][:n]...)
	}
	return to, append(ends, ends[len(ends)-1]+fromEnds[row+1]-fromEnds[row])
}
