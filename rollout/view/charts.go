package view

// Charter is a GameList of a run that learns.
type Charter interface {
	// Charts returns the progress of the run.
	Charts() (*Charts, error)
}

// Charts are numbers that a run that learns has written again and again.
type Charts struct {
	Points int      `json:"points"` // how often
	X      string   `json:"x"`      // what counts the progress
	Charts []Chart  `json:"charts"`
	Last   []Figure `json:"last"` // the numbers of the last point
}

// Chart is a plot of one number, or of a group.
type Chart struct {
	Title string      `json:"title"`
	Lines []ChartLine `json:"lines"`
}

// ChartLine is a line of a plot. Its values are finite.
type ChartLine struct {
	Name   string       `json:"name"` // "" for the only line of a plot
	Points [][2]float64 `json:"points"`
}

// Figure is a number with its name.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}
