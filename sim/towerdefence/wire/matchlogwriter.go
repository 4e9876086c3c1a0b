package wire

import (
	"fmt"
	"io"

	"moonfarm/sim"
)

// MatchLogWriter writes a match log as the original's runner does. The first
// error sticks and is returned by every later call.
type MatchLogWriter struct {
	create func(name string) (io.WriteCloser, error)
	names  [2]string
	buf    []byte
	err    error
}

// NewMatchLogWriter returns a writer of the match log of two players with
// these nick names. It makes every file through create, which is given the
// path within the folder of the match, separated by slashes, and makes the
// folders in it where they are needed.
func NewMatchLogWriter(names [2]string, create func(name string) (io.WriteCloser, error)) *MatchLogWriter {
	return &MatchLogWriter{create: create, names: names}
}

// Round writes the folder of a round: the position before it as both players
// see it, and their commands.
func (w *MatchLogWriter) Round(p *Position, commands [2]string) error {
	for i, name := range w.names {
		folder, viewer := fmt.Sprintf("%s%03d/%s/", logRound, p.Round, logName(i, name)), sim.Player(i)
		w.file(folder+"JsonMap.json", p.AppendState(w.buf[:0], viewer))
		w.file(folder+"TextMap.txt", p.AppendTextMap(w.buf[:0], viewer))
		w.file(folder+logCommand, append(w.buf[:0], commands[i]...))
		w.file(folder+"Console/Console.txt", p.AppendConsole(w.buf[:0]))
		w.file(folder+"Console/BotOutput.txt", nil)
	}
	return w.err
}

// End writes the folder after the last round: the final position, empty
// commands, and endGameState.txt. The line of a failed match has our own
// words, as the original's are not known.
func (w *MatchLogWriter) End(p *Position, result Result) error {
	w.Round(p, [2]string{})
	var text []byte
	if result.End == EndTimeout {
		text = append(text, "The match failed: too many commands in a row failed\n\n"...)
	}
	switch result.Winner {
	case WinnerA:
		text = fmt.Appendf(text, "%s%s\n\n", logWinner, logName(0, w.names[0]))
	case WinnerB:
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

// file writes one file; the content may be the writer's own buffer.
func (w *MatchLogWriter) file(name string, content []byte) {
	if cap(content) > cap(w.buf) {
		w.buf = content
	}
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
