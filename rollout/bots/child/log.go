package child

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
)

// Log keeps the output of bots up to a number of bytes. Several processes can share it.
type Log struct {
	mu    sync.Mutex
	to    io.Writer
	limit int64
	left  int64
	full  bool // the closing line is written, or to has failed
	last  byte // the last byte written
}

// NewLog returns a Log that writes at most limit bytes to a writer, and then one more
// line which says that the rest was dropped. After an error of the writer it drops all
// output, so that a full disk does not disturb a bot.
func NewLog(to io.Writer, limit int64) *Log {
	return &Log{to: to, limit: limit, left: max(limit, 0), last: '\n'}
}

// Write implements io.Writer. It never fails.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.full || len(p) == 0 {
		return len(p), nil
	}
	kept := p[:min(int64(len(p)), l.left)]
	l.left -= int64(len(kept))
	if len(kept) > 0 {
		_, err := l.to.Write(kept)
		l.full = err != nil
		l.last = kept[len(kept)-1]
	}
	if len(kept) < len(p) && !l.full {
		l.full = true
		line := fmt.Sprintf("[the limit of %d bytes is reached: the rest was dropped]\n", l.limit)
		if l.last != '\n' {
			line = "\n" + line
		}
		io.WriteString(l.to, line)
	}
	return len(p), nil
}

// Line writes a line of its own between the bot's lines. If the bot's last line has no end
// yet, it ends it first. A nil Log drops the line.
func (l *Log) Line(format string, args ...any) {
	if l == nil {
		return
	}
	text := fmt.Sprintf(format, args...) + "\n"
	l.mu.Lock()
	if l.last != '\n' {
		text = "\n" + text
	}
	l.mu.Unlock()
	l.Write([]byte(text))
}

// Full reports whether the Log drops all further output.
func (l *Log) Full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.full
}

// Bounds of the last lines that are kept.
const (
	tailLines = 10
	tailWidth = 200     // characters of a line
	tailBytes = 8 << 10 // enough for tailLines lines of tailWidth characters
)

// tail keeps the end of the written text.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// Write implements io.Writer. It never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(p) >= tailBytes {
		t.kept = append(t.kept[:0], p[len(p)-tailBytes:]...)
		return len(p), nil
	}
	if over := len(t.kept) + len(p) - tailBytes; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	t.kept = append(t.kept, p...)
	return len(p), nil
}

// lines returns the last lines for display: unprintable characters are replaced by U+FFFD,
// and the beginnings of very long lines are left out.
func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.ToValidUTF8(string(bytes.TrimSpace(t.kept)), "\uFFFD")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	for i, line := range lines {
		shown := []rune(strings.Map(func(r rune) rune {
			switch {
			case r == '\t':
				return ' '
			case unicode.IsPrint(r):
				return r
			}
			return '\uFFFD'
		}, strings.TrimRight(line, "\r")))
		if over := len(shown) - tailWidth; over > 0 {
			shown = append([]rune{'…'}, shown[over+1:]...)
		}
		lines[i] = string(shown)
	}
	return lines
}
