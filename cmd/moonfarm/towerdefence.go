package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire"
)

// towerdefenceTools reads recordings of the original engine, JSON Lines.
var towerdefenceTools = gameTools{
	game:      "towerdefence",
	rulesFile: "game-config.properties",
	holds:     towerdefenceHolds,
	verify:    verifyTowerdefence,
	counts:    []string{"games", "rounds", "renders"},
	forms:     []string{"text", "console", "state", "textmap"},
	show:      showTowerdefence,
}

// towerdefenceHolds tells files of games from those of displays.
func towerdefenceHolds(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte(`{"game":`)):
		return "games"
	case bytes.HasPrefix(head, []byte(`{"render":`)):
		return "renders"
	}
	return ""
}

// towerdefenceRules reads the text of a game-config.properties, "" for the
// default.
func towerdefenceRules(text string) (towerdefence.Rules, error) {
	rules, err := towerdefence.ParseRules([]byte(text))
	if err == nil {
		err = rules.Validate()
	}
	if err != nil {
		return rules, wrongUse("--rules: %w", err)
	}
	return rules, nil
}

func verifyTowerdefence(name string, in io.Reader, rules string) (replayed, error) {
	r, err := towerdefenceRules(rules)
	if err != nil {
		return replayed{}, err
	}
	report, err := wire.Verify(name, in, r)
	v := replayed{
		Counts:    map[string]int{"games": report.Games, "rounds": report.Rounds, "renders": report.Renders},
		Different: report.Different,
	}
	if d := report.First; d != nil {
		v.First = &difference{Line: d.Line, Game: d.Game, Round: d.Round, Field: d.Field, Expected: d.Want, Found: d.Got}
	}
	if report.Reordered > 0 {
		v.Notes = append(v.Notes, plural(report.Reordered, "render")+" list missiles in an order that the position does not tell")
	}
	return v, err
}

// showTowerdefence shows a position of a recorded game.
func showTowerdefence(name string, in io.Reader, rules string, o showOptions) (shown, error) {
	parsed, err := towerdefenceRules(rules)
	if err != nil {
		return shown{}, err
	}
	if o.Seat > 1 {
		return shown{}, wrongUse("--seat %c: towerdefence has seats A and B", 'A'+rune(o.Seat))
	}
	if o.Frame >= 0 {
		return shown{}, wrongUse("--frame %d: towerdefence has no frames", o.Frame)
	}
	r, err := wire.NewRecordingReader(name, in)
	if err != nil {
		return shown{}, err
	}
	if err := seekGame(r, o.Game); err != nil {
		return shown{}, err
	}
	p, commands, rounds, err := positionBefore(r, parsed, o.Round)
	if err != nil {
		return shown{}, err
	}
	s := shown{Name: r.Header.Game, Round: p.Round, Rounds: rounds, Commands: commands}
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

// seekGame reads up to the header of a game, counted from 1.
func seekGame(r *wire.RecordingReader, game int) error {
	for n := 0; n < game; {
		kind, err := r.Next()
		if err == io.EOF {
			return wrongUse("--game %d: expected 1 to %d, the recording has no more games", game, n)
		}
		if err != nil {
			return err
		}
		if kind == wire.HeaderLine {
			n++
		}
	}
	return nil
}

// positionBefore plays the current game up to the given round, −1 for its end,
// and returns the position before that round, the commands given in it (none at
// the end), and the number of rounds of the game. If the game does not go as
// recorded the position is the recorded one.
func positionBefore(r *wire.RecordingReader, rules towerdefence.Rules, round int) (p *wire.Position, commands []string, rounds int, err error) {
	referee := wire.NewReferee(rules)
	referee.Handicap(r.Header.Energy, r.Header.Health)
	last := referee.Position()
	for {
		if last.Round == round {
			p = last
		}
		kind, err := r.Next()
		if err != nil {
			return nil, nil, 0, err
		}
		if kind == wire.ResultLine {
			break
		}
		if rounds++; p == last {
			commands = slices.Clone(r.Round.Commands[:])
		}
		referee.Play(r.Round.Commands[0], r.Round.Commands[1])
		last = referee.Position()
		if played := wire.RoundOf(last, r.Round.Commands); !bytes.Equal(played.AppendLine(nil), r.Round.AppendLine(nil)) {
			last = r.Round.Position(rules)
		}
	}
	switch {
	case p != nil:
	case round < 0:
		p = last
	default:
		return nil, nil, 0, wrongUse("--round %d: expected 0 to %d, the game has no more rounds", round, rounds)
	}
	return p, commands, rounds, nil
}

// towerdefenceText is a position as people read it: the players and the console
// map.
func towerdefenceText(h wire.Header, p *wire.Position, s shown) string {
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
