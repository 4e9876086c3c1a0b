package recordings

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"

	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/terminal/wire/frame"
	"moonfarm/sim/terminal/wire/replay"
	"moonfarm/sim/texts"
)

// terminalEngine reads and writes replay files of the official engine.
type terminalEngine struct{}

// terminalInfo describes the recordings and the contest.
var terminalInfo = Info{
	Game:      "terminal",
	RuleSets:  terminal.RuleSets(),
	Counts:    []string{"games", "turns", "frames"},
	Views:     []string{"text", "frame"},
	Seats:     2,
	Frames:    true,
	Single:    "replay",
	Forms:     []*Form{{Name: "replay", Ext: ".replay", Noun: "replay file", Write: writeTerminal}},
	Score:     "the health that the other player has lost",
	SoftLimit: true,
}

// Info implements Engine.
func (terminalEngine) Info() *Info { return &terminalInfo }

// Holds implements Engine: it recognises a replay by its first line, the config.
func (terminalEngine) Holds(head []byte) string {
	if !bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) {
		return ""
	}
	for _, key := range []string{"unitInformation", "timingAndReplay", "seasonCompatibilityModeP1", "printMapString", "startingHP"} {
		if bytes.Contains(head, []byte(`"`+key+`"`)) {
			return Games
		}
	}
	return ""
}

// givenTerminalRules parses the text of rules; it returns nil if there is no text, and the rules of
// the recording count.
func givenTerminalRules(text string) (*terminal.Rules, error) {
	if text == "" {
		return nil, nil
	}
	r, err := givenRules(text, config.ParseRules, (*terminal.Rules).Validate)
	return &r, err
}

// terminalEvents lists the keys for the counts of events, in the order of
// frame.EventNames.
var terminalEvents = [frame.EventKinds]string{"spawns", "moves", "breaches", "shields", "self_destructs", "damages", "deaths", "attacks", "melees"}

// Verify implements Engine.
func (terminalEngine) Verify(name string, in io.Reader, rules string) (Report, error) {
	given, err := givenTerminalRules(rules)
	if err != nil {
		return Report{}, err
	}
	m, report, err := replay.Verify(name, in, given)
	v := Report{
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
		v.Notes = append(v.Notes, fmt.Sprintf("the recording broke off in turn %d: it names no winner", max(m.Turns-1, 0)))
	}
	if m != nil {
		v.Inexact = m.Config.Inexact()
	}
	return v, err
}

// Read implements Engine: it reads a replay as an episode.
func (terminalEngine) Read(name string, in io.Reader, o ReadOptions, yield func(*RecordedGame) error) error {
	m, report, err := replay.Verify(name, in, nil)
	if m == nil {
		return err
	}
	r := RecordedGame{Inexact: m.Config.Inexact()}
	if r.Why = readTerminalMatch(&r, name, m, &report, err, o.Keep); r.Why != nil && r.Inexact == "" {
		return r.Why
	}
	return yield(&r)
}

// readTerminalMatch makes an episode of a verified match; if keep is set, of the turns before the
// first difference or error.
func readTerminalMatch(r *RecordedGame, name string, m *replay.Match, report *replay.Report, err error, keep bool) error {
	if err != nil && !keep {
		return err
	}
	good := m.Turns
	var reason error
	switch d := report.First; {
	case err != nil:
		reason = unnamed(err, "replay "+name)
	case d != nil:
		if good = min(d.Turn, good); d.Frame < 0 { // before the turn: the previous turn caused it
			good = max(good-1, 0)
		}
		reason = fmt.Errorf("differs when played here: %w", d)
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

// tooManyOrders returns an error for the first turn in which a seat has more orders than the game
// allows, or nil.
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
func writeTerminal(out io.Writer, recorded *RecordedGame) error {
	e := &recorded.Episode
	r, err := terminal.ParseRules([]byte(recorded.Rules))
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
	m := &replay.Match{Config: config.Of(r), Names: [2]string(e.Policies), Turns: e.Turns, Orders: e.Orders, Ends: e.Ends}
	return replay.WriteMatch(out, m, config.Local)
}

// Show implements Engine: it shows a frame of a recorded game.
func (terminalEngine) Show(name string, in io.Reader, rules string, o ShowOptions) (Position, error) {
	if err := o.check(&terminalInfo); err != nil {
		return Position{}, err
	}
	given, err := givenTerminalRules(rules)
	if err != nil {
		return Position{}, err
	}
	if o.Round < 0 && o.Frame >= 0 {
		return Position{}, wrongOption("frame", o.Frame, "it needs a turn")
	}
	m, f, last, err := replay.FindFrame(name, in, o.Round, o.Frame)
	if err != nil {
		return Position{}, err
	}
	if f == nil && last < 0 {
		return Position{}, o.wrongRound("expected 0 to %d, or end", max(m.Turns-1, 0))
	}
	if f == nil {
		return Position{}, wrongOption("frame", o.Frame, "expected 0 to %d in turn %d", last, o.Round)
	}
	if given != nil {
		m.Config.Rules = *given
	}
	s := Position{Inexact: m.Config.Inexact(), Name: "unnamed", Round: f.Turn, Frame: &f.Number, Rounds: m.Turns}
	if m.Names != [2]string{} {
		s.Name = m.Names[0] + " – " + m.Names[1]
	}
	if f.Phase != frame.PhaseEnd && f.Turn < m.Turns {
		for p := range sim.Player(2) {
			lines := frame.AppendAnswer(nil, m.OrdersOf(f.Turn, p), &m.Config.Shorthands, p)
			s.Commands = append(s.Commands, strings.ReplaceAll(strings.TrimSpace(string(lines)), "\n", " "))
		}
	}
	if o.Draw {
		if s.Scene, err = terminalScene(f, m.Config.Rules); err != nil {
			return Position{}, err
		}
	}
	if o.As == "frame" {
		var seen frame.Frame
		frame.View(&seen, f, o.Seat)
		s.Text = string(seen.Append(nil, m.Config.Style)) + "\n"
		return s, nil
	}
	s.Text = terminalText(m, f, s)
	return s, nil
}

// terminalText returns a frame in readable form.
func terminalText(m *replay.Match, f *frame.Frame, s Position) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", s.Name)
	switch f.Phase {
	case frame.PhaseDeploy:
		fmt.Fprintf(&b, "before turn %d of %d", f.Turn, m.Turns)
	case frame.PhaseAction:
		fmt.Fprintf(&b, "turn %d of %d, after frame %d", f.Turn, m.Turns, f.Number)
	default:
		fmt.Fprintf(&b, "the end after %s", texts.Plural(m.Turns, "turn"))
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
	if f.Phase == frame.PhaseDeploy {
		for p, c := range s.Commands {
			fmt.Fprintf(&b, "p%d answers %s\n", p+1, c)
		}
	}
	return b.String()
}

// AppendOrder implements Engine. It appends an order as "wall 2,13" or "3 scout 13,0": the unit to
// place, and the cell of the arena.
func (terminalEngine) AppendOrder(dst []byte, o sim.Order) []byte {
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
		return dst // thinking time
	case terminal.OpPenalty:
		return fmt.Appendf(dst, "penalty %v", math.Float32frombits(c.Count))
	default:
		return appendBits(dst, o)
	}
	return fmt.Appendf(dst, " %d,%d", c.X, c.Y)
}
