package players

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestSeating: all orders of players occur once before any repeats.
func TestSeating(t *testing.T) {
	for players, ways := range map[int]int{1: 1, 2: 2, 3: 6, 4: 24} {
		t.Run(fmt.Sprintf("%d players", players), func(t *testing.T) {
			seen := map[string]bool{}
			for n := range ways {
				sat := Seating(players, n)
				if key := fmt.Sprint(sat); seen[key] {
					t.Errorf("%d players: game %d is seated as another before: %s", players, n+1, key)
				} else {
					seen[key] = true
				}
				assert.Equalf(t, n%players, slices.Index(sat, 0), "%d players: in game %d the first sits at", players, n+1)
				assert.Equalf(t, n < players, SeriesSeed(7, players, n) == 7, "%d players: seed of game %d", players, n+1)
			}
			assert.Equalf(t, fmt.Sprint(Seating(players, 0)), fmt.Sprint(Seating(players, ways)), "%d players: no new beginning after %d games", players, ways)
		})
	}
}
