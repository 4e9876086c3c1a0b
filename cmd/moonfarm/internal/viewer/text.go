package viewer

import (
	"context"
	"strings"
	"time"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/features"
	"moonfarm/rollout/recordings"
	"moonfarm/rollout/view"
	"moonfarm/rollout/view/picture/blocks"
	"moonfarm/sim/texts"
)

// textColumns is the width of boards in a terminal. Terminals have at least that.
const textColumns = 80

// Text shows a part of a film in the terminal: moment by moment with colours, or, where there is no terminal, its
// positions as text.
func Text(ctx context.Context, c *console.Console, film *view.Film, p *view.Part) error {
	if c.Colours() {
		return playText(ctx, c, film, p)
	}
	return printText(ctx, c, film, p)
}

func printText(ctx context.Context, c *console.Console, film *view.Film, p *view.Part) error {
	var text []byte
	for n := p.First; n <= p.Last; n++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var err error
		if text, err = film.AppendText(text[:0], n); err != nil {
			return err
		}
		c.Printf("%d of %d\n", n, film.Turns())
		c.Text(string(text) + "\n")
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

func playText(ctx context.Context, c *console.Console, film *view.Film, p *view.Part) error {
	c.Printf(hideCursor + clearScreen)
	defer func() {
		c.Printf(blocks.Reset + showCursor)
		_ = c.Out.Flush() // an error was reported before
	}()
	return film.Play(ctx, p, func(_, _ int, s *features.Scene, pause time.Duration) error {
		c.Printf(home+"%s"+clearRest, blocks.Append(nil, s, textColumns))
		if err := c.Out.Flush(); err != nil {
			return err
		}
		select {
		case <-time.After(pause):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

// mostCommand is how much of a command is printed, in bytes.
const mostCommand = 400

// Position prints a position of a recording with colours.
func Position(c *console.Console, s *recordings.Position) {
	c.Printf("%s, %d of %d\n%s", s.Name, s.Round, s.Rounds, blocks.Append(nil, s.Scene, textColumns))
	for p, text := range s.Commands {
		if text = texts.OneLine(text); len(text) > mostCommand {
			text = strings.ToValidUTF8(text[:mostCommand], "") + " …"
		}
		c.Printf("%c plays %q\n", 'A'+rune(p), text)
	}
}
