package env

// ObserveRows does the same as ObserveGame for the games of some rows (game*Players + seat), once for a
// game whose rows come one after the other.
func ObserveRows(v Vector, b *Batch, rows []int32) {
	if p, ok := v.(interface{ observeRows(b *Batch, rows []int32) }); ok {
		p.observeRows(b, rows)
		return
	}
	players, last := v.Spec().Info.Players, -1
	for _, row := range rows {
		if i := int(row) / players; i != last {
			v.ObserveGame(b, i)
			last = i
		}
	}
}

func (v *pool[S]) observeRows(b *Batch, rows []int32) {
	v.check(b)
	players, end := v.sizes.players, 0 // the row after those of the latest game
	for _, row := range rows {
		if r := int(row); r >= end || r < end-players {
			i := r / players
			v.mustHave("ObserveRows", i)
			v.observe(b, i)
			end = (i + 1) * players
		}
	}
}
