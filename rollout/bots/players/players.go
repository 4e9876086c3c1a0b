// Package players lets any player sit at a table of any game: built-in policies,
// original bots in their folders, command lines, clients that connect.
//
//   - Open makes a Game of an entry of the catalog, with the rules and with the
//     limits of bots.
//   - Game.Enter reads a text that names a player.
//   - Game.Play lets players meet in one game.
//
// # Texts
//
//	econ, mix(0.5*econ,0.5*random)   a policy: package policy
//	"my nets/td.onnx"(greedy)        one, whose path is in quotes
//	bot:DIR                          a folder with the bot.json (Tower Defence) or the
//	                                 algo.json or run.sh (Terminal) of the original, or
//	                                 with a run.sh or a file command with a command
//	                                 line (CodeCraft)
//	cmd:COMMAND LINE                 a program that is started here
//	tcp:PORT                         a client that connects (CodeCraft); "tcp:" is a
//	                                 free port
//
// A text that begins with one of the three prefixes is that; else a text that is the
// name of a policy, alone or with parentheses behind it, or that begins with the path of a
// network, is a policy; else it is a command line. Enter refuses a text without a prefix
// that could be something else than a command line: the path of a file that is there, alone
// or with words behind it, or what ends as the path of a network.
package players

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/bots"
	"moonfarm/rollout/filelock"
	"moonfarm/rollout/policy"
)

// Kind says what a player is.
type Kind uint8

// The kinds of players.
const (
	Policy  Kind = iota
	Folder       // bot:DIR
	Command      // cmd:LINE, or any other text
	Port         // tcp:PORT
)

// The beginnings of texts that say what a player is.
const (
	folderPrefix  = "bot:"
	commandPrefix = "cmd:"
	portPrefix    = "tcp:"
)

// Split tells what kind of player a text names, and what stands behind the prefix.
func Split(game, text string) (kind Kind, rest string) {
	for _, p := range []struct {
		prefix string
		kind   Kind
	}{{folderPrefix, Folder}, {commandPrefix, Command}, {portPrefix, Port}} {
		if rest, ok := strings.CutPrefix(text, p.prefix); ok {
			return p.kind, rest
		}
	}
	switch {
	case text == strings.TrimSuffix(portPrefix, ":"):
		return Port, ""
	case policy.Begins(game, text):
		return Policy, text
	}
	return Command, text
}

// Entrant is one who takes part in games.
type Entrant struct {
	// Name is the canonical name of a policy, and of others the text that was given.
	Name string
	Kind Kind
	// Policy makes the policy that plays. It is nil for bots, and for a player that
	// gives no orders.
	Policy rollout.Maker

	bot any // what the host of the game knows of a bot
	// limits of its own, in the place of the game's: of a config file
	limits *Limits
}

// Bot reports whether the player is a program.
func (p *Entrant) Bot() bool { return p.Kind != Policy }

// Address is where a client is to connect, nil if the player is none.
func (p *Entrant) Address() net.Addr {
	if port, ok := p.bot.(interface{ Address() *net.TCPAddr }); ok {
		return port.Address()
	}
	return nil
}

// Options says what is played.
type Options struct {
	Game  catalog.Entry
	Rules string // as Game.New takes them
	// Seats is how many players sit at a table, if the rules leave it open. 0: as
	// many as the rules say.
	Seats  int
	Limits Limits // of bots
	Runner RunnerOptions
	Locks  *filelock.Locker // keep other games out of folders of bots; nil: as usual
}

// RunnerOptions holds choices of the original's runner. Only that of CodeCraft has them.
type RunnerOptions struct {
	// Repeat names the file of a recorded game that is shown to the players, whose
	// orders have no effect. It says the rules, as far as it tells them. "": games
	// are played.
	Repeat string
	// Debug tells clients that there is a debug interface: a window, of which
	// nothing is known.
	Debug bool
	// StopWhenCrashed gives a game up when all bots have crashed, if no policy plays.
	StopWhenCrashed bool
	// Remote lets config files open ports for clients of other machines.
	Remote bool
}

// ErrRepeat says that a recorded game cannot be repeated.
var ErrRepeat = errors.New("a game to be repeated")

// Runner is a game of the catalog that players can meet in. Its methods may be called
// from several goroutines, but for Enter and Close.
type Runner struct {
	Info  string // version of the rules
	Rules string // their canonical text
	Seats int

	game catalog.Entry
	spec env.Spec
	host host
}

// host plays the games of one contest.
type host interface {
	// enter fills in bot and, perhaps, a better name.
	enter(p *Entrant, text string) error
	play(ctx context.Context, m *Meeting) (*Outcome, error)
}

// Open makes the game. Errors are of the rules or the limits.
func Open(c Options) (*Runner, error) {
	r := &Runner{game: c.Game}
	if err := c.Limits.validate(); err != nil {
		return nil, err
	}
	text := c.Rules
	for _, h := range hosts {
		if h.game != c.Game.Name {
			continue
		}
		var err error
		if r.host, text, err = h.open(&c); err != nil {
			return nil, err
		}
	}
	v, err := c.Game.New(text, env.Settings{N: 1})
	if err != nil {
		return nil, err
	}
	r.spec = v.Spec()
	r.Info, r.Rules, r.Seats = r.spec.Info.Rules, r.spec.Info.Config, r.spec.Info.Players
	return r, nil
}

// hosts are the games whose original bots can play. open returns the text of the
// rules, too.
var hosts = []struct {
	game string
	open func(c *Options) (host, string, error)
}{
	{"towerdefence", newTowerdefence},
	{"terminal", newTerminal},
	{"codecraft", newCodecraft},
}

