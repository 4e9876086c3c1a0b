package towerdefence

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
	"moonfarm/rollout/files"
	"moonfarm/sim/bounded"
	"moonfarm/sim/texts"
)

// Program is a bot in its folder. Any number of games may play it.
type Program struct {
	Name string // nickname, or the name of the program
	Dir  string // absolute path of the folder
	Work string // absolute path of the working directory; mostly Dir or a folder below it

	// args returns the program and its arguments for a working directory.
	args  func(work string) []string
	typed bool // the user has typed args, and not the author of the bot
}

// maxMeta is the limit of a bot.json in bytes.
const maxMeta = 64 << 10

// meta is the content of a bot.json.
type meta struct {
	NickName    string // author and email are there, too
	BotLocation string
	BotFileName string
	BotLanguage string
	Arguments   *struct{ CoreCount int }
}

// Open returns the bot in a folder of the original, with a bot.json. The error says what is
// missing: a file, a program for its language, the right to run it.
func Open(dir string) (*Program, error) {
	p, err := open(dir)
	if err != nil {
		return nil, fmt.Errorf("bot %s: %w", dir, err)
	}
	return p, nil
}

func open(dir string) (*Program, error) {
	m, err := readMeta(filepath.Join(dir, "bot.json"))
	if err != nil {
		return nil, err
	}
	p := &Program{Name: m.NickName}
	if p.Dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	// The original joins both as texts, so a location without a leading slash is a
	// folder beside this one, unless the folder was given with a trailing slash.
	if p.Work, err = filepath.Abs(dir + m.BotLocation); err != nil {
		return nil, err
	}
	if err := p.checkFile(&m); err != nil {
		return nil, err
	}
	if p.args, err = m.command(); err != nil {
		return nil, err
	}
	if err := (&child.Program{Args: p.args(p.Work), Dir: p.Work}).Check(); err != nil {
		return nil, fmt.Errorf("botFileName: it cannot be started: %w", err)
	}
	return p, nil
}

// readMeta reads a bot.json.
func readMeta(name string) (m meta, err error) {
	text, err := bounded.ReadFile(files.OpenRegular, name, maxMeta)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(texts.Unmarked(text), &m); err != nil {
		return m, fmt.Errorf("bot.json: %w", err)
	}
	for _, f := range []struct{ key, value string }{
		{"nickName", m.NickName}, {"botFileName", m.BotFileName}, {"botLanguage", m.BotLanguage},
	} {
		if f.value == "" {
			return m, fmt.Errorf("bot.json: expected a text for %s, found none", f.key)
		}
	}
	for _, text := range []string{m.BotLocation, m.BotFileName} {
		if strings.ContainsRune(text, 0) {
			return m, fmt.Errorf("bot.json: %q has a zero byte", text)
		}
	}
	if a := m.Arguments; a != nil && a.CoreCount < 1 {
		return m, fmt.Errorf("bot.json: expected a coreCount of 1 or more, found %d", a.CoreCount)
	}
	return m, nil
}

// checkFile checks that the bot's folder and file exist.
func (p *Program) checkFile(m *meta) error {
	info, err := os.Stat(p.Work)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("botLocation %q: there is no folder %s; perhaps the bot must be built first", m.BotLocation, p.Work)
	case err != nil:
		return fmt.Errorf("botLocation %q: %w", m.BotLocation, err)
	case !info.IsDir():
		return fmt.Errorf("botLocation %q: %s is not a folder", m.BotLocation, p.Work)
	}
	file := filepath.Join(p.Work, m.BotFileName)
	info, err = os.Stat(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("botFileName: there is no file %s; perhaps the bot must be built first", file)
	case err != nil:
		return fmt.Errorf("botFileName: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("botFileName: %s is not a file", file)
	}
	return nil
}

// Command returns a bot of a command line (see bots.SplitCommand) that works in a folder. A
// program with a slash in its name is searched in that folder, others in PATH.
func Command(line, dir string) (*Program, error) {
	words, err := bots.SplitCommand(line)
	if err != nil {
		return nil, err
	}
	p := &Program{Name: filepath.Base(words[0]), typed: true, args: func(string) []string { return words }}
	if p.Dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	p.Work = p.Dir
	return p, (&child.Program{Args: words, Dir: p.Dir}).Check()
}
