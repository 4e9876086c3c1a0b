package rows

import "moonfarm/rollout"

// nexts lists the columns of later observations, each with the one that it repeats.
var nexts = [...]struct{ next, now Column }{{NextPlanes, Planes}, {NextPacked, Packed}, {NextScalars, Scalars}, {NextMask, Mask}}

// inOrder returns the places of rows that follow each other.
func (m *Maker) inOrder(first, rows int) []int32 {
	m.places = m.places[:0]
	for k := range rows {
		m.places = append(m.places, int32(first+k))
	}
	return m.places
}

// reach copies the observations of the turn in hand to the rows of Spec.Steps actions
// earlier. places are those of the turn's own rows, which are late from now on; nil: the
// turn belongs to another piece. A seat that waits in a sequential form neither acts nor
// observes.
func (m *Maker) reach(to *Slabs, e *episode, places []int32) {
	if !m.spec.next() {
		return
	}
	for p := range m.late {
		if s := e.Steps; s != nil && s.Action[(m.at-1)*len(m.late)+p] == rollout.Waiting {
			continue
		}
		if late := m.late[p]; len(late) == m.spec.Steps {
			m.copyNext(to, late[0], p)
			m.late[p] = append(late[:0], late[1:]...)
		}
		place := int32(-1)
		if places != nil {
			place = places[p]
		}
		m.late[p] = append(m.late[p], place)
	}
}

// playOn plays turns of the episode after those of a piece until no row of it lacks its
// next observation. The last rows of the episode get that after the last turn.
func (m *Maker) playOn(to *Slabs, e *episode) error {
	for m.isLate() && m.at < e.Turns {
		if err := m.step(); err != nil {
			return err
		}
		m.reach(to, e, nil)
	}
	if m.isLate() {
		m.source.Final(m.batch)
	}
	for p, late := range m.late {
		for _, place := range late {
			m.copyNext(to, place, p)
		}
		m.late[p] = late[:0]
	}
	return nil
}

// isLate reports whether a row lacks its next observation.
func (m *Maker) isLate() bool {
	for _, late := range m.late {
		if len(late) > 0 && late[0] >= 0 {
			return true
		}
	}
	return false
}

// copyNext copies the observation of a seat in hand to the row at a place, if there is one.
func (m *Maker) copyNext(to *Slabs, place int32, seat int) {
	if place < 0 {
		return
	}
	for _, c := range nexts {
		if size := to.width[c.next]; size > 0 {
			copy(to.data[c.next][int(place)*size:][:size], m.turn.data[c.now][seat*size:])
		}
	}
}
