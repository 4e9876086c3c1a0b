// Package players plays games of the catalog between players that texts name: built-in
// policies, original bots in their folders, command lines, and clients that connect.
//
//   - Open makes a Runner for a game, with its rules and the limits of bots.
//   - Runner.Enter reads a text that names a player and returns an Entrant.
//   - Runner.Play plays one game between entrants.
//
// # Texts
//
//	econ, mix(0.5*econ,0.5*random)   a policy: package policy
//	"my nets/td.onnx"(greedy)        a policy whose path is in quotes
//	bot:DIR                          a folder with the bot.json (Tower Defence) or the
//	                                 algo.json or run.sh (Terminal) of the original, or
//	                                 with a run.sh or a file command with a command
//	                                 line (CodeCraft)
//	cmd:COMMAND LINE                 a program that the runner starts
//	tcp:PORT                         a client that connects (CodeCraft); "tcp:" chooses a
//	                                 free port
//	NAME=bot:DIR                     the same bot by another name; NAME= may also precede
//	                                 cmd: and tcp:
//
// The prefixes bot:, cmd: and tcp: decide. Without one, a text is a policy if it is the
// name of a policy, alone or followed by parentheses, or begins with the path of a network;
// any other text is a command line. Enter refuses a text without a prefix that could be
// meant otherwise than as a command line: the path of an existing file with a blank in it,
// alone or followed by words, or a text that ends like the path of a network.
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
	"moonfarm/rollout/bots/child"
	"moonfarm/rollout/filelock"
	"moonfarm/rollout/policy"
)

// Kind is the kind of an entrant.
type Kind uint8

// The kinds of entrants.
const (
	Policy  Kind = iota
	Folder       // bot:DIR
	Command      // cmd:LINE, or any other text
	Port         // tcp:PORT
)

// The prefixes of texts that name players.
const (
	folderPrefix  = "bot:"
	commandPrefix = "cmd:"
	portPrefix    = "tcp:"
)

// Split returns the kind of the player that a text names, and the text without its prefix.
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

// Entrant is a player that takes part in games of a Runner.
type Entrant struct {
	Name   string // the canonical name of a policy, the name before bot:DIR, or the text that named the player
	Kind   Kind
	Policy rollout.Maker // makes the policy that plays; nil for bots and players without orders

	named bool // NAME=bot:DIR
	bot   any  // the program or port, of a type that the host of the game knows
}

// Bot reports whether the entrant is a program.
func (e *Entrant) Bot() bool { return e.Kind != Policy }

// Address returns where a client is to connect, nil for other kinds of entrants.
func (e *Entrant) Address() net.Addr {
	if port, ok := e.bot.(interface{ Address() *net.TCPAddr }); ok {
		return port.Address()
	}
	return nil
}

// Options says which game a Runner plays and how.
type Options struct {
	Game   catalog.Entry
	Rules  string // as catalog.Entry.New takes them
	Seats  int    // number of players, for rules that leave it open; 0: the rules' default
	Limits Limits // of bots
	Runner RunnerOptions
	Locks  *filelock.Locker // keep other games out of folders of bots; nil: the default locks
}

// RunnerOptions are options of the original's local runner. Only CodeCraft has them.
type RunnerOptions struct {
	// Debug tells clients that there is a debug interface; its window is empty.
	Debug bool
	// StopWhenCrashed ends a game when all bots have crashed, unless a policy plays.
	StopWhenCrashed bool
}

// Runner plays games by one set of rules between entrants. Several goroutines may call
// Play at the same time; Enter is for one goroutine.
type Runner struct {
	Info  string // version of the rules
	Rules string // canonical text of the rules
	Seats int

	game catalog.Entry
	spec env.Spec
	host host // nil: only policies play
}

// host plays games with original bots. Each contest has one.
type host interface {
	// enter sets p.bot, for the text without its prefix, and may improve p.Name.
	enter(p *Entrant, text string) error
	play(ctx context.Context, m *Meeting) (*Outcome, error)
}

