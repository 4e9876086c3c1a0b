package page

import (
	"fmt"
	"io/fs"
	"net/url"
	"strconv"

	"moonfarm/rollout/arena"
)

// mostOfPair bounds the number of games listed for two players: the last ones.
const mostOfPair = 20

// pairID returns the link target of the k-th pair that met.
func pairID(k int) string { return "pair-" + strconv.Itoa(k) }

// gameID returns the link target of a game in the table of games.
func gameID(g *arena.Played) string { return fmt.Sprintf("game-%d", g.Number) }

// linked links a cell of the matrix to the row of its pair, if the page has that row.
func (b *builder) linked(p *arena.Pair, c cell) cell {
	k := 0
	for i := range b.r.Pairs {
		switch q := &b.r.Pairs[i]; {
		case q == p && k < mostPairs:
			c.To = "#" + pairID(k)
			return c
		case q.Games > 0:
			k++
		}
	}
	return c
}

// gamesOf lists the last games of two players. Each links to its replay or, without one, to its row
// in the table of games.
func (b *builder) gamesOf(me, other string) (c cell) {
	last := max(0, len(b.played)-mostGames)
	all := 0
	for i := len(b.played) - 1; i >= 0; i-- {
		g := &b.played[i]
		if !b.sits(g, me) || !b.sits(g, other) {
			continue
		}
		if all++; all > mostOfPair {
			continue
		}
		to := "#" + gameID(g)
		switch {
		case len(g.Files) > 0 && fs.ValidPath(g.Files[0]):
			to = (&url.URL{Path: g.Files[0]}).String()
		case i < last:
			continue
		}
		c.Links = append(c.Links, link{strconv.FormatInt(g.Number, 10), to})
	}
	c.Class = "words"
	if all > len(c.Links) {
		c.Text = fmt.Sprintf("of %d", all)
	}
	return c
}

// sits reports whether a player plays in a game.
func (b *builder) sits(g *arena.Played, name string) bool {
	for _, k := range g.Players {
		if b.name(k) == name {
			return true
		}
	}
	return false
}
