package matchlog

import (
	"fmt"
	"io"
	"strings"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/display"
	"moonfarm/sim/towerdefence/wire/referee"
)

// Writer writes a match log as the original's runner does. The first error sticks and is
// returned by every later call.
type Writer struct {
	create func(name string) (io.WriteCloser, error)
	names  [2]string
	begun  bool
	buf    []byte
	err    error
}

// maxLogName bounds a nick name in names of folders, in characters.
const maxLogName = 60

// NewWriter returns a writer of the match log of two players with these nick names. In the
// names of folders and files some characters become "_", and long names are cut. The writer
// makes every file through create, which gets the path within the folder of the match,
// separated by slashes, and must make the folders of the path. Beside the original's files it
// makes OrderFile, which says that A's command is carried out first in every round; the
// original leaves this to chance.
func NewWriter(names [2]string, create func(name string) (io.WriteCloser, error)) *Writer {
	w := &Writer{create: create}
	for p, name := range names {
		name = strings.Map(func(r rune) rune {
			if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
				return '_'
			}
			return r
		}, strings.ToValidUTF8(name, "_"))
		if runes := []rune(name); len(runes) > maxLogName {
			name = string(runes[:maxLogName])
		}
		w.names[p] = name
	}
	return w
}

// Round writes the folder of a round: the position before it as both players
// see it, their commands, and what their bots printed.
func (w *Writer) Round(p *display.Position, commands [2]string, printed [2][]byte) error {
	if !w.begun {
		w.begun = true
		w.file(OrderFile, []byte(display.Letters[:1]+logFirst+"\n"))
	}
	for i, name := range w.names {
		folder, viewer := fmt.Sprintf("%s%03d/%s/", logRound, p.Round, logName(i, name)), sim.Player(i)
		w.buf = p.AppendState(w.buf[:0], viewer)
		w.file(folder+logState, w.buf)
		w.buf = p.AppendTextMap(w.buf[:0], viewer)
		w.file(folder+logText, w.buf)
		w.buf = append(w.buf[:0], commands[i]...)
		w.file(folder+logCommand, w.buf)
		w.buf = p.AppendConsole(w.buf[:0])
		w.file(folder+logConsole, w.buf)
		w.file(folder+logOutput, printed[i])
	}
	return w.err
}

// End writes the folder after the last round: the final position, empty
// commands, and endGameState.txt.
func (w *Writer) End(p *display.Position, result referee.Result) error {
	w.Round(p, [2]string{}, [2][]byte{})
	var text []byte
	if result.End == referee.EndTimeout {
		text = append(text, logFailed+"\n\n"...)
	}
	switch result.Winner {
	case referee.WinnerA:
		text = fmt.Appendf(text, "%s%s\n\n", logWinner, logName(0, w.names[0]))
	case referee.WinnerB:
		text = fmt.Appendf(text, "%s%s\n\n", logWinner, logName(1, w.names[1]))
	default:
		text = append(text, logTie+"\n\n"...)
	}
	for i, name := range w.names {
		text = fmt.Appendf(text, "%s%s%d%s%d\n", logName(i, name), logScore, p.Players[i].Score, logHealth, p.Players[i].Health)
	}
	w.file(fmt.Sprintf("%s%03d/%s", logRound, p.Round, logEnd), text)
	return w.err
}

// file writes one file.
func (w *Writer) file(name string, content []byte) {
	if w.err != nil {
		return
	}
	f, err := w.create(name)
	if err == nil {
		_, err = f.Write(content)
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
	}
	if err != nil {
		w.err = fmt.Errorf("match log: %s: %w", name, err)
	}
}

// Write writes the log of a match that is played from its start by these commands. It
// returns the result after them. The log of a match that goes on has no final result.
func Write(w *Writer, rules towerdefence.Rules, commands [][2]string) (referee.Result, error) {
	match := referee.New(rules)
	for _, c := range commands {
		if err := w.Round(match.Position(), c, [2][]byte{}); err != nil {
			return referee.Result{}, err
		}
		match.Play(c[0], c[1])
	}
	result := match.Result()
	if result.End == referee.EndCut || result.End == referee.EndAborted {
		return result, nil
	}
	return result, w.End(match.Position(), result)
}
