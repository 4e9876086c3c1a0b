package recordings

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"moonfarm/sim"
	"moonfarm/sim/texts"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/display"
	"moonfarm/sim/towerdefence/wire/matchlog"
	"moonfarm/sim/towerdefence/wire/recording"
	"moonfarm/sim/towerdefence/wire/referee"
)

// towerdefenceEngine reads and writes recordings of the original engine as JSON
// Lines, and the match logs of its runner.
type towerdefenceEngine struct{}

// towerdefenceInfo describes the recordings and the contest.
var towerdefenceInfo = Info{
	Game:         "towerdefence",
	RulesMissing: true,
	Counts:       []string{"games", "rounds", "renders"},
	Views:        []string{"text", "console", "state", "textmap"},
	Seats:        2,
	Forms: []*Form{
		{Name: "recording", Ext: ".jsonl", Noun: "recording", Write: writeTowerdefence},
		{Name: "match-log", Noun: "match log", WriteFolder: writeMatchLog, Owns: func(e fs.DirEntry) bool {
			return e.IsDir() && strings.HasPrefix(e.Name(), "Round ") || !e.IsDir() && e.Name() == matchlog.OrderFile
		}},
	},
	Score: "the points of the game, for placing, income and damage; a base that falls decides before them",
}

// Info implements Engine.
func (towerdefenceEngine) Info() *Info { return &towerdefenceInfo }

// Holds implements Engine: it distinguishes files of games from files of displays.
func (towerdefenceEngine) Holds(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte(`{"game":`)):
		return Games
	case bytes.HasPrefix(head, []byte(`{"render":`)):
		return "renders"
	}
	return ""
}

// givenTowerdefenceRules parses the text of a game-config.properties, "" for the default.
func givenTowerdefenceRules(text string) (towerdefence.Rules, error) {
	return givenRules(text, towerdefence.ParseRules, (*towerdefence.Rules).Validate)
}

// Verify implements Engine.
func (towerdefenceEngine) Verify(name string, in io.Reader, rules string) (Report, error) {
	r, err := givenTowerdefenceRules(rules)
	if err != nil {
		return Report{}, err
	}
	report, err := recording.Verify(name, in, r)
	v := Report{
		Counts:    map[string]int{"games": report.Games, "rounds": report.Rounds, "renders": report.Renders},
		Different: report.Different,
	}
	if d := report.First; d != nil {
		v.First = &Difference{Line: d.Line, Game: d.Game, Round: d.Round, Field: d.Field, Expected: d.Want, Found: d.Got}
	}
	if report.Reordered > 0 {
		v.Notes = append(v.Notes, texts.Plural(report.Reordered, "render")+" list missiles in an order that the position does not determine")
	}
	return v, err
}

// Show implements Engine: it shows a position of a recorded game.
func (towerdefenceEngine) Show(name string, in io.Reader, rules string, o ShowOptions) (Position, error) {
	if err := o.check(&towerdefenceInfo); err != nil {
		return Position{}, err
	}
	parsed, err := givenTowerdefenceRules(rules)
	if err != nil {
		return Position{}, err
	}
	r, err := recording.NewReader(name, in)
	if err != nil {
		return Position{}, err
	}
	if err := seekGame(r, o.Game); err != nil {
		return Position{}, err
	}
	p, commands, rounds, err := positionBefore(r, parsed, o)
	if err != nil {
		return Position{}, err
	}
	s := Position{Name: r.Header.Game, Round: p.Round, Rounds: rounds, Commands: commands}
	if o.Draw {
		if s.Scene, err = towerdefenceScene(p); err != nil {
			return Position{}, err
		}
	}
	switch o.As {
	case "console":
		s.Text = string(p.AppendConsole(nil))
	case "state":
		s.Text = string(p.AppendState(nil, o.Seat)) + "\n"
	case "textmap":
		s.Text = string(p.AppendTextMap(nil, o.Seat))
	default:
		s.Text = towerdefenceText(r.Header, p, s)
	}
	return s, nil
}

