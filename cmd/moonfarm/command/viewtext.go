package command

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/features"
	"moonfarm/features/picture/blocks"
	"moonfarm/rollout/recordings"
	"moonfarm/rollout/view"
	"moonfarm/sim/texts"
)

// seatAll is the view of a spectator.
const seatAll = "all"

// textColumns is the width of boards in a terminal. Terminals have at least that.
const textColumns = 80

// viewText shows the first game of a shelf in the terminal.
func (a *app) viewText(ctx context.Context, f *viewFlags, shelf view.Shelf) error {
	if a.JSON {
		return console.WrongUse("--json: view prints no JSON with --tty")
	}
	film, _, err := firstFilm(shelf)
	if err != nil {
		return err
	}
	seat, err := f.within(film)
	if err != nil {
		return err
	}
	if a.Colours() {
		return a.playText(ctx, f, film, seat)
	}
	return a.printText(ctx, f, film)
}

// firstFilm opens the first game of a shelf, and returns its name and players.
func firstFilm(shelf view.Shelf) (*view.Film, view.Entry, error) {
	list, _, err := shelf.Games(view.Query{Count: 1})
	if err != nil {
		return nil, view.Entry{}, err
	}
	if len(list) == 0 {
		return nil, view.Entry{}, fmt.Errorf("%s has no games", shelf.Head().Title)
	}
	film, err := shelf.Film(list[0].ID)
	return film, list[0], err
}

// within checks --speed, --turns and --seat for a film, and returns the seat.
func (f *viewFlags) within(film *view.Film) (seat int, err error) {
	if !(f.speed > 0) || math.IsInf(f.speed, 0) {
		return 0, console.WrongUse("--speed %v: expected a number above 0", f.speed)
	}
	if f.last == math.MaxUint64 {
		f.last = uint64(film.Turns())
	}
	if f.first > f.last || f.last > uint64(film.Turns()) {
		return 0, console.WrongUse("--turns %v: expected numbers from 0 to %d", numberRange(&f.first, &f.last, "a turn"), film.Turns())
	}
	seat = features.Spectator
	if f.seat != seatAll {
		if seat = int(f.seat[0] - 'A'); seat >= film.Seats() {
			return 0, console.WrongUse("--seat %s: the game has seats A to %c", f.seat, 'A'+rune(film.Seats()-1))
		}
	}
	return seat, nil
}

// printText prints positions as text.
func (a *app) printText(ctx context.Context, f *viewFlags, film *view.Film) error {
	var text []byte
	for n := f.first; n <= f.last; n++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var err error
		if text, err = film.AppendText(text[:0], int(n)); err != nil {
			return err
		}
		a.Printf("%d of %d\n%s\n", n, film.Turns(), text)
	}
	return nil
}

// Sequences of ECMA-48.
const (
	clearScreen = "\x1b[H\x1b[2J"
	home        = "\x1b[H"
	clearRest   = "\x1b[J"
	hideCursor  = "\x1b[?25l"
	showCursor  = "\x1b[?25h"
)

// playText plays the moments of a game in the terminal.
func (a *app) playText(ctx context.Context, f *viewFlags, film *view.Film, seat int) error {
	a.Printf("%s%s", hideCursor, clearScreen)
	defer func() {
		a.Printf("%s%s", blocks.Reset, showCursor)
		_ = a.Out.Flush() // an error was reported before
	}()
	var moments [][]byte
	for n := int(f.first); n <= int(f.last); n++ {
		moments = moments[:0]
		err := film.EachFrame(seat, n, n, nil, func(s *features.Scene) {
			moments = append(moments, blocks.Append(nil, s, textColumns))
		})
		if err != nil {
			return err
		}
		pause := time.Duration(float64(time.Second) / f.speed / float64(len(moments)))
		for _, m := range moments {
			a.Printf("%s%s%s", home, m, clearRest)
			if err := a.Out.Flush(); err != nil {
				return err
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

// mostCommand is how much of a command is printed, in bytes.
const mostCommand = 400

// printColours prints a position of a recording with colours.
func (a *app) printColours(s *recordings.Position) {
	a.Printf("%s, %d of %d\n%s", texts.OneLine(s.Name), s.Round, s.Rounds, blocks.Append(nil, s.Scene, textColumns))
	for p, c := range s.Commands {
		if c = texts.OneLine(c); len(c) > mostCommand {
			c = strings.ToValidUTF8(c[:mostCommand], "") + " …"
		}
		a.Printf("%c plays %q\n", 'A'+rune(p), c)
	}
}
