package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/cli"
	"moonfarm/cmd/moonfarm/internal/originals"
	"moonfarm/sim"
)

func (a *app) replay() *cobra.Command {
	c := a.group("replay", "Check, show and convert recordings of the original engines",
		"Recordings of the games' original engines: files, compressed with gzip or not,\nor folders.")
	c.AddCommand(a.replayVerify(), a.replayShow(), a.replayConvert())
	return c
}

// verifiedFile tells what replay verify found in a file, verifiedFiles what in
// all. Their JSON keys are documented in the help.
type verifiedFile struct {
	File      string                `json:"file"`
	Game      string                `json:"game"`
	Counts    map[string]int        `json:"counts"`
	Different int                   `json:"different"`
	First     *originals.Difference `json:"first"`
	Error     string                `json:"error"`
	Notes     []string              `json:"notes"`
	Inexact   string                `json:"inexact"`
}

type verifiedFiles struct {
	OK        bool           `json:"ok"`
	Counts    map[string]int `json:"counts"`
	Different int            `json:"different"`
	Broken    int            `json:"broken"`
	Seconds   float64        `json:"seconds"`
	Files     []verifiedFile `json:"files"`
}

func (a *app) replayVerify() *cobra.Command {
	var rulesFile string
	c := &cobra.Command{
		Use: "verify FILE…", Short: "Play recordings again and compare every field",
		Long: `Plays recorded games again with the commands in them and compares everything
that was recorded with what this program makes of it. The kind of a file is
told by its content. A game is compared up to its first difference; the others
go on.

` + eachGame(func(t originals.Game) string { return t.Help.Verify }) + `

The exit status is 1 if anything differs, a file is broken, or there is nothing
in it to compare.

With --json: one object with the keys ok, counts (what was compared, see below),
different (games, renders, turns, ticks, views or messages), broken (files),
seconds, files (each with file, game, counts, different, first: null or the
first difference with line (0 in a file without lines), game, round, turn or
tick, frame (null if the game has none; -1 before the turn), field, expected as
recorded, found as played; error: "" or why the file could not be read to its
end; notes: a list of texts; inexact: "" or why the recording may differ
although nothing is wrong with it).
The keys of counts:

` + eachGame(func(t originals.Game) string { return strings.Join(slices.Concat(t.Counts, t.Help.More), ", ") }),
		Example: `  moonfarm replay verify ../shared/traces/towerdefence/*.jsonl.gz
  moonfarm replay verify ../shared/replays/terminal/*.replay.gz
  moonfarm replay verify ../shared/traces/codecraft/replay-*.gz`,
		Args: takes("FILE…"),
		RunE: func(c *cobra.Command, args []string) error { return a.runReplayVerify(c.Context(), args, rulesFile) },
	}
	rulesFlag(c, &rulesFile, "the rule values of the recorded games")
	return c
}

func (a *app) runReplayVerify(ctx context.Context, files []string, rulesFile string) error {
	rules, err := readRules(rulesFile, originals.Games...)
	if err != nil {
		return err
	}
	all, empty := verifiedFiles{Counts: map[string]int{}}, 0
	begin := time.Now()
	m := a.meter("files")
	for i, file := range files {
		f, err := verifyRecording(ctx, file, rules)
		if ctx.Err() != nil || errors.As(err, new(cli.UsageError)) {
			m.end()
			return err
		}
		if err != nil {
			f.Error = err.Error()
			all.Broken++
		}
		if errors.Is(err, errNothing) {
			empty++
		}
		for k, n := range f.Counts {
			all.Counts[k] += n
		}
		all.Different += f.Different
		all.Files = append(all.Files, f)
		m.show(uint64(i+1), uint64(len(files)), 0, "")
	}
	m.end()
	all.Seconds = time.Since(begin).Seconds()
	all.OK = all.Broken == 0 && all.Different == 0
	if err := a.print(all, func() { a.printVerifiedFiles(all) }); err != nil || all.OK {
		return err
	}
	var what []string
	if all.Different > 0 {
		what = append(what, fmt.Sprintf("%d not as recorded", all.Different))
	}
	if n := all.Broken - empty; n > 0 {
		what = append(what, cli.Plural(n, "file")+" not readable")
	}
	if empty > 0 {
		what = append(what, cli.Plural(empty, "file")+" with nothing to compare")
	}
	return errors.New(strings.Join(what, ", "))
}

// errNothing is why a recording without a turn is no good one.
var errNothing = errors.New("nothing to compare")

// verifyRecording verifies one file, or a folder.
func verifyRecording(ctx context.Context, file, rules string) (verifiedFile, error) {
	f := verifiedFile{File: file, Counts: map[string]int{}, Notes: []string{}}
	in, err := originals.Open(ctx, file)
	if err != nil {
		return f, err
	}
	defer in.Close()
	t := in.Game
	f.Game = t.Game
	var r originals.Replayed
	if in.Folder != nil {
		r, err = t.Folder.Verify(file, in.Folder, rules)
	} else {
		r, err = t.Verify(file, in.In, rules)
	}
	if err == nil && r.Compared(t.Counts[1:]) == 0 {
		err = fmt.Errorf("%s: %w: there is no %s in it", file, errNothing, strings.TrimSuffix(t.Counts[1], "s"))
	}
	if r.Counts != nil {
		f.Counts = r.Counts
	}
	f.Different, f.First, f.Notes, f.Inexact = r.Different, r.First, append(f.Notes, r.Notes...), r.Inexact
	return f, err
}

