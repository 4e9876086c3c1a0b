package bitboard

// Join adds the cells of the boards of a table that are on a list of indices.
func (d *Diamond) Join(table []Diamond, list []uint16) {
	if has512 && len(list) > 0 && len(table) > 0 {
		list = list[join512(d, &table[0], len(table), &list[0], len(list)):]
	}
	d.joinPortable(table, list)
}

// joinPortable is Join without assembly, and its twin.
func (d *Diamond) joinPortable(table []Diamond, list []uint16) {
	for _, i := range list {
		d.Or(&table[i])
	}
}
