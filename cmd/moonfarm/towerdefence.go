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

// towerdefenceTools reads and writes recordings of the original engine as JSON
// Lines, and the match logs of its runner.
var towerdefenceTools = gameTools{
	game:      "towerdefence",
	rulesFile: "game-config.properties",
	holds:     towerdefenceHolds,
	verify:    verifyTowerdefence,
	counts:    []string{"games", "rounds", "renders"},
	forms:     []string{"text", "console", "state", "textmap"},
	seats:     2,
	show:      showTowerdefence,
	read:      readTowerdefence,
	writes: []recordingForm{
		{name: "recording", ext: ".jsonl", what: "recording", write: writeTowerdefence},
		{name: "match-log", what: "match log", folder: writeMatchLog, part: "Round "},
	},
	folder:      &folderTools{what: "match log", holds: holdsMatchLog, verify: verifyMatchLog, read: readMatchLog, recording: showMatchLog},
	rulesUntold: true,
	help: toolHelp{
		imports: "recordings as JSON Lines, of one game or many, and the folders of the match logs that the original's runner leaves behind",
		convert: "recording: JSON Lines, as the recordings of the original engine; match-log: a folder for each, as the original's runner leaves it behind. " +
			"Commands that cost failures get the shortest text that costs the same. A match log of a game that was cut breaks off; " +
			"import takes it with --keep-until-difference only.",
		verify: "The folder of a match log is compared with what its files show of every round.",
		show: "--as takes text (players and map), console (the runner's map, always seen from A), state (state.json) and textmap (textMap.txt). " +
			"In the map a cell is [LBR]: its column or missiles of B, the building, its row or missiles of A.",
	},
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

// givenTowerdefenceRules reads the text of a game-config.properties, "" for the
// default.
func givenTowerdefenceRules(text string) (towerdefence.Rules, error) {
	return givenRules(text, towerdefence.ParseRules, (*towerdefence.Rules).Validate)
}

func verifyTowerdefence(name string, in io.Reader, rules string) (replayed, error) {
	r, err := givenTowerdefenceRules(rules)
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
	parsed, err := givenTowerdefenceRules(rules)
	if err != nil {
		return shown{}, err
	}
	r, err := wire.NewRecordingReader(name, in)
	if err != nil {
		return shown{}, err
	}
	if err := seekGame(r, o.Game); err != nil {
		return shown{}, err
	}
	p, commands, rounds, err := positionBefore(r, parsed, o)
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

// positionBefore plays the current game up to o.Round and returns the position
// before that round, the commands given in it (none at the end), and the number
// of rounds of the game. If the game does not go as recorded the position is the
// recorded one.
func positionBefore(r *wire.RecordingReader, rules towerdefence.Rules, o showOptions) (p *wire.Position, commands []string, rounds int, err error) {
	rules.SetStart(r.Header.Energy, r.Header.Health)
	referee := wire.NewReferee(rules)
	last := referee.Position()
	for {
		if last.Round == o.Round {
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
	case o.Round < 0:
		p = last
	default:
		return nil, nil, 0, wrongUse("--%s %d: expected 0 to %d, the game has no more rounds", o.RoundFlag, o.Round, rounds)
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
