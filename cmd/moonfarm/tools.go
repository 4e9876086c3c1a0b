package main

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"moonfarm/datasets"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// gameTools is what a game brings to the commands besides its entry in the
// catalog: the files of its own that they read. A game's files here begin with its
// name.
type gameTools struct {
	game      string
	variants  []string // games of the catalog that take the same rules
	rulesFile string   // what --rules takes
	ruleSets  []string // names that --rules takes in place of a file
	contest   []string // of these, those of the stages of a contest; nil: one for all

	// holds tells by the first bytes, uncompressed, what a file of this game
	// holds: "games" with all their orders, something else that can be
	// verified, or "" for a file of another kind.
	holds func(head []byte) string
	// verify plays a recording again. It returns what was compared together
	// with the error of a recording that cannot be read to its end.
	verify func(name string, in io.Reader, rules string) (replayed, error)
	counts []string // the keys of replayed.Counts, in the order to print
	forms  []string // what --as takes; the first is the default
	seats  int      // how many seats --seat may name; 0: show tells
	frames bool     // rounds have frames, which --frame takes
	single string   // what a file of one game is called; "": files may hold many
	show   func(name string, in io.Reader, rules string, o showOptions) (shown, error)

	// read reads the games of a recording one after the other and gives each to
	// yield, whose error ends it; nil if the game's cannot be imported.
	read func(name string, in io.Reader, o readOptions, yield func(*recorded) error) error
	// writes are the forms in which an episode is written as a recording, by the
	// name that --format takes; the first is the default.
	writes []recordingForm
	folder *folderTools // recordings that are folders; nil: there are none
	// config and results tell that match takes a config file of the original, and
	// writes its file of results.
	config, results bool
	help            toolHelp
	softLimit       bool // thinking for too long costs health: --soft-timeout
	// rulesUntold tells that recordings do not hold all of their rules, so
	// that import takes --rules.
	rulesUntold bool
}

// toolHelp says in the help of the commands what they do with recordings of a
// game. Each text is a paragraph in one line.
type toolHelp struct {
	imports string   // which files import takes, and what becomes of them
	convert string   // the forms that replay convert writes
	verify  string   // how replay verify compares; "" if there is nothing special
	show    string   // what --as takes, and what is shown
	more    []string // keys of replayed.Counts besides those of counts
}

// recordingForm is a form in which episodes are written.
type recordingForm struct {
	name  string
	ext   string // of the names of files; of a folder ""
	what  string // "replay file"
	write func(out io.Writer, e *datasets.Episode, rules string) error
	// folder writes into a folder instead of a file: create makes a file in it.
	// What such a folder holds has names that begin with part.
	folder func(create func(name string) (io.WriteCloser, error), e *datasets.Episode, rules string) error
	part   string
}

// folderTools is what a game brings whose recordings may be folders.
type folderTools struct {
	what   string // "match log"
	holds  func(f fs.FS) bool
	verify func(name string, f fs.FS, rules string) (replayed, error)
	// read is gameTools.read, and returns a sum of all that was read.
	read func(name string, f fs.FS, o readOptions, yield func(*recorded) error) (sum [sha256.Size]byte, err error)
	// recording makes one that show shows.
	recording func(f fs.FS, rules string) (io.Reader, error)
}

// readOptions say how to read recordings as episodes.
type readOptions struct {
	rules string // of --rules; "": the default
	keep  bool   // what differs, or breaks off, up to there
	spool *spool // where the episodes wait for their shards
}

// tools lists the games that bring any.
var tools = []gameTools{towerdefenceTools, terminalTools, codecraftTools}

// toolsOf returns the entry of a game. A game without one gets an empty entry,
// and a variant of another game one with that game's rules alone.
func toolsOf(game string) gameTools {
	for _, t := range tools {
		if t.game == game {
			return t
		}
		if slices.Contains(t.variants, game) {
			return gameTools{game: game, rulesFile: t.rulesFile, ruleSets: t.ruleSets}
		}
	}
	return gameTools{game: game}
}

// recorded is a game of a recording as an episode without an ID.
type recorded struct {
	Game    int    // in its file, from 1; 0 if files hold one only
	Name    string // of the game in its file; "" if it has none
	Rules   string // canonical text
	RuleSet string // the name of these rules, "" if they have none
	Episode rollout.Episode
	Why     error // why it cannot be imported; nil if it can
}

// replayed is what was found when a recording was played again.
type replayed struct {
	Counts    map[string]int // what was compared: {"games": 70, "rounds": 4456}
	Different int            // games, or whatever is compared as a whole, that differ
	First     *difference
	Notes     []string // worth knowing, but no differences
}

// compared is the sum of some counts.
func (r replayed) compared(counts []string) (n int) {
	for _, c := range counts {
		n += r.Counts[c]
	}
	return n
}

// difference is a place where a recording and this program disagree.
type difference struct {
	Line     int    `json:"line"`
	Game     string `json:"game"`
	Round    int    `json:"round"`
	Frame    *int   `json:"frame"` // of the round; nil if the game has none
	Field    string `json:"field"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

// showOptions say what of a recording to show.
type showOptions struct {
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

// shown is a position of a recording as text. Its JSON keys are documented in
// the help.
type shown struct {
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
}

// givenRules reads the text of --rules as a game does. What cannot be read, or
// cannot be played, is wrong use.
func givenRules[R any](text string, parse func(text []byte) (R, error), validate func(*R) error) (R, error) {
	r, err := parse([]byte(text))
	if err == nil {
		err = validate(&r)
	}
	if err != nil {
		err = wrongUse("--rules: %w", err)
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
