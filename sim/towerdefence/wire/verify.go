package wire

import (
	"fmt"
	"io"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
)

// Report is what Verify found.
type Report struct {
	Games   int // recorded games played again
	Rounds  int // of these games, compared; a game with a difference stops there
	Renders int // positions of which all displays were compared

	// Reordered counts the renders that differ in nothing but the order of
	// missiles: in the lists of the text maps, or of both players' on one cell. A
	// position does not always tell it, see Round.Position; these are no differences.
	Reordered int

	Different int         // games and renders that are not as recorded
	First     *Difference // the first difference; nil if there is none
}

// Difference is a place where a recording and this engine disagree.
type Difference struct {
	Line  int    // of the recording, from 1
	Game  string // name in the header line, or name of the render
	Round int    // as recorded
	Field string // the key of the line and what is in it, such as "b[3,7].health"
	Want  string // as recorded
	Got   string // as played
}

// Error tells the difference in one line.
func (d *Difference) Error() string {
	return fmt.Sprintf("line %d: game %s, round %d: %s: recorded %s, played %s", d.Line, d.Game, d.Round, d.Field, d.Want, d.Got)
}

// Verify plays every game of a recording again under these rules and compares
// all that is recorded: players, buildings, missiles and the end with the fast
// game, the two hit lists, which that one does not keep, with the Referee. After
// the first difference of a game it goes on with the next game. A file of
// renders, positions with their displays, is known by its first line: all five
// displays of each are written and compared byte for byte, but for the ids of
// missiles and the order of the types of buildings, which the original leaves
// to chance.
//
// The name is for errors, which tell of lines that cannot be read. Report then
// holds what was compared up to there.
func Verify(name string, in io.Reader, rules towerdefence.Rules) (Report, error) {
	r, err := NewRecordingReader(name, in)
	if err != nil {
		return Report{}, err
	}
	game, err := towerdefence.New(rules)
	if err != nil {
		return Report{}, err
	}
	v := verifier{in: r, rules: rules, game: game}
	if r.holdsRenders() {
		err = v.renders()
	} else {
		err = v.games()
	}
	return v.report, err
}

// verifier is one call of Verify.
type verifier struct {
	in     *RecordingReader
	rules  towerdefence.Rules
	report Report

	game    *towerdefence.Game
	state   towerdefence.State
	referee *Referee
	// The order of a round's commands, if the header does not tell it, is A's first
	// until a hit list shows that it was B's.
	orderTold bool
	commands  [][2]string // of the game so far
	end       string      // why the game is over
	skip      bool        // a difference was found in this game
	last      *Difference
	played    Round // the round as played; its lists are reused
}

// games compares a file of recorded games.
func (v *verifier) games() error {
	for {
		kind, err := v.in.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch kind {
		case HeaderLine:
			err = v.start()
		case RoundLine:
			v.round()
		case ResultLine:
			v.result()
		}
		if err != nil {
			return err
		}
	}
}

// start begins a game with the energies and healths of its header.
func (v *verifier) start() error {
	h := &v.in.Header
	v.report.Games++
	v.end, v.skip = "", false
	rules := v.rules
	rules.SetStart(h.Energy, h.Health)
	v.referee = NewReferee(rules)
	v.orderTold, v.commands = h.First != "", v.commands[:0]
	if h.First == letters[1:] {
		v.referee.First(seatB)
	}
	v.game.Reset(&v.state, 0)
	for p := range h.Energy {
		if h.Energy[p] < 0 || h.Energy[p] > towerdefence.MaxEnergy {
			return v.broken("a start energy from 0 to %d, found %d", towerdefence.MaxEnergy, h.Energy[p])
		}
		if h.Health[p] < 1 || h.Health[p] > towerdefence.MaxHealth {
			return v.broken("a base health from 1 to %d, found %d", towerdefence.MaxHealth, h.Health[p])
		}
		v.game.SetStart(&v.state, sim.Player(p), h.Energy[p], h.Health[p])
	}
	return nil
}

// broken is the error for values in the line just read that cannot be.
func (v *verifier) broken(want string, args ...any) error {
	return fmt.Errorf("recording %s: line %d: want %s", v.in.name, v.in.line, fmt.Sprintf(want, args...))
}

