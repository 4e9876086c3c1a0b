package towerdefence

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Names of the files between the game and a bot.
const (
	stateFile   = "state.json"
	textFile    = "textMap.txt"
	commandFile = "command.txt"
)

// Bounds of reading a command.txt.
const (
	maxCommand  = 16 << 10    // bytes; the longest sensible command has 5
	readingTime = time.Second // for files that keep their reader waiting
)

// writeRound deletes the command of the round before and writes the files of a round. The bot
// must not run.
func writeRound(work *os.Root, state, text []byte) error {
	if err := inPlace(work); err != nil {
		return err
	}
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
func inPlace(work *os.Root) error {
	was, err := work.Stat(".")
	if err != nil {
		return err
	}
	now, err := os.Stat(work.Name())
	if err == nil && !os.SameFile(was, now) {
		err = fmt.Errorf("%s is another folder than when the match began", work.Name())
	}
	return err
}

// replace writes a file of the folder. It deletes anything else that a bot has left with the
// file's name, such as a link, a second name of another file, or a pipe.
func replace(work *os.Root, name string, content []byte) error {
	if info, err := work.Lstat(name); err == nil && info.Mode().IsRegular() && names(info) == 1 {
		if f, err := work.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0); err == nil { // faster than a new file
			return writeAndClose(f, content)
		}
	}
	if err := work.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := work.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	return writeAndClose(f, content)
}

// writeAndClose writes the whole content of a file and closes it.
func writeAndClose(f *os.File, content []byte) error {
	_, err := f.Write(content)
	if err2 := f.Close(); err == nil {
		err = err2
	}
	return err
}

// errNoFile says that the name of a file belongs to something else, such as a folder.
var errNoFile = errors.New("it is not a file")

// commandText returns the beginning of a bot's command.txt. It fails if there is none that
// can be read without waiting. It follows links.
func commandText(work string) (string, error) {
	name := filepath.Join(work, commandFile)
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errNoFile
	}
	if err != nil {
		return "", withoutPath(err)
	}
	f, err := os.OpenFile(name, os.O_RDONLY|withoutWaiting, 0)
	if err != nil {
		return "", withoutPath(err)
	}
	defer f.Close()
	f.SetReadDeadline(time.Now().Add(readingTime)) // an error for ordinary files, which need none
	text, err := io.ReadAll(io.LimitReader(f, maxCommand))
	if err != nil {
		return "", withoutPath(err)
	}
	return string(text), nil
}

// withoutPath returns an error without the path, which differs from game to game.
func withoutPath(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("%s: %w", commandFile, err)
}
