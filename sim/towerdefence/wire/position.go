package wire

import (
	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/internal/plain"
)

// Columns is the width of the whole map: A owns the absolute columns 0 … 7,
// B 8 … 15.
const Columns = 2 * towerdefence.Width

// Rows is the height of the map.
const Rows = towerdefence.Height

// Position is everything the original's displays show between two rounds, in
// absolute columns.
type Position struct {
	Rules       towerdefence.Rules
	Round       int // number of the round about to be played
	Players     [2]Player
	Buildings   []Building // in the order of their placement; of one round A's first
	Missiles    []Missile  // in the order of their creation
	TeslaHits   [][]Cell   // shots of the last round, in firing order
	CurtainHits []Cell     // what the curtains blocked in the last round
}

// Player is what the displays show of a player, and the count of failures,
// which they do not.
type Player struct {
	Energy, Health, HitsTaken, Score int
	CurtainAvailable                 bool
	CurtainTime                      int // 0 and above: the curtain is active
	FailCount                        int // failed commands in a row
}

// Building is a building on the map.
type Building struct {
	X, Y      int // absolute column, row
	Owner     sim.Player
	Kind      towerdefence.Kind
	Health    int
	BuildTime int // the displays' constructionTimeLeft; −1 and below: finished
	Cooldown  int
}

// Missile is a missile in flight.
type Missile struct {
	X, Y  int // absolute column, row
	Owner sim.Player
	ID    int // stands for the random identifier of the original
}

// Cell is an entry of a hit list.
type Cell struct {
	X, Y  int // absolute column, row
	Owner sim.Player
}

// curtainActive tells whether the displays show the curtain as active.
func (p *Player) curtainActive() bool { return p.CurtainTime >= 0 }

// FromPlain copies a position of the plain game, the twin of the rules.
func FromPlain(g *plain.Game) *Position {
	p := &Position{Rules: g.Rules, Round: g.Round, CurtainHits: cellsOf(g.CurtainHits)}
	for i, player := range g.Players {
		p.Players[i] = Player(player)
	}
	for _, b := range g.Buildings {
		p.Buildings = append(p.Buildings, Building(b))
	}
	for _, m := range g.Missiles {
		p.Missiles = append(p.Missiles, Missile(m))
	}
	for _, shot := range g.TeslaHits {
		p.TeslaHits = append(p.TeslaHits, cellsOf(shot))
	}
	return p
}

func cellsOf(list []plain.Cell) []Cell {
	var cells []Cell
	for _, c := range list {
		cells = append(cells, Cell(c))
	}
	return cells
}

// Referee plays matches slowly, with command texts as the original takes
// them, and knows what the fast game does not keep: the orders of the lists
// and the hits the displays show.
type Referee struct {
	game *plain.Game
	end  plain.End
}

// NewReferee starts a match with these rules.
func NewReferee(rules towerdefence.Rules) *Referee {
	return &Referee{game: plain.New(rules)}
}

// Handicap changes the energy and base health of the players, A and B, at the
// start of a match, as the headers of recordings do.
func (r *Referee) Handicap(energy, health [2]int) {
	for i := range r.game.Players {
		r.game.Players[i].Energy, r.game.Players[i].Health = energy[i], health[i]
	}
}

// Play plays a round with the command texts of A and B. It returns why the
// match is over, one of the End constants, and "" while it goes on.
func (r *Referee) Play(a, b string) string {
	r.end = r.game.Play(a, b)
	return r.end.String()
}

// Position returns a copy of what the displays show.
func (r *Referee) Position() *Position { return FromPlain(r.game) }

// Result says how the match ended; EndCut for one that has not.
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
