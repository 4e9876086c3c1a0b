package players

import (
	"bytes"
	"context"
	"errors"
	"io"

	"moonfarm/rollout/arena"
	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
	bot "moonfarm/rollout/bots/terminal"
	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/texts"
)

// terminalHost plays C1 Terminal.
type terminalHost struct {
	config config.Config
	limits bot.Limits
}

func newTerminal(c *Options) (host, string, error) {
	h := &terminalHost{}
	if trimmed := bytes.TrimSpace([]byte(texts.Unmarked(c.Rules))); bytes.HasPrefix(trimmed, []byte("{")) {
		c, err := config.Parse(trimmed)
		if err != nil {
			return nil, "", err
		}
		h.config = c
	} else {
		r, err := config.ParseRules(trimmed)
		if err != nil {
			return nil, "", err
		}
		h.config = config.Of(r)
	}
	if err := h.config.Rules.Validate(); err != nil {
		return nil, "", err
	}
	h.limits = bot.LocalLimits(&h.config)
	base := generous(0, h.limits.Hard)
	if c.Limits.Site {
		h.limits = bot.SiteLimits(&h.config)
		base = matchLimits{bots.Limits{Answer: h.limits.Hard}, child.Limits{}}
	}
	b := c.Limits.override(base)
	h.limits.Hard, h.limits.Game, h.limits.Process = b.Answer, b.Game, b.process
	replace(&h.limits.Soft, c.Limits.Soft)
	return h, c.Rules, nil
}

// enter implements host.
func (t *terminalHost) enter(p *Entrant, text string) (err error) {
	switch p.Kind {
	case Folder:
		p.bot, err = bot.Folder(text)
	case Command:
		p.bot, err = programOf(text)
	default:
		err = errors.New("bots of Terminal do not connect to a port: write bot:DIR or a command line")
	}
	return err
}

// play implements host.
func (t *terminalHost) play(ctx context.Context, m *Meeting) (*Outcome, error) {
	match := bot.Match{Config: t.config, Limits: t.limits, Seed: m.Seed, Replay: m.Replay, Hooks: m.hooks()}
	if m.Fault != nil {
		match.Refused = func(seat, turn int, text string) {
			m.Fault(LiveFault{Fault: arena.Fault{Seat: seat, Turn: turn, Kind: FaultIllegal, Times: 1, Text: text}})
		}
	}
	for i, p := range m.Seats {
		seat := &match.Seats[i]
		seat.Name, seat.Policy = p.Name, p.Policy
		if program, ok := p.bot.(child.Program); ok {
			seat.Program = program
			seat.Log = logOf(m, i)
		}
	}
	r, err := match.Play(ctx)
	if err != nil {
		return nil, err
	}
	o := outcomeOf(r.Result)
	o.Clock = r.ByTime
	for i := range o.Seats {
		own := &r.Players[i]
		o.Seats[i].Longest = own.Longest
		for _, one := range []bot.Refusals{own.Refused.Unread, own.Refused.Rules} {
			if one.Count > 0 {
				o.Seats[i].Faults = append(o.Seats[i].Faults, arena.Fault{Seat: i, Turn: one.Turn, Kind: FaultIllegal, Times: one.Count, Text: one.Text})
			}
		}
	}
	return o, nil
}

// maxLog is the limit of a bot's log of a game in bytes.
const maxLog = 10 << 20

// logOf returns the log of the bot at a seat, nil if none is wanted.
func logOf(m *Meeting, seat int) *child.Log {
	if m.Log == nil {
		return nil
	}
	var to io.Writer = m.Log(seat)
	if to == nil {
		return nil
	}
	return child.NewLog(to, maxLog)
}
