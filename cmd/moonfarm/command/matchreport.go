package command

import (
	"fmt"
	"math"
	"strings"
	"time"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/rollout/arena"
	"moonfarm/rollout/bots/players"
	"moonfarm/rollout/recordings"
	"moonfarm/sim/texts"
)

// matchReport has the results of games. Its JSON keys are documented in JSON.md.
type matchReport struct {
	Game     string        `json:"game"`
	Rules    string        `json:"rules"`
	Seed     uint64        `json:"seed"`
	Complete bool          `json:"complete"` // all games that were asked for
	Box      string        `json:"box,omitempty"`
	Players  []matchPlayer `json:"players"`
	Games    []matchGame   `json:"games"`
}

type matchPlayer struct {
	Player  string  `json:"player"`
	Games   int     `json:"games"`
	Wins    int     `json:"wins"`
	Place   float64 `json:"place"`
	Score   float64 `json:"score"`
	Crashes int     `json:"crashes"`
}

type matchGame struct {
	Number  int         `json:"number"`
	Seed    uint64      `json:"seed"`
	Turns   int         `json:"turns"`
	Cut     bool        `json:"cut"`
	Clock   bool        `json:"clock_decided"` // the shorter time of thinking decided
	Seconds float64     `json:"seconds"`
	Seats   []matchSeat `json:"seats"`
}

type matchSeat struct {
	Player  string  `json:"player"`
	Score   float64 `json:"score"`
	Place   int     `json:"place"`
	Crashed bool    `json:"crashed"`
	Comment *string `json:"comment"`
	// After a crash: the turn, nil before the first one; how a bot that was started here
	// ended by itself; its last lines of output.
	Turn    *int          `json:"crash_turn"`
	Exit    string        `json:"exit"`
	Output  []string      `json:"output"`
	Seconds float64       `json:"seconds"`
	Faults  []arena.Fault `json:"faults"`
	player  int
}

// game makes the result of game n.
func (s *series) game(n int, seed uint64, sits []int, o *players.Outcome) matchGame {
	g := matchGame{Number: n + 1, Seed: seed, Turns: o.Turns, Cut: o.Cut, Clock: o.Clock, Seconds: o.Time.Seconds()}
	for i, k := range sits {
		own := &o.Seats[i]
		seat := matchSeat{Player: s.players[k].Name, Score: own.Score, Place: own.Place, Output: []string{},
			Seconds: own.Used.Seconds(), Faults: append([]arena.Fault{}, own.Faults...), player: k}
		if c := own.Crash; c != nil {
			seat.Crashed, seat.Comment, seat.Exit, seat.Output = true, &own.Comment, c.Exit, append(seat.Output, c.Output...)
			if c.Turn >= 0 {
				seat.Turn = &c.Turn
			}
		}
		g.Seats = append(g.Seats, seat)
	}
	return g
}

// standing returns the seat of the winner, −1 if several are first, and the scores.
func (m *matchGame) standing() (winner int, scores []string) {
	winner, first := -1, 0
	for i, seat := range m.Seats {
		if scores = append(scores, scoreText(seat.Score)); seat.Place == 1 {
			winner, first = i, first+1
		}
	}
	if first > 1 {
		winner = -1
	}
	return winner, scores
}

// report sums up the games.
func (s *series) report(list []matchGame) *matchReport {
	r := &matchReport{Game: s.name, Rules: s.Info, Seed: s.seed, Games: list, Box: s.box}
	for _, p := range s.players {
		r.Players = append(r.Players, matchPlayer{Player: p.Name, Games: len(list)})
	}
	for _, g := range list {
		for _, seat := range g.Seats {
			p := &r.Players[seat.player]
			p.Place += float64(seat.Place) / float64(len(list))
			p.Score += seat.Score / float64(len(list))
			if seat.Place == 1 {
				p.Wins++
			}
			if seat.Crashed {
				p.Crashes++
			}
		}
	}
	return r
}

// faultLines prints the crashes and faults of a game. The last lines of a player are
// printed once: told has the players whose lines were printed.
func (a *app) faultLines(g *matchGame, prefix string, told map[int]bool) {
	for i, seat := range g.Seats {
		if seat.Crashed {
			a.Printf("%sseat %d, %s: %s\n", prefix, i+1, seat.Player, *seat.Comment)
			if !told[seat.player] && len(seat.Output) > 0 {
				told[seat.player] = true
				a.Printf("  it printed last:\n")
				for _, line := range seat.Output {
					a.Printf("  | %s\n", line)
				}
			}
		}
		for _, f := range seat.Faults {
			if seat.Crashed && strings.HasSuffix(*seat.Comment, f.Text) {
				continue
			}
			a.Printf("%sseat %d, %s: %d %s", prefix, i+1, seat.Player, f.Times, f.Kind)
			if f.Turn >= 0 {
				a.Printf(", the first in turn %d", f.Turn)
			}
			if f.Text != "" {
				a.Printf(": %s", f.Text)
			}
			a.Printf("\n")
		}
	}
}

// printMatches prints the games with the names of the players for tables.
func (a *app) printMatches(r *matchReport, names []string, passed time.Duration) {
	told := map[int]bool{}
	for i := range r.Players {
		r.Players[i].Player = names[i]
	}
	for _, g := range r.Games {
		for i := range g.Seats {
			g.Seats[i].Player = names[g.Seats[i].player]
		}
	}
	if len(r.Games) == 1 && r.Complete { // the only one
		g := &r.Games[0]
		rows := [][]string{{"seat", "player", "score", "place", "time of answers"}}
		for i, seat := range g.Seats {
			rows = append(rows, []string{
				texts.Group(i + 1), seat.Player, scoreText(seat.Score), texts.Group(seat.Place), fmt.Sprintf("%.3f s", seat.Seconds),
			})
		}
		a.Table(rows...)
		a.faultLines(g, "", told)
		if g.Clock {
			a.Printf("the clock decided: %s\n", clockDoc)
		}
		a.Text(scoreDoc(r.Game))
		a.Printf("\n%s %s: %s, seed %d (%.1f s)\n", r.Game, r.Rules, texts.Plural(g.Turns, "turn"), g.Seed, passed.Seconds())
		return
	}
	headings := []string{"player", "games", "first", "mean place", "mean score", "crashes"}
	a.Table(console.Rows(r.Players, headings, func(p matchPlayer) []string {
		return []string{p.Player, texts.Group(p.Games), texts.Group(p.Wins), fmt.Sprintf("%.2f", p.Place), texts.Group(int64(math.Round(p.Score))), texts.Group(p.Crashes)}
	})...)
	for i := range r.Games {
		a.faultLines(&r.Games[i], fmt.Sprintf("game %d, ", r.Games[i].Number), told)
		if r.Games[i].Clock {
			a.Printf("game %d: the clock decided: %s\n", r.Games[i].Number, clockDoc)
		}
	}
	a.Text(scoreDoc(r.Game))
	a.Printf("\n%s %s: %s, seed %d (%.1f s)\n", r.Game, r.Rules, texts.Plural(len(r.Games), "game"), r.Seed, passed.Seconds())
}

// clockDoc explains how the clock decides a game.
const clockDoc = "both had the same health at the end, and the player that took less time for its answers won"

// scoreDoc returns a line that explains the score of a game, or "".
func scoreDoc(game string) string {
	if text := recordings.InfoOf(game).Score; text != "" {
		return "\nscore: " + text + "\n"
	}
	return ""
}

// scoreText formats a score, whole numbers with commas.
func scoreText(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return texts.Group(int64(x))
	}
	return console.FormatFloat(x)
}
