package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/cmd/moonfarm/internal/gamelists"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout/arena"
	"moonfarm/rollout/arena/schedule"
	"moonfarm/rollout/bots/players"
	"moonfarm/rollout/files"
	"moonfarm/rollout/recordings"
)

// gameFiles has the names of the files that games write; "": the file is not written. A
// name may contain gameMark.
type gameFiles struct {
	console *console.Console
	replay  string // in the original's form: a file, or a folder
	results string // results file of codecraft
	logs    string // folder for the output of bots
}

// gameMark stands for the number of a game in the names of files.
const gameMark = "{game}"

// gameName identifies a game of a series.
type gameName struct {
	game    int   // from 1
	players []int // the player at each seat
}

// file returns the name of a file of the game.
func (g gameName) file(name string) string {
	return strings.ReplaceAll(name, gameMark, fmt.Sprintf("%04d", g.game))
}

// replayFolder returns the form of a game whose replays are folders, nil for other games.
func replayFolder(game string) *recordings.Form {
	for _, form := range recordings.InfoOf(game).Forms {
		if form.WriteFolder != nil {
			return form
		}
	}
	return nil
}

// check refuses, before any game, files that cannot be written for that number of games.
func (f *gameFiles) check(game string, games int) error {
	if !slices.Contains(players.BotGames(), game) && f.replay != "" {
		return console.WrongUse("--save-replay: games of %s have no form of their own; generate keeps them", game)
	}
	if !recordings.InfoOf(game).Runner && f.results != "" {
		return console.WrongUse("--save-results: %s has no such files; --json prints the results", game)
	}
	for _, file := range [][2]string{{"save-results", f.results}, {"save-replay", f.replay}} {
		flag, name := file[0], file[1]
		if name == "" {
			continue
		}
		if games > 1 && !strings.Contains(name, gameMark) {
			return console.WrongUse("--%s %s: with --games %d its name must have %s in it", flag, name, games, gameMark)
		}
		if err := f.checkFile(game, flag, gameName{game: 1}.file(name)); err != nil {
			return err
		}
	}
	if f.results != "" && filepath.Clean(f.results) == filepath.Clean(f.replay) {
		return console.WrongUse("--save-results and --save-replay: the same file %s", f.results)
	}
	return nil
}

// checkFile returns an error if a file of a game cannot be written.
func (f *gameFiles) checkFile(game, flag, name string) error {
	if form := replayFolder(game); form != nil {
		if console.IsOutput(name) {
			return console.WrongUse("--%s %s: a %s is a folder", flag, name, form.Noun)
		}
		if err := checkReplaced(name, form); err != nil {
			return console.WrongUse("--%s %w", flag, err)
		}
		if _, err := os.Stat(name); err == nil {
			name = filepath.Join(filepath.Dir(name), gameMark) // the new one is made beside the old one
		}
	}
	return f.console.CheckFile(flag, name)
}

// play plays a game and writes its files. If a log cannot be written, it returns an error
// together with the outcome.
func (f *gameFiles) play(ctx context.Context, g *players.Runner, game string, m *players.Meeting, n gameName) (o *players.Outcome, err error) {
	logs := &gameLogs{dir: f.logs, name: n}
	defer func() { err = errors.Join(err, logs.close()) }()
	if f.logs != "" {
		logs.other, m.Log = m.Log, logs.open
	}
	play := func() (err error) {
		o, err = g.Play(ctx, m)
		return err
	}
	form := replayFolder(game)
	switch name := n.file(f.replay); {
	case f.replay == "":
		err = play()
	case form != nil:
		err = files.WriteFolder(name, func() error { return checkReplaced(name, form) }, func(create func(string) (io.WriteCloser, error)) error {
			m.Create = create
			return play()
		})
	default:
		_, err = f.console.WriteFile("save-replay", name, func(w io.Writer) error {
			m.Replay = w
			return play()
		})
	}
	if err != nil {
		return nil, err
	}
	if f.results == "" {
		return o, nil
	}
	_, err = f.console.WriteFile("save-results", n.file(f.results), func(w io.Writer) error {
		_, err := w.Write(o.Original)
		return err
	})
	return o, err
}

// gameLogs are the files for the output of the bots of a game.
type gameLogs struct {
	dir   string
	name  gameName
	other func(seat int) io.Writer // gets the same output; may be nil
	files []*logFile
}

// logFile keeps the first error and hides it from the bot, which would stop writing.
type logFile struct {
	*os.File
	failed error
}

