package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire"
)

// terminalTools reads and writes replay files of the official engine.
var terminalTools = gameTools{
	game:      "terminal",
	variants:  []string{terminal.SequentialName},
	rulesFile: "a config file or a replay",
	ruleSets:  terminal.RuleSets(),
	holds:     terminalHolds,
	verify:    verifyTerminal,
	counts:    []string{"games", "turns", "frames"},
	forms:     []string{"text", "frame"},
	show:      showTerminal,
	read:      readTerminal,
	write:     writeTerminal,
	replayExt: ".replay",
}

// terminalHolds knows a replay by its first line, the config.
func terminalHolds(head []byte) string {
	if !bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) {
		return ""
	}
	for _, key := range []string{"unitInformation", "timingAndReplay", "seasonCompatibilityModeP1", "printMapString", "startingHP"} {
		if bytes.Contains(head, []byte(`"`+key+`"`)) {
			return "games"
		}
	}
	return ""
}

// terminalRules reads rules: the text of a config file, the canonical text, or
// the name of a rule set; nil if there are none.
func terminalRules(text string) (*terminal.Rules, error) {
	if text == "" {
		return nil, nil
	}
	var r terminal.Rules
	var err error
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		var c wire.Config
		c, err = wire.ParseConfig([]byte(text))
		r = c.Rules
	} else {
		r, err = terminal.ParseRules([]byte(text))
	}
	if err == nil {
		err = r.Validate()
	}
	if err != nil {
		return nil, wrongUse("--rules: %w", err)
	}
	return &r, nil
}

// terminalEvents are the keys of the counts of events, in the order of
// wire.EventNames.
var terminalEvents = [wire.EventKinds]string{"spawns", "moves", "breaches", "shields", "self_destructs", "damages", "deaths", "attacks", "melees"}

func verifyTerminal(name string, in io.Reader, rules string) (replayed, error) {
	r, err := terminalRules(rules)
	if err != nil {
		return replayed{}, err
	}
	m, report, err := wire.Verify(name, in, r)
	v := replayed{
		Counts:    map[string]int{"games": 1, "turns": report.Turns, "frames": report.Frames, "units": report.Units},
		Different: report.Different,
	}
	for i, n := range report.Events {
		v.Counts[terminalEvents[i]] = n
	}
	if d := report.First; d != nil {
		v.First = &difference{Line: d.Line, Round: d.Turn, Frame: &d.Frame, Field: d.Field, Expected: d.Want, Found: d.Got}
	}
	if err == nil && !m.Complete {
		v.Notes = append(v.Notes, fmt.Sprintf("the recording broke off in turn %d", max(m.Turns-1, 0)))
	}
	if err == nil && m.Config.Legacy && report.Different > 0 {
		v.Notes = append(v.Notes, "a recording of before 2020, whose engine is played here as far as its rules are known")
	}
	return v, err
}

// readTerminal reads a replay as an episode.
func readTerminal(name string, in io.Reader, check bool) (recorded, error) {
	var m *wire.Match
	var report wire.Report
	var err error
	if check {
		m, report, err = wire.Verify(name, in, nil)
	} else {
		m, err = wire.ReadMatch(name, in)
	}
	switch {
	case err != nil:
		return recorded{}, err
	case report.First != nil:
		return recorded{}, fmt.Errorf("replay %s: not as it plays here: %w", name, report.First)
	case !m.Complete:
		return recorded{}, fmt.Errorf("replay %s: the recording broke off in turn %d", name, max(m.Turns-1, 0))
	}
	r := recorded{
		Rules: string(m.Config.Rules.AppendText(nil)), RuleSet: m.Config.Generation,
		Episode: rollout.Episode{Players: 2, Turns: m.Turns, Orders: m.Orders, Ends: m.Ends},
	}
	for _, n := range m.Names {
		if n == "" {
			n = "unnamed"
		}
		r.Episode.Policies = append(r.Episode.Policies, n)
	}
	if err := playTerminal(m, &r.Episode); err != nil {
		return recorded{}, fmt.Errorf("replay %s: %w", name, err)
	}
	if r.Episode.Status != sim.Over {
		return recorded{}, fmt.Errorf("replay %s: the recorded match is over after turn %d, as it plays here it is not", name, m.Turns-1)
	}
	return r, nil
}

