package view

import "slices"

// Annotation is what is known of a game besides its episode.
type Annotation struct {
	Marks  []Mark
	Series []Series
	Output *Output // nil: nobody printed anything
}

// Annotate adds to a film. It must be called before the film is used by other goroutines.
func (f *Film) Annotate(a *Annotation) {
	h := &f.head
	h.Marks = append(h.Marks, a.Marks...)
	for _, one := range a.Series {
		h.series = append(h.series, one)
		for p := range h.Seats {
			h.Stats = append(h.Stats, headStat{one.Name, one.Unit, p})
		}
	}
	if a.Output.Any() {
		f.output, h.Printed = a.Output, true
	}
}

// Game returns the name of the game.
func (f *Film) Game() string { return f.head.Game }

// Players returns the names of the players, by seat.
func (f *Film) Players() []string { return slices.Clone(f.head.Players) }

// HasSeries reports whether the film has a series of that name.
func (f *Film) HasSeries(name string) bool {
	return slices.ContainsFunc(f.head.series, func(s Series) bool { return s.Name == name })
}