// Write implements io.Writer.
func (l *logFile) Write(p []byte) (int, error) {
	n, err := l.File.Write(p)
	if l.failed == nil {
		l.failed = err
	}
	return n, err
}

// open creates the file of the bot at a seat.
func (g *gameLogs) open(seat int) io.Writer {
	file, err := os.Create(filepath.Join(g.dir, gamelists.LogName(g.name.game, g.name.players[seat]+1)))
	g.files = append(g.files, &logFile{file, err})
	switch to := g.files[len(g.files)-1]; {
	case g.other == nil && err != nil:
		return nil
	case g.other == nil:
		return to
	case err != nil:
		return g.other(seat)
	default:
		return io.MultiWriter(g.other(seat), to)
	}
}

// close closes the files. It returns the errors of all files, also those of writing.
func (g *gameLogs) close() error {
	var all []error
	for _, f := range g.files {
		all = append(all, f.failed)
		if f.File != nil {
			all = append(all, f.Close())
		}
	}
	return errors.Join(all...)
}

// evalFiles are the files of the games of bots in a tournament with a folder.
type evalFiles struct {
	dir    string // "": no folder
	stages evalStages
}

// Folders beside the journal.
const (
	replaysDir = "replays"
	logsDir    = "logs"
)

// make creates the folders, and removes what a killed run has left of replays: the journal is locked.
func (e *evalFiles) make() error {
	if e.dir == "" {
		return nil
	}
	replays := filepath.Join(e.dir, replaysDir)
	if err := errors.Join(os.MkdirAll(replays, 0o777), os.MkdirAll(filepath.Join(e.dir, logsDir), 0o777)); err != nil {
		return err
	}
	return files.RemoveLeft(replays)
}

// play plays a game of the tournament.
func (e *evalFiles) play(ctx context.Context, m *players.Meeting, g *schedule.Fixture) (arena.Played, error) {
	var files gameFiles
	stage, replay := e.stages.at(g.Stage), ""
	if e.dir != "" {
		replay = path.Join(replaysDir, fmt.Sprint(g.Number)) + replayExt(stage.game.Name)
		files = gameFiles{replay: filepath.Join(e.dir, replay), logs: filepath.Join(e.dir, logsDir)}
	}
	o, err := files.play(ctx, stage.bots, stage.game.Name, m, gameName{game: int(g.Number), players: g.Players})
	if err != nil {
		return arena.Played{}, fmt.Errorf("game %d: %w", g.Number, err)
	}
	p := o.Played(*g)
	if replay != "" {
		p.Files = append(p.Files, replay)
	}
	return p, nil
}

// replayExt returns the extension of a replay in the original's form, "" for a folder.
func replayExt(game string) string {
	if replayFolder(game) != nil {
		return ""
	}
	return ".replay"
}

// journalName is the name of the journal in the folder of a tournament.
const journalName = "games.jsonl"

// journal opens the journal of --out and enters the players. It returns nil without
// --out.
func (e *evalFlags) journal(stages evalStages, s schedule.Schedule, c *arena.Tournament) (*arena.Journal, error) {
	if e.out == "" {
		return nil, nil
	}
	if err := requirePath(e.out); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(e.out, 0o777); err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	var games []*gameSetup
	for _, t := range stages {
		games = append(games, t.gameSetup)
	}
	rules := games[0].spec.Info
	texts, sum, turns := rulesTexts(games)
	j, err := arena.OpenJournal(filepath.Join(e.out, journalName), arena.Terms{
		Game: rules.Name, Rules: rules.Rules, RulesSum: sum,
		Seed: e.seed, MaxTurns: e.maxTurns, Schedule: e.terms(s), GameTurns: turns, RulesTexts: texts,
	}, e.locks)
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	order, err := j.Enter(namesOf(c.Players))
	if err != nil {
		j.Close()
		return nil, console.WrongUse("--out %s: %w", e.out, err)
	}
	players := make([]arena.Entrant, len(order))
	for i, k := range order {
		players[i] = c.Players[k]
	}
	c.Players, c.Known = players, j.Games
	return j, nil
}

// isTournament reports whether a folder has the journal of a tournament.
func isTournament(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, journalName))
	return err == nil
}

// rulesTexts returns the texts of the rules of some stages, their checksum, and the most turns of a game.
func rulesTexts(stages []*gameSetup) (texts []string, sum string, turns int) {
	all := sha256.New()
	for _, s := range stages {
		texts = append(texts, s.spec.Info.Config)
		io.WriteString(all, s.spec.Info.Config)
		turns = max(turns, s.spec.Info.MaxTurns)
	}
	return texts, hex.EncodeToString(all.Sum(nil)), turns
}

