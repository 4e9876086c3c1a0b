package viewer

import (
	"context"
	"slices"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/recordings"
	"moonfarm/rollout/view/human"
	"moonfarm/rollout/view/page"
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
	Players  []string // policies by seat, Human at one at least
	Hint     string   // the policy that gives hints; "": none
}

// Play lets the person play in the page until ctx is done. It returns the game, and its spec.
func (s *HumanGame) Play(ctx context.Context, c *console.Console, what string, at Address, serve Pages) (*rollout.Episode, env.Spec, error) {
	form, err := s.form()
	if err != nil {
		return nil, env.Spec{}, err
	}
	watch := func() (env.Vector, error) {
		return s.Game.New(s.Rules, env.Settings{N: 1, MaxTurns: s.MaxTurns, Form: form})
	}
	v, err := watch()
	if err != nil {
		return nil, env.Spec{}, err
	}
	o := human.Setup{Vector: v, Watch: watch, Seed: s.Seed, Begin: s.Begin, Turns: s.Turn, Names: s.Players,
		Orders: func(list []sim.Order) []string { return recordings.OrderTexts(s.Game.Name, list) }}
	if err := s.fill(&o); err != nil {
		return nil, env.Spec{}, err
	}
	t, err := human.New(o)
	if err != nil {
		return nil, env.Spec{}, err
	}
	err = serve.ServeHuman(ctx, at, page.HTML(nil), t, Ready(c, what))
	for _, p := range append(slices.Clone(o.Seats), o.Hint) {
		if p != nil {
			_ = rollout.CloseSeats(p) // the game has ended
		}
	}
	return t.Episode(), v.Spec(), err
}

// form returns the form in which a person chooses: order by order, or entity by entity, if the game has such a form.
func (s *HumanGame) form() (string, error) {
	v, err := s.Game.New(s.Rules, env.Settings{N: 1})
	if err != nil {
		return "", err
	}
	forms := v.Spec().Forms
	if i := slices.IndexFunc(forms, func(f env.FormSpec) bool { return f.Sequential }); i >= 0 {
		return forms[i].Form, nil
	}
	return forms[len(forms)-1].Form, nil
}

// fill makes the policies of a session.
func (s *HumanGame) fill(o *human.Setup) error {
	spec := o.Vector.Spec()
	if n := spec.Info.Players; len(s.Players) != n {
		return console.WrongUse("--players: found %d, expected %d by these rules", len(s.Players), n)
	}
	make := func(text string) (rollout.Policy, error) {
		m, err := policy.New(s.Game.Name, text)
		if err != nil {
			return nil, err
		}
		return m(spec)
	}
	for _, text := range s.Players {
		if text == Human {
			o.Seats = append(o.Seats, nil)
			continue
		}
		p, err := make(text)
		if err != nil {
			return console.WrongUse("--players: %w", err)
		}
		o.Seats = append(o.Seats, p)
	}
	if s.Hint == "" {
		return nil
	}
	p, err := make(s.Hint)
	if err != nil {
		return console.WrongUse("--hint: %w", err)
	}
	o.Hint = p
	return nil
}
