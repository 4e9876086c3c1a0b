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

// Program is the program of a client that the match starts.
type Program struct {
	// Args has the name and the arguments. In them {host}, {port} and {token} stand for
	// the address and the token; if Args contains none of the three, they are added as
	// three arguments, which is how the original clients take them.
	Args []string
	Dir  string // working directory; "": the one of this program
}

// The files of a client's folder.
const (
	scriptFile  = "run.sh"
	commandFile = "command"
	maxCommand  = 1 << 16 // bytes of a command file
)

// Folder returns the program of a client's folder: its run.sh, as in the packages of the
// contest's languages, or the command line in its file command. The program works in the
// folder. The error says which file is missing.
func Folder(dir string) (Program, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Program{}, err
	}
	p := Program{Dir: dir}
	if p.Args, err = wordsIn(dir); err == nil {
		err = p.Check()
	}
	if err != nil {
		return Program{}, fmt.Errorf("bot %s: %w", dir, err)
	}
	return p, nil
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
		return nil, fmt.Errorf("want %s, or a file %s with a command line, in the folder, found neither", scriptFile, commandFile)
	}
	var large *bounded.SizeError
	text = bytes.TrimSpace(texts.Unmarked(text))
	switch {
	case err != nil && !errors.As(err, &large):
		return nil, err
	case err != nil || bytes.ContainsAny(text, "\r\n"):
		return nil, fmt.Errorf("%s: want one line of at most %d bytes", commandFile, maxCommand)
	}
	words, err := bots.SplitCommand(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", commandFile, err)
	}
	return words, nil
}

// Check returns an error if the program or its folder does not exist, or its script cannot
// run.
func (p *Program) Check() error { return (&child.Command{Args: p.Args, Dir: p.Dir}).Check() }