// playTerminal plays a match and fills in how it ends.
func playTerminal(m *wire.Match, e *rollout.Episode) error {
	g, err := terminal.New(m.Config.Rules)
	if err != nil {
		return err
	}
	var s terminal.State
	g.Reset(&s, 0)
	t := sim.NewTurn(0)
	e.Status = sim.Cut
	for turn := range m.Turns {
		if e.Status == sim.Over {
			return fmt.Errorf("turn %d: the match is over, but %d turns are recorded", turn, m.Turns)
		}
		m.Turn(t, turn)
		for p := range sim.Player(2) {
			if n, most := len(t.Orders(p)), g.Info().MaxOrders; n > most {
				return fmt.Errorf("turn %d: %d orders of player %d, at most %d can be given", turn, n, p+1, most)
			}
		}
		if status := g.Step(&s, t); status != sim.Running {
			e.Status = status
		}
	}
	for p := range sim.Player(2) {
		e.Outcome[p] = g.Outcome(&s, p)
	}
	return nil
}

// writeTerminal writes an episode as a replay file.
func writeTerminal(out io.Writer, e *rollout.Episode, rules string) error {
	r, err := terminal.ParseRules([]byte(rules))
	if err != nil {
		return err
	}
	m := &wire.Match{Config: wire.ConfigOf(r), Names: [2]string(e.Policies), Turns: e.Turns, Orders: e.Orders, Ends: e.Ends}
	var played rollout.Episode
	if err := playTerminal(m, &played); err != nil {
		return err
	}
	if played.Status != e.Status || played.Outcome != e.Outcome {
		return errors.New("the episode does not end as it is recorded: other rules, or a damaged dataset")
	}
	return wire.WriteMatch(out, m, wire.Local)
}

// showTerminal shows a frame of a recorded game.
func showTerminal(name string, in io.Reader, rules string, o showOptions) (shown, error) {
	given, err := terminalRules(rules)
	switch {
	case err != nil:
		return shown{}, err
	case o.Seat > 1:
		return shown{}, wrongUse("--seat %c: terminal has seats A and B", 'A'+rune(o.Seat))
	case o.Game > 1:
		return shown{}, wrongUse("--game %d: expected 1, a replay has one game", o.Game)
	case o.Round < 0 && o.Frame >= 0:
		return shown{}, wrongUse("--frame %d: it needs a --turn", o.Frame)
	}
	m, f, last, err := wire.FindFrame(name, in, o.Round, o.Frame)
	if err != nil {
		return shown{}, err
	}
	if f == nil && last < 0 {
		return shown{}, wrongUse("--turn %d: expected 0 to %d, or end", o.Round, max(m.Turns-1, 0))
	}
	if f == nil {
		return shown{}, wrongUse("--frame %d: expected 0 to %d in turn %d", o.Frame, last, o.Round)
	}
	if given != nil {
		m.Config.Rules = *given
	}
	s := shown{Name: "unnamed", Round: f.Turn, Frame: &f.Number, Rounds: m.Turns}
	if m.Names != [2]string{} {
		s.Name = m.Names[0] + " – " + m.Names[1]
	}
	if f.Phase != wire.PhaseEnd && f.Turn < m.Turns {
		for p := range sim.Player(2) {
			lines := wire.AppendAnswer(nil, m.OrdersOf(f.Turn, p), &m.Config.Shorthands, p)
			s.Commands = append(s.Commands, strings.ReplaceAll(strings.TrimSpace(string(lines)), "\n", " "))
		}
	}
	if o.As == "frame" {
		var seen wire.Frame
		wire.View(&seen, f, o.Seat)
		s.Text = string(m.Config.Style.AppendFrame(nil, &seen)) + "\n"
		return s, nil
	}
	s.Text = terminalText(m, f, s)
	return s, nil
}

// terminalText is a frame as people read it.
func terminalText(m *wire.Match, f *wire.Frame, s shown) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", s.Name)
	switch f.Phase {
	case wire.PhaseDeploy:
		fmt.Fprintf(&b, "before turn %d of %d", f.Turn, m.Turns)
	case wire.PhaseAction:
		fmt.Fprintf(&b, "turn %d of %d, after frame %d", f.Turn, m.Turns, f.Number)
	default:
		fmt.Fprintf(&b, "the end after %s", plural(m.Turns, "turn"))
	}
	if g := m.Config.Generation; g != "" {
		fmt.Fprintf(&b, " (rules of %s)", g)
	}
	b.WriteString("\n\n")
	b.Write(f.AppendText(nil, &m.Config.Rules))
	if f.End != nil && f.End.Winner == 0 {
		b.WriteString("no winner\n")
	} else if f.End != nil {
		fmt.Fprintf(&b, "winner player %d\n", f.End.Winner)
	}
	if f.Phase == wire.PhaseDeploy {
		for p, c := range s.Commands {
			fmt.Fprintf(&b, "p%d answers %s\n", p+1, c)
		}
	}
	return b.String()
}
