package players

import (
	"context"
	"errors"
	"fmt"
	"time"

	"moonfarm/rollout/arena"
	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
	bot "moonfarm/rollout/bots/towerdefence"
	"moonfarm/rollout/filelock"
	"moonfarm/sim/towerdefence"
)

// towerdefenceHost plays Tower Defence.
type towerdefenceHost struct {
	rules      towerdefence.Rules
	limits     matchLimits
	tournament bool // see bot.Match
	locks      *filelock.Locker
}

// folderWait limits how long a game waits for a folder that another game uses.
const folderWait = 10 * time.Minute

func newTowerdefence(c *Options) (host, string, error) {
	h := &towerdefenceHost{locks: c.Locks}
	var err error
	if h.rules, err = towerdefence.ParseRules([]byte(c.Rules)); err != nil {
		return nil, "", err
	}
	if err = h.rules.Validate(); err != nil {
		return nil, "", err
	}
	base := generous(folderWait, bot.LocalAnswer)
	if h.tournament = c.Limits.Site; h.tournament {
		base = matchLimits{bots.Limits{Accept: folderWait, Answer: bot.SiteAnswer}, child.Limits{}}
	}
	h.limits = c.Limits.override(base)
	return h, c.Rules, nil
}

// enter implements host.
func (t *towerdefenceHost) enter(p *Entrant, text string) (err error) {
	switch p.Kind {
	case Folder:
		p.bot, err = bot.Open(text)
	case Command:
		p.bot, err = bot.Command(text, ".")
	default:
		err = errors.New("bots of Tower Defence do not connect to a port: write bot:DIR or a command line")
	}
	return err
}

// play implements host.
func (t *towerdefenceHost) play(ctx context.Context, m *Meeting) (*Outcome, error) {
	match := bot.Match{Rules: t.rules, Seed: m.Seed, Tournament: t.tournament, Locks: t.locks, Create: m.Create, Hooks: m.hooks()}
	if m.Fault != nil {
		match.Fault = func(seat int, k bot.FaultKind, f *bot.Faults) {
			m.Fault(LiveFault{Fault: arena.Fault{Seat: seat, Turn: f.Round, Kind: faultKind(k), Times: 1, Text: f.Text, Output: joined(f.Lines)}, Output: f.Lines})
		}
	}
	names := Shown([]string{m.Seats[0].Name, m.Seats[1].Name}) // the match log cuts long ones
	for i, p := range m.Seats {
		seat := bot.Seat{Policy: p.Policy, Name: p.Name, Copy: m.Copies, Limits: t.limits.Limits, Process: t.limits.process}
		if seat.Program, _ = p.bot.(*bot.Program); p.Kind == Folder && !p.named {
			if seat.Name = seat.Program.Name; m.sameNickname() { // the nickname, as in the original's match log
				seat.Name = names[i]
			}
		}
		if seat.Program != nil {
			seat.Log = logOf(m, i)
		}
		match.Seats = append(match.Seats, seat)
	}
	r, err := match.Play(ctx)
	if err != nil {
		return nil, err
	}
	o := outcomeOf(r.Result)
	for i, record := range r.Records {
		if record == nil {
			continue
		}
		s := &o.Seats[i]
		s.Longest = record.Longest
		s.Faults = append(s.Faults, faultsOf(i, record)...)
	}
	return o, nil
}

// sameNickname reports whether different bots of a game have the same nickname.
func (m *Meeting) sameNickname() bool {
	first, _ := m.Seats[0].bot.(*bot.Program)
	second, _ := m.Seats[1].bot.(*bot.Program)
	return first != nil && second != nil && m.Seats[0].Name != m.Seats[1].Name && first.Name == second.Name
}

// faultsOf returns the faults of the bot at a seat, one for each kind, also where several
// kinds have the same word.
func faultsOf(seat int, record *bot.Record) (list []arena.Fault) {
	for k, f := range record.Faults {
		if f.Count == 0 {
			continue
		}
		word, text := faultKind(bot.FaultKind(k)), f.Text
		if word == FaultIllegal {
			text = fmt.Sprintf("%v: %s", bot.FaultKind(k), f.Text)
		}
		list = append(list, arena.Fault{Seat: seat, Turn: f.Round, Kind: word, Times: f.Count, Text: text, Output: joined(f.Lines)})
	}
	return list
}

// faultKind returns the word for a kind of faults.
func faultKind(k bot.FaultKind) string {
	switch k {
	case bot.Late:
		return FaultTimeout
	case bot.Killed, bot.Failed:
		return FaultCrash
	case bot.Refused, bot.Garbled:
		return FaultIllegal
	}
	return k.String()
}
