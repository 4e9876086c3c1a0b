package recordings

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/texts"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/command"
	"moonfarm/sim/towerdefence/wire/matchlog"
	"moonfarm/sim/towerdefence/wire/recording"
	"moonfarm/sim/towerdefence/wire/referee"
)

// Read implements Engine: it reads the matches of a recording as episodes.
func (towerdefenceEngine) Read(name string, in io.Reader, o ReadOptions, yield func(*RecordedGame) error) error {
	rules, err := givenTowerdefenceRules(o.Rules)
	if err != nil {
		return err
	}
	var last lastRules
	return recording.ReadMatches(name, in, rules, func(m *recording.Match) error {
		r := recordedMatch(m, &last)
		var reason error
		switch {
		case m.Err != nil:
			reason = unnamed(m.Err, "recording "+name)
		case m.Different != nil:
			reason = fmt.Errorf("differs when played here: %w", m.Different)
		}
		keep := o.Keep
		if reason == nil && m.Result.End == referee.EndCut && len(m.Orders) > 0 { // it was cut when it was recorded
			reason, keep = errors.New("the recorded match was cut there"), true
		}
		settleMatch(r, m, keep, reason, &last)
		if r.Why != nil {
			r.Why = fmt.Errorf("recording %s: game %d: %w", name, m.Number, r.Why)
		}
		return yield(r)
	})
}

// lastRules caches the game of the previous match: most matches have the same rules.
type lastRules struct {
	rules towerdefence.Rules
	text  string
	game  *towerdefence.Game
	err   error // why these rules cannot be played
}

// set makes the game for the rules if they have changed.
func (l *lastRules) set(rules towerdefence.Rules) {
	if l.text == "" || l.rules != rules {
		l.rules, l.text = rules, string(rules.AppendText(nil))
		l.game, l.err = towerdefence.New(rules)
	}
}

// recordedMatch makes an episode of a match.
func recordedMatch(m *recording.Match, last *lastRules) *RecordedGame {
	last.set(m.Rules)
	r := &RecordedGame{Number: m.Number, Name: m.Header.Game, Rules: last.text}
	if m.Rules == towerdefence.DefaultRules() {
		r.RuleSet = towerdefence.RulesVersion
	}
	e := &r.Episode
	e.Players, e.Turns = 2, len(m.Orders)
	for _, orders := range m.Orders {
		for _, o := range orders {
			if o != towerdefence.Nothing {
				e.Orders = append(e.Orders, o)
			}
			e.Ends = append(e.Ends, int32(len(e.Orders)))
		}
	}
	for _, n := range m.Header.Policy {
		e.Policies = append(e.Policies, named(n))
	}
	return r
}

// settleMatch ends the episode of a match.
func settleMatch(r *RecordedGame, m *recording.Match, keep bool, reason error, last *lastRules) {
	if last.err != nil {
		if r.Why = last.err; reason != nil {
			r.Why = reason
		}
		return
	}
	good := m.Same
	if m.Different != nil && good == len(m.Orders) { // the end differs
		good = max(good-1, 0)
	}
	r.settle(keep, good, reason, func(e *rollout.Episode) (sim.Status, int) { return play(last.game, e, nil) })
}

// commandsOf returns the commands of an episode after a check that it ends as recorded.
func commandsOf(recorded *RecordedGame) (rules towerdefence.Rules, commands [][2]string, err error) {
	e := &recorded.Episode
	if rules, err = towerdefence.ParseRules([]byte(recorded.Rules)); err != nil {
		return rules, nil, err
	}
	g, err := towerdefence.New(rules)
	if err != nil {
		return rules, nil, err
	}
	if err := playAgain(g, e, nil); err != nil {
		return rules, nil, err
	}
	for t := range e.Turns {
		var c [2]string
		for p := range c {
			if orders := e.OrdersOf(t, sim.Player(p)); len(orders) > 0 {
				c[p] = string(command.Append(nil, orders[0]))
			}
		}
		commands = append(commands, c)
	}
	return rules, commands, nil
}

// writeTowerdefence writes an episode as a recording. A game without a name gets the
// number of its episode.
func writeTowerdefence(out io.Writer, g *RecordedGame) error {
	rules, commands, err := commandsOf(g)
	if err != nil {
		return err
	}
	h := recording.Header{Game: g.Name, Policy: [2]string(g.Episode.Policies)}
	if h.Game == "" {
		h.Game = fmt.Sprintf("episode-%d", g.Episode.ID)
	}
	_, err = recording.WriteMatch(recording.NewWriter(out), h, rules, commands)
	return err
}

