// Package originals reads and writes the files of the games' original engines,
// such as recordings and rules, for the commands: one entry for each game, whose
// files here begin with its name.
package originals

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"moonfarm/cmd/moonfarm/internal/cli"
	"moonfarm/datasets"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// Game is what a game brings to the commands besides its entry in the catalog: the
// files of its own that they read.
type Game struct {
	Game      string
	variants  []string // games of the catalog that take the same rules
	RulesFile string   // what --rules takes
	RuleSets  []string // names that --rules takes in place of a file
	Score     string   // what the score of a player is
	Contest   []string // of these, those of the stages of a contest; nil: one for all

	// Holds tells by the first bytes, uncompressed, what a file of this game
	// holds: "games" with all their orders, something else that can be
	// verified, or "" for a file of another kind.
	Holds func(head []byte) string
	// shows lists what of Holds, besides games, show shows.
	shows []string
	// Verify plays a recording again. It returns what was compared together
	// with the error of a recording that cannot be read to its end.
	Verify func(name string, in io.Reader, rules string) (Replayed, error)
	Counts []string // the keys of Replayed.Counts, in the order to print
	Forms  []string // what --as takes; the first is the default
	seats  int      // how many seats --seat may name; 0: show tells
	frames bool     // rounds have frames, which --frame takes
	single string   // what a file of one game is called; "": files may hold many
	show   func(name string, in io.Reader, rules string, o ShowOptions) (Shown, error)

	// Read reads the games of a recording one after the other and gives each to
	// yield, whose error ends it; nil if the game's cannot be imported.
	Read func(name string, in io.Reader, o ReadOptions, yield func(*Recorded) error) error
	// Writes are the forms in which an episode is written as a recording, by the
	// name that --format takes; the first is the default.
	Writes []Form
	Folder *folderTools // recordings that are folders; nil: there are none
	// orderText appends an order as people read it, and nothing for one that is no
	// command, such as a note of the time; nil: orders have no text here.
	orderText func(dst []byte, o sim.Order) []byte
	// Config and Results tell that match takes a config file of the original, and
	// writes its file of results.
	Config, Results bool
	Help            toolHelp
	SoftLimit       bool // thinking for too long costs health: --soft-timeout
	// RulesUntold tells that recordings do not hold all of their rules, so
	// that import takes --rules.
	RulesUntold bool
}

// toolHelp says in the help of the commands what they do with recordings of a
// game. Each text is a paragraph in one line.
type toolHelp struct {
	Imports string   // which files import takes, and what becomes of them
	Convert string   // the forms that replay convert writes
	Verify  string   // how replay verify compares; "" if there is nothing special
	Show    string   // what --as takes, and what is shown
	More    []string // keys of Replayed.Counts besides those of counts
}

// Form is a form in which episodes are written.
type Form struct {
	Name  string
	Ext   string // of the names of files; of a folder ""
	What  string // "replay file"
	Write func(out io.Writer, e *datasets.Episode, rules string) error
	// Folder writes into a folder instead of a file: create makes a file in it. Owns
	// reports whether such a folder holds an entry of that name and type.
	Folder func(create func(name string) (io.WriteCloser, error), e *datasets.Episode, rules string) error
	Owns   func(e fs.DirEntry) bool
}

// folderTools is what a game brings whose recordings may be folders.
type folderTools struct {
	what   string // "match log"
	holds  func(f fs.FS) bool
	Verify func(name string, f fs.FS, rules string) (Replayed, error)
	// Read is Game.Read, and returns a sum of all that was read.
	Read func(name string, f fs.FS, o ReadOptions, yield func(*Recorded) error) (sum [sha256.Size]byte, err error)
	// Recording makes one that show shows, and returns the text of its rules.
	Recording func(f fs.FS, rules string) (io.Reader, string, error)
}

// ReadOptions say how to read recordings as episodes.
type ReadOptions struct {
	Rules string // of --rules; "": the default
	Keep  bool   // what differs, or breaks off, up to there
}

// Games lists the games that bring any.
var Games = []Game{towerdefenceTools, terminalTools, codecraftTools}

