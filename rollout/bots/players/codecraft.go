package players

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	cckit "moonfarm/features/codecraft"
	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
	bot "moonfarm/rollout/bots/codecraft"
	"moonfarm/rollout/files"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/replay"
	"moonfarm/sim/unzip"
)

// codecraftHost plays CodeCraft.
type codecraftHost struct {
	rules  codecraft.Rules
	game   *codecraft.Game
	start  *codecraft.State // start of all games; nil: it depends on the seed
	loaded string           // the file that start was read from
	repeat *replay.Replay   // nil: games are played
	limits Limits
	runner RunnerOptions
}

// codecraftPort is the port where the client of an entrant connects.
type codecraftPort struct {
	*bot.Port
	host, token *string // as the config file gives them
}

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
	if c.Runner.Repeat != "" {
		if err := h.read(c.Runner.Repeat); err != nil {
			return nil, "", fmt.Errorf("%w: %w", ErrRepeat, err)
		}
	}
	if h.game, err = codecraft.New(h.rules); err != nil {
		return nil, "", err
	}
	return h, string(h.rules.AppendText(nil)), nil
}

// read reads the recorded game that is repeated, and its rules.
func (h *codecraftHost) read(name string) error {
	f, err := files.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	in, err := unzip.NewReader(f)
	if err == nil {
		h.repeat, err = replay.Read(name, in)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	g, _, err := h.repeat.Game(h.rules)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	h.rules = g.Rules()
	return nil
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
		p.bot, err = openPort(net.JoinHostPort(ownHost, strconv.FormatUint(n, 10)), nil, nil)
	case Command:
		words, failed := bots.SplitCommand(text)
		if failed != nil {
			return failed
		}
		program := bot.Program{Args: words}
		p.bot, err = program, program.Check()
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
	if p.limits != nil {
		b = p.limits.override(b)
	}
	return h.limits.override(b)
}

// play implements host.
func (h *codecraftHost) play(ctx context.Context, m *Meeting) (*Outcome, error) {
	match := bot.Match{Rules: h.rules, Seed: m.Seed, Replay: m.Replay, Repeat: h.repeat,
		Debug: h.runner.Debug || m.Drawn != nil, Drawn: m.Drawn, StopWhenCrashed: h.runner.StopWhenCrashed,
		Watch: watch(h.game, cckit.Kit(h.game), m)}
	match.Crashed, match.Settle = m.crashReporter(), m.Settle
	if h.start != nil {
		start := *h.start
		start.Seed = m.Seed
		match.Start = &start
	}
	for i, p := range m.Seats {
		b := h.limitsOf(p)
		seat := bot.Seat{Policy: p.Policy, Limits: b.Limits, Process: b.process}
		if port, ok := p.bot.(*codecraftPort); ok {
			seat.Port = port.Port
		}
		if program, ok := p.bot.(bot.Program); ok {
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
		if port, ok := p.bot.(*codecraftPort); ok {
			err = errors.Join(err, port.Close())
		}
	}
	return err
}
