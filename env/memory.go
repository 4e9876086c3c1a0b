package env

import (
	"fmt"
	"slices"
)

// Memory is a layer over a Vector whose games hide what is out of sight: where
// a cell is not visible now, chosen planes show what was there when it last
// was, 0 if it never was. All else stays as observed; the plane of visible cells
// still tells what is seen at this moment. It is for games with planes of one
// byte a cell, and fills Batch.Planes alone.
//
// Resets must go through it: an Autoreset belongs above. A game that is
// restored to an earlier turn is taken for a new one.
type Memory struct {
	inner   Vector
	visible int   // plane
	kept    []int // planes
	cells   int
	planes  int
	players int
	turns   []int32 // [games] the last turn observed
	store   []uint8 // [Rows, len(kept), cells]
}

// NewMemory puts the layer over v. visible names the plane of the cells in
// sight, kept those that are remembered. It fails if there is no plane of such a
// name, or the same one is named twice.
func NewMemory(v Vector, visible string, kept []string) (*Memory, error) {
	s := v.Spec()
	find := func(name string) (int, error) {
		for i, f := range s.Table.Planes {
			if f.Name == name {
				return i, nil
			}
		}
		return 0, fmt.Errorf("env: %s has no plane %q to remember", s.Info.Name, name)
	}
	m := &Memory{
		inner: v, cells: s.Shape.Height * s.Shape.Width, planes: s.Shape.Planes, players: s.Info.Players,
		turns: make([]int32, v.Len()),
	}
	var err error
	if m.visible, err = find(visible); err != nil {
		return nil, err
	}
	for _, name := range kept {
		k, err := find(name)
		if err != nil {
			return nil, err
		}
		if k == m.visible || slices.Contains(m.kept, k) {
			return nil, fmt.Errorf("env: plane %q is named twice", name)
		}
		m.kept = append(m.kept, k)
	}
	m.store = make([]uint8, v.Len()*m.players*len(m.kept)*m.cells)
	return m, nil
}

// Unwrap returns the Vector below.
func (m *Memory) Unwrap() Vector { return m.inner }

// Spec implements Vector.
func (m *Memory) Spec() Spec { return m.inner.Spec() }

// Len implements Vector.
func (m *Memory) Len() int { return m.inner.Len() }

// Reset implements Vector and forgets what the game showed.
func (m *Memory) Reset(i int, seed uint64) {
	m.inner.Reset(i, seed)
	m.forget(i)
}

// Step implements Vector.
func (m *Memory) Step(b *Batch) { m.inner.Step(b) }

// Observe implements Vector.
func (m *Memory) Observe(b *Batch) {
	m.inner.Observe(b)
	for i := range m.turns {
		m.recall(b, i)
	}
}

// ObserveGame implements Vector.
func (m *Memory) ObserveGame(b *Batch, i int) {
	m.inner.ObserveGame(b, i)
	m.recall(b, i)
}

func (m *Memory) forget(i int) {
	m.turns[i] = 0
	size := m.players * len(m.kept) * m.cells
	clear(m.store[i*size : (i+1)*size])
}

// recall stores what game i shows and fills in what it does not.
func (m *Memory) recall(b *Batch, i int) {
	if b.Planes == nil {
		return
	}
	if b.Turn[i] < m.turns[i] {
		m.forget(i)
	}
	m.turns[i] = b.Turn[i]
	for row := i * m.players; row < (i+1)*m.players; row++ {
		planes := b.Planes[row*m.planes*m.cells:][:m.planes*m.cells]
		visible := planes[m.visible*m.cells:][:m.cells]
		for k, plane := range m.kept {
			now := planes[plane*m.cells:][:len(visible)]
			was := m.store[(row*len(m.kept)+k)*m.cells:][:len(visible)]
			for c, seen := range visible {
				if seen != 0 {
					was[c] = now[c]
				} else {
					now[c] = was[c]
				}
			}
		}
	}
}