// Of returns the entry of a game. A game without one gets an empty entry,
// and a variant of another game one with that game's rules alone.
func Of(game string) Game {
	for _, t := range Games {
		if t.Game == game {
			return t
		}
		if slices.Contains(t.variants, game) {
			return Game{Game: game, RulesFile: t.RulesFile, RuleSets: t.RuleSets}
		}
	}
	return Game{Game: game}
}

// OrderTexts are the texts of orders as people read them: in the game's own words,
// or, if it has none here, their bits. What is no command is left out.
func (t Game) OrderTexts(orders []sim.Order) []string {
	list := []string{}
	for _, o := range orders {
		text := fmt.Appendf(nil, "%#x", uint64(o))
		if t.orderText != nil {
			text = t.orderText(nil, o)
		}
		if o != 0 && len(text) > 0 {
			list = append(list, string(text))
		}
	}
	return list
}

// Recorded is a game of a recording as an episode without an ID.
type Recorded struct {
	Game    int    // in its file, from 1; 0 if files hold one only
	Name    string // of the game in its file; "" if it has none
	Rules   string // canonical text
	RuleSet string // the name of these rules, "" if they have none
	Episode rollout.Episode
	Why     error  // why it cannot be imported; nil if it can
	Inexact string // as in Replayed
}

// Replayed is what was found when a recording was played again.
type Replayed struct {
	Counts    map[string]int // what was compared: {"games": 70, "rounds": 4456}
	Different int            // games, or whatever is compared as a whole, that differ
	First     *Difference
	Notes     []string // worth knowing, but no differences
	// Inexact says why the recording may differ from what is played here although
	// nothing is wrong with it: not all rules of its engine are known. "": they are.
	Inexact string
}

// Compared is the sum of some counts.
func (r Replayed) Compared(counts []string) (n int) {
	for _, c := range counts {
		n += r.Counts[c]
	}
	return n
}

