package search

// Nodes is the number of nodes stored.
func (t *Tree[S, M]) Nodes() int { return len(t.nodes) }