// tournament lists the games of a tournament.
func (v *viewFlags) tournament(dir string) (*gamelists.List, error) {
	l, err := gamelists.Tournament(&gamelists.Journal{
		Dir: dir, File: journalName, Logs: logsDir,
		Open: func(t *arena.Terms) ([]*gamelists.Setup, error) { return v.stages(dir, t) },
		Report: func(j *arena.Journal) (*arena.Report, error) {
			flags := &evalFlags{anchor: v.anchor}
			return flags.reported(j)
		},
	})
	if err == nil {
		l.Live = v.out == ""
	}
	return l, err
}

// stages opens the game of a tournament by the rules of its stages, which its journal has. For a journal of an older version
// they are those of --rules, the default, or those of the contest.
func (v *viewFlags) stages(dir string, t *arena.Terms) (all []*gamelists.Setup, err error) {
	g, err := catalog.Find(t.Game)
	if err != nil {
		return nil, err
	}
	texts := t.RulesTexts
	if texts != nil && v.rulesFile != "" {
		return nil, console.WrongUse("--rules is for recordings and games to play; %s is a tournament, which has its own", dir)
	}
	sets := [][]string{{v.rulesFile}}
	if v.rulesFile == "" {
		sets = append(sets, recordings.InfoOf(t.Game).Contest)
	}
	for i := 0; texts == nil && i < len(sets); i++ {
		var games []*gameSetup
		for _, name := range sets[i] {
			s, err := gameFlags{rulesFile: name, reward: env.ResultReward}.open(t.Game)
			if err != nil {
				return nil, err
			}
			games = append(games, s)
		}
		if found, sum, _ := rulesTexts(games); sum == t.RulesSum {
			texts = found
		}
	}
	switch {
	case texts == nil && v.rulesFile != "":
		return nil, console.WrongUse("--rules %s: other rules than those of the games of %s", v.rulesFile, dir)
	case texts == nil:
		return nil, fmt.Errorf("%s: %w, as an older program wrote it: give the --rules that eval had", dir, gamelists.ErrRules)
	}
	for _, text := range texts {
		all = append(all, &gamelists.Setup{Game: g, Rules: text, MaxTurns: t.MaxTurns,
			Vector: func(n int) (env.Vector, error) { return g.New(text, env.Settings{N: n, MaxTurns: t.MaxTurns}) }})
	}
	return all, nil
}

// defaultTurns returns the turn limit of a game if a tournament has the default rules of
// its game, else 0.
func defaultTurns(t *arena.Terms) int {
	s, err := gameFlags{reward: env.ResultReward}.open(t.Game)
	if err != nil {
		return 0
	}
	if _, sum, turns := rulesTexts([]*gameSetup{s}); sum == t.RulesSum {
		return turns
	}
	return 0
}

// recordingFiles returns the recordings that view shows as one list: of several arguments, a pattern, or a folder of them;
// nil if the only argument is something else.
func recordingFiles(ctx context.Context, args []string) (files []string, err error) {
	for _, arg := range args {
		if _, err := os.Stat(filepath.Join(arg, "manifest.json")); err == nil {
			return nil, nil // a dataset
		}
		s, err := os.Stat(arg)
		inside := filepath.Join(arg, "*")
		switch {
		case err != nil && strings.ContainsAny(arg, "*?[") && !console.IsURL(arg):
			inside = arg // a pattern that no shell has expanded
		case err != nil && len(args) > 1:
			return nil, err
		case err != nil || !s.IsDir():
			files = append(files, arg)
			continue
		}
		if _, err := recordings.OpenFolder(arg); err == nil {
			files = append(files, arg)
			continue
		}
		found, _ := filepath.Glob(inside)
		for _, name := range found {
			if r, err := recordings.Open(ctx, name); err == nil && r.Holds == recordings.Games {
				files = append(files, name)
				r.Close()
			}
		}
	}
	if len(args) == 1 && (len(files) == 0 || files[0] == args[0]) {
		return nil, nil
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: expected recordings, found none", strings.Join(args, ", "))
	}
	return files, nil
}

// requirePath refuses a URL for an output that can only be on this machine's disk.
func requirePath(out string) error {
	if console.IsURL(out) {
		return console.WrongUse("--out %s: expected a path on this machine; only datasets are written to URLs", out)
	}
	return nil
}