// Difference is a place where a recording and this program disagree.
type Difference struct {
	Line     int    `json:"line"`
	Game     string `json:"game"`
	Round    int    `json:"round"`
	Frame    *int   `json:"frame"` // of the round; nil if the game has none
	Field    string `json:"field"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

// ShowOptions say what of a recording to show.
type ShowOptions struct {
	Game  int // from 1
	Round int // the round about to be played; −1: the end
	// RoundFlag is the flag that gave the round, as each game has its own word
	// for it: "round" or "turn".
	RoundFlag string
	Frame     int // of the round; −1: before it
	As        string
	Seat      sim.Player
	// Results is the results file of the game; "": the one beside the recording,
	// if there is one.
	Results string
}

// Shown is a position of a recording as text. Its JSON keys are documented in
// the help.
type Shown struct {
	File     string   `json:"file"`
	Game     string   `json:"game"`
	Name     string   `json:"name"`
	Seed     *uint64  `json:"seed,string"` // nil: not known
	Round    int      `json:"round"`
	Frame    *int     `json:"frame"` // of the round; nil if the game has none
	Rounds   int      `json:"rounds"`
	Commands []string `json:"commands"`
	As       string   `json:"as"`
	Text     string   `json:"text"`
	Inexact  string   `json:"inexact"` // as in Replayed
}

// givenRules reads the text of --rules as a game does. What cannot be read, or
// cannot be played, is wrong use.
func givenRules[R any](text string, parse func(text []byte) (R, error), validate func(*R) error) (R, error) {
	r, err := parse([]byte(text))
	if err == nil {
		err = validate(&r)
	}
	if err != nil {
		err = cli.WrongUse("--rules: %w", err)
	}
	return r, err
}

// play plays the turns of an episode from its seed until the game is over, and
// fills in its outcome. It returns the status and how many turns were played.
// each, if it is not nil, is called with the state after every turn; its error
// ends the game.
func play[S any](g sim.Game[S], e *rollout.Episode, each func(s *S) error) (status sim.Status, turns int) {
	s, t := new(S), sim.NewTurn(0)
	g.Reset(s, e.Seed)
	for turns < e.Turns && status == sim.Running {
		for p := range sim.Player(e.Players) {
			t.Set(p, e.OrdersOf(turns, p))
		}
		status = g.Step(s, t)
		turns++
		if each != nil && each(s) != nil {
			break
		}
	}
	for p := range sim.Player(e.Players) {
		e.Outcome[p] = g.Outcome(s, p)
	}
	return status, turns
}

// playAgain is play for an episode of a dataset: the error says that it does not
// end as the dataset has it.
func playAgain[S any](g sim.Game[S], e *datasets.Episode, each func(s *S) error) error {
	played := e.Episode
	status, turns := play(g, &played, each)
	if status == sim.Running {
		status = sim.Cut
	}
	if status != e.Status || turns != e.Turns || played.Outcome != e.Outcome {
		return errors.New("the episode does not end as it is recorded: other rules, or a damaged dataset")
	}
	return nil
}

// unnamed is an error without the name of the file that it begins with: datasets
// do not depend on where their files were.
func unnamed(err error, name string) error {
	return errors.New(strings.TrimPrefix(err.Error(), name+": "))
}

// named is the name of a player, also of one that has none.
func named(name string) string {
	if name == "" {
		return "unnamed"
	}
	return name
}

// OneLine is the text of an error in one line.
func OneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", " ") }

// settle plays the episode of a recorded game and fills in how it ends. reason
// is why no more than good turns are as recorded, nil if all are: then the
// episode is cut after these if keep, else the game cannot be imported. play
// plays the turns of an episode, fills in its outcome, and returns the status
// after them and how many it has played.
func (r *Recorded) settle(keep bool, good int, reason error, play func(e *rollout.Episode) (sim.Status, int)) {
	e := &r.Episode
	if reason != nil && !keep {
		r.Why = reason
		return
	}
	if reason != nil {
		e.Stopped, e.Status = OneLine(reason), sim.Cut
		cutEpisode(e, good)
	}
	for {
		status, turns := play(e)
		switch over := status != sim.Running; {
		case e.Turns == 0 && reason != nil:
			r.Why = fmt.Errorf("%w (in the first turn: nothing is left to keep)", reason)
		case e.Turns == 0:
			r.Why = fmt.Errorf("there is no turn in it")
		case reason != nil && over: // a cut game goes on after its last turn
			cutEpisode(e, turns-1)
			continue
		case turns < e.Turns:
			r.Why = fmt.Errorf("the game is over after turn %d, but %d turns are recorded", turns-1, e.Turns)
		case reason == nil && !over:
			r.Why = fmt.Errorf("the recorded game is over after turn %d, as it plays here it is not", turns-1)
		case reason == nil:
			e.Status = status
		}
		return
	}
}

// cutEpisode leaves the first turns of an episode.
func cutEpisode(e *rollout.Episode, turns int) {
	e.Turns = min(e.Turns, max(turns, 0))
	e.Ends = e.Ends[:e.Turns*e.Players]
	n := int32(0)
	if len(e.Ends) > 0 {
		n = e.Ends[len(e.Ends)-1]
	}
	e.Orders = e.Orders[:n]
}

// Shows reports whether show shows a file that holds this.
func (t Game) Shows(holds string) bool { return holds == "games" || slices.Contains(t.shows, holds) }

// Position is what t.show shows, if the options are for recordings of the game.
func (t Game) Position(name string, in io.Reader, rules string, o ShowOptions) (Shown, error) {
	switch {
	case !slices.Contains(t.Forms, o.As):
		return Shown{}, cli.WrongUse("--as %s: expected one of: %s (for %s)", o.As, strings.Join(t.Forms, ", "), t.Game)
	case t.seats > 0 && int(o.Seat) >= t.seats:
		return Shown{}, cli.WrongUse("--seat %c: %s has seats A and %c", 'A'+rune(o.Seat), t.Game, 'A'+rune(t.seats-1))
	case t.single != "" && o.Game > 1:
		return Shown{}, cli.WrongUse("--game %d: expected 1, a %s has one game", o.Game, t.single)
	case !t.frames && o.Frame >= 0:
		return Shown{}, cli.WrongUse("--frame %d: %s has no frames", o.Frame, t.Game)
	}
	return t.show(name, in, rules, o)
}
