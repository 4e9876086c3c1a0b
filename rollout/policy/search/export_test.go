package search

// Nodes returns the number of stored nodes.
func (t *Tree[S, M]) Nodes() int { return len(t.nodes) }

// AppendDirichlet is what Options.Noise draws.
var AppendDirichlet = appendDirichlet
