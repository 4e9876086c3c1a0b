package schedule

import "slices"

// matching is a matching of a graph: it pairs vertices along edges, each vertex with at most one
// other.
type matching struct {
	edge func(a, b int) bool
	mate []int  // −1 for an unpaired vertex
	off  []bool // removed vertices

	// State of the search of augment.
	parent, base []int
	outer        []bool
	queue        []int
}

func newMatching(n int, edge func(a, b int) bool) *matching {
	return &matching{
		edge: edge, mate: slices.Repeat([]int{-1}, n), off: make([]bool, n),
		parent: make([]int, n), base: make([]int, n), outer: make([]bool, n),
	}
}

// perfect pairs all vertices, and reports false if that is impossible.
func (m *matching) perfect() bool {
	for v := range m.mate {
		if m.mate[v] < 0 && !m.augment(v) {
			return false
		}
	}
	return true
}

// augment pairs the unpaired vertex root; paired vertices stay paired, perhaps with others. It
// searches for a path from root to another unpaired vertex on which every second edge belongs to
// the matching. An odd cycle on the way is contracted to one vertex: J. Edmonds, "Paths, trees, and
// flowers", Canadian Journal of Mathematics 17 (1965).
func (m *matching) augment(root int) bool {
	for v := range m.mate {
		m.parent[v], m.base[v], m.outer[v] = -1, v, false
	}
	m.outer[root] = true
	m.queue = append(m.queue[:0], root)
	for len(m.queue) > 0 {
		v := m.queue[0]
		m.queue = m.queue[1:]
		for w := range m.mate {
			if w == v || m.off[w] || m.mate[v] == w || m.base[v] == m.base[w] || !m.edge(v, w) {
				continue
			}
			switch {
			case w == root || m.mate[w] >= 0 && m.parent[m.mate[w]] >= 0:
				m.contract(v, w)
			case m.parent[w] < 0:
				m.parent[w] = v
				if m.mate[w] < 0 {
					m.flip(w)
					return true
				}
				m.outer[m.mate[w]] = true
				m.queue = append(m.queue, m.mate[w])
			}
		}
	}
	return false
}

// flip exchanges matched and unmatched edges on the path that ends in w.
func (m *matching) flip(w int) {
	for w >= 0 {
		v := m.parent[w]
		next := m.mate[v]
		m.mate[v], m.mate[w] = w, v
		w = next
	}
}

// contract contracts the odd cycle that the edge v–w closes.
func (m *matching) contract(v, w int) {
	top := m.meeting(v, w)
	in := make([]bool, len(m.mate)) // bases on the cycle
	m.climb(v, top, w, in)
	m.climb(w, top, v, in)
	for u := range m.mate {
		if in[m.base[u]] {
			m.base[u] = top
			if !m.outer[u] {
				m.outer[u] = true
				m.queue = append(m.queue, u)
			}
		}
	}
}

// climb marks the path from v up to top and reverses its edges.
func (m *matching) climb(v, top, child int, in []bool) {
	for m.base[v] != top {
		up := m.mate[v]
		in[m.base[v]], in[m.base[up]] = true, true
		m.parent[v] = child
		child = up
		v = m.parent[up]
	}
}

// meeting returns the lowest common base above v and w.
func (m *matching) meeting(v, w int) int {
	above := make([]bool, len(m.mate))
	for {
		v = m.base[v]
		above[v] = true
		if m.mate[v] < 0 {
			break
		}
		v = m.parent[m.mate[v]]
	}
	for {
		w = m.base[w]
		if above[w] {
			return w
		}
		w = m.parent[m.mate[w]]
	}
}

// fix pairs a with b for good if all other vertices can still be paired. All vertices must be
// paired before.
func (m *matching) fix(a, b int) bool {
	if !m.edge(a, b) {
		return false
	}
	if m.mate[a] == b {
		m.off[a], m.off[b] = true, true
		return true
	}
	before := slices.Clone(m.mate)
	left, right := m.mate[a], m.mate[b]
	m.off[a], m.off[b] = true, true
	m.mate[a], m.mate[b] = b, a
	m.mate[left], m.mate[right] = -1, -1
	if m.augment(left) {
		return true
	}
	m.off[a], m.off[b] = false, false
	copy(m.mate, before)
	return false
}
