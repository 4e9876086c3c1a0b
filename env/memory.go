package env

import (
	"encoding/binary"
	"fmt"

	"moonfarm/features"
)

// memory is a layer over a Vector, made if Settings.Memory is set. It changes
// Batch.Planes only. Resets must go through this layer. After a restore the
// caller calls RestoreMemory; without it, a game that is restored to an earlier
// turn is treated as a new game.
type memory struct {
	Vector  // below
	spec    Spec
	visible int   // index of the plane Fog.Visible
	kept    []int // indices of the planes Fog.Remembered
	cells   int
	turns   []int32 // [games] turn of the last observation
	store   []uint8 // [rows, len(kept), cells] last seen values
}

// newMemory puts the layer over v. It fails if fog is nil, which means that v's
// games have no fog, or if fog names a plane that does not exist.
func newMemory(v Vector, fog *features.Fog) (Vector, error) {
	s := v.Spec()
	if fog == nil {
		return nil, fmt.Errorf("env: these rules of %s have no fog of war: there is nothing to remember", s.Info.Name)
	}
	m := &memory{Vector: v, spec: s, cells: s.Shape.Height * s.Shape.Width, turns: make([]int32, s.Games)}
	m.spec.Remembered = fog.Remembered
	var err error
	if m.visible, err = findPlane(&s, fog.Visible); err != nil {
		return nil, err
	}
	for _, name := range fog.Remembered {
		k, err := findPlane(&s, name)
		if err != nil {
			return nil, err
		}
		m.kept = append(m.kept, k)
	}
	m.store = make([]uint8, s.Games*s.Info.Players*len(m.kept)*m.cells)
	return m, nil
}

// findPlane returns the index of the plane called name.
func findPlane(s *Spec, name string) (int, error) {
	for k, f := range s.Description.Planes {
		if f.Name == name {
			return k, nil
		}
	}
	return 0, fmt.Errorf("env: %s has no plane %q to remember", s.Info.Name, name)
}

// Spec implements Vector.
func (m *memory) Spec() Spec { return m.spec }

// Reset implements Vector. It also forgets what was seen in the game.
func (m *memory) Reset(i int, seed uint64) {
	m.Vector.Reset(i, seed)
	m.forget(i)
}

// Observe implements Vector.
func (m *memory) Observe(b *Batch) {
	m.Vector.Observe(b)
	for i := range m.turns {
		if !b.idle(i) {
			m.recall(b, i)
		}
	}
}

// ObserveGame implements Vector.
func (m *memory) ObserveGame(b *Batch, i int) {
	m.Vector.ObserveGame(b, i)
	m.recall(b, i)
}

// ObserveRows implements Vector.
func (m *memory) ObserveRows(b *Batch, rows []int32) {
	last := -1
	for _, row := range rows {
		if i := int(row) / m.spec.Info.Players; i != last {
			m.ObserveGame(b, i)
			last = i
		}
	}
}

func (m *memory) forget(i int) {
	m.turns[i] = 0
	clear(m.of(i))
}

// AppendMemory implements Vector: the turn of the last observation, in 4
// bytes, and the planes of each seat.
func (m *memory) AppendMemory(dst []byte, i int) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(m.turns[i]))
	return append(dst, m.of(i)...)
}

// RestoreMemory implements Vector.
func (m *memory) RestoreMemory(i int, memory []byte) error {
	store := m.of(i)
	switch len(memory) {
	case 0:
		m.forget(i)
		return nil
	case 4 + len(store):
		m.turns[i] = int32(binary.LittleEndian.Uint32(memory))
		copy(store, memory[4:])
		return nil
	}
	return fmt.Errorf("env: a memory of %d bytes, expected %d", len(memory), 4+len(store))
}

// of returns the part of the store that belongs to game i.
func (m *memory) of(i int) []uint8 {
	size := m.spec.Info.Players * len(m.kept) * m.cells
	return m.store[i*size : (i+1)*size]
}

// recall stores the cells of game i that are in sight and fills in all others.
func (m *memory) recall(b *Batch, i int) {
	if b.Planes == nil {
		return
	}
	if b.Turn[i] < m.turns[i] {
		m.forget(i)
	}
	m.turns[i] = b.Turn[i]
	n, size := m.spec.Info.Players, m.spec.Shape.PlaneBytes()
	if b.Seats != nil {
		m.fill(part(b.Planes, i, 1, size), i*n+int(b.Seats[i]))
		return
	}
	for row := i * n; row < (i+1)*n; row++ {
		m.fill(part(b.Planes, row, 1, size), row)
	}
}

// fill does the work of recall for a single observation. row counts the rows of
// all seats.
func (m *memory) fill(planes []uint8, row int) {
	visible := part(planes, m.visible, 1, m.cells)
	for k, plane := range m.kept {
		now := part(planes, plane, 1, m.cells)[:len(visible)]
		last := part(m.store, row*len(m.kept)+k, 1, m.cells)[:len(visible)]
		for c, seen := range visible {
			if seen != 0 {
				last[c] = now[c]
			} else {
				now[c] = last[c]
			}
		}
	}
}
