package players

import (
	"fmt"
	"slices"
	"testing"
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
				if where := slices.Index(sat, 0); where != n%players {
					t.Errorf("%d players: in game %d the first sits at %d", players, n+1, where)
				}
				if first := SeriesSeed(7, players, n) == 7; first != (n < players) {
					t.Errorf("%d players: seed of game %d", players, n+1)
				}
			}
			if fmt.Sprint(Seating(players, ways)) != fmt.Sprint(Seating(players, 0)) {
				t.Errorf("%d players: no new beginning after %d games", players, ways)
			}
		})
	}
}
