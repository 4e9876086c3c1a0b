// Package recordings reads, verifies and writes games of the original engines: files and folders of
// Tower Defence, Terminal and CodeCraft, through one interface.
//
// Open finds the Engine of a recording by its content. Recording.Verify plays its games again and
// compares every field, Recording.Read converts them to episodes, and Recording.Show shows a
// position. A Form writes an episode as a recording.
package recordings

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"moonfarm/features"
	"moonfarm/sim"
)

// Engine reads the recordings of one game's original engine. in is always the uncompressed content
// of a recording, name the name of its file for error messages, and rules the text of the rules or
// the name of a rule set; "" stands for the rules in the recording, or for the default.
type Engine interface {
	// Info describes the recordings. The caller must not change it.
	Info() *Info
	// Holds returns the content of a file by its first bytes: Games, another content that Verify
	// accepts, or "" if the file belongs to another engine.
	Holds(head []byte) string
	// Verify plays a recording again. If it cannot be read to its end, the report counts what was
	// compared before the error.
	Verify(name string, in io.Reader, rules string) (Report, error)
	// Read reads the games of a recording in their order and calls yield with each.
	// It returns the first error of yield.
	Read(name string, in io.Reader, o ReadOptions, yield func(*RecordedGame) error) error
	// Show returns a position of a recorded game as text.
	Show(name string, in io.Reader, rules string, o ShowOptions) (Position, error)
	// AppendOrder appends an order in readable form. It appends nothing for an order that is not a
	// command, such as a record of thinking time.
	AppendOrder(dst []byte, o sim.Order) []byte
}

// Games is the content of a recording with all orders of its games.
const Games = "games"

// Info describes the recordings of an engine.
type Info struct {
	Game     string   // its name in env/catalog
	RuleSets []string // names that stand for texts of rules
	// RulesMissing reports that recordings do not contain all of their rules, so that
	// ReadOptions.Rules counts. Read ignores it for other engines.
	RulesMissing bool
	Counts       []string // keys of Report.Counts in the order to print, games first
	Views        []string // values of ShowOptions.As; the first is the default
	Seats        int      // number of seats that ShowOptions.Seat may name; 0 if Show checks it
	Frames       bool     // whether rounds have frames, which ShowOptions.Frame names
	Single       string   // the noun for a file of one game; "" if files may have many games
	Forms        []*Form  // of recordings that can be written; the first is the default

	// Of the original's contest.
	Score     string   // description of a player's score
	Contest   []string // the rule set of each stage; nil: the default in all
	Runner    bool     // the original's runner has options, and writes results files
	SoftLimit bool     // thinking for too long costs health
}

// Form is a format for writing an episode as a recording: a file or a folder. Its functions
// write the game after a check that its episode ends as recorded.
type Form struct {
	Name string // "replay"
	Ext  string // the ending of file names: ".replay"; "" for folders
	Noun string // "replay file"
	// Write writes a file. It is nil for folders, for which WriteFolder makes the files with
	// create.
	Write       func(out io.Writer, g *RecordedGame) error
	WriteFolder func(create func(name string) (io.WriteCloser, error), g *RecordedGame) error
	// Owns reports whether a folder of this form contains an entry of that name and type.
	Owns func(e fs.DirEntry) bool
}

// Engines lists all engines.
func Engines() []Engine { return []Engine{towerdefenceEngine{}, terminalEngine{}, codecraftEngine{}} }

// Of returns the engine of a game; false if the game has no original engine.
func Of(game string) (Engine, bool) {
	for _, e := range Engines() {
		if e.Info().Game == game {
			return e, true
		}
	}
	return nil, false
}

// InfoOf describes the engine of a game. It is empty for a game without an original engine.
func InfoOf(game string) Info {
	if e, ok := Of(game); ok {
		return *e.Info()
	}
	return Info{}
}

// OrderTexts returns the texts of a game's orders: in the words of its engine, or their bits if the
// game has no engine. It leaves out orders that are not commands.
func OrderTexts(game string, orders []sim.Order) []string {
	list := []string{}
	engine, ok := Of(game)
	for _, o := range orders {
		var text []byte
		if ok {
			text = engine.AppendOrder(nil, o)
		} else {
			text = appendBits(nil, o)
		}
		if o != 0 && len(text) > 0 {
			list = append(list, string(text))
		}
	}
	return list
}

