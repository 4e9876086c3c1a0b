package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/cmd/moonfarm/internal/viewer"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/bots/players"
	"moonfarm/rollout/recordings"
)

// playHelp is the help on playing.
const playHelp = `A player named human plays in the page: it shows what is legal, plays the other
seats' policies and bots (bot:DIR, a command line or tcp:PORT, as match takes
them), takes choices back, and gives hints by --hint. With --save the game is
written as a recording of the original when the command ends. With a recording
instead of GAME, and --turn, the players take over its game there. A human at
several seats plays all of them, such as to try what if. A bot is started anew
where a turn is taken back or the game begins in the middle: it is shown all
turns so far, and its answers to these have no effect.`

// addPlay adds the flags of a game with a person.
func (v *viewFlags) addPlay(a *app, c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&v.hint, "hint", "", "`POLICY` that gives hints to a human (default: the game's first search)")
	flags.Var(a.Output(&v.save), "save", "`FILE` for the recording of a human's game")
	flags.Var(console.Whole(&v.turn, 0, 1<<30), "turn", "turn of a recorded game at which the players take over")
}

// humanGame finds the game of WHAT.
func (v *viewFlags) humanGame(c *cobra.Command, what string) (*viewer.HumanGame, error) {
	if _, err := catalog.Find(what); err == nil {
		s, err := v.gameFlags.open(what)
		if err != nil {
			return nil, err
		}
		if c.Flags().Changed("turn") {
			return nil, console.WrongUse("--turn is for recordings; %s is a game that begins", what)
		}
		if v.notes.analysis != "" {
			return nil, console.WrongUse("--analysis is for recordings; %s is a game that begins", what)
		}
		return &viewer.HumanGame{Game: s.game, Rules: s.rules, Seed: v.seed, MaxTurns: v.maxTurns}, nil
	}
	l, err := v.recording(c.Context(), what)
	if err != nil {
		return nil, err
	}
	if _, err := v.keep(l, nil); err != nil {
		return nil, err
	}
	g := l.Games[0]
	switch {
	case len(g.Episode.Recording) > 0:
		return nil, fmt.Errorf("%s: a recording with an unknown random seed: the effect of other orders cannot be computed", what)
	case v.turn >= g.Episode.Turns:
		return nil, console.WrongUse("--turn %d: the game has turns 0 to %d", v.turn, g.Episode.Turns-1)
	}
	advice, err := v.notes.advice(g, what)
	if err != nil {
		return nil, err
	}
	return &viewer.HumanGame{Game: g.Of, Rules: g.Rules, Begin: g.Episode, Turn: v.turn, Analysis: advice}, nil
}

// viewPlay lets a person play in the page.
func (a *app) viewPlay(c *cobra.Command, what string, specs []string, f *viewFlags, serve viewer.Pages) error {
	if serve == nil {
		return console.WrongUse("--players human: the light program serves no pages; %s does: go run ./cmd/%[1]s view …", console.FullProgram)
	}
	if f.out != "" || f.tty || c.Flags().Changed("games") {
		return console.WrongUse("--players human: without --out, --tty and --games")
	}
	s, err := f.humanGame(c, what)
	if err != nil {
		return err
	}
	game := s.Game.Name
	if f.save != "" && len(recordings.InfoOf(game).Forms) == 0 {
		return console.WrongUse("--save: %s has no recordings", game)
	}
	s.Players, s.Hint = specs, f.hint
	s.Fault = func(name string, fault players.LiveFault) {
		fmt.Fprintln(a.Stderr, liveText("the game", name, &fault))
	}
	if known, err := searchers(s.Game); err == nil && s.Hint == "" && len(known) > 0 {
		s.Hint = known[0]
	}
	a.SetPatience(20 * time.Second) // bots have two seconds to end, on a busy machine they take longer
	e, spec, err := s.Play(c.Context(), a.Console, what, f.at, serve)
	switch {
	case e == nil || f.save == "":
	case e.Turns == 0:
		a.Tell("--save: no turn was played, %s is not written\n", f.save)
	default:
		err = errors.Join(err, a.saveGame(f.save, game, spec, e))
	}
	return err
}

// saveGame writes the recording of a game.
func (a *app) saveGame(name string, game string, spec env.Spec, e *rollout.Episode) error {
	g := &recordings.RecordedGame{Rules: spec.Info.Config, Episode: *e}
	for _, form := range recordings.InfoOf(game).Forms {
		if form.Write == nil {
			continue
		}
		_, err := a.WriteFile("save", name, func(w io.Writer) error {
			b := bufio.NewWriterSize(w, 1<<16)
			if err := form.Write(b, g); err != nil {
				return err
			}
			return b.Flush()
		})
		if err != nil {
			return err
		}
		a.Tell("%s: a %s of %d turns\n", name, form.Noun, e.Turns)
	}
	return nil
}
