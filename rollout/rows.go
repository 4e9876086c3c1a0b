package rollout

import "moonfarm/env"

// Rows are rows of an episode as a Replayer would write them: one per turn and
// seat, row turn*Players + seat. Slabs that were not asked for are empty.
type Rows struct {
	Planes  []uint8
	Packed  []uint64
	Scalars []float32
	Mask    []uint64
	Action  []int32 // as the orders say it
	Reward  []float32
}

// Keep makes the Table keep the rows of the episodes it plays from now on, with
// the wanted slabs and the reward. Whoever writes rows anyway spares playing
// every turn a second time for them; the price is the memory of all episodes in
// hand (RowBytes of one row, times seats, turns, and a few episodes per game).
func (t *Table) Keep(want env.Want) {
	if want&env.WantAction != 0 {
		want = want&^env.WantAction | env.WantPlayed
	}
	t.keeps, t.keep, t.wants = true, want, t.wants|want
	t.batch = env.NewBatch(t.v.Spec(), t.v.Len(), t.wants)
}

// EpisodesInHand is the most episodes that a Table of so many games holds at
// once.
func EpisodesInHand(games int) int { return window * games }

// RowBytes is the size of one row with these slabs and the reward.
func RowBytes(s env.Spec, want env.Want) int {
	b := env.NewBatch(s, 1, want)
	all := len(b.Planes) + 8*len(b.Packed) + 4*len(b.Scalars) + 8*len(b.Mask) + 4*len(b.Action) + 4*len(b.Reward)
	return all / s.Info.Players
}

// empty empties r and keeps its memory.
func (r *Rows) empty() {
	*r = Rows{r.Planes[:0], r.Packed[:0], r.Scalars[:0], r.Mask[:0], r.Action[:0], r.Reward[:0]}
}

// add appends rows row … row+n−1 of the batch.
func (r *Rows) add(b *env.Batch, want env.Want, row, n int) {
	if want&env.WantPlanes != 0 {
		r.Planes = addRows(r.Planes, b.Planes, b.Rows, row, n)
	}
	if want&env.WantPacked != 0 {
		r.Packed = addRows(r.Packed, b.Packed, b.Rows, row, n)
	}
	if want&env.WantScalars != 0 {
		r.Scalars = addRows(r.Scalars, b.Scalars, b.Rows, row, n)
	}
	if want&env.WantMask != 0 {
		r.Mask = addRows(r.Mask, b.Mask, b.Rows, row, n)
	}
	if want&env.WantPlayed != 0 {
		r.Action = addRows(r.Action, b.Played, b.Rows, row, n)
	}
	r.Reward = append(r.Reward, b.Reward[row:row+n]...)
}

// addRows appends n of the rows of a slab.
func addRows[T any](dst, slab []T, rows, row, n int) []T {
	size := len(slab) / rows
	return append(dst, slab[row*size:(row+n)*size]...)
}
