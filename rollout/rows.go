package rollout

import (
	"moonfarm/env"
	"moonfarm/features"
)

// Rows are rows of an episode as a Replayer would write them, one per turn and
// seat. Slabs that were not asked for are empty.
type Rows struct {
	// Pages hold observations, masks and actions: turn t is in page
	// t/PageTurns. There are none if only rewards were asked for.
	Pages  []*Page
	Reward []float32 // row turn*Players + seat
	// Final are the observations of the seats after the last turn.
	Final features.Rows
}

// PageTurns is the most turns in a Page.
const PageTurns = 8

// Page holds the rows of PageTurns turns, or of the last turns of an episode:
// turn t begins at row t%PageTurns*Players. A Table hands the pages of
// one episode on to the next, so that its memory is in proportion to the turns in hand.
// With one slab for each episode all slabs would grow to the longest episode.
type Page struct {
	Planes  []uint8
	Packed  []uint64
	Scalars []float32
	Mask    []uint64
	Action  []int32 // that the orders encode
}

// MostRowBytes is the size of all rows that a Table of `games` games of the spec
// holds at once, if it keeps these slabs and no game is over before the limit of
// turns.
func MostRowBytes(s env.Spec, games int, keep env.Want) int {
	b := env.NewBatch(s, 1, keep)
	turn := len(b.Planes) + 8*len(b.Packed) + 4*len(b.Scalars) + 8*len(b.Mask) + 4*len(b.Action) + 4*len(b.Reward)
	return turn * s.MaxTurns * window * games
}

// empty empties r, whose pages are given back, and keeps its memory.
func (r *Rows) empty() {
	f := &r.Final
	*r = Rows{r.Pages[:0], r.Reward[:0], features.Rows{Planes: f.Planes[:0], Packed: f.Packed[:0], Scalars: f.Scalars[:0]}}
}

// end appends the final observations, in rows row … row+n−1 of the batch.
func (r *Rows) end(b *env.Batch, row, n int) {
	f := &r.Final
	f.Planes = addRows(f.Planes, b.Planes, b.Rows, row, n)
	f.Packed = addRows(f.Packed, b.Packed, b.Rows, row, n)
	f.Scalars = addRows(f.Scalars, b.Scalars, b.Rows, row, n)
}

// part is a view of b with these slabs alone.
func part(b *env.Batch, want env.Want) *env.Batch {
	p := *b
	if want&env.WantPlanes == 0 {
		p.Planes = nil
	}
	if want&env.WantPacked == 0 {
		p.Packed = nil
	}
	if want&env.WantScalars == 0 {
		p.Scalars = nil
	}
	if want&env.WantMask == 0 {
		p.Mask = nil
	}
	if want&env.WantPlayed == 0 {
		p.Played = nil
	}
	return &p
}

// keepTurn appends the rows of game i, whose turn has just been played.
func (t *Table) keepTurn(e *Episode, i int) {
	b, r, row, n := t.kept, e.Rows, i*t.players, t.players
	r.Reward = append(r.Reward, b.Reward[row:row+n]...)
	if t.keep == env.WantReward {
		return
	}
	if e.Turns%PageTurns == 0 {
		r.Pages = append(r.Pages, t.page())
	}
	p := r.Pages[len(r.Pages)-1]
	p.Planes = addRows(p.Planes, b.Planes, b.Rows, row, n)
	p.Packed = addRows(p.Packed, b.Packed, b.Rows, row, n)
	p.Scalars = addRows(p.Scalars, b.Scalars, b.Rows, row, n)
	p.Mask = addRows(p.Mask, b.Mask, b.Rows, row, n)
	p.Action = addRows(p.Action, b.Played, b.Rows, row, n)
}

// page returns an empty page, a used one if there is one.
func (t *Table) page() *Page {
	if last := len(t.pages) - 1; last >= 0 {
		p := t.pages[last]
		t.pages = t.pages[:last]
		*p = Page{p.Planes[:0], p.Packed[:0], p.Scalars[:0], p.Mask[:0], p.Action[:0]}
		return p
	}
	b, n := t.kept, PageTurns*t.players
	return &Page{
		roomFor(b.Planes, b.Rows, n), roomFor(b.Packed, b.Rows, n), roomFor(b.Scalars, b.Rows, n),
		roomFor(b.Mask, b.Rows, n), roomFor(b.Played, b.Rows, n),
	}
}

// roomFor has room for n rows such as a slab of so many rows holds.
func roomFor[T any](slab []T, rows, n int) []T { return make([]T, 0, len(slab)/rows*n) }

// giveBack takes back the pages of an episode, which is no longer read.
func (t *Table) giveBack(e *Episode) {
	if e.Rows != nil {
		t.pages = append(t.pages, e.Rows.Pages...)
		e.Rows.Pages = e.Rows.Pages[:0]
	}
}

// addRows appends n of the rows of a slab; none of nil.
func addRows[T any](dst, slab []T, rows, row, n int) []T {
	size := len(slab) / rows
	return append(dst, slab[row*size:(row+n)*size]...)
}
