package players

import (
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"time"

	bot "moonfarm/rollout/bots/codecraft"
	"moonfarm/rollout/files"
	"moonfarm/sim/bounded"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
	"moonfarm/sim/codecraft/wire/recording"
	"moonfarm/sim/unzip"
)

// The policies that are players of the original.
const (
	emptyPolicy      = "empty"
	quickstartPolicy = "quickstart"
)

// CodeCraftConfig is the content of a config file of CodeCraft's local runner.
type CodeCraftConfig struct {
	name   string
	config *protocol.RunnerConfig
}

// ReadConfig reads a config file of CodeCraft.
func ReadConfig(name string) (*CodeCraftConfig, error) {
	text, err := bounded.ReadFile(files.Open, name, bounded.Config)
	if err != nil {
		return nil, err
	}
	c := &CodeCraftConfig{name: name}
	if c.config, err = protocol.ParseConfig(text); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// Seed returns the seed in the file, nil if there is none.
func (c *CodeCraftConfig) Seed() *uint64 { return c.config.Seed }

// Unknown returns the unknown fields of the file, which have no effect.
func (c *CodeCraftConfig) Unknown() []string { return c.config.Unknown }

// Open returns the Runner of the config file's game, and the file's players. The rules of
// the Options, if any, replace the file's.
func (c *CodeCraftConfig) Open(o Options) (*Runner, []*Entrant, error) {
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
	if c.config.Game.LoadFrom != "" && h.repeat == nil {
		if err := h.load(c.config.Game.LoadFrom); err != nil {
			return nil, nil, err
		}
		g.Rules = string(h.rules.AppendText(nil))
	}
	if n := len(c.config.Players); n != g.Seats {
		return nil, nil, fmt.Errorf("%w: %d, the game has %d", ErrSeats, n, g.Seats)
	}
	var list []*Entrant
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

// load reads the state with which games start.
func (h *codecraftHost) load(name string) error {
	f, err := files.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	in, err := unzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	g, state, err := recording.LoadState(name, in, h.rules)
	if err != nil {
		return err
	}
	h.rules, h.start, h.loaded = g.Rules(), state, name
	h.game, err = codecraft.New(h.rules)
	return err
}

// configured enters a player of a config file.
func (h *codecraftHost) configured(g *Runner, c *protocol.PlayerConfig) (*Entrant, error) {
	switch c.Kind {
	case protocol.PlayerEmpty:
		return g.Enter(emptyPolicy)
	case protocol.PlayerQuickStart:
		return g.Enter(quickstartPolicy)
	case protocol.PlayerTCP:
		at, err := h.address(&c.TCP)
		if err != nil {
			return nil, err
		}
		p := &Entrant{Name: fmt.Sprintf("%s%d", portPrefix, c.TCP.Port), Kind: Port, limits: &Limits{}}
		p.limits.Accept, p.limits.Answer = inSeconds(c.TCP.AcceptTimeout), inSeconds(c.TCP.Timeout)
		p.bot, err = openPort(at, c.TCP.Host, c.TCP.Token)
		return p, err
	}
	return nil, fmt.Errorf("%s needs a window, and there is none", c.Kind)
}

// ownHost is the default host of ports: only clients of this machine can connect.
const ownHost = "127.0.0.1"

// ErrRemote says that a config file would let clients of other machines connect, which
// RunnerOptions.Remote does not allow.
var ErrRemote = errors.New("clients of other machines could connect")

// address returns the address of a port in a config file.
func (h *codecraftHost) address(c *protocol.TCPConfig) (string, error) {
	host := ownHost
	if c.Host != nil {
		host = *c.Host
	}
	at, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(host, strconv.Itoa(c.Port)))
	if err != nil {
		return "", err
	}
	if !at.IP.IsLoopback() && !h.runner.Remote {
		return "", fmt.Errorf("host %q: %w", host, ErrRemote)
	}
	return at.String(), nil
}

// openPort opens a port.
func openPort(at string, host, token *string) (*codecraftPort, error) {
	p, err := bot.Listen(at, token)
	return &codecraftPort{p, host, token}, err
}

// inSeconds returns a time limit of a config file: 0, no limit, if the file has none.
func inSeconds(n *float64) *time.Duration {
	d := time.Duration(0)
	if n != nil {
		d = max(time.Duration(math.Min(*n*float64(time.Second), math.MaxInt64/2)), 1)
	}
	return &d
}

// AppendConfig appends a config file of CodeCraft for the game with this seed between
// these entrants, with their limits Answer and Accept. It fails for players and rules that
// the original does not have.
func (r *Runner) AppendConfig(dst []byte, seed uint64, list []*Entrant) ([]byte, error) {
	h, ok := r.host.(*codecraftHost)
	if !ok || h.repeat != nil {
		return nil, errors.New("only new games of CodeCraft have a config file")
	}
	c := protocol.RunnerConfig{Seed: &seed}
	if c.Game.LoadFrom = h.loaded; h.loaded == "" {
		if c.Game.Create, ok = protocol.RoundOf(h.rules); !ok {
			return nil, errors.New("the original has no round with these rules")
		}
	}
	for i, p := range list {
		one, err := h.configOf(p)
		if err != nil {
			return nil, fmt.Errorf("player %d, %s: %w", i+1, p.Name, err)
		}
		c.Players = append(c.Players, one)
	}
	return append(c.Append(dst), '\n'), nil
}

// configOf returns the entry of an entrant in a config file.
func (h *codecraftHost) configOf(p *Entrant) (protocol.PlayerConfig, error) {
	port, ok := p.bot.(*codecraftPort)
	switch {
	case ok:
		b := h.limitsOf(p)
		return protocol.PlayerConfig{Kind: protocol.PlayerTCP, TCP: protocol.TCPConfig{
			Host: port.host, Port: port.Address().Port, Token: port.token,
			AcceptTimeout: toSeconds(b.Accept), Timeout: toSeconds(b.Answer),
		}}, nil
	case p.Kind == Policy && p.Name == emptyPolicy:
		return protocol.PlayerConfig{Kind: protocol.PlayerEmpty}, nil
	case p.Kind == Policy && p.Name == quickstartPolicy:
		return protocol.PlayerConfig{Kind: protocol.PlayerQuickStart}, nil
	case p.Kind == Policy:
		return protocol.PlayerConfig{}, fmt.Errorf("the original has no such player, only %s and %s", emptyPolicy, quickstartPolicy)
	}
	return protocol.PlayerConfig{}, fmt.Errorf("the original starts no programs: let it connect, as %s31001", portPrefix)
}

// toSeconds returns a time limit for a config file: nil for no limit.
func toSeconds(d time.Duration) *float64 {
	if d == 0 {
		return nil
	}
	n := d.Seconds()
	return &n
}
