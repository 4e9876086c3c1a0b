package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/cmd/moonfarm/internal/viewer"
	"moonfarm/datasets"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/bots/child"
	"moonfarm/rollout/bots/players"
	"moonfarm/rollout/files"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/recordings"
	"moonfarm/sim/bounded"
	"moonfarm/sim/texts"
)

// gameFlags are the flags for the rules, the reward and the length of games.
type gameFlags struct {
	rulesFile string
	reward    string
	maxTurns  int
}

// add adds --rules, --reward and --max-turns.
func (f *gameFlags) add(c *cobra.Command) {
	f.addRules(c)
	c.Flags().StringVar(&f.reward, "reward", env.ResultReward, "`NAME` of the reward; games GAME lists them")
	f.addMaxTurns(c)
}

func (f *gameFlags) addRules(c *cobra.Command) {
	rulesFlag(c, &f.rulesFile, "rule values, a key=value per line")
}

func (f *gameFlags) addMaxTurns(c *cobra.Command) {
	c.Flags().Var(console.Whole(&f.maxTurns, 0, math.MaxInt32), "max-turns", "number of turns after which games are cut; 0: only the rules end them")
}

// rulesFlag adds --rules. what describes the content of its file.
func rulesFlag(c *cobra.Command, to *string, what string) {
	c.Flags().StringVar(to, "rules", "", "`FILE` with "+what+", a file of the original, or the name of a rule set, such as round1-4: see rollout/recordings/README.md")
}

// gameSetup is a game of the catalog with the rules and settings of the flags. open has made
// the game once, so that it reports wrong rules or settings as wrong use.
type gameSetup struct {
	game  catalog.Entry
	rules string // "" for the default
	spec  env.Spec
	flags gameFlags
}

// open finds the game and makes it once.
func (f gameFlags) open(name string) (*gameSetup, error) {
	g, err := catalog.Find(name)
	if err != nil {
		return nil, console.WrongUse("%w", err)
	}
	s := &gameSetup{game: g, flags: f}
	if s.rules, err = readRules(f.rulesFile, recordings.InfoOf(name).RuleSets); err != nil {
		return nil, err
	}
	v, err := s.vector(1)
	if err != nil { // it lies with the reward if the rules alone make a game
		if _, alone := g.New(s.rules, env.Settings{N: 1}); alone != nil {
			return nil, console.WrongUse("--rules %s: %w", f.rulesFile, alone)
		}
		return nil, console.WrongUse("--reward %s: %w", f.reward, err)
	}
	s.spec = v.Spec()
	return s, nil
}

// vector makes n games side by side.
func (g *gameSetup) vector(n int) (env.Vector, error) {
	return g.game.New(g.rules, env.Settings{N: n, Reward: g.flags.reward, MaxTurns: g.flags.maxTurns})
}

// policy parses the spec of a policy for a dataset and makes the policy once. It returns
// its maker and its canonical name. Errors name the flag that the spec comes from.
func (g *gameSetup) policy(flag, spec string) (rollout.Maker, string, error) {
	maker, err := policy.NewReproducible(g.game.Name, spec)
	if err != nil {
		return nil, "", console.WrongUse("--%s: %w", flag, err)
	}
	p, err := maker(g.spec)
	if err != nil {
		return nil, "", console.WrongUse("--%s: %w", flag, err)
	}
	return maker, p.Name(), rollout.CloseSeats(p)
}

// Makers returns the makers of games and policies for datasets of the game.
func Makers(g catalog.Entry) datasets.Makers {
	return datasets.Makers{
		Vector:   g.New,
		Recorded: g.Recorded,
		Policy: func(name string, files rollout.Files) (rollout.Maker, error) {
			return policy.NewReproducible(g.Name, name, files)
		},
	}
}

// maxRules is the size limit of files of rules.
const maxRules = 16 << 20

// readRules reads a file of rules and returns its uncompressed text or, if it holds
// JSON, its first value: the whole config file, or the config line of a replay. It
// returns one of the names of rule sets, and "", as they are.
func readRules(file string, sets []string) (string, error) {
	if file == "" || slices.Contains(sets, file) {
		return file, nil
	}
	f, err := files.Open(file)
	if errors.Is(err, fs.ErrNotExist) && len(sets) > 0 {
		wrong := console.WrongUse("--rules: %w; rule sets with names are: %s", err, strings.Join(sets, ", "))
		return "", console.Unknown(wrong, file, sets)
	}
	if err != nil {
		return "", console.WrongUse("--rules: %w", err)
	}
	defer f.Close()
	text, err := readRulesText(f)
	if err != nil {
		return "", console.WrongUse("--rules: %s: %w", file, err)
	}
	if strings.TrimSpace(text) == "" {
		return "", console.WrongUse("--rules: %s is empty", file)
	}
	return text, nil
}

// readRulesText reads the text of an open file of rules.
func readRulesText(f io.Reader) (string, error) {
	in, err := recordings.Uncompressed(f)
	if err != nil {
		return "", err
	}
	head, _ := in.Peek(512)
	text, more, broken := bounded.Prefix(in, maxRules)
	tooLong := fmt.Errorf("expected rules, at most %s; the file has more", console.FormatSize(maxRules))
	if !strings.HasPrefix(strings.TrimSpace(string(head)), "{") {
		if broken == nil && more {
			broken = tooLong
		}
		return string(text), broken
	}
	var first json.RawMessage
	switch err = json.NewDecoder(bytes.NewReader(texts.PlainJSON(text))).Decode(&first); {
	case err != nil && broken != nil:
		err = broken
	case err != nil && more:
		err = tooLong
	case err == io.ErrUnexpectedEOF:
		err = errors.New("expected a whole JSON object, found the end of the file in the middle of it")
	}
	return string(first), err
}

