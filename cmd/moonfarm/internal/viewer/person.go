package viewer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/bots/child"
	"moonfarm/rollout/bots/players"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/recordings"
	"moonfarm/rollout/view/human"
	"moonfarm/sim"
)

// Human is the name of the player who plays in the page.
const Human = "human"

// HumanGame is a game to which a person sits down.
type HumanGame struct {
	Game     catalog.Entry
	Rules    string
	Seed     uint64
	MaxTurns int
	Begin    *rollout.Episode // nil, or a game whose first Turn turns were played before
	Turn     int
	Players  []string // policies and bots by seat, Human at one at least
	// Fault is called for faults of bots as they occur, by several goroutines at once.
	Fault func(name string, f players.LiveFault)
	Hint  string // the policy that gives hints; "": none
	// Analysis is that of a human.Setup.
	Analysis func(turn, seat int) []string
}

// Play lets the person play in the page until ctx is done. It returns the game, and its spec.
func (h *HumanGame) Play(ctx context.Context, c *console.Console, what string, at Address, serve Pages) (*rollout.Episode, env.Spec, error) {
	form, err := h.form()
	if err != nil {
		return nil, env.Spec{}, err
	}
	watch := func() (env.Vector, error) {
		return h.Game.New(h.Rules, env.Settings{N: 1, MaxTurns: h.MaxTurns, Form: form})
	}
	v, err := watch()
	if err != nil {
		return nil, env.Spec{}, err
	}
	o := human.Setup{Vector: v, Watch: watch, Seed: h.Seed, Begin: h.Begin, Turns: h.Turn, Names: slices.Clone(h.Players), Analysis: h.Analysis,
		Orders: func(list []sim.Order) []string { return recordings.OrderTexts(h.Game.Name, list) }}
	bots, err := h.fill(ctx, c, &o)
	if err != nil {
		return nil, env.Spec{}, err
	}
	defer bots.close()
	t, err := human.New(o)
	if err != nil {
		return nil, env.Spec{}, err
	}
	err = serve.Serve(ctx, c, what, at, Shown{Person: t})
	for _, p := range append(slices.Clone(o.Seats), o.Hint) {
		if p != nil {
			_ = rollout.CloseSeats(p) // the game has ended
		}
	}
	return t.Episode(), v.Spec(), err
}

// form returns the form in which a person chooses: order by order, if the game has such a form.
func (h *HumanGame) form() (string, error) {
	v, err := h.Game.New(h.Rules, env.Settings{N: 1})
	if err != nil {
		return "", err
	}
	forms := v.Spec().Forms
	return forms[max(0, slices.IndexFunc(forms, func(f env.FormSpec) bool { return f.Sequential }))].Form, nil
}

// WrongPlayer returns the error for a text of a flag that names no player.
func WrongPlayer(flag string, err error) error {
	var none *players.ProgramError
	switch {
	case !errors.As(err, &none):
		return console.WrongUse("--%s: %w", flag, err)
	case none.Word == "":
		return fmt.Errorf("--%s: %w", flag, err)
	}
	return console.Unknown(console.WrongUse("--%s: %w", flag, err), none.Word, none.Names)
}

// TellBox says what keeps bots with these limits from this machine, and returns it.
func TellBox(c *console.Console, l *players.Limits) (box string) {
	means, why := l.Box.Means()
	if box = means.String(); l.Box == child.Strict {
		box += ", strict"
	}
	if why != nil {
		c.Tell("box: %s: %v\n", box, why)
	} else {
		c.Tell("box: %s\n", box)
	}
	return box
}

type seatedBots struct {
	list  []*players.Entrant
	table *players.Table // nil: there are none
}

func (s *seatedBots) close() {
	if s.table != nil {
		s.table.Close()
	}
	_ = players.Close(s.list...) // the game has ended
}

// fill makes the policies and bots of a session.
func (h *HumanGame) fill(ctx context.Context, c *console.Console, o *human.Setup) (*seatedBots, error) {
	spec := o.Vector.Spec()
	if n := spec.Info.Players; len(h.Players) != n {
		return nil, console.WrongUse("--players: found %d, expected %d by these rules", len(h.Players), n)
	}
	limits := players.Limits{Box: child.Automatic}
	runner, err := players.Open(players.Options{Game: h.Game, Rules: spec.Info.Config, Limits: limits, Locks: &c.Locks})
	if err != nil {
		return nil, err
	}
	b, m := &seatedBots{}, players.Meeting{Copies: true}
	for p, text := range h.Players {
		one, isBot := &players.Entrant{Name: text}, false
		var seat rollout.Policy
		if text != Human {
			if one, err = runner.Enter(text); err == nil && !one.Bot() {
				seat, err = one.Policy(spec)
			}
			if err != nil {
				b.close()
				return nil, WrongPlayer("players", err)
			}
			o.Names[p] = one.Name
			b.list, isBot = append(b.list, one), one.Bot()
		}
		if !isBot {
			one = &players.Entrant{Name: one.Name} // gives the orders of the game
		}
		o.Seats, o.IsBot, m.Seats = append(o.Seats, seat), append(o.IsBot, isBot), append(m.Seats, one)
	}
	o.Names = players.Shown(o.Names)
	if slices.Contains(o.IsBot, true) {
		TellBox(c, &limits)
		for _, p := range b.list {
			if at := p.Address(); at != nil {
				c.Tell("%s: waits for clients at %v\n", p.Name, at)
			}
		}
		m.Fault = func(f players.LiveFault) { h.Fault(o.Names[f.Seat], f) }
		b.table = runner.NewTable(ctx, m)
		o.Bots = b.table
	}
	if h.Hint == "" {
		return b, nil
	}
	hint, err := policy.New(h.Game.Name, h.Hint)
	if err == nil {
		o.Hint, err = hint(spec)
	}
	if err == nil && len(rollout.StatesOf(o.Hint)) > 0 {
		err = fmt.Errorf("%s is recurrent: it must see every turn of a game, so it gives no hints", h.Hint)
	}
	if err != nil {
		b.close()
		return nil, console.WrongUse("--hint: %w", err)
	}
	return b, nil
}