// seekGame reads up to the header of the given game, counted from 1.
func seekGame(r *recording.Reader, game int) error {
	for n := 0; n < game; {
		kind, err := r.Next()
		if err == io.EOF {
			return wrongOption("game", game, "expected 1 to %d, the recording has no more games", n)
		}
		if err != nil {
			return err
		}
		if kind == recording.HeaderLine {
			n++
		}
	}
	return nil
}

// positionBefore plays the current game up to o.Round and returns the position before that round,
// the commands given in it (none at the end), and the number of rounds of the game. If the game
// does not play as recorded, the position is the recorded one.
func positionBefore(r *recording.Reader, rules towerdefence.Rules, o ShowOptions) (p *display.Position, commands []string, rounds int, err error) {
	rules.SetStart(r.Header.Energy, r.Header.Health)
	match, first := referee.New(rules), sim.Player(0)
	if r.Header.First == "B" {
		first = 1
	}
	match.First(first)
	last := match.Position()
	for {
		if last.Round == o.Round {
			p = last
		}
		kind, err := r.Next()
		if err != nil {
			return nil, nil, 0, err
		}
		if kind == recording.ResultLine {
			break
		}
		if rounds++; p == last {
			commands = slices.Clone(r.Round.Commands[:])
		}
		match.Play(r.Round.Commands[0], r.Round.Commands[1])
		last = match.Position()
		if played := recording.RoundOf(last, r.Round.Commands); !bytes.Equal(played.AppendLine(nil), r.Round.AppendLine(nil)) {
			last = r.Round.Position(rules, first)
		}
	}
	switch {
	case p != nil:
	case o.Round < 0:
		p = last
	default:
		return nil, nil, 0, o.wrongRound("expected 0 to %d, the game has no more rounds", rounds)
	}
	return p, commands, rounds, nil
}

// towerdefenceText returns a position in readable form: the players and the console map.
func towerdefenceText(h recording.Header, p *display.Position, s Position) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: before round %d of %d\n\n", h.Game, p.Round, s.Rounds)
	for i, player := range p.Players {
		curtain := "no curtain"
		switch {
		case player.CurtainTime >= 0:
			curtain = fmt.Sprintf("curtain shown, counter %d", player.CurtainTime)
		case player.CurtainAvailable:
			curtain = "curtain ready"
		}
		fmt.Fprintf(&b, "%c  health %3d  energy %4d  score %5d  hits %2d  failures %d  %s  (%s)\n",
			'A'+rune(i), player.Health, player.Energy, player.Score, player.HitsTaken, player.FailCount, curtain, h.Policy[i])
	}
	lines := strings.SplitAfter(string(p.AppendConsole(nil)), "\n")
	b.WriteString("\n" + strings.Join(lines[3:], "")) // without the players
	for i, c := range s.Commands {
		fmt.Fprintf(&b, "%s%c plays %q", []string{"\n", ", "}[min(i, 1)], 'A'+rune(i), c)
	}
	if len(s.Commands) > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// AppendOrder implements Engine. It appends an order as "attack 7,3": the building, and the cell in
// the player's own half.
func (towerdefenceEngine) AppendOrder(dst []byte, o sim.Order) []byte {
	c := towerdefence.Decode(o)
	switch {
	case o&towerdefence.Aborted != 0:
		return append(dst, "abort"...)
	case c.Op == towerdefence.OpNothing:
		return fmt.Appendf(dst, "unreadable (%s)", texts.Plural(c.Failures, "failure"))
	case c.Op == towerdefence.OpCurtain:
		return append(dst, "curtain"...)
	case c.Op == towerdefence.OpRefused:
		return append(dst, "refused"...)
	case c.Op == towerdefence.OpDeconstruct:
		return fmt.Appendf(dst, "deconstruct %d,%d", c.X, c.Y)
	}
	return fmt.Appendf(dst, "%s %d,%d", strings.ToLower(towerdefence.Kind(c.Op-1).String()), c.X, c.Y)
}