// readSpecs splits the list of policies of a flag. No entry may be empty.
func readSpecs(flag, text string) ([]string, error) {
	list := policy.SplitList(text)
	for i, spec := range list {
		if spec == "" {
			return nil, console.WrongUse("--%s %q: policy %d of %d is empty", flag, text, i+1, len(list))
		}
	}
	return list, nil
}

// playerFlags are the flags that name players.
type playerFlags struct {
	players string
	player  []string
}

// add adds the flags.
func (p *playerFlags) add(c *cobra.Command, usage string) {
	c.Flags().StringVar(&p.players, "players", "", usage)
	c.Flags().StringArrayVar(&p.player, "player", nil, "`WHO` plays as well; may have commas, and be given several times")
}

// specs returns the texts of the players.
func (p *playerFlags) specs() ([]string, error) {
	if p.players == "" {
		return p.player, nil
	}
	list, err := readSpecs("players", p.players)
	return append(list, p.player...), err
}

// concurrencyFlag adds --concurrency.
func concurrencyFlag(c *cobra.Command, to *int) {
	c.Flags().Var(console.Whole(to, 1, console.MaxWorkers), "concurrency", "number of games of bots at once")
}

// limitFlags are the flags for the limits of bots.
type limitFlags struct {
	players.Limits
	profile   string
	memory    int // megabytes
	processes int
	box       string
	affinity  bool
}

// boxes are the values of --box.
var boxes = map[string]child.BoxKind{"off": child.NoBox, "auto": child.Automatic, "strict": child.Strict}

// tellBox says what keeps the bots of the list from this machine, and returns it; "" without bots.
func (a *app) tellBox(l *limitFlags, list []*players.Entrant) string {
	if countBots(list) == 0 {
		return ""
	}
	return viewer.TellBox(a.Console, &l.Limits)
}

// Profiles of limits.
const (
	localLimits = "local"
	siteLimits  = "site"
)

// limitsDoc is the help on limits.
const limitsDoc = `Without a box bots have your rights.`

// add adds the flags.
func (l *limitFlags) add(c *cobra.Command) {
	l.profile = localLimits
	flags := c.Flags()
	flags.Var(console.Choice(&l.profile, localLimits, siteLimits), "limits", "all limits that no other flag sets")
	flags.Var(console.Seconds(&l.Answer), "timeout", "for an answer (default: codecraft 10, towerdefence 60, terminal 600)")
	flags.Var(console.Seconds(&l.Accept), "accept-timeout", "until a client is there or a folder is free (default: 60; 600)")
	flags.Var(console.Seconds(&l.Game), "game-timeout", "for all answers of a bot in a game (default: no limit)")
	flags.Var(console.Seconds(&l.Soft), "soft-timeout", "in terminal: each full second beyond it costs one health")
	flags.Var(console.Seconds(&l.CPU), "cpu-time", "of processor time of a bot in a game (default: no limit)")
	flags.Var(console.Whole(&l.memory, 0, 1<<24), "max-memory", "megabytes of a bot (default 4096; Linux only)")
	flags.Var(console.Whole(&l.processes, 0, 1<<20), "max-processes", "processes of a bot at a time (default 256; Linux only)")
	l.box = "auto"
	flags.Var(console.Choice(&l.box, "off", "auto", "strict"), "box", "keep bots from your files, network and processes (Linux)")
	flags.StringArrayVar(&l.Folders.Shown, "box-read", nil, "`DIR` that bots may read in a strict box, though it is in a home")
	flags.BoolVar(&l.affinity, "affinity", false, "give each bot a core of its own, so that clocks are fair (Linux)")
	for _, name := range []string{"max-memory", "max-processes"} {
		flags.Lookup(name).DefValue = "" // said in words
	}
	console.FlagGroup(c, "Limits of bots (0: no limit)", "limits", "timeout", "accept-timeout", "game-timeout", "soft-timeout", "cpu-time", "max-memory", "max-processes", "box", "box-read", "affinity")
}

// checkCores checks that each of a number of bots at once can have a core, if they are to.
func (l *limitFlags) checkCores(games, bots int) error {
	if n := games * bots; l.Cores != nil && n > cap(l.Cores) {
		return console.WrongUse("--affinity: %s at once in %s, expected at most one for each of %s", texts.Plural(n, "bot"), texts.Plural(games, "game"), texts.Plural(cap(l.Cores), "core"))
	}
	return nil
}

// limits returns the limits that the flags set. Strict boxes hide the folders of outputs.
func (l *limitFlags) limits(c *cobra.Command, game string, outputs ...string) (players.Limits, error) {
	l.Site = l.profile == siteLimits
	if l.Soft != nil && !recordings.InfoOf(game).SoftLimit {
		return l.Limits, console.WrongUse("--soft-timeout: in %s thinking costs no health; expected --timeout", game)
	}
	if c.Flags().Changed("max-memory") {
		l.Memory = new(int64(l.memory) << 20)
	}
	if c.Flags().Changed("max-processes") {
		l.Processes = &l.processes
	}
	if l.Box = boxes[l.box]; l.Box == child.Strict {
		if _, err := l.Box.Means(); err != nil {
			return l.Limits, fmt.Errorf("--box %s: %w", l.box, err)
		}
	} else if len(l.Folders.Shown) > 0 {
		return l.Limits, console.WrongUse("--box-read is for --box strict")
	}
	if l.affinity {
		var err error
		if l.Cores, err = child.Cores(); err != nil {
			return l.Limits, fmt.Errorf("--affinity: %w", err)
		}
	}
	for _, path := range outputs {
		if all, err := filepath.Abs(path); err == nil && path != "" {
			l.Folders.Hidden = append(l.Folders.Hidden, all)
		}
	}
	return l.Limits, nil
}