// differ notes a difference and leaves the rest of the game alone.
func (v *verifier) differ(game string, round int, field string, want, got any) {
	v.skip = true
	v.report.Different++
	v.last = &Difference{v.in.line, game, round, field, fmt.Sprint(want), fmt.Sprint(got)}
	if v.report.First == nil {
		v.report.First = v.last
	}
}

// round plays a recorded round and compares the position after it.
func (v *verifier) round() {
	if v.skip {
		return
	}
	want, name := &v.in.Round, v.in.Header.Game
	if v.end != "" {
		v.differ(name, want.Number, "r", "a further round", "the end: "+v.end)
		return
	}
	v.report.Rounds++
	a, b := want.Commands[0], want.Commands[1]
	status := v.game.Play(&v.state, ParseCommand(a), ParseCommand(b))
	v.end = v.endOf(status)
	v.referee.Play(a, b)
	v.commands = append(v.commands, want.Commands)
	v.played.fromState(v.game, &v.state)
	if v.end == EndAborted {
		v.played.Number++ // the round that was not played to its end
	}
	v.played.CurtainHits, v.played.TeslaHits = v.referee.game.CurtainHits, v.referee.game.TeslaHits
	if field, wanted, got := want.differs(&v.played); field != "" && !v.inOtherOrder(field) {
		v.differ(name, want.Number, field, wanted, got)
	}
}

// inOtherOrder reports whether the round just played is as recorded with B's commands
// first; if so the game is taken to have been played that way. Nothing but the hit
// lists, to which field must belong, depends on the order.
func (v *verifier) inOtherOrder(field string) bool {
	if v.orderTold || field != "th" && field != "ih" {
		return false
	}
	v.orderTold = true // the order does not change within a game
	other := NewReferee(v.referee.game.Rules)
	other.First(seatB)
	for _, c := range v.commands {
		other.Play(c[0], c[1])
	}
	v.played.CurtainHits, v.played.TeslaHits = other.game.CurtainHits, other.game.TeslaHits
	if field, _, _ := v.in.Round.differs(&v.played); field != "" {
		return false
	}
	v.referee = other
	return true
}

// endOf says why the fast game is over, "" while it goes on.
func (v *verifier) endOf(status sim.Status) string {
	a, b := &v.state.Half[0], &v.state.Half[1]
	switch {
	case status == sim.Cut:
		return EndAborted
	case status == sim.Running:
		return ""
	case int(max(a.Failures, b.Failures)) >= v.rules.MaxDoNothings:
		return EndTimeout
	case a.Health() == 0 || b.Health() == 0:
		return EndDead
	}
	return EndMaxRounds
}

// result compares the end of a game.
func (v *verifier) result() {
	if v.skip {
		return
	}
	want := v.in.Result
	got := Result{End: v.end, Rounds: int(v.state.Round), Winner: Tie}
	if got.End == "" {
		got.End = EndCut
	}
	switch r := v.game.Outcome(&v.state, seatA).Result; {
	case r > 0:
		got.Winner = WinnerA
	case r < 0:
		got.Winner = WinnerB
	}
	for p := range v.state.Half {
		if v.state.Half[p].Health() == 0 {
			got.Dead++
		}
	}
	name, round := v.in.Header.Game, got.Rounds-1
	switch {
	case want.End != got.End:
		v.differ(name, round, "end", want.End, got.End)
	case want.Rounds != got.Rounds:
		v.differ(name, round, "round", want.Rounds, got.Rounds)
	case want.Winner != got.Winner:
		v.differ(name, round, "winner", want.Winner, got.Winner)
	case want.Dead != got.Dead:
		v.differ(name, round, "dead", want.Dead, got.Dead)
	}
}

// fromState fills in players, buildings and missiles after the last round of
// the fast game.
func (r *Round) fromState(g *towerdefence.Game, s *towerdefence.State) {
	r.Number = int(s.Round) - 1
	r.Buildings, r.Missiles = r.Buildings[:0], r.Missiles[:0]
	for p := range sim.Player(2) {
		h := &s.Half[p]
		r.Players[p] = Player{Energy: int(h.Energy), Health: h.Health(), HitsTaken: h.Hits(), Score: g.Score(s, p),
			CurtainAvailable: h.Available, CurtainTime: s.CurtainTime(p), FailCount: int(h.Failures)}
	}
	for y := range Rows {
		for x := range Columns {
			owner, cell := seatA, y*towerdefence.Width+x
			if x >= towerdefence.Width {
				owner, cell = seatB, y*towerdefence.Width+Columns-1-x
			}
			if kind, ok := s.Half[owner].Kind(cell); ok {
				r.Buildings = append(r.Buildings, Building{X: x, Y: y, Owner: owner, Kind: kind,
					Health: g.HealthOf(s, owner, cell), BuildTime: g.BuildTime(s, owner, cell), Cooldown: g.Cooldown(s, owner, cell)})
			}
			for p := range sim.Player(2) {
				n := s.Half[p].MissilesFar(cell)
				if p == owner {
					n = s.Half[p].MissilesOwn(cell)
				}
				if n > 0 {
					r.Missiles = append(r.Missiles, Stack{x, y, p, n})
				}
			}
		}
	}
}

