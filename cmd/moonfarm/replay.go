package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/sim"
)

func (a *app) replay() *cobra.Command {
	c := a.group("replay", "Check, show and convert recordings of the original engines",
		"Recordings of the games' original engines, compressed with gzip or not.")
	c.AddCommand(a.replayVerify(), a.replayShow(), a.replayConvert())
	return c
}

// verifiedFile tells what replay verify found in a file, verifiedFiles what in
// all. Their JSON keys are documented in the help.
type verifiedFile struct {
	File      string         `json:"file"`
	Game      string         `json:"game"`
	Counts    map[string]int `json:"counts"`
	Different int            `json:"different"`
	First     *difference    `json:"first"`
	Error     string         `json:"error"`
	Notes     []string       `json:"notes"`
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
go on. In a replay of terminal it is a turn that is compared so far, and the
next one goes on from what is recorded; its rules are those in the file unless
--rules gives others. In a recording of codecraft every tick is checked by
itself, for its chance cannot be played again: all that was done must be what
the rules allow, and what came of it must be what follows; views of players and
messages to them can be checked, too. The exit status is 1 if anything differs
or a file is broken.

With --json: one object with the keys ok, counts (what was compared: games,
rounds, renders; of terminal games, turns, frames, units and events: spawns,
moves, breaches, shields, self_destructs, damages, deaths, attacks, melees; of
codecraft games, ticks, attacks, breaks, wasted_attacks, builds, failed_builds,
repairs, moves, stays, deaths, completions, views, entities in views, messages),
different (games, renders, turns, ticks, views or messages), broken (files),
seconds, files (each with file, game, counts, different, first: null or the
first difference with line (0 in a file without lines), game, round, turn or
tick, frame (null if the game has none; -1 before the turn), field, expected as
recorded, found as played; error: "" or why the file could not be read to its
end; notes: a list of texts).`,
		Example: `  moonfarm replay verify ../shared/traces/towerdefence/*.jsonl.gz
  moonfarm replay verify ../shared/replays/terminal/*.replay.gz
  moonfarm replay verify ../shared/traces/codecraft/replay-*.gz`,
		Args: takes("FILE…"),
		RunE: func(c *cobra.Command, args []string) error { return a.runReplayVerify(c.Context(), args, rulesFile) },
	}
	c.Flags().StringVar(&rulesFile, "rules", "", "`FILE` with the rule values of the recorded games, or the name of a rule set"+rulesDocs())
	return c
}

func (a *app) runReplayVerify(ctx context.Context, files []string, rulesFile string) error {
	rules := ""
	if rulesFile != "" {
		var err error
		if rules, err = readRules(rulesFile, tools...); err != nil {
			return err
		}
	}
	all := verifiedFiles{Counts: map[string]int{}}
	begin := time.Now()
	m := a.meter("files")
	for i, file := range files {
		f, err := verifyRecording(ctx, file, rules)
		if ctx.Err() != nil || errors.As(err, new(usageError)) {
			m.end()
			return err
		}
		if err != nil {
			f.Error = err.Error()
			all.Broken++
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
	if all.Broken > 0 {
		what = append(what, plural(all.Broken, "file")+" not readable")
	}
	return errors.New(strings.Join(what, ", "))
}

// verifyRecording verifies one file.
func verifyRecording(ctx context.Context, file, rules string) (verifiedFile, error) {
	f := verifiedFile{File: file, Counts: map[string]int{}, Notes: []string{}}
	t, _, in, err := openRecording(ctx, file)
	if err != nil {
		return f, err
	}
	defer in.Close()
	f.Game = t.game
	r, err := t.verify(file, in, rules)
	if r.Counts != nil {
		f.Counts = r.Counts
	}
	f.Different, f.First, f.Notes = r.Different, r.First, append(f.Notes, r.Notes...)
	return f, err
}

// printVerifiedFiles prints a line for every file that is not as it should be,
// and the sums.
func (a *app) printVerifiedFiles(all verifiedFiles) {
	for _, f := range all.Files {
		if d := f.First; d != nil {
			line := ""
			if d.Line > 0 {
				line = fmt.Sprintf("%d:", d.Line)
			}
			a.printf("%s:%s %s: %s: expected %s, found %s", f.File, line, d.where(), d.Field, d.Expected, d.Found)
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
	a.printf("%s", plural(len(all.Files), "file"))
	var names []string
	for _, t := range tools {
		for _, n := range t.counts {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	for _, n := range names {
		if all.Counts[n] > 0 {
			a.printf(", %s", plural(all.Counts[n], strings.TrimSuffix(n, "s")))
		}
	}
	a.printf(" compared, %s (%.1f s)\n", plural(all.Different, "difference"), all.Seconds)
}

// where is the place of a difference in its game.
func (d *difference) where() string {
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
	for _, t := range tools {
		for _, f := range t.forms {
			if !slices.Contains(forms, f) {
				forms = append(forms, f)
			}
		}
	}
	o := showOptions{Game: 1, Round: -1, Frame: -1, As: forms[0]}
	seat := "A"
	c := &cobra.Command{
		Use: "show FILE", Short: "Show a position of a recorded game",
		Long: `Shows the position before a round of a recorded game and the commands given in
it: for people, or exactly as the original showed it to the bot at a seat.

For towerdefence --as takes text (players and map), console (the runner's map,
always seen from A), state (state.json) and textmap (textMap.txt). In the map a
cell is [LBR]: its column or missiles of B, the building, its row or missiles
of A.

For terminal the round is a turn (--turn says the same), and --frame takes an
action frame of it; --as takes text (the numbers of the players, the arena with
w, s, t for wall, support and turret, in upper case if upgraded, ^ and v for
mobile units of player 1 and 2, and how many events there were) and frame (the
frame's line as the bot at the seat is shown it; A is player 1).

For codecraft the round is a tick; --as takes text (players, map, units with
their stored actions, then the commands and attacks of the tick), view (what the
player at the seat is shown, as a line of JSON) and state (a state file of one
line of JSON, for a game to begin with). Commands are objects with the new
action of each entity by its id, in the frame of the world.

With --json: one object with the keys file, game, name (of the recorded game),
round, frame (null if the game has none; -1 before the round), rounds (of the
whole game), commands
(one per seat; null at the end of the game), as, text.`,
		Example: `  moonfarm replay show ../shared/traces/towerdefence/siege_late.jsonl.gz
  moonfarm replay show ../shared/replays/terminal/2026-001.replay.gz --turn 12 --frame 20
  moonfarm replay show game.jsonl --game 3 --round 41 --as textmap --seat B`,
		Args: takes("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			o.Seat = sim.Player(seat[0] - 'A')
			return a.runReplayShow(c.Context(), args[0], rulesFile, o)
		},
	}
	flags := c.Flags()
	flags.Var(whole[int]{&o.Game, 1, math.MaxInt}, "game", "which game of the file, counted from 1")
	flags.Var(lastOr{whole[int]{&o.Round, 0, math.MaxInt}}, "round", "the round about to be played, or end")
	flags.Var(whole[int]{&o.Frame, 0, math.MaxInt}, "frame", "an action frame of the round, counted from 0 (default: the position before the round)")
	flags.Lookup("frame").DefValue = "" // said in words
	flags.Var(lastOr{whole[int]{&o.Round, 0, math.MaxInt}}, "turn", "the same as --round, as some games call it")
	flags.Var(choice[string]{&o.As, forms}, "as", "the form")
	flags.Var(choice[string]{&seat, []string{"A", "B", "C", "D"}}, "seat", "whose view, where a form has one")
	flags.StringVar(&rulesFile, "rules", "", "`FILE` with the rule values of the recorded game, or the name of a rule set"+rulesDocs())
	return c
}

// lastOr is the value of --round: a number, or end (−1).
type lastOr struct{ whole[int] }

// Set implements the flag's value.
func (v lastOr) Set(text string) error {
	if text == "end" {
		*v.to = -1
		return nil
	}
	if err := v.whole.Set(text); err != nil {
		return fmt.Errorf("%w, or end", err)
	}
	return nil
}

// String implements the flag's value.
func (v lastOr) String() string {
	if v.to == nil || *v.to < 0 {
		return "end"
	}
	return v.whole.String()
}

// Type names the value in the help.
func (v lastOr) Type() string { return "N|end" }

func (a *app) runReplayShow(ctx context.Context, file, rulesFile string, o showOptions) error {
	rules := ""
	if rulesFile != "" {
		var err error
		if rules, err = readRules(rulesFile, tools...); err != nil {
			return err
		}
	}
	t, holds, in, err := openRecording(ctx, file)
	if err != nil {
		return err
	}
	defer in.Close()
	if holds != "games" {
		return fmt.Errorf("%s: holds %s, no games", file, holds)
	}
	if !slices.Contains(t.forms, o.As) {
		return wrongUse("--as %s: expected one of: %s (for %s)", o.As, strings.Join(t.forms, ", "), t.game)
	}
	s, err := t.show(file, in, rules, o)
	if err != nil {
		return err
	}
	s.File, s.Game, s.As = file, t.game, o.As
	return a.print(s, func() { a.printf("%s", s.Text) })
}

// recording is an open recording, uncompressed.
type recording struct {
	io.Reader
	io.Closer
}

// openRecording opens a recording and finds the game it is of and what it
// holds.
func openRecording(ctx context.Context, file string) (t gameTools, holds string, in io.ReadCloser, err error) {
	f, err := os.Open(file)
	if err != nil {
		return t, "", nil, err
	}
	text, err := uncompressed(interruptibleReader{ctx, f})
	var head []byte
	if err == nil {
		if head, err = text.Peek(4096); err == io.EOF {
			err = nil
		}
	}
	if err == nil {
		for _, t := range tools {
			if holds := t.holds(head); holds != "" {
				return t, holds, recording{text, f}, nil
			}
		}
		if err = fmt.Errorf("not a recording of any game known here; it begins with %.40q", head); len(head) == 0 {
			err = errors.New("expected a recording, found an empty file")
		}
	}
	f.Close()
	return t, "", nil, fmt.Errorf("%s: %w", file, err)
}

// uncompressed undoes gzip, if it is there.
func uncompressed(r io.Reader) (*bufio.Reader, error) {
	const buffer = 1 << 16
	in := bufio.NewReaderSize(r, buffer)
	if magic, _ := in.Peek(2); len(magic) < 2 || magic[0] != 0x1f || magic[1] != 0x8b {
		return in, nil
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, gzipError(err)
	}
	return bufio.NewReaderSize(wholeGzip{z}, buffer), nil
}

// wholeGzip says of compressed data that ends too early what is wrong with it.
type wholeGzip struct{ io.Reader }

// Read implements io.Reader.
func (r wholeGzip) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	return n, gzipError(err)
}

// gzipError says what an early end means.
func gzipError(err error) error {
	if err == io.ErrUnexpectedEOF {
		return errors.New("the file ends in the middle of the compressed data")
	}
	return err
}

// interruptibleReader fails once the context is done.
type interruptibleReader struct {
	ctx context.Context
	io.Reader
}

// Read implements io.Reader.
func (r interruptibleReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}
