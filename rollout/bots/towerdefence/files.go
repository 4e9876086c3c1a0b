package towerdefence

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"moonfarm/rollout/files"
)

// Names of the files between the game and a bot.
const (
	stateFile   = "state.json"
	textFile    = "textMap.txt"
	commandFile = "command.txt"
)

// maxCommand is the number of bytes of a command.txt that are read. The longest sensible
// command has 5.
const maxCommand = 16 << 10

// writeRound deletes the command of the round before and writes the files of a round. The bot
// must not run.
func writeRound(work *os.Root, state, text []byte) error {
	if err := work.Remove(commandFile); err != nil && !errors.Is(err, os.ErrNotExist) {
		// A folder that is not empty stays, because it is not read as a command. Anything
		// else would be read as the command of this round.
		if info, err2 := work.Lstat(commandFile); err2 != nil || !info.IsDir() {
			return err
		}
	}
	if err := replace(work, stateFile, state); err != nil {
		return err
	}
	return replace(work, textFile, text)
}

// inPlace fails if the folder is no longer where it was when the match began: the bot would
// be started elsewhere.
func inPlace(work *os.Root, dir string) error {
	was, err := work.Stat(".")
	if err != nil {
		return err
	}
	now, err := os.Stat(dir)
	if err == nil && !os.SameFile(was, now) {
		err = fmt.Errorf("%s is another folder than when the match began", dir)
	}
	return err
}

// replace writes a new file of the folder. It deletes what a bot has left with the file's
// name, such as a link, a second name of another file, or a pipe.
func replace(work *os.Root, name string, content []byte) error {
	if err := work.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := work.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return cmp.Or(err, f.Close())
}

// commandText returns the beginning of a bot's command.txt. It fails if there is none that
// can be read without waiting. It follows links, in a box those within the folder. The error has
// no path, which differs from game to game.
func commandText(work *os.Root, boxed bool) (string, error) {
	f, err := (*os.File)(nil), error(nil)
	if boxed {
		f, err = files.OpenBelow(work, commandFile)
	} else {
		f, err = files.OpenRegular(filepath.Join(work.Name(), commandFile))
	}
	if err == nil {
		defer f.Close()
		var text []byte
		if text, err = io.ReadAll(io.LimitReader(f, maxCommand)); err == nil {
			return string(text), nil
		}
	}
	var at *os.PathError
	if errors.As(err, &at) {
		err = at.Err
	} else {
		err = errors.New("it is not a file")
	}
	return "", fmt.Errorf("%s: %w", commandFile, err)
}