// differs finds the first field in which a round as played is not as recorded;
// field is "" if there is none.
func (r *Round) differs(played *Round) (field string, want, got any) {
	if r.Number != played.Number {
		return "r", r.Number, played.Number
	}
	for i := range r.Players {
		if field, want, got := playersDiffer(&r.Players[i], &played.Players[i]); field != "" {
			return fmt.Sprintf("p[%d].%s", i, field), want, got
		}
	}
	if w, g := firstDifference(r.Buildings, played.Buildings, placeOf); w != nil || g != nil {
		return buildingsDiffer(w, g)
	}
	if w, g := firstDifference(r.Missiles, played.Missiles, placeOfStack); w != nil || g != nil {
		return missilesDiffer(w, g)
	}
	if !slices.EqualFunc(r.TeslaHits, played.TeslaHits, slices.Equal[[]Cell]) {
		return "th", r.TeslaHits, played.TeslaHits
	}
	if !slices.Equal(r.CurtainHits, played.CurtainHits) {
		return "ih", r.CurtainHits, played.CurtainHits
	}
	return "", nil, nil
}

// playersDiffer finds the first field in which two players differ.
func playersDiffer(p, played *Player) (field string, want, got any) {
	for _, f := range []struct {
		name      string
		want, got int
	}{
		{"energy", p.Energy, played.Energy},
		{"health", p.Health, played.Health},
		{"hitsTaken", p.HitsTaken, played.HitsTaken},
		{"score", p.Score, played.Score},
		{"curtainTime", p.CurtainTime, played.CurtainTime},
		{"failCount", p.FailCount, played.FailCount},
	} {
		if f.want != f.got {
			return f.name, f.want, f.got
		}
	}
	if p.CurtainAvailable != played.CurtainAvailable {
		return "curtainAvailable", p.CurtainAvailable, played.CurtainAvailable
	}
	return "", nil, nil
}

// firstDifference finds the first place where two lists, sorted by place, differ:
// what each has there, nil for nothing. Both are nil if the lists are equal.
func firstDifference[T comparable](want, got []T, place func(T) int) (w, g *T) {
	for i := 0; ; i++ {
		switch {
		case i == len(want) && i == len(got):
			return nil, nil
		case i == len(want) || i < len(got) && place(want[i]) > place(got[i]):
			return nil, &got[i]
		case i == len(got) || place(want[i]) < place(got[i]):
			return &want[i], nil
		case want[i] != got[i]:
			return &want[i], &got[i]
		}
	}
}

// buildingsDiffer finds the first field in which two buildings differ; one that
// is nil is not there.
func buildingsDiffer(w, g *Building) (string, any, any) {
	at := func(b *Building) string { return fmt.Sprintf("b[%d,%d]", b.X, b.Y) }
	switch {
	case w == nil:
		return at(g), "nothing", g.Kind
	case g == nil:
		return at(w), w.Kind, "nothing"
	case w.Kind != g.Kind:
		return at(w) + ".type", w.Kind, g.Kind
	case w.Health != g.Health:
		return at(w) + ".health", w.Health, g.Health
	case w.BuildTime != g.BuildTime:
		return at(w) + ".buildTime", w.BuildTime, g.BuildTime
	}
	return at(w) + ".cooldown", w.Cooldown, g.Cooldown
}

// missilesDiffer shows how the missiles on a cell differ; nil stands for none.
func missilesDiffer(w, g *Stack) (string, any, any) {
	var want, got Stack
	if w != nil {
		want = *w
	}
	if g != nil {
		got = *g
	}
	at := want
	if w == nil {
		at = got
	}
	return fmt.Sprintf("m[%d,%d,%d]", at.X, at.Y, at.Owner), want.Count, got.Count
}