// Open returns the Runner of a game. Errors are of the rules or the limits.
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

// hosts lists the games whose original bots can play. open returns the host and the text
// of the rules for catalog.Game.New.
var hosts = []struct {
	game string
	open func(c *Options) (host, string, error)
}{
	{"towerdefence", newTowerdefence},
	{"terminal", newTerminal},
	{"codecraft", newCodecraft},
}

// BotGames returns the names of the games whose original bots can play.
func BotGames() (names []string) {
	for _, h := range hosts {
		names = append(names, h.game)
	}
	return names
}

// ProgramError is the error of a program that cannot be started.
type ProgramError struct {
	err error
	// Word is the program's name if it could be a misspelt name of a policy, else "".
	Word  string
	Names []string // names of the policies
}

// Error implements error.
func (p *ProgramError) Error() string { return p.err.Error() }

// Unwrap returns the error without its type, for errors.Is and errors.As.
func (p *ProgramError) Unwrap() error { return p.err }

// Enter reads a text that names a player: see the package comment. It checks that a bot's
// program exists. The error is a *ProgramError if the program of a command line does not.
func (r *Runner) Enter(text string) (*Entrant, error) {
	name, whole := cutName(text)
	kind, rest := Split(r.game.Name, whole)
	p := &Entrant{Name: cmp.Or(name, text), Kind: kind, named: name != ""}
	switch {
	case name != "" && policy.Begins(r.game.Name, name):
		return nil, fmt.Errorf("%q: %s is the name of a policy: give the bot another one", text, name)
	case kind == Policy:
		return p, r.enterPolicy(p, rest)
	case kind == Command && rest == text && ambiguous(text) != nil:
		return nil, fmt.Errorf("%q: %w", text, ambiguous(text))
	case r.host == nil:
		return nil, fmt.Errorf("%q: there are bots of %s; %s is played by policies only", text, strings.Join(BotGames(), ", "), r.game.Name)
	}
	if err := r.host.enter(p, rest); err != nil {
		if why := r.programError(text, rest, err); kind == Command && why != nil {
			return nil, why
		}
		if kind == Folder {
			err = cmp.Or(folderError(rest), err)
		}
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	return p, nil
}

// ambiguous returns why a text without a prefix is refused as a command line, or nil:
// splitting it at its blanks could start another program than the one that was meant.
func ambiguous(text string) error {
	if !strings.ContainsAny(strings.TrimSpace(text), " \t") {
		return nil // it is one word
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

// folderError returns what to write instead if the path after bot: is not a folder, else nil.
func folderError(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case dir == "":
		return errors.New("the folder is missing: expected bot:DIR, with bot:. for the current folder")
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("there is no folder %s", dir)
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s is a file: write the folder that it is in, %s%s, or start it as a program, %s", dir, folderPrefix, filepath.Dir(dir), asCommand(dir))
	}
	return nil
}

// programOf returns the program of a command line.
func programOf(line string) (p child.Program, err error) {
	p.Typed = true
	if p.Args, err = bots.SplitCommand(line); err == nil {
		err = p.Check()
	}
	return p, err
}

// asCommand returns the path of a file as a command line names it: with a slash.
func asCommand(file string) string {
	if !strings.ContainsAny(file, `/\`) {
		file = "./" + file
	}
	return file
}

// suggestion returns the text that the user may have meant by the name of a program: bot:
// with a folder of that name, or ./ with a file in the current folder, where programs are
// not searched. It returns "" if neither exists.
func (r *Runner) suggestion(word string) string {
	info, err := os.Stat(word)
	switch {
	case err != nil:
	case info.IsDir():
		return folderPrefix + word
	case info.Mode().IsRegular() && asCommand(word) != word:
		return asCommand(word)
	}
	return ""
}

// enterPolicy checks that the policy can be made, and sets its name.
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

// programError returns the error of a command line whose program cannot be started, with what
// may have been meant. It returns nil if err has another cause.
func (r *Runner) programError(text, line string, err error) error {
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
	other := r.suggestion(words[0])
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
