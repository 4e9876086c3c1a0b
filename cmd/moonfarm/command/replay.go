package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/cmd/moonfarm/internal/pictures"
	"moonfarm/cmd/moonfarm/internal/viewer"
	"moonfarm/features"
	"moonfarm/rollout/recordings"
	"moonfarm/rollout/shortage"
	"moonfarm/rollout/view/picture/raster"
	"moonfarm/sim"
	"moonfarm/sim/texts"
)

func (a *app) replay() *cobra.Command {
	c := console.Group("replay", "Check, show and convert recordings of the original engines",
		"Recordings of the games' original engines: files, compressed with gzip or not,\nor folders.")
	c.AddCommand(a.replayVerify(), a.replayShow(), a.replayConvert())
	return c
}

// verifiedFiles is the result of replay verify. Its JSON keys are documented in JSON.md.
type verifiedFiles struct {
	OK        bool                `json:"ok"`
	Counts    map[string]int      `json:"counts"`
	Different int                 `json:"different"`
	Broken    int                 `json:"broken"`
	Seconds   float64             `json:"seconds"`
	Files     []recordings.Report `json:"files"`
}

func (a *app) replayVerify() *cobra.Command {
	var rulesFile string
	c := &cobra.Command{
		Use: "verify FILE…", Short: "Play recordings again and compare every field",
		Long: `Plays recorded games again with their commands and compares every recorded field
with the result, the winner included. The content of a file tells its kind. A
game is compared up to its first difference; then the next game follows. A note
says where a recording names no winner because it broke off. CodeCraft names
none: its scores are compared, also with a results file, game.json, beside
game.replay.

The page rollout/recordings/README.md says for each game what is compared.

The exit status is 1 if anything differs, or a file is broken or has nothing to
compare.`,
		Example: `  moonfarm replay verify ../shared/traces/towerdefence/*.jsonl.gz
  moonfarm replay verify ../shared/replays/terminal/*.replay.gz
  moonfarm replay verify ../shared/traces/codecraft/replay-*.gz`,
		Args: console.Takes("FILE…"),
		RunE: func(c *cobra.Command, args []string) error { return a.runReplayVerify(c.Context(), args, rulesFile) },
	}
	rulesFlag(c, &rulesFile, "the rule values of the recorded games")
	return c
}

func (a *app) runReplayVerify(ctx context.Context, files []string, rulesFile string) error {
	rules, err := readRules(rulesFile, ofEngines(func(i *recordings.Info) []string { return i.RuleSets }))
	if err != nil {
		return err
	}
	all, empty := verifiedFiles{Counts: map[string]int{}}, 0
	begin := time.Now()
	m := a.Meter("files")
	for i, file := range files {
		f, err := recordings.Verify(ctx, file, rules)
		if ctx.Err() != nil || shortage.Of(err) || errors.As(err, new(*recordings.OptionError)) {
			m.End()
			return asFlagError(err)
		}
		if err != nil {
			all.Broken++
		}
		if errors.Is(err, recordings.ErrNothing) {
			empty++
		}
		for k, n := range f.Counts {
			all.Counts[k] += n
		}
		all.Different += f.Different
		all.Files = append(all.Files, f)
		m.Show(uint64(i+1), uint64(len(files)), 0, "")
	}
	m.End()
	all.Seconds = time.Since(begin).Seconds()
	all.OK = all.Broken == 0 && all.Different == 0
	if err := a.Print(all, func() { a.printVerifiedFiles(all) }); err != nil || all.OK {
		return err
	}
	var what []string
	if all.Different > 0 {
		what = append(what, fmt.Sprintf("%d not as recorded", all.Different))
	}
	if n := all.Broken - empty; n > 0 {
		what = append(what, texts.Plural(n, "file")+" not readable")
	}
	if empty > 0 {
		what = append(what, texts.Plural(empty, "file")+" with nothing to compare")
	}
	return errors.New(strings.Join(what, ", "))
}