// printVerifiedFiles prints a line for every file that is not as it should be,
// and the sums.
func (a *app) printVerifiedFiles(all verifiedFiles) {
	for _, f := range all.Files {
		if f.Inexact != "" {
			a.printf("%s: %s\n", f.File, f.Inexact)
		}
		if d := f.First; d != nil {
			line := ""
			if d.Line > 0 {
				line = fmt.Sprintf("%d:", d.Line)
			}
			a.printf("%s:%s %s: %s: expected %s, found %s", f.File, line, placeOf(d), d.Field, d.Expected, d.Found)
			if f.Different > 1 {
				a.printf(" (the first of %d that differ)", f.Different)
			}
			a.printf("\n")
		}
		if f.Error != "" {
			a.printf("%s\n", f.Error)
		}
		for _, n := range f.Notes {
			a.printf("%s: %s\n", f.File, n)
		}
	}
	files, compared := 0, 0 // files that hold games, views or so; rounds, turns or ticks in these
	for _, f := range all.Files {
		if f.Game == "" { // not even that is known
			continue
		}
		counts, r := originals.Of(f.Game).Counts, originals.Replayed{Counts: f.Counts}
		if r.Compared(counts) > 0 {
			files++
		}
		compared += r.Compared(counts[1:])
	}
	if compared == 0 {
		a.printf("nothing compared (%.1f s)\n", all.Seconds)
		return
	}
	a.printf("%s", cli.Plural(files, "file"))
	var names []string
	for _, t := range originals.Games {
		for _, n := range t.Counts {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	for _, n := range names {
		if all.Counts[n] > 0 {
			a.printf(", %s", cli.Plural(all.Counts[n], strings.TrimSuffix(n, "s")))
		}
	}
	a.printf(" compared, %s (%.1f s)\n", cli.Plural(all.Different, "difference"), all.Seconds)
}

// placeOf is the place of a difference in its game.
func placeOf(d *originals.Difference) string {
	switch {
	case d.Game == "" && d.Frame == nil:
		return fmt.Sprintf("tick %d", d.Round)
	case d.Frame != nil:
		return fmt.Sprintf("turn %d, frame %d", d.Round, *d.Frame)
	}
	return fmt.Sprintf("game %s, round %d", d.Game, d.Round)
}

func (a *app) replayShow() *cobra.Command {
	var rulesFile string
	var forms []string
	for _, t := range originals.Games {
		for _, f := range t.Forms {
			if !slices.Contains(forms, f) {
				forms = append(forms, f)
			}
		}
	}
	o := originals.ShowOptions{Game: 1, Round: -1, Frame: -1, As: forms[0]}
	seat := "A"
	c := &cobra.Command{
		Use: "show FILE", Short: "Show a position of a recorded game",
		Long: `Shows the position before a round of a recorded game (a match log, too) and the
commands given in it: for people, or as the original showed it to the bot at a
seat.

` + eachGame(func(t originals.Game) string { return t.Help.Show }) + `

With --json: one object with the keys file, game, name (of the recorded game),
seed (a string; null if it is not known), round, frame (null if the game has
none; -1 before the round), rounds (of the whole game), commands (one per seat;
null at the end of the game), as, text, inexact ("" or why the recording may
differ from what is played here although nothing is wrong with it).`,
		Example: `  moonfarm replay show ../shared/traces/towerdefence/siege_late.jsonl.gz
  moonfarm replay show ../shared/replays/terminal/2026-001.replay.gz --turn 12 --frame 20
  moonfarm replay show game.jsonl --game 3 --round 41 --as textmap --seat B`,
		Args: takes("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			o.Seat = sim.Player(seat[0] - 'A')
			o.RoundFlag = "round"
			if c.Flags().Changed("turn") {
				o.RoundFlag = "turn"
			}
			return a.runReplayShow(c.Context(), args[0], rulesFile, o)
		},
	}
	flags := c.Flags()
	flags.Var(whole(&o.Game, 1, math.MaxInt), "game", "which game of the file, counted from 1")
	flags.Var(wholeOr(&o.Round, "a whole number", "end", "N|end"), "round", "the round about to be played, or end")
	flags.Var(whole(&o.Frame, 0, math.MaxInt), "frame", "an action frame of the round, counted from 0 (default: the position before the round)")
	flags.Lookup("frame").DefValue = "" // said in words
	flags.Var(wholeOr(&o.Round, "a whole number", "end", "N|end"), "turn", "the same as --round, as some games call it")
	flags.Var(choice(&o.As, forms...), "as", "the form")
	flags.Var(choice(&seat, "A", "B", "C", "D"), "seat", "whose view, where a form has one")
	flags.StringVar(&o.Results, "results", "", "results `FILE` of the game, which has its seed (codecraft, if the recording does not tell it; default: game.json beside game.replay, if it is there)")
	rulesFlag(c, &rulesFile, "the rule values of the recorded game")
	return c
}

func (a *app) runReplayShow(ctx context.Context, file, rulesFile string, o originals.ShowOptions) error {
	rules, err := readRules(rulesFile, originals.Games...)
	if err != nil {
		return err
	}
	in, err := originals.Open(ctx, file)
	if err != nil {
		return err
	}
	defer in.Close()
	t := in.Game
	if !t.Shows(in.Holds) {
		return fmt.Errorf("%s: holds %s, no games", file, in.Holds)
	}
	if in.Folder != nil {
		if in.In, rules, err = t.Folder.Recording(in.Folder, rules); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	s, err := t.Position(file, in.In, rules, o)
	if err != nil {
		return err
	}
	s.File, s.Game, s.As = file, t.Game, o.As
	return a.print(s, func() {
		if s.Inexact != "" && s.As != "text" {
			fmt.Fprintf(a.stderr, "%s: %s\n", s.File, s.Inexact)
		}
		a.printf("%s", s.Text)
	})
}
