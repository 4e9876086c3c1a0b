// Package pictures writes positions and games as files of pictures.
package pictures

import (
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
	_, err := w.Write(svg.Draw(s, svg.Head{ID: "position", Title: title, Description: "The board, the numbers of the players, and a legend."}))
	return err
}

// WritePNG writes a position as PNG of a width in pixels; 0: PNGWidth.
func WritePNG(w io.Writer, s *features.Scene, title string, width int) error {
	if width == 0 {
		width = PNGWidth
	}
	p, err := raster.New(picture.Settings{Width: width, Stats: true, Legend: true})
	if err != nil {
		return err
	}
	m, err := p.Draw(s, title)
	if err != nil {
		return err
	}
	return png.Encode(w, m)
}

// Animation is a part of a film as it is shown.
type Animation struct {
	Film        *view.Film
	Title       string
	Seat        int // or features.Spectator
	First, Last int // positions
	Speed       float64
	Width       int // in pixels; 0: GIFWidth
	// Progress, if not nil, is called with the number of positions that are written, and of all.
	Progress func(done, all int)
}

// Times that a moment and the end of an animation are shown. Browsers show shorter moments longer.
const (
	leastMoment = 20 * time.Millisecond
	lastMoment  = 2 * time.Second
)

// WriteGIF writes an animation as GIF, moment by moment. Speed is in turns a second; the moments of a turn share its time.
func (a *Animation) WriteGIF(ctx context.Context, w io.Writer) error {
	width := a.Width
	if width == 0 {
		width = GIFWidth
	}
	p, err := raster.New(picture.Settings{Width: width, Stats: true})
	if err != nil {
		return err
	}
	g := raster.NewGIF(w)
	var moments []features.Scene
	for n := a.First; n <= a.Last; n++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		moments = moments[:0]
		if err := a.Film.EachFrame(a.Seat, n, n, nil, func(s *features.Scene) { moments = append(moments, s.Clone()) }); err != nil {
			return err
		}
		pause := max(time.Duration(float64(time.Second)/a.Speed/float64(len(moments))), leastMoment)
		for i := range moments {
			if n == a.Last && i == len(moments)-1 {
				pause = max(pause, lastMoment)
			}
			m, err := p.Draw(&moments[i], a.Title)
			if err != nil {
				return err
			}
			if err := g.Add(m, pause); err != nil {
				return err
			}
		}
		if a.Progress != nil {
			a.Progress(n-a.First+1, a.Last-a.First+1)
		}
	}
	return g.Close()
}
