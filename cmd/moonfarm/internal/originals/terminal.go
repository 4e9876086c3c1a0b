package originals

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"

	"moonfarm/cmd/moonfarm/internal/cli"
	"moonfarm/datasets"
	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire"
)

// terminalTools reads and writes replay files of the official engine.
var terminalTools = Game{
	Game:      "terminal",
	variants:  []string{terminal.SequentialName},
	Score:     "the health that the other player has lost",
	RulesFile: "a config file or a replay",
	RuleSets:  terminal.RuleSets(),
	Holds:     terminalHolds,
	Verify:    verifyTerminal,
	Counts:    []string{"games", "turns", "frames"},
	Forms:     []string{"text", "frame"},
	seats:     2,
	frames:    true,
	SoftLimit: true,
	orderText: appendTerminalOrder,
	single:    "replay",
	show:      showTerminal,
	Read:      readTerminal,
	Writes:    []Form{{Name: "replay", Ext: ".replay", What: "replay file", Write: writeTerminal}},
	Help: toolHelp{
		Imports: "replay files of the original engine",
		Convert: "replay: files of the original engine, with every frame. The duration is the players' thinking time, which is 0 unless the " +
			"episode has clocks; the winner is 0 if all is equal, thinking times too. A game that was cut by a limit becomes a recording that broke off.",
		Verify: "Each turn is compared up to its first difference, and the next turn goes on from what is recorded. " +
			"The rules are those in the file unless --rules gives others.",
		Show: "The round is a turn (--turn says the same), and --frame takes an action frame of it. --as takes text (the numbers of the players, " +
			"the arena with w, s, t for wall, support and turret, in upper case if upgraded, ^ and v for mobile units of player 1 and 2, " +
			"and how many events there were) and frame (the frame's line as the bot at the seat is shown it; A is player 1).",
		More: append([]string{"units"}, terminalEvents[:]...),
	},
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

// givenTerminalRules reads the text of --rules; nil if there is none, and the
// rules are those of the recording.
func givenTerminalRules(text string) (*terminal.Rules, error) {
	if text == "" {
		return nil, nil
	}
	r, err := givenRules(text, wire.ParseRules, (*terminal.Rules).Validate)
	return &r, err
}

// terminalEvents are the keys of the counts of events, in the order of
// wire.EventNames.
var terminalEvents = [wire.EventKinds]string{"spawns", "moves", "breaches", "shields", "self_destructs", "damages", "deaths", "attacks", "melees"}

func verifyTerminal(name string, in io.Reader, rules string) (Replayed, error) {
	given, err := givenTerminalRules(rules)
	if err != nil {
		return Replayed{}, err
	}
	m, report, err := wire.Verify(name, in, given)
	v := Replayed{
		Counts:    map[string]int{"games": 1, "turns": report.Turns, "frames": report.Frames, "units": report.Units},
		Different: report.Different,
	}
	for i, n := range report.Events {
		v.Counts[terminalEvents[i]] = n
	}
	if d := report.First; d != nil {
		v.First = &Difference{Line: d.Line, Round: d.Turn, Frame: &d.Frame, Field: d.Field, Expected: d.Want, Found: d.Got}
	}
	if err == nil && !m.Complete {
		v.Notes = append(v.Notes, fmt.Sprintf("the recording broke off in turn %d", max(m.Turns-1, 0)))
	}
	if report.Tied {
		v.Notes = append(v.Notes, "health and times are equal at the end: who wins then is not known, so the recorded winner was not compared")
	}
	if m != nil {
		v.Inexact = m.Config.Inexact()
	}
	return v, err
}

// readTerminal reads a replay as an episode.
func readTerminal(name string, in io.Reader, o ReadOptions, yield func(*Recorded) error) error {
	m, report, err := wire.Verify(name, in, nil)
	if m == nil {
		return err
	}
	r := Recorded{Inexact: m.Config.Inexact()}
	if r.Why = readTerminalMatch(&r, name, m, &report, err, o.Keep); r.Why != nil && r.Inexact == "" {
		return r.Why
	}
	return yield(&r)
}

// readTerminalMatch makes an episode of a match that was verified, up to the first
// difference or error if keep.
func readTerminalMatch(r *Recorded, name string, m *wire.Match, report *wire.Report, err error, keep bool) error {
	if err != nil && !keep {
		return err
	}
	good := m.Turns
	var reason error
	switch d := report.First; {
	case err != nil:
		reason = unnamed(err, "replay "+name)
	case d != nil:
		if good = min(d.Turn, good); d.Frame < 0 { // before the turn: what the one before it left
			good = max(good-1, 0)
		}
		reason = fmt.Errorf("not as it plays here: %w", d)
	case !m.Complete:
		reason = fmt.Errorf("the recording broke off in turn %d", max(m.Turns-1, 0))
	}
	if reason != nil && !keep {
		return fmt.Errorf("replay %s: %w", name, reason)
	}
	r.Rules, r.RuleSet = string(m.Config.Rules.AppendText(nil)), m.Config.Generation
	r.Episode = rollout.Episode{Players: 2, Turns: m.Turns, Orders: m.Orders, Ends: m.Ends}
	for _, n := range m.Names {
		r.Episode.Policies = append(r.Episode.Policies, named(n))
	}
	g, err := terminal.New(m.Config.Rules)
	if err == nil {
		err = tooManyOrders(&r.Episode, g.Info().MaxOrders)
	}
	if err != nil {
		return fmt.Errorf("replay %s: %w", name, err)
	}
	r.settle(keep, good, reason, func(e *rollout.Episode) (sim.Status, int) { return play(g, e, nil) })
	if r.Why != nil {
		return fmt.Errorf("replay %s: %w", name, r.Why)
	}
	return nil
}

// tooManyOrders says which turn of an episode has more orders of a seat than
// the game takes.
func tooManyOrders(e *rollout.Episode, most int) error {
	for turn := range e.Turns {
		for p := range sim.Player(e.Players) {
			if n := len(e.OrdersOf(turn, p)); n > most {
				return fmt.Errorf("turn %d: %d orders of player %d, at most %d can be given", turn, n, p+1, most)
			}
		}
	}
	return nil
}

// writeTerminal writes an episode as a replay file.
func writeTerminal(out io.Writer, e *datasets.Episode, rules string) error {
	r, err := terminal.ParseRules([]byte(rules))
	if err != nil {
		return err
	}
	g, err := terminal.New(r)
	if err != nil {
		return err
	}
	if err := playAgain(g, e, nil); err != nil {
		return err
	}
	m := &wire.Match{Config: wire.ConfigOf(r), Names: [2]string(e.Policies), Turns: e.Turns, Orders: e.Orders, Ends: e.Ends}
	return wire.WriteMatch(out, m, wire.Local)
}

// showTerminal shows a frame of a recorded game.
func showTerminal(name string, in io.Reader, rules string, o ShowOptions) (Shown, error) {
	given, err := givenTerminalRules(rules)
	if err != nil {
		return Shown{}, err
	}
	if o.Round < 0 && o.Frame >= 0 {
		return Shown{}, cli.WrongUse("--frame %d: it needs a --turn", o.Frame)
	}
	m, f, last, err := wire.FindFrame(name, in, o.Round, o.Frame)
	if err != nil {
		return Shown{}, err
	}
	if f == nil && last < 0 {
		return Shown{}, cli.WrongUse("--%s %d: expected 0 to %d, or end", o.RoundFlag, o.Round, max(m.Turns-1, 0))
	}
	if f == nil {
		return Shown{}, cli.WrongUse("--frame %d: expected 0 to %d in turn %d", o.Frame, last, o.Round)
	}
	if given != nil {
		m.Config.Rules = *given
	}
	s := Shown{Inexact: m.Config.Inexact(), Name: "unnamed", Round: f.Turn, Frame: &f.Number, Rounds: m.Turns}
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
func terminalText(m *wire.Match, f *wire.Frame, s Shown) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", s.Name)
	switch f.Phase {
	case wire.PhaseDeploy:
		fmt.Fprintf(&b, "before turn %d of %d", f.Turn, m.Turns)
	case wire.PhaseAction:
		fmt.Fprintf(&b, "turn %d of %d, after frame %d", f.Turn, m.Turns, f.Number)
	default:
		fmt.Fprintf(&b, "the end after %s", cli.Plural(m.Turns, "turn"))
	}
	if g := m.Config.Generation; g != "" {
		fmt.Fprintf(&b, " (rules of %s)", g)
	}
	if s.Inexact != "" {
		fmt.Fprintf(&b, " (%s)", s.Inexact)
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

// appendTerminalOrder appends an order as "wall 2,13" or "3 scout 13,0": what to
// place, and the cell of the arena.
func appendTerminalOrder(dst []byte, o sim.Order) []byte {
	c := terminal.Decode(o)
	switch c.Op {
	case terminal.OpPlace:
		dst = append(dst, c.Kind.String()...)
	case terminal.OpSpawn:
		dst = fmt.Appendf(dst, "%d %v", c.Count, c.Kind)
	case terminal.OpUpgrade:
		dst = append(dst, "upgrade"...)
	case terminal.OpRemove:
		dst = append(dst, "remove"...)
	case terminal.OpClock:
		return dst // how long the player thought
	case terminal.OpPenalty:
		return fmt.Appendf(dst, "penalty %v", math.Float32frombits(c.Count))
	default:
		return fmt.Appendf(dst, "%#x", uint64(o))
	}
	return fmt.Appendf(dst, " %d,%d", c.X, c.Y)
}