// printVerifiedFiles prints a line for every file with a difference, an error or a
// remark, and the sums.
func (a *app) printVerifiedFiles(all verifiedFiles) {
	for _, f := range all.Files {
		if f.Inexact != "" {
			a.Printf("%s: %s\n", f.File, f.Inexact)
		}
		if d := f.First; d != nil {
			line := ""
			if d.Line > 0 {
				line = fmt.Sprintf("%d:", d.Line)
			}
			a.Printf("%s:%s %v: %s: expected %s, found %s", f.File, line, d, d.Field, d.Expected, d.Found)
			if f.Different > 1 {
				a.Printf(" (the first of %d that differ)", f.Different)
			}
			a.Printf("\n")
		}
		if f.Error != "" {
			a.Printf("%s\n", f.Error)
		}
		for _, n := range f.Notes {
			a.Printf("%s: %s\n", f.File, n)
		}
	}
	files, compared := 0, 0 // files with something to compare; rounds, turns or ticks in these
	for _, f := range all.Files {
		engine, ok := recordings.Of(f.Game)
		if !ok { // an unknown game
			continue
		}
		counts := engine.Info().Counts
		if f.Compared(counts) > 0 {
			files++
		}
		compared += f.Compared(counts[1:])
	}
	if compared == 0 {
		a.Printf("nothing compared (%.1f s)\n", all.Seconds)
		return
	}
	a.Printf("%s", texts.Plural(files, "file"))
	for _, n := range ofEngines(func(i *recordings.Info) []string { return i.Counts }) {
		if all.Counts[n] > 0 {
			a.Printf(", %s", texts.Plural(all.Counts[n], strings.TrimSuffix(n, "s")))
		}
	}
	a.Printf(" compared, %s (%.1f s)\n", texts.Plural(all.Different, "difference"), all.Seconds)
}

