package view

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"moonfarm/rollout"
	"moonfarm/rollout/view/overview"
	"moonfarm/sim"
)

// GameList lists games, and opens their films. It may be used by several goroutines at once.
type GameList interface {
	// Head describes the game list.
	Head() ListHead
	// Games returns the games that a query asks for, and the number of all that match it.
	Games(q Query) (list []Entry, total uint64, err error)
	// Film opens the film of a game.
	Film(id uint64) (*Film, error)
	// Overview returns what is to be said of the games. It is called only if ListHead.Overview is set.
	Overview() (*overview.Document, error)
}

// ListHead describes a game list to the page.
type ListHead struct {
	Title    string   `json:"title"`
	Kind     string   `json:"kind"` // "games"
	Total    uint64   `json:"total"`
	Policies []string `json:"policies"`
	Live     bool     `json:"live"` // it may change
	// Grows says that games may be added to a Live list, but that those in it stay as they are.
	Grows bool `json:"grows,omitempty"`
	// Overview says that the question overview.json has an answer.
	Overview bool    `json:"overview,omitempty"`
	Person   *Person `json:"person,omitempty"`
	Held     *bool   `json:"held,omitempty"` // of a game that is being played: whether it waits for Step
}

// Person is somebody who plays in the page.
type Person struct {
	Seat int `json:"seat"`
}

// Entry describes a game in a list.
type Entry struct {
	ID      uint64   `json:"id"`
	Name    string   `json:"name"`
	Players []string `json:"players"`
	Turns   int      `json:"turns"`
	Status  string   `json:"status"` // "over", "cut" or "running"
	Winner  int      `json:"winner"` // −1: a draw, or none
	Scores  []string `json:"scores"`
}

// EntryOf describes an episode.
func EntryOf(id uint64, name string, e *rollout.Episode) Entry {
	x := Entry{ID: id, Name: name, Players: slices.Clone(e.Policies), Turns: e.Turns, Winner: -1, Scores: []string{}}
	switch e.Status {
	case sim.Running:
		x.Status = "running"
	case sim.Over:
		x.Status = "over"
	default:
		x.Status = "cut"
	}
	best := float32(0)
	for p, o := range e.Outcome[:e.Players] {
		x.Scores = append(x.Scores, strconv.FormatFloat(o.Score, 'g', 6, 64))
		switch {
		case x.Status == "over" && o.Result > best:
			best, x.Winner = o.Result, p
		case o.Result == best:
			x.Winner = -1
		}
	}
	return x
}

// Query asks for games of a game list.
type Query struct {
	From, Count int
	Sort        string // "id", "turns" or "-turns"
	Policy      string // that plays at some seat; "": any
	Against     string // that plays at another seat of Policy's game; "": any
	Outcome     string // "A" … "D" (the winner's seat), "draw" or "cut"; "": any
}

// MostListed bounds Query.Count.
const MostListed = 1000

// Check fails if the query cannot be answered.
func (q *Query) Check() error {
	switch {
	case q.From < 0 || q.Count < 1 || q.Count > MostListed:
		return fmt.Errorf("games from %d, %d of them: expected from 0, and 1 to %d", q.From, q.Count, MostListed)
	case !slices.Contains([]string{"", "id", "turns", "-turns"}, q.Sort):
		return fmt.Errorf("sort %q: expected id, turns or -turns", q.Sort)
	case q.Against != "" && q.Policy == "":
		return fmt.Errorf("against %.100q: expected a policy as well", q.Against)
	case !slices.Contains([]string{"", "A", "B", "C", "D", "draw", "cut"}, q.Outcome):
		return fmt.Errorf("outcome %q: expected A, B, C, D, draw or cut", q.Outcome)
	}
	return nil
}

// Plain reports whether the query asks for games in the order of their numbers, without a condition.
func (q *Query) Plain() bool {
	return (q.Sort == "" || q.Sort == "id") && q.Policy == "" && q.Against == "" && q.Outcome == ""
}

// Matches reports whether a game fits the conditions.
func (q *Query) Matches(x *Entry) bool {
	if !meets(x.Players, q.Policy, q.Against) {
		return false
	}
	switch q.Outcome {
	case "":
		return true
	case "cut":
		return x.Status == "cut"
	case "draw":
		return x.Status == "over" && x.Winner < 0
	}
	return x.Winner == int(q.Outcome[0]-'A')
}

// meets reports whether policy plays against the other policy at another seat, "" for any.
func meets(players []string, policy, against string) bool {
	for i, p := range players {
		met := against == "" || slices.Contains(players[:i], against) || slices.Contains(players[i+1:], against)
		if met && (policy == "" || p == policy) {
			return true
		}
	}
	return policy == "" && against == ""
}

// Select returns the part of all matching games that the query asks for. It sorts matching.
func (q *Query) Select(matching []Entry) []Entry {
	switch q.Sort {
	case "turns":
		slices.SortStableFunc(matching, func(a, b Entry) int { return cmp.Compare(a.Turns, b.Turns) })
	case "-turns":
		slices.SortStableFunc(matching, func(a, b Entry) int { return cmp.Compare(b.Turns, a.Turns) })
	default: // the games of a tournament are listed as they ended
		slices.SortStableFunc(matching, func(a, b Entry) int { return cmp.Compare(a.ID, b.ID) })
	}
	from := min(q.From, len(matching))
	return matching[from:min(from+q.Count, len(matching))]
}

// List is a GameList of games in memory.
type List struct {
	Title   string
	Live    bool // it may change
	Grows   bool // as in ListHead
	Person  *Person
	Entries []Entry
	// Open opens the film of the game with that index in Entries; nil: the games have none.
	Open func(index int) (*Film, error)
	// About returns what is to be said of the games; nil: the list has no overview.
	About func() (*overview.Document, error)
}

// Head implements GameList.
func (l *List) Head() ListHead {
	h := ListHead{Title: l.Title, Kind: "games", Total: uint64(len(l.Entries)), Policies: []string{}, Live: l.Live, Grows: l.Grows,
		Overview: l.About != nil, Person: l.Person}
	for i := range l.Entries {
		for _, p := range l.Entries[i].Players {
			if len(h.Policies) < MostPolicies && !slices.Contains(h.Policies, p) {
				h.Policies = append(h.Policies, p)
			}
		}
	}
	return h
}

// MostPolicies bounds ListHead.Policies.
const MostPolicies = 200

// Games implements GameList.
func (l *List) Games(q Query) ([]Entry, uint64, error) {
	if err := q.Check(); err != nil {
		return nil, 0, err
	}
	var matching []Entry
	for i := range l.Entries {
		if q.Matches(&l.Entries[i]) {
			matching = append(matching, l.Entries[i])
		}
	}
	return q.Select(matching), uint64(len(matching)), nil
}

// Film implements GameList.
func (l *List) Film(id uint64) (*Film, error) {
	i := slices.IndexFunc(l.Entries, func(x Entry) bool { return x.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("%s has no game %d", l.Title, id)
	}
	if l.Open == nil {
		return nil, errNoFilm
	}
	return l.Open(i)
}

var errNoFilm = errors.New("the game cannot be shown")

// Overview implements GameList.
func (l *List) Overview() (*overview.Document, error) { return l.About() }
