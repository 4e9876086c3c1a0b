package players

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
	bot "moonfarm/rollout/bots/codecraft"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire"
	"moonfarm/sim/unzip"
)

// codecraftHost plays CodeCraft.
type codecraftHost struct {
	rules  codecraft.Rules
	game   *codecraft.Game
	start  *codecraft.State // nil: a new one for every seed
	limits Limits
}

// Limits of CodeCraft's clients. Those of the contest are published.
const (
	codecraftAccept     = time.Minute
	codecraftAnswer     = 10 * time.Second
	codecraftSiteAnswer = time.Second
	codecraftSiteCPU    = 40 * time.Second
	codecraftSiteMemory = 256 << 20
)

// codecraftRules reads rules. A rule set whose name says no number of players is for
// so many, if that is not 0.
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

func newCodecraft(c *Config) (host, string, error) {
	h := &codecraftHost{limits: c.Limits}
	var err error
	if h.rules, err = codecraftRules(c.Rules, c.Seats); err != nil {
		return nil, "", err
	}
	if h.game, err = codecraft.New(h.rules); err != nil {
		return nil, "", err
	}
	return h, string(h.rules.AppendText(nil)), nil
}

// enter implements host.
func (h *codecraftHost) enter(p *Player, text string) (err error) {
	switch p.Kind {
	case Port:
		n, failed := strconv.ParseUint(text, 10, 16)
		if failed != nil && text != "" {
			return errors.New("expected a port from 0 to 65535 after tcp:, or none for a free one")
		}
		p.Name = strings.TrimSuffix(p.Name, ":")
		p.bot, err = bot.Listen(net.JoinHostPort("127.0.0.1", strconv.FormatUint(n, 10)), nil)
	case Command:
		words, failed := bots.SplitCommand(text)
		if failed != nil {
			return failed
		}
		p.bot = words
		_, err = exec.LookPath(words[0])
	default:
		err = errors.New("a client of CodeCraft is a program: write its command line")
	}
	return err
}

// bounds are the limits of a player.
func (h *codecraftHost) bounds(p *Player) bounds {
	b := local(codecraftAccept, codecraftAnswer)
	if h.limits.Site {
		b = bounds{bots.Limits{Accept: codecraftAccept, Answer: codecraftSiteAnswer},
			child.Limits{CPU: codecraftSiteCPU, Memory: codecraftSiteMemory}}
	}
	if p.Kind == Port {
		b.Accept = 0 // people start these clients
	}
	if p.limits != nil {
		b = p.limits.over(b)
	}
	return h.limits.over(b)
}

// play implements host.
func (h *codecraftHost) play(ctx context.Context, m *Meeting) (*Outcome, error) {
	match := bot.Match{Rules: h.rules, Seed: m.Seed, Replay: m.Replay,
		Watch: watch(h.game, len(m.Seats), m.Watch)}
	if h.start != nil {
		start := *h.start
		start.Seed = m.Seed
		match.Start = &start
	}
	for i, p := range m.Seats {
		b := h.bounds(p)
		seat := bot.Seat{Policy: p.Policy, Limits: b.Limits, Uses: b.uses}
		seat.Port, _ = p.bot.(*bot.Port)
		if seat.Command, _ = p.bot.([]string); seat.Command != nil && m.Log != nil {
			seat.Output = m.Log(i)
		}
		match.Seats = append(match.Seats, seat)
	}
	r, err := match.Play(ctx)
	if err != nil {
		return nil, err
	}
	o := outcome(r.Result)
	o.Original = append(r.Append(nil), '\n')
	for i := range o.Seats {
		if c := r.Players[i].Comment; c != nil {
			o.Seats[i].Comment = *c
		}
	}
	return o, nil
}

// maxConfig bounds config files.
const maxConfig = 1 << 20

// CodeCraftConfig is a config file of CodeCraft, read.
type CodeCraftConfig struct {
	name   string
	config *wire.Config
}

// ReadConfig reads a config file of CodeCraft.
func ReadConfig(name string) (*CodeCraftConfig, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err == nil && len(text) > maxConfig {
		err = fmt.Errorf("expected at most %d bytes, found more", maxConfig)
	}
	c := &CodeCraftConfig{name: name}
	if err == nil {
		c.config, err = wire.ParseConfig(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// Seed is the seed that the file gives, nil if it gives none.
func (c *CodeCraftConfig) Seed() *uint64 { return c.config.Seed }

// Open is Open for a config file, and enters its players. The rules of the Config, if
// it has any, count in the place of the file's.
func (c *CodeCraftConfig) Open(o Config) (*Game, []*Player, error) {
	o.Seats = len(c.config.Players)
	if o.Rules == "" && c.config.Game.Create != "" {
		r, err := c.config.Rules()
		if err != nil {
			return nil, nil, err
		}
		o.Rules = string(r.AppendText(nil))
	}
	g, err := Open(o)
	if err != nil {
		return nil, nil, err
	}
	h := g.host.(*codecraftHost)
	if c.config.Game.LoadFrom != "" {
		if err := h.load(c.config.Game.LoadFrom); err != nil {
			return nil, nil, err
		}
		g.Rules = string(h.rules.AppendText(nil))
	}
	var list []*Player
	for i := range c.config.Players {
		p, err := h.configured(g, &c.config.Players[i])
		if err != nil {
			Close(list...)
			return nil, nil, fmt.Errorf("players[%d]: %w", i, err)
		}
		list = append(list, p)
	}
	return g, list, nil
}

// load reads a state to begin with.
func (h *codecraftHost) load(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	in, err := unzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	g, state, err := wire.LoadState(name, in, h.rules)
	if err != nil {
		return err
	}
	h.rules, h.start = g.Rules(), state
	h.game, err = codecraft.New(h.rules)
	return err
}

// configured enters a player of a config file.
func (h *codecraftHost) configured(g *Game, c *wire.PlayerConfig) (*Player, error) {
	switch c.Kind {
	case wire.PlayerEmpty:
		return g.Enter("empty")
	case wire.PlayerQuickStart:
		return g.Enter("quickstart")
	case wire.PlayerTCP:
		host := "127.0.0.1"
		if c.TCP.Host != nil {
			host = *c.TCP.Host
		}
		p := &Player{Name: fmt.Sprintf("%s%d", portPrefix, c.TCP.Port), Kind: Port, limits: &Limits{}}
		p.limits.Accept, p.limits.Answer = inSeconds(c.TCP.AcceptTimeout), inSeconds(c.TCP.Timeout)
		var err error
		p.bot, err = bot.Listen(net.JoinHostPort(host, strconv.Itoa(c.TCP.Port)), c.TCP.Token)
		return p, err
	}
	return nil, fmt.Errorf("%s needs a window, and there is none", c.Kind)
}

// inSeconds is a time of a config file: no limit if it gives none.
func inSeconds(n *float64) *time.Duration {
	d := time.Duration(0)
	if n != nil {
		d = max(time.Duration(math.Min(*n*float64(time.Second), math.MaxInt64/2)), 1)
	}
	return &d
}

// Close closes the ports of players.
func Close(list ...*Player) (err error) {
	for _, p := range list {
		if port, ok := p.bot.(*bot.Port); ok {
			err = errors.Join(err, port.Close())
		}
	}
	return err
}
