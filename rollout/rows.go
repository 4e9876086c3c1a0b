package rollout

import (
	"moonfarm/env"
	"moonfarm/features"
)

// Rows are rows of an episode as a Replayer would write them, one per turn and
// seat. Slabs that were not requested are empty.
type Rows struct {
	// Pages hold observations, masks and actions: turn t is in page
	// t/PageTurns. There are no pages if only rewards were requested.
	Pages  []*Page
	Reward []float32 // row turn*Players + seat
	// Final are the observations of the seats after the last turn.
	Final features.Rows
}

// PageTurns is the most turns in a Page.
const PageTurns = 8

// Page holds the rows of PageTurns turns, or of the last turns of an episode:
// turn t begins at row t%PageTurns*Players. Games reuse the pages of one episode
// for the next, so that their memory is in proportion to the turns they hold. With
// one slab for each episode all slabs would grow to the longest episode.
type Page struct {
	Planes  []uint8
	Packed  []uint64
	Scalars []float32
	Mask    []uint64
	Action  []int32 // the action that the orders encode
}

// MostRowBytes returns the size of all rows that Games with `games` games of the
// spec hold at most, if they keep these slabs and every game lasts to the turn
// limit.
func MostRowBytes(s env.Spec, games int, keep env.Want) int {
	b := env.NewBatch(s, 1, keep)
	turn := len(b.Planes) + 8*len(b.Packed) + 4*len(b.Scalars) + 8*len(b.Mask) + 4*len(b.Action) + 4*len(b.Reward)
	return turn * s.MaxTurns * window * games
}

// empty removes all rows and keeps the memory. The pages must have been given back.
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

// withSlabs returns a view of b with only these slabs.
func withSlabs(b *env.Batch, want env.Want) *env.Batch {
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
func (g *Games) keepTurn(e *Episode, i int) {
	b, r, row, n := g.kept, e.Rows, i*g.players, g.players
	r.Reward = append(r.Reward, b.Reward[row:row+n]...)
	if g.keep == env.WantReward {
		return
	}
	if e.Turns%PageTurns == 0 {
		r.Pages = append(r.Pages, g.page())
	}
	p := r.Pages[len(r.Pages)-1]
	p.Planes = addRows(p.Planes, b.Planes, b.Rows, row, n)
	p.Packed = addRows(p.Packed, b.Packed, b.Rows, row, n)
	p.Scalars = addRows(p.Scalars, b.Scalars, b.Rows, row, n)
	p.Mask = addRows(p.Mask, b.Mask, b.Rows, row, n)
	p.Action = addRows(p.Action, b.Played, b.Rows, row, n)
}

// page returns an empty page. It reuses one if one is free.
func (g *Games) page() *Page {
	if last := len(g.pages) - 1; last >= 0 {
		p := g.pages[last]
		g.pages = g.pages[:last]
		*p = Page{p.Planes[:0], p.Packed[:0], p.Scalars[:0], p.Mask[:0], p.Action[:0]}
		return p
	}
	b, n := g.kept, PageTurns*g.players
	return &Page{
		emptyRows(b.Planes, b.Rows, n), emptyRows(b.Packed, b.Rows, n), emptyRows(b.Scalars, b.Rows, n),
		emptyRows(b.Mask, b.Rows, n), emptyRows(b.Played, b.Rows, n),
	}
}

// emptyRows returns an empty slice with room for n rows of the width that slab, with
// `rows` rows, has.
func emptyRows[T any](slab []T, rows, n int) []T { return make([]T, 0, len(slab)/rows*n) }

// recycle frees the pages of an episode that is no longer read.
func (g *Games) recycle(e *Episode) {
	if e.Rows != nil {
		g.pages = append(g.pages, e.Rows.Pages...)
		e.Rows.Pages = e.Rows.Pages[:0]
	}
}

// addRows appends rows row … row+n−1 of a slab with `rows` rows; a nil slab has
// nothing to append.
func addRows[T any](dst, slab []T, rows, row, n int) []T {
	size := len(slab) / rows
	return append(dst, slab[row*size:(row+n)*size]...)
}
