// Package pictures writes positions and games as files of pictures.
package pictures

import (
	"cmp"
	"context"
	"image/png"
	"io"
	"time"

	"moonfarm/features"
	"moonfarm/rollout/view"
	"moonfarm/rollout/view/picture"
	"moonfarm/rollout/view/picture/raster"
	"moonfarm/rollout/view/picture/svg"
)

// Widths of pictures in pixels where nobody asks for another.
const (
	PNGWidth = 900
	GIFWidth = 480
)

// WriteSVG writes a position as SVG.
func WriteSVG(w io.Writer, s *features.Scene, title string) error {
	_, err := w.Write(svg.Draw(s, "position", title))
	return err
}

// WritePNG writes a position as PNG of a width in pixels; 0: PNGWidth.
func WritePNG(w io.Writer, s *features.Scene, title string, width int) error {
	p, err := raster.New(picture.Settings{Width: cmp.Or(width, PNGWidth), Stats: true, Legend: true})
	if err != nil {
		return err
	}
	m, err := p.Draw(s, title)
	if err != nil {
		return err
	}
	return png.Encode(w, m)
}

// Times that a moment and the end of an animation are shown. Browsers show shorter moments longer.
const (
	leastMoment = 20 * time.Millisecond
	lastMoment  = 2 * time.Second
)

// WriteGIF writes a part of a film as GIF, moment by moment, of a width in pixels; 0: GIFWidth. progress is called with the number of
// positions that are written, and of all.
func WriteGIF(ctx context.Context, w io.Writer, film *view.Film, part *view.Part, title string, width int, progress func(done, all int)) error {
	p, err := raster.New(picture.Settings{Width: cmp.Or(width, GIFWidth), Stats: true})
	if err != nil {
		return err
	}
	g := raster.NewGIF(w)
	err = film.Play(ctx, part, func(n, left int, s *features.Scene, pause time.Duration) error {
		pause = max(pause, leastMoment)
		if n == part.Last && left == 0 {
			pause = max(pause, lastMoment)
		}
		m, err := p.Draw(s, title)
		if err != nil {
			return err
		}
		if left == 0 {
			progress(n-part.First+1, part.Last-part.First+1)
		}
		return g.Add(m, pause)
	})
	if err != nil {
		return err
	}
	return g.Close()
}