// writeMatchLog writes an episode as a match log.
func writeMatchLog(create func(name string) (io.WriteCloser, error), g *RecordedGame) error {
	rules, commands, err := commandsOf(g)
	if err != nil {
		return err
	}
	var names [2]string
	for p, n := range g.Episode.Policies { // folder names
		names[p] = strings.Map(func(r rune) rune {
			if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
				return '_'
			}
			return r
		}, n)
	}
	_, err = matchlog.Write(matchlog.NewWriter(names, create), rules, commands)
	return err
}

// verifyMatchLog is Engine.Verify for a match log.
func verifyMatchLog(name string, f fs.FS, rules string) (Report, error) {
	r, err := givenTowerdefenceRules(rules)
	if err != nil {
		return Report{}, err
	}
	m, report, err := matchlog.Verify(f, r)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	v := Report{Counts: map[string]int{"games": report.Games, "rounds": report.Rounds}, Different: report.Different}
	if d := report.First; d != nil {
		v.First = &Difference{Game: d.Game, Round: d.Round, Field: d.Field, Expected: d.Want, Found: d.Got}
		v.Notes = append(v.Notes, missingRules(f))
	}
	if m != nil && report.First == nil && m.Result.Winner == "" {
		v.Notes = append(v.Notes, "the match log has no endGameState.txt: it names no winner")
	}
	if m != nil && m.Header.First == "B" {
		v.Notes = append(v.Notes, "B's command was carried out first in every round")
	}
	return v, err
}

// missingRules returns a sentence about the rules that a match log does not contain.
func missingRules(f fs.FS) string {
	log, err := matchlog.Read(f)
	if err != nil || !log.Rules.State {
		return "the match log does not tell its rules: if they were not those of release 3.0.2, --rules gives them"
	}
	return "the match log does not tell all of its rules: if they were not those of release 3.0.2, --rules gives " + strings.Join(log.Rules.Missing(), ", ")
}

// readMatchLog reads a match log as an episode. The checksum covers names, start, commands and
// end.
func readMatchLog(name string, f fs.FS, o ReadOptions, yield func(*RecordedGame) error) (sum [sha256.Size]byte, err error) {
	rules, err := givenTowerdefenceRules(o.Rules)
	if err != nil {
		return sum, err
	}
	log, err := matchlog.Read(f)
	if err != nil {
		return sum, fmt.Errorf("%s: %w", name, err)
	}
	all := fmt.Appendf(nil, "%q %+v %q", log.Names, log.Rules.Over(rules), log.Commands)
	if log.Final != nil {
		all = fmt.Appendf(all, " %+v", *log.Final)
	}
	sum = sha256.Sum256(all)
	m, _, err := matchlog.Verify(f, rules)
	if err != nil {
		return sum, fmt.Errorf("%s: %w", name, err)
	}
	var last lastRules
	r := recordedMatch(m, &last)
	r.Number, r.Name = 0, ""
	var reason error
	if d := m.Different; d != nil {
		reason = fmt.Errorf("differs when played here: round %d: %s: recorded %s, played %s; %s", d.Round, d.Field, d.Want, d.Got, missingRules(f))
	} else if log.Final == nil {
		reason = fmt.Errorf("the match log has no endGameState.txt: it broke off after %s", texts.Plural(len(m.Orders), "round"))
	}
	settleMatch(r, m, o.Keep, reason, &last)
	if r.Why != nil {
		r.Why = fmt.Errorf("%s: %w", name, r.Why)
	}
	return sum, yield(r)
}

// matchLogText returns a match log as a recording that Engine.Show takes, and its rules.
func matchLogText(f fs.FS, text string) (io.Reader, string, error) {
	rules, err := givenTowerdefenceRules(text)
	if err != nil {
		return nil, "", err
	}
	log, err := matchlog.Read(f)
	if err != nil {
		return nil, "", err
	}
	m, _, err := matchlog.Verify(f, rules)
	if err != nil {
		return nil, "", err
	}
	var b bytes.Buffer
	h := m.Header
	h.Game = log.Names[0] + " – " + log.Names[1]
	_, err = recording.WriteMatch(recording.NewWriter(&b), h, m.Rules, log.Commands)
	return &b, string(m.Rules.AppendText(nil)), err
}
