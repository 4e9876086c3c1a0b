package matchlog

import (
	"errors"
	"fmt"
	"io/fs"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/command"
	"moonfarm/sim/towerdefence/wire/display"
	"moonfarm/sim/towerdefence/wire/recording"
	"moonfarm/sim/towerdefence/wire/referee"
)

// Verify reads a match log as Read does and plays it again. It compares what the log has:
// the state.json, the text map and the console map of each round, as recording.Verify
// compares renders, and the winner, the scores and the healths of the end. It plays by the
// given rules, with the values of the log in their place. If the log lacks whose
// command was carried out first in every round, Verify tries both orders and takes the one
// with more rounds as recorded, or A's. The Match holds the orders; its Header has the names
// as policies, and the order.
//
// Errors say which file or folder was expected where.
func Verify(fsys fs.FS, rules towerdefence.Rules) (*recording.Match, recording.Report, error) {
	log, err := Read(fsys)
	if err != nil {
		return nil, recording.Report{}, err
	}
	folders, err := roundFolders(fsys)
	if err != nil {
		return nil, recording.Report{}, fmt.Errorf("match log: %w", err)
	}
	var best *logVerifier
	for i, first := range []string{display.Letters[:1], display.Letters[1:]} {
		if log.First != "" && log.First != first {
			continue
		}
		m := log.Match(rules)
		if err := m.Rules.Validate(); err != nil {
			return nil, recording.Report{}, fmt.Errorf("match log: %w", err)
		}
		m.Header.First = first
		v := &logVerifier{fsys: fsys, log: log, match: m, referee: referee.New(m.Rules), report: recording.Report{Games: 1}}
		v.referee.First(sim.Player(i))
		if err := v.play(folders); err != nil {
			return nil, v.report, fmt.Errorf("match log: %w", err)
		}
		if best == nil || m.Different == nil || m.Same > best.match.Same {
			best = v
		}
		if m.Different == nil {
			break
		}
	}
	return best.match, best.report, nil
}

// Match returns the orders of the log, with these rules and the values of the log in their
// place.
func (m *Log) Match(rules towerdefence.Rules) *recording.Match {
	x := &recording.Match{Number: 1, Rules: m.Rules.Over(rules)}
	x.Header.Policy, x.Header.First = m.Names, m.First
	for p := range x.Header.Energy {
		x.Header.Energy[p], x.Header.Health[p] = x.Rules.Start(sim.Player(p))
	}
	for _, c := range m.Commands {
		x.Orders = append(x.Orders, [2]sim.Order{command.Parse(c[0]), command.Parse(c[1])})
	}
	x.Result.Rounds = len(x.Orders)
	return x
}

// logVerifier plays the match of a log with one order of the commands.
type logVerifier struct {
	fsys    fs.FS
	log     *Log
	match   *recording.Match
	referee *referee.Referee
	report  recording.Report
}

// play plays the rounds of the log and compares the position before each, and
// the end.
func (l *logVerifier) play(folders []string) error {
	end := ""
	for n, folder := range folders {
		d, err := l.displays(folder, n)
		if err != nil {
			return err
		}
		if d == nil && n < len(l.log.Commands) && end != "" {
			d = &recording.Difference{Round: n, Field: "round", Want: "a further round", Got: "the end: " + end}
		}
		if d != nil {
			l.differ(d)
			return nil
		}
		if l.match.Same = n; n < len(l.log.Commands) {
			c := l.log.Commands[n]
			end = l.referee.Play(c[0], c[1])
			l.report.Rounds++
		}
	}
	l.match.Same = len(l.log.Commands)
	l.end(end)
	return nil
}

func (l *logVerifier) differ(d *recording.Difference) {
	d.Game = l.log.Names[0] + " – " + l.log.Names[1]
	l.match.Different, l.report.First = d, d
	l.report.Different++
}

// displays compares the files that show the position before round n.
func (l *logVerifier) displays(folder string, n int) (*recording.Difference, error) {
	p := l.referee.Position()
	for i, name := range l.log.Names {
		seat := sim.Player(i)
		for _, f := range []struct {
			name string
			text func() []byte
			same func(string) string
		}{
			{logState, func() []byte { return p.AppendState(nil, seat) }, display.WithoutChance},
			{logText, func() []byte { return p.AppendTextMap(nil, seat) }, display.MissilesSorted},
			{logConsole, func() []byte { return p.AppendConsole(nil) }, func(s string) string { return s }},
		} {
			file := folder + "/" + logName(i, name) + "/" + f.name
			text, err := readLog(l.fsys, file)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if want, got := f.same(text), f.same(string(f.text())); want != got {
				want, got = display.AroundDifference(want, got)
				return &recording.Difference{Round: n, Field: logName(i, name) + "/" + f.name, Want: want, Got: got}, nil
			}
		}
	}
	return nil, nil
}

// end compares the final result, if the log has one.
func (l *logVerifier) end(end string) {
	f, got := l.log.Final, l.referee.Result()
	if f == nil {
		return
	}
	l.match.Result = referee.Result{End: end, Rounds: len(l.log.Commands), Winner: f.Winner}
	p := l.referee.Position()
	differ := func(field string, want, got any) {
		l.differ(&recording.Difference{Round: len(l.log.Commands), Field: field, Want: fmt.Sprint(want), Got: fmt.Sprint(got)})
	}
	switch {
	case end == "":
		differ("end", "the end", "no end: the match goes on")
	case f.Failed != (end == referee.EndTimeout):
		differ("end", map[bool]string{true: "failed", false: "not failed"}[f.Failed], end)
	case f.Winner != got.Winner:
		differ("winner", f.Winner, got.Winner)
	default:
		for i := range f.Score {
			player := &p.Players[i]
			if f.Score[i] != player.Score || f.Health[i] != player.Health {
				differ(logName(i, l.log.Names[i]), fmt.Sprintf("score %d, health %d", f.Score[i], f.Health[i]),
					fmt.Sprintf("score %d, health %d", player.Score, player.Health))
				return
			}
		}
	}
}