// ofEngines returns words of all engines, each once.
func ofEngines(words func(i *recordings.Info) []string) (all []string) {
	for _, e := range recordings.Engines() {
		for _, w := range words(e.Info()) {
			if !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	return all
}

func (a *app) replayShow() *cobra.Command {
	var rulesFile string
	var drawn pictureFlags
	forms := ofEngines(func(i *recordings.Info) []string { return i.Views })
	o := recordings.ShowOptions{Game: 1, Round: -1, RoundName: "round", Frame: -1, As: forms[0], Viewer: features.Spectator}
	seat := "A"
	c := &cobra.Command{
		Use: "show FILE", Short: "Show a position of a recorded game",
		Long: replayShowHelp,
		Example: `  moonfarm replay show ../shared/traces/towerdefence/siege_late.jsonl.gz
  moonfarm replay show ../shared/replays/terminal/2026-001.replay.gz --turn 12 --frame 20
  moonfarm replay show game.jsonl --game 3 --round 41 --as textmap --seat B
  moonfarm replay show game.replay --round 300 --svg tick300.svg`,
		Args: console.Takes("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			o.Seat = sim.Player(seat[0] - 'A')
			if c.Flags().Changed("turn") {
				o.RoundName = "turn"
			}
			if c.Flags().Changed("seat") {
				o.Viewer = int(o.Seat)
			}
			if err := drawn.check(a, c); err != nil {
				return err
			}
			return a.runReplayShow(c.Context(), args[0], rulesFile, &drawn, o)
		},
	}
	flags := c.Flags()
	flags.Var(console.Whole(&o.Game, 1, math.MaxInt), "game", "game of the file, counted from 1")
	flags.Var(console.WholeOr(&o.Round, "a whole number", "end", "N|end"), "round", "the round about to be played, or end")
	flags.Var(console.Whole(&o.Frame, 0, math.MaxInt), "frame", "an action frame of the round, counted from 0 (default: the position before the round)")
	flags.Lookup("frame").DefValue = "" // said in words
	flags.Var(console.WholeOr(&o.Round, "a whole number", "end", "N|end"), "turn", "the same as --round, as some games call it")
	flags.Var(console.Choice(&o.As, forms...), "as", "the form")
	flags.Var(console.Choice(&seat, "A", "B", "C", "D"), "seat", "seat whose view is shown, for forms with views and for pictures")
	drawn.add(a, c)
	flags.StringVar(&o.Results, "results", "", "results `FILE` of the game, which has its seed (codecraft, if the recording does not have the seed; default: game.json beside game.replay, if it exists)")
	rulesFlag(c, &rulesFile, "the rule values of the recorded game")
	return c
}

// replayShowHelp is the help of replay show.
const replayShowHelp = `Shows the position before a round of a recorded game (or of a match log) and the
commands of the round: for people, or as the original showed it to the bot at a
seat.

The page rollout/recordings/README.md lists the forms of each game for --as. In
terminal the round is a turn, and --frame takes an action frame of it; in
codecraft it is a tick.

With --svg or --png the position is also drawn as a picture: everything on the
board, the numbers of the players, a legend. With --seat the picture has what
the player at the seat sees: under fog of war the entities in its sight, and its
own orders alone. view --gif animates a game.`

func (a *app) runReplayShow(ctx context.Context, file, rulesFile string, p *pictureFlags, o recordings.ShowOptions) error {
	rules, err := readRules(rulesFile, ofEngines(func(i *recordings.Info) []string { return i.RuleSets }))
	if err != nil {
		return err
	}
	m := a.Meter("recording")
	in, err := recordings.Open(ctx, file)
	if err != nil {
		return err
	}
	defer in.Close()
	if in.Engine.Info().Frames && o.Round < 0 && o.Frame >= 0 {
		return console.WrongUse("--frame %d: it needs a --turn", o.Frame)
	}
	colours := a.Colours() && o.As == "text"
	o.Draw = p.svg != "" || p.png != "" || colours
	s, err := in.Show(rules, o)
	if m.End(); err != nil {
		return asFlagError(err)
	}
	if err := p.write(a, &s); err != nil {
		return err
	}
	return a.Print(s, func() {
		if s.Inexact != "" && s.As != "text" {
			a.Tell("%s: %s\n", s.File, s.Inexact)
		}
		if colours {
			viewer.Position(a.Console, &s)
			return
		}
		a.Text(s.Text)
	})
}

// pictureFlags are the flags of replay show for pictures.
type pictureFlags struct {
	svg, png string
	width    int // of png
}

// add adds the flags to the command.
func (p *pictureFlags) add(a *app, c *cobra.Command) {
	flags := c.Flags()
	flags.Var(a.Output(&p.svg), "svg", "`FILE` for a picture of the position as SVG")
	flags.Var(a.Output(&p.png), "png", "`FILE` for a picture of the position as PNG")
	widthFlag(c, &p.width, fmt.Sprintf("width of the PNG in pixels (default: %d)", pictures.PNGWidth))
}

// widthFlag adds --width.
func widthFlag(c *cobra.Command, width *int, usage string) {
	c.Flags().Var(console.Whole(width, 1, raster.MostWidth), "width", usage)
	c.Flags().Lookup("width").DefValue = "" // said in words
}

// check finds errors before anything is read.
func (p *pictureFlags) check(a *app, c *cobra.Command) error {
	for _, f := range [...]struct{ flag, file string }{{"svg", p.svg}, {"png", p.png}} {
		if err := a.CheckFile(f.flag, f.file); err != nil {
			return err
		}
	}
	if c.Flags().Changed("width") && p.png == "" {
		return console.WrongUse("--width is for --png")
	}
	return nil
}

// write writes the pictures of a position.
func (p *pictureFlags) write(a *app, s *recordings.Position) error {
	title := s.Game + " " + s.Name
	if p.svg != "" {
		if _, err := a.WriteFile("svg", p.svg, func(w io.Writer) error { return pictures.WriteSVG(w, s.Scene, title) }); err != nil {
			return err
		}
	}
	if p.png != "" {
		if _, err := a.WriteFile("png", p.png, func(w io.Writer) error { return pictures.WritePNG(w, s.Scene, title, p.width) }); err != nil {
			return err
		}
	}
	return nil
}
