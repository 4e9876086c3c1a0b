package command

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/recordings"
	"moonfarm/rollout/view/page"
	"moonfarm/rollout/view/table"
	"moonfarm/sim"
)

// human is the player who plays in the page.
const human = "human"

// playHelp is the help on playing.
const playHelp = `A player named human plays in the page: it shows what is legal, plays the other
seats' policies, takes choices back, and gives hints by --hint. With --save the
game is written as a recording of the original when the command ends. With a
recording instead of GAME, and --turn, the players take over its game there.`

// addPlay adds the flags of a game with a person.
func (f *viewFlags) addPlay(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.hint, "hint", "", "`POLICY` that gives hints to a human (default: the game's first search)")
	flags.StringVar(&f.save, "save", "", "`FILE` for the recording of a human's game")
	flags.Var(console.Whole(&f.turn, 0, 1<<30), "turn", "turn of a recorded game at which the players take over")
}

// sitting is a game to sit down at.
type sitting struct {
	game  catalog.Entry
	rules string
	seed  uint64
	turns int // --max-turns
	begin *rollout.Episode
}

// sit finds the game of WHAT.
func (f *viewFlags) sit(c *cobra.Command, what string) (*sitting, error) {
	if _, err := catalog.Find(what); err == nil {
		s, err := f.gameFlags.open(what)
		if err != nil {
			return nil, err
		}
		if c.Flags().Changed("turn") {
			return nil, console.WrongUse("--turn is for recordings; %s is a game that begins", what)
		}
		return &sitting{game: s.game, rules: s.rules, seed: f.seed, turns: f.maxTurns}, nil
	}
	l, err := f.recording(c.Context(), what)
	if err != nil {
		return nil, err
	}
	if _, err := f.keep(l, nil); err != nil {
		return nil, err
	}
	g := l.games[0]
	switch {
	case len(g.episode.Recording) > 0:
		return nil, fmt.Errorf("%s: a recording with an unknown random seed: the effect of other orders cannot be computed", what)
	case f.turn >= g.episode.Turns:
		return nil, console.WrongUse("--turn %d: the game has turns 0 to %d", f.turn, g.episode.Turns-1)
	}
	return &sitting{game: g.game, rules: g.rules, begin: g.episode}, nil
}

// form returns the form in which a person chooses: order by order, or entity by entity, if the game has such a form.
func (s *sitting) form() (string, error) {
	v, err := s.game.New(s.rules, env.Settings{N: 1})
	if err != nil {
		return "", err
	}
	forms := v.Spec().Forms
	if i := slices.IndexFunc(forms, func(f env.FormSpec) bool { return f.Sequential }); i >= 0 {
		return forms[i].Form, nil
	}
	return forms[len(forms)-1].Form, nil
}

// viewPlay lets a person play in the page.
func (a *app) viewPlay(c *cobra.Command, what string, specs []string, f *viewFlags, serve Pages) error {
	if serve == nil {
		return console.WrongUse("--players human: the light program serves no pages; %s does: go run ./cmd/%[1]s view …", console.FullProgram)
	}
	if f.out != "" || f.tty || c.Flags().Changed("games") {
		return console.WrongUse("--players human: without --out, --tty and --games")
	}
	s, err := f.sit(c, what)
	if err != nil {
		return err
	}
	if f.save != "" && len(formsOf(s.game.Name)) == 0 {
		return console.WrongUse("--save: %s has no recordings", s.game.Name)
	}
	form, err := s.form()
	if err != nil {
		return err
	}
	watch := func() (env.Vector, error) {
		return s.game.New(s.rules, env.Settings{N: 1, MaxTurns: s.turns, Form: form})
	}
	v, err := watch()
	if err != nil {
		return err
	}
	o := table.Setup{Vector: v, Watch: watch, Seed: s.seed, Begin: s.begin, Turns: f.turn, Names: specs,
		Orders: func(list []sim.Order) []string { return recordings.OrderTexts(s.game.Name, list) }}
	if err := f.fill(&o, s.game, specs); err != nil {
		return err
	}
	t, err := table.New(o)
	if err != nil {
		return err
	}
	err = serve.ServeTable(c.Context(), f.http, page.HTML(nil), t, a.ready(what))
	for _, p := range append(slices.Clone(o.Seats), o.Hint) {
		if p != nil {
			_ = rollout.CloseSeats(p) // the game has ended
		}
	}
	if err == nil && f.save != "" && t.Episode().Turns > 0 {
		err = a.saveGame(f.save, s, v.Spec(), t.Episode())
	}
	return err
}

// fill makes the policies of a table.
func (f *viewFlags) fill(o *table.Setup, g catalog.Entry, specs []string) error {
	spec := o.Vector.Spec()
	if n := spec.Info.Players; len(specs) != n {
		return console.WrongUse("--players: found %d, expected %d by these rules", len(specs), n)
	}
	make := func(text string) (rollout.Policy, error) {
		m, err := policy.New(g.Name, text)
		if err != nil {
			return nil, err
		}
		return m(spec)
	}
	for _, text := range specs {
		if text == human {
			o.Seats = append(o.Seats, nil)
			continue
		}
		p, err := make(text)
		if err != nil {
			return console.WrongUse("--players: %w", err)
		}
		o.Seats = append(o.Seats, p)
	}
	if n := strings.Count(" "+strings.Join(specs, " ")+" ", " "+human+" "); n != 1 {
		return console.WrongUse("--players: %d humans, expected one", n)
	}
	hint := f.hint
	if known, err := searchers(g); err == nil && hint == "" && len(known) > 0 {
		hint = known[0]
	}
	if hint == "" {
		return nil
	}
	p, err := make(hint)
	if err != nil {
		return console.WrongUse("--hint: %w", err)
	}
	o.Hint = p
	return nil
}

// saveGame writes the recording of a game.
func (a *app) saveGame(name string, s *sitting, spec env.Spec, e *rollout.Episode) error {
	g := &recordings.RecordedGame{Rules: spec.Info.Config, Episode: *e}
	for _, form := range formsOf(s.game.Name) {
		file, ok := form.(recordings.FileForm)
		if !ok {
			continue
		}
		err := writeWhole(name, func(w io.Writer) error {
			b := bufio.NewWriterSize(w, 1<<16)
			if err := file.Write(b, g); err != nil {
				return err
			}
			return b.Flush()
		})
		if err != nil {
			return fmt.Errorf("--save: %w", err)
		}
		fmt.Fprintf(a.Stderr, "%s: a %s of %d turns\n", name, form.Noun(), e.Turns)
	}
	return nil
}
