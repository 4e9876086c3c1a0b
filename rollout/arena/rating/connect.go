package rating

import "slices"

// connect finds which players can be compared. Players are in one group if games connect them, and
// in one class if each can be reached from the other along results that were not losses: the
// likelihood without a prior bounds the differences within a class, and no others (Ford 1957; with
// draws, Davidson 1970). The lowest player of a group or class is its name.
func connect(t *table) (group, class []int) {
	beat, met := make([][]int, t.players), make([][]int, t.players)
	for p, pair := range t.pairs {
		i, j := pair[0], pair[1]
		met[i], met[j] = append(met[i], j), append(met[j], i)
		c := t.sum[p]
		if c.lead > -c.games/2 {
			beat[i] = append(beat[i], j)
		}
		if c.lead < c.games/2 {
			beat[j] = append(beat[j], i)
		}
	}
	group, class = make([]int, t.players), make([]int, t.players)
	reached := make([][]bool, t.players)
	for i := range t.players {
		reached[i] = reach(beat, i)
		class[i], group[i] = i, slices.Index(reach(met, i), true)
		for j := range i {
			if reached[i][j] && reached[j][i] {
				class[i] = class[j]
				break
			}
		}
	}
	return group, class
}

// reach returns the nodes that can be reached from a node.
func reach(edges [][]int, from int) []bool {
	reached := make([]bool, len(edges))
	reached[from] = true
	for stack := []int{from}; len(stack) > 0; {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, j := range edges[i] {
			if !reached[j] {
				reached[j] = true
				stack = append(stack, j)
			}
		}
	}
	return reached
}

// bounded reports whether the games bound the difference between two players, or between player i
// and the pool if j < 0.
func (m *Model) bounded(i, j int) bool {
	if j >= 0 {
		return m.class[i] == m.class[j]
	}
	return !slices.ContainsFunc(m.class, func(c int) bool { return c != m.class[0] })
}