// BotGames are the names of the games whose original bots can play.
func BotGames() (names []string) {
	for _, h := range hosts {
		names = append(names, h.game)
	}
	return names
}

// ProgramError tells of a program that cannot be started.
type ProgramError struct {
	err error
	// Word is the program's name where the text could also be a policy's, written
	// wrongly; "" where it could not.
	Word  string
	Names []string // of the policies
}

// Error implements error.
func (e *ProgramError) Error() string { return e.err.Error() }

// Unwrap is for package errors.
func (e *ProgramError) Unwrap() error { return e.err }

// Enter reads a text that names a player. A program must be there: nobody plays
// before it has been found. A *ProgramError says that it is not.
func (r *Runner) Enter(text string) (*Entrant, error) {
	kind, rest := Split(r.game.Name, text)
	p := &Entrant{Name: text, Kind: kind}
	switch {
	case kind == Policy:
		return p, r.enterPolicy(p, rest)
	case kind == Command && rest == text && ambiguous(text) != nil:
		return nil, fmt.Errorf("%q: %w", text, ambiguous(text))
	case r.host == nil:
		return nil, fmt.Errorf("%q: bots play %s; of %s policies alone play", text, strings.Join(BotGames(), ", "), r.game.Name)
	}
	if err := r.host.enter(p, rest); err != nil {
		if why := r.noProgram(text, rest, err); kind == Command && why != nil {
			return nil, why
		}
		if kind == Folder {
			err = cmp.Or(noFolder(rest), err)
		}
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	return p, nil
}

// ambiguous says why a text without a prefix is not taken for a command line: to split it
// at its blanks could start a program that nobody named. It is nil for others.
func ambiguous(text string) error {
	if !strings.ContainsAny(strings.TrimSpace(text), " \t") {
		return nil // one word, which cannot be split
	}
	if policy.Ends(text) {
		return fmt.Errorf("a network or a command line? Write the path of a network in quotes, such as %s, and a command line as %s%s", policy.QuoteExample, commandPrefix, text)
	}
	if info, err := os.Stat(text); err == nil && info.IsDir() {
		return fmt.Errorf("a folder; did you mean %s%s?", folderPrefix, text)
	}
	for end := len(text); end > 0; end = strings.LastIndexAny(text[:end], " \t") {
		path := text[:end]
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && strings.ContainsAny(path, " \t") {
			return fmt.Errorf("there is a file %q; a path with blanks needs quotes around it, such as '\"my bot/run\" --fast'; a command line that begins so is written %s%s", path, commandPrefix, text)
		}
	}
	return nil
}

// noFolder says what to write where a text behind bot: names no folder. It is nil if
// it names one.
func noFolder(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case dir == "":
		return errors.New("the folder is missing: expected bot:DIR, with bot:. for the one you are in")
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("there is no folder %s", dir)
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s is a file: write the folder that it is in, %s%s, or start it as a program, %s", dir, folderPrefix, filepath.Dir(dir), here(dir))
	}
	return nil
}

// here is the path of a file as a command line names it.
func here(file string) string {
	if !strings.ContainsAny(file, `/\`) {
		file = "./" + file
	}
	return file
}

// meant is what else the name of a program could stand for: the folder of a bot, or a
// file in the folder one is in, where no program is looked for. "": nothing.
func (r *Runner) meant(word string) string {
	info, err := os.Stat(word)
	switch {
	case err != nil:
	case info.IsDir():
		return folderPrefix + word
	case info.Mode().IsRegular() && here(word) != word:
		return here(word)
	}
	return ""
}

// enterPolicy makes a policy once, for its name.
func (r *Runner) enterPolicy(p *Entrant, spec string) error {
	maker, err := policy.New(r.game.Name, spec)
	if err != nil {
		return err
	}
	made, err := maker(r.spec)
	if err != nil {
		return err
	}
	p.Name, p.Policy = made.Name(), maker
	return rollout.CloseSeats(made)
}

// noProgram says that the program of a command line cannot be started, and what else
// was meant, perhaps. It returns nil for other errors.
func (r *Runner) noProgram(text, line string, err error) error {
	var why *exec.Error
	if !errors.As(err, &why) && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrPermission) {
		return nil
	}
	if why != nil {
		err = why.Err
	}
	words, failed := bots.SplitCommand(line)
	if failed != nil {
		return nil
	}
	if info, e := os.Stat(line); e == nil && !info.IsDir() && len(words) > 1 {
		return &ProgramError{err: fmt.Errorf("%q: there is no program %q; a path with blanks needs quotes around it, such as '\"my bot/run\" --fast'", text, words[0])}
	}
	other := r.meant(words[0])
	if other != "" {
		err = fmt.Errorf("%w; did you mean %s?", err, other)
	}
	failed = fmt.Errorf("%q: the program %q cannot be started: %w", text, words[0], err)
	if strings.ContainsAny(words[0], "~$=*|&;<>") {
		failed = fmt.Errorf("%w (there is no shell; for one write sh -c '…')", failed)
	}
	if len(words) > 1 || strings.ContainsAny(line, `/\`) || text != line {
		return &ProgramError{err: failed}
	}
	var names []string
	for _, p := range policy.Names(r.game.Name) {
		names = append(names, p.Name)
	}
	failed = fmt.Errorf("%q: neither a policy (there are: %s) nor a program (%w)", text, strings.Join(names, ", "), err)
	if other != "" {
		return &ProgramError{err: failed}
	}
	return &ProgramError{failed, words[0], names}
}
