package players

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
	bot "moonfarm/rollout/bots/codecraft"
	"moonfarm/sim/codecraft"
)

// codecraftHost plays CodeCraft.
type codecraftHost struct {
	rules  codecraft.Rules
	limits Limits
	runner RunnerOptions
}

// emptyPolicy is the policy that plays as the original's empty player.
const emptyPolicy = "empty"

// ownHost is where ports listen: only clients of this machine can connect.
const ownHost = "127.0.0.1"

// Limits of CodeCraft's clients. The contest's limits (Site) are published.
const (
	codecraftAccept     = time.Minute
	codecraftAnswer     = 10 * time.Second
	codecraftSiteAnswer = time.Second
	codecraftSiteCPU    = 40 * time.Second
	codecraftSiteMemory = 256 << 20
)

// codecraftRules reads rules. seats, if not 0, is the number of players of a rule set
// whose name gives no number.
func codecraftRules(text string, seats int) (codecraft.Rules, error) {
	name := text
	if name == "" {
		name = codecraft.Presets()[0]
	}
	r, ok := codecraft.Preset(name)
	if !ok {
		return codecraft.ParseRules([]byte(text))
	}
	if seats > 0 && !strings.Contains(name, "-") {
		r.Players = int32(seats)
	}
	return r, nil
}

func newCodecraft(c *Options) (host, string, error) {
	h := &codecraftHost{limits: c.Limits, runner: c.Runner}
	var err error
	if h.rules, err = codecraftRules(c.Rules, c.Seats); err != nil {
		return nil, "", err
	}
	return h, string(h.rules.AppendText(nil)), h.rules.Validate()
}

// enter implements host.
func (h *codecraftHost) enter(p *Entrant, text string) (err error) {
	switch p.Kind {
	case Port:
		n, failed := strconv.ParseUint(text, 10, 16)
		if failed != nil && text != "" {
			return errors.New("expected a port from 0 to 65535 after tcp:, or none for a free one")
		}
		p.Name = strings.TrimSuffix(p.Name, ":")
		p.bot, err = bot.Listen(net.JoinHostPort(ownHost, strconv.FormatUint(n, 10)))
	case Command:
		p.bot, err = programOf(text)
	case Folder:
		p.bot, err = bot.Folder(text)
	}
	return err
}

// limitsOf returns the limits of an entrant.
func (h *codecraftHost) limitsOf(p *Entrant) matchLimits {
	b := generous(codecraftAccept, codecraftAnswer)
	if h.limits.Site {
		b = matchLimits{bots.Limits{Accept: codecraftAccept, Answer: codecraftSiteAnswer},
			child.Limits{CPU: codecraftSiteCPU, Memory: codecraftSiteMemory}}
	}
	if p.Kind == Port {
		b.Accept = 0 // people start these clients
	}
	return h.limits.override(b)
}

// play implements host.
func (h *codecraftHost) play(ctx context.Context, m *Meeting) (*Outcome, error) {
	match := bot.Match{Rules: h.rules, Seed: m.Seed, Replay: m.Replay,
		Debug: h.runner.Debug || m.Drawn != nil, Drawn: m.Drawn, StopWhenCrashed: h.runner.StopWhenCrashed, Hooks: m.hooks()}
	for i, p := range m.Seats {
		b := h.limitsOf(p)
		seat := bot.Seat{Policy: p.Policy, Limits: b.Limits, Process: b.process}
		seat.Port, _ = p.bot.(*bot.Port)
		if program, ok := p.bot.(child.Program); ok {
			seat.Program, seat.Log = program, logOf(m, i)
		}
		if h.runner.StopWhenCrashed && p.Name == emptyPolicy {
			seat.Policy = nil // StopWhenCrashed treats the empty player as no player
		}
		match.Seats = append(match.Seats, seat)
	}
	r, err := match.Play(ctx)
	if err != nil {
		return nil, err
	}
	o := outcomeOf(r.Result)
	o.Original = append(r.Append(nil), '\n')
	for i := range o.Seats {
		if c := r.Players[i].Comment; c != nil {
			o.Seats[i].Comment = *c
		}
	}
	return o, nil
}

// Close closes the ports of players.
func Close(list ...*Entrant) (err error) {
	for _, p := range list {
		if port, ok := p.bot.(*bot.Port); ok {
			err = errors.Join(err, port.Close())
		}
	}
	return err
}
