package recordings

import (
	"errors"
	"fmt"
	"strings"
)

// Report is what was found when a recording was played again. The help of moonfarm
// replay verify documents its JSON keys.
type Report struct {
	File   string         `json:"file"`
	Game   string         `json:"game"`   // "" if it is not known
	Counts map[string]int `json:"counts"` // what was compared: {"games": 70, "rounds": 4456}
	// Different counts the games, or whatever is compared as a whole, that differ.
	Different int         `json:"different"`
	First     *Difference `json:"first"`
	Error     string      `json:"error"` // why it could not be read to its end; "" if it could
	Notes     []string    `json:"notes"` // worth knowing, but no differences
	// Inexact says why the recording may differ from what is played here although
	// nothing is wrong with it: not all rules of its engine are known. "": they are.
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

// String is the place of a difference in its game.
func (d *Difference) String() string {
	switch {
	case d.Game == "" && d.Frame == nil:
		return fmt.Sprintf("tick %d", d.Round)
	case d.Frame != nil:
		return fmt.Sprintf("turn %d, frame %d", d.Round, *d.Frame)
	}
	return fmt.Sprintf("game %s, round %d", d.Game, d.Round)
}

// ErrNothing tells that a recording has nothing to compare: there is no turn in it.
var ErrNothing = errors.New("nothing to compare")

// newReport is the empty report of a file.
func newReport(file string) Report {
	return Report{File: file, Counts: map[string]int{}, Notes: []string{}}
}

// Compared is the sum of some counts.
func (r *Report) Compared(counts []string) (n int) {
	for _, c := range counts {
		n += r.Counts[c]
	}
	return n
}

// Verify plays the games of the recording again and compares every field with what was
// recorded. The report counts what was compared before an error. An error that is an
// *OptionError is of rules; ErrNothing tells that there was nothing to compare.
func (r *Recording) Verify(rules string) (Report, error) {
	info := r.Engine.Info()
	report := newReport(r.file)
	report.Game = info.Game
	var found Report
	var err error
	if r.folder != nil {
		found, err = r.Engine.(FolderEngine).VerifyFolder(r.file, r.folder, rules)
	} else {
		found, err = r.Engine.Verify(r.file, r.in, rules)
	}
	if found.Counts != nil {
		report.Counts = found.Counts
	}
	report.Different, report.First, report.Inexact = found.Different, found.First, found.Inexact
	report.Notes = append(report.Notes, found.Notes...)
	if err == nil && report.Compared(info.Counts[1:]) == 0 {
		err = fmt.Errorf("%s: %w: there is no %s in it", r.file, ErrNothing, strings.TrimSuffix(info.Counts[1], "s"))
	}
	return report, err
}
