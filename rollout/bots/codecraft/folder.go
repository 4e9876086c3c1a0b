package codecraft

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
	"moonfarm/rollout/files"
	"moonfarm/sim/bounded"
	"moonfarm/sim/texts"
)

// The files of a client's folder.
const (
	scriptFile  = "run.sh"
	commandFile = "command"
	maxCommand  = 1 << 16 // bytes of a command file
)

// Folder returns the program of a client's folder: its run.sh, as in the packages of the
// contest's languages, or the command line in its file command. The program works in the
// folder. The error says which file is missing.
func Folder(dir string) (p child.Program, err error) {
	if p.Dir, err = filepath.Abs(dir); err != nil {
		return p, err
	}
	if p.Args, err = wordsIn(p.Dir); err == nil {
		err = p.Check()
	}
	if err != nil {
		err = fmt.Errorf("bot %s: %w", p.Dir, err)
	}
	return p, err
}

// wordsIn returns the command line of the client in a folder.
func wordsIn(dir string) ([]string, error) {
	words, err := child.ScriptArgs(filepath.Join(dir, scriptFile))
	if errors.Is(err, os.ErrNotExist) {
		return commandIn(dir)
	}
	return words, err
}

// commandIn returns the command line in a folder's file command.
func commandIn(dir string) ([]string, error) {
	text, err := bounded.ReadFile(files.OpenRegular, filepath.Join(dir, commandFile), maxCommand)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("expected %s, or a file %s with a command line, in the folder, found neither", scriptFile, commandFile)
	}
	var large *bounded.SizeError
	text = bytes.TrimSpace(texts.Unmarked(text))
	switch {
	case err != nil && !errors.As(err, &large):
		return nil, err
	case err != nil || bytes.ContainsAny(text, "\r\n"):
		return nil, fmt.Errorf("%s: expected one line of at most %d bytes", commandFile, maxCommand)
	}
	words, err := bots.SplitCommand(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", commandFile, err)
	}
	return words, nil
}
