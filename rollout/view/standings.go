package view

import "slices"

// Ranker is a GameList whose games were played to compare players.
type Ranker interface {
	// Standings returns the results of the games, nil if the list has none.
	Standings() (*Standings, error)
}

// Standings are the results of a tournament.
type Standings struct {
	Games   int         `json:"games"`
	Of      int         `json:"of"`      // number of players; the lists may have only the best
	Heads   []string    `json:"heads"`   // of the columns of Players
	Players [][]string  `json:"players"` // the best first; the first cell of a row is the name
	Notes   []string    `json:"notes"`   // sentences about the columns
	Matrix  [][]Meeting `json:"matrix"`  // [row][column]: players in the order of Players
	Faults  []GameFault `json:"faults"`  // the latest game first
	// AllFaults is the number of faults; Faults may have only some.
	AllFaults int `json:"all_faults"`
}

// Bounds of Standings.
const (
	MostRanked = 200 // rows of Players
	MostMatrix = 40  // rows and columns of Matrix
	MostFaults = 100
)

// Meeting has the games of one player against another.
type Meeting struct {
	Games int     `json:"games"`
	Score float64 `json:"score"` // from 0 to 1; 0 without games
}

// GameFault is an error of a player in a game.
type GameFault struct {
	Game   uint64 `json:"game"` // Entry.ID
	Turn   int    `json:"turn"` // −1: before the first turn, or at no particular one
	Seat   int    `json:"seat"`
	Player string `json:"player"`
	Kind   string `json:"kind"`
	Times  int    `json:"times"`
	Text   string `json:"text"`
	Output string `json:"output"` // the last line that the player printed
}

// Standings implements Ranker.
func (l *List) Standings() (*Standings, error) {
	if l.Ranking == nil {
		return nil, nil
	}
	return l.Ranking()
}

// meets reports whether policy plays against the other policy at another seat, "" for any.
func meets(players []string, policy, against string) bool {
	for i, p := range players {
		if policy != "" && p != policy {
			continue
		}
		if against == "" || slices.Contains(players[:i], against) || slices.Contains(players[i+1:], against) {
			return true
		}
	}
	return policy == "" && against == ""
}
