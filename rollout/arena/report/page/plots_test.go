package page

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/rollout/arena"
)

func TestParts(t *testing.T) {
	games := make([]arena.Played, 25)
	tell := func() string {
		ends, rounds := parts(games)
		return fmt.Sprint(ends, rounds)
	}
	assert.Equal(t, "[3 5 8 10 13 15 18 20 23 25] false", tell())
	for i := range games {
		games[i].Round = i / 10
	}
	assert.Equal(t, "[10 20 25] true", tell())
	games[24].Stage = 1
	assert.Equal(t, "[10 20 24 25] true", tell())
	for i := range games {
		games[i].Round = i // more rounds than are shown
	}
	assert.Equal(t, "[3 5 8 10 13 15 18 20 23 25] false", tell())
	games = games[:2]
	games[1].Round = games[0].Round
	assert.Equal(t, "[1 2] false", tell())
	games = nil
	assert.Equal(t, "[] false", tell())
}

// TestLengths: the description of the histogram states the width and the highest bar, and there are
// not too many bars.
func TestLengths(t *testing.T) {
	for _, c := range []struct {
		turns []int
		want  string
		bars  int
	}{
		{[]int{5, 5, 6}, "Each bar is 1 turn wide. The highest is from 5 on, with 2 games.", 2},
		{[]int{0}, "Each bar is 1 turn wide. The highest is from 0 on, with 1 game.", 1},
		{[]int{29, 30, 58, 59, 401}, "Each bar is 20 turns wide. The highest is from 20 on, with 2 games.", 20},
		{[]int{1, 25_000, 25_001, 25_500}, "Each bar is 2000 turns wide. The highest is from 24000 on, with 3 games.", 13},
	} {
		t.Run(fmt.Sprint(c.turns), func(t *testing.T) {
			assert.Contains(t, string(plotLengths(c.turns)), c.want)
			all, _ := bars(c.turns)
			assert.Len(t, all, c.bars)
			games := 0.0
			for _, bar := range all {
				games += bar.Height
			}
			assert.EqualValues(t, len(c.turns), games)
		})
	}
}
