// Package referee plays matches of Tower Defence as the original does, by the texts of the
// commands, and shows their positions and results.
package referee

import (
	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/internal/plain"
	"moonfarm/sim/towerdefence/wire/display"
)

// Referee plays matches slowly, with command texts as the original takes them. It keeps
// what the fast game does not: the order of buildings and missiles, and the hits that the
// displays show.
type Referee struct {
	game *plain.Game
	end  plain.End
}

// New starts a match with these rules. A's command is carried out first in
// every round, unless First says otherwise.
func New(rules towerdefence.Rules) *Referee {
	return &Referee{game: plain.New(rules)}
}

// First makes p the seat whose command is carried out first in every round. The
// original keeps the commands of a round in a table whose order stays the same throughout a
// match and varies by chance from one match to the next. The order shows in the lists of
// buildings placed in one round, of their missiles, and of the shots of two tesla towers of
// one age; see RULES.md, section 6.
func (r *Referee) First(p sim.Player) { r.game.First = p & 1 }

// Play plays a round with the command texts of A and B. It returns one of the End constants
// if the match is over, and "" while it goes on.
func (r *Referee) Play(a, b string) string {
	r.end = r.game.Play(a, b)
	return r.end.String()
}

// Position returns a copy of the position that the displays show.
func (r *Referee) Position() *display.Position { return display.FromPlain(r.game) }

// Result returns how the match ended; its End is EndCut while the match goes on.
func (r *Referee) Result() Result {
	res := Result{End: r.end.String(), Rounds: r.game.Round, Winner: Tie, Dead: r.game.DeadBases()}
	if res.End == "" {
		res.End = EndCut
	}
	if p, ok := r.game.Winner(); ok {
		res.Winner = [2]string{WinnerA, WinnerB}[p]
	}
	return res
}

// Hits returns the shots of the last round's tesla towers, in firing order, and what the
// curtains blocked in it, which the fast game does not keep. The next round leaves these
// lists as they are: Play makes new ones.
func (r *Referee) Hits() (tesla [][]display.Cell, curtain []display.Cell) {
	return r.game.TeslaHits, r.game.CurtainHits
}

// Result is how a match ended.
type Result struct {
	End    string // one of the End constants
	Rounds int    // played
	Winner string // WinnerA, WinnerB or Tie, by the formula of the rules, also for an unfinished match
	Dead   int    // number of bases with health 0
}

// Reasons for the end of a match.
const (
	EndDead      = "dead"      // the health of a base is 0
	EndMaxRounds = "maxrounds" // the last round was played
	EndTimeout   = "timeout"   // a player's failures reached the limit
	EndCut       = "cut"       // no end: the match could go on
	EndAborted   = "aborted"   // a command made the engine throw; in no recording of the original
)

// Values of Result.Winner.
const (
	WinnerA = "A"
	WinnerB = "B"
	Tie     = "tie"
)