// appendBits appends the bits of an order.
func appendBits(dst []byte, o sim.Order) []byte { return fmt.Appendf(dst, "%#x", uint64(o)) }

// OptionError means that an option is wrong, not the recording.
type OptionError struct {
	Option string // "rules", "round"
	Value  string // "" if Err contains it
	Err    error
}

// Error implements error: "round 12: expected 0 to 9".
func (o *OptionError) Error() string {
	if o.Value == "" {
		return o.Option + ": " + o.Err.Error()
	}
	return o.Option + " " + o.Value + ": " + o.Err.Error()
}

// Unwrap returns Err.
func (o *OptionError) Unwrap() error { return o.Err }

// wrongOption returns the error for a value of an option.
func wrongOption(option string, value any, format string, args ...any) error {
	return &OptionError{option, fmt.Sprint(value), fmt.Errorf(format, args...)}
}

// wrongSeat returns the error for a seat that the game lacks.
func wrongSeat(seat sim.Player, format string, args ...any) error {
	return wrongOption("seat", string('A'+rune(seat)), format, args...)
}

// givenRules parses and validates the text of rules. It returns an OptionError if either fails.
func givenRules[R any](text string, parse func(text []byte) (R, error), validate func(*R) error) (R, error) {
	r, err := parse([]byte(text))
	if err == nil {
		err = validate(&r)
	}
	if err != nil {
		err = &OptionError{Option: "rules", Err: err}
	}
	return r, err
}

// ShowOptions name the position of a recording to show.
type ShowOptions struct {
	Game  int // from 1
	Round int // the round about to be played; −1: the end
	// RoundName is the game's word for a round in error messages: "round" or "turn".
	RoundName string
	Frame     int // of the round; −1: before the first
	As        string
	Seat      sim.Player
	// Results is the results file of the game; "": the file beside the recording, if it exists.
	Results string
	// Draw fills Position.Scene with what Viewer sees: a seat, or features.Spectator.
	Draw   bool
	Viewer int
}

// wrongRound returns the error for a round that the recording does not have.
func (s *ShowOptions) wrongRound(format string, args ...any) error {
	return wrongOption(s.RoundName, s.Round, format, args...)
}

// check returns an error for options that fit no recording of the engine.
func (s *ShowOptions) check(i *Info) error {
	switch {
	case !slices.Contains(i.Views, s.As):
		return wrongOption("as", s.As, "expected one of: %s (for %s)", strings.Join(i.Views, ", "), i.Game)
	case i.Seats > 0 && int(s.Seat) >= i.Seats:
		return wrongSeat(s.Seat, "%s has seats A and %c", i.Game, 'A'+rune(i.Seats-1))
	case i.Single != "" && s.Game > 1:
		return wrongOption("game", s.Game, "expected 1: a %s has one game", i.Single)
	case !i.Frames && s.Frame >= 0:
		return wrongOption("frame", s.Frame, "%s has no frames", i.Game)
	}
	return nil
}

// Position is a position of a recording as text. The help of moonfarm replay show
// documents its JSON keys.
type Position struct {
	File     string   `json:"file"`
	Game     string   `json:"game"`
	Name     string   `json:"name"`
	Seed     *uint64  `json:"seed,string"` // nil if unknown
	Round    int      `json:"round"`
	Frame    *int     `json:"frame"` // of the round; nil if the game has none
	Rounds   int      `json:"rounds"`
	Commands []string `json:"commands"`
	As       string   `json:"as"`
	Text     string   `json:"text"`
	Inexact  string   `json:"inexact"` // as in Report

	Scene *features.Scene `json:"-"` // nil without ShowOptions.Draw
}

// Verify opens a recording, verifies it and closes it. After an error the Report is still useful;
// it contains the error as a text.
func Verify(ctx context.Context, file, rules string) (Report, error) {
	r := Report{File: file, Counts: map[string]int{}, Notes: []string{}}
	in, err := Open(ctx, file)
	if err == nil {
		defer in.Close()
		r, err = in.Verify(rules)
	}
	if err != nil {
		r.Error = err.Error()
	}
	return r, err
}
