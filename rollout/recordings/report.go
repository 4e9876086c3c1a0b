package recordings

import (
	"errors"
	"fmt"
)

// Report is the result of playing a recording again. The help of moonfarm replay verify documents
// its JSON keys.
type Report struct {
	File   string         `json:"file"`
	Game   string         `json:"game"`   // "" if unknown
	Counts map[string]int `json:"counts"` // numbers of things compared: {"games": 70, "rounds": 4456}
	// Different is the number of games, or of other units of comparison, that differ.
	Different int         `json:"different"`
	First     *Difference `json:"first"`
	Error     string      `json:"error"` // why the file could not be read to its end; "" if it could
	Notes     []string    `json:"notes"` // remarks that are not differences
	// Inexact is the reason why the recording may differ from the same game here although neither
	// is wrong: not all rules of its engine are known. It is "" if they are.
	Inexact string `json:"inexact"`
}

// Difference is a place where a recording and this program disagree.
type Difference struct {
	Line     int    `json:"line"` // 0 in a recording without lines
	Game     string `json:"game"`
	Round    int    `json:"round"`
	Frame    *int   `json:"frame"` // of the round; nil if the game has none
	Field    string `json:"field"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

// String returns the place of a difference in its game.
func (d *Difference) String() string {
	switch {
	case d.Game == "" && d.Frame == nil:
		return fmt.Sprintf("tick %d", d.Round)
	case d.Frame != nil:
		return fmt.Sprintf("turn %d, frame %d", d.Round, *d.Frame)
	}
	return fmt.Sprintf("game %s, round %d", d.Game, d.Round)
}

// ErrNothing means that a recording has no turns, and so nothing to compare.
var ErrNothing = errors.New("nothing to compare")

// Compared returns the sum of some counts.
func (r *Report) Compared(counts []string) (n int) {
	for _, c := range counts {
		n += r.Counts[c]
	}
	return n
}

// Verify plays the games of the recording again and compares every field with the recorded one. The
// report counts what was compared before an error. An *OptionError means that the rules are wrong;
// ErrNothing means that there was nothing to compare.
func (r *Recording) Verify(rules string) (Report, error) {
	info := r.Engine.Info()
	var report Report
	var err error
	if r.folder != nil {
		report, err = verifyMatchLog(r.file, r.folder, rules)
	} else {
		report, err = r.Engine.Verify(r.file, r.in, rules)
	}
	report.File, report.Game, report.Notes = r.file, info.Game, append([]string{}, report.Notes...)
	if report.Counts == nil {
		report.Counts = map[string]int{}
	}
	if err == nil && report.Compared(info.Counts[1:]) == 0 {
		err = fmt.Errorf("%s: %w: it has no %s", r.file, ErrNothing, info.Counts[1])
	}
	return report, err
}
