package child

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
)

// Log takes what bots print, up to a number of bytes. Any number of processes can
// have the same one.
type Log struct {
	mu    sync.Mutex
	to    io.Writer
	limit int64
	left  int64
	full  bool // the closing line is written, or to has failed
	last  byte // that was written
}

// NewLog makes a Log that writes to a writer at most limit bytes, and then one
// line more which says that the rest was dropped. After an error of the writer
// nothing is written any more: a bot does not suffer from a full disk.
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

// Line writes a line of its own, behind what bots print: it begins a new one if theirs
// is not ended. A nil Log drops it.
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

// Full says whether nothing more is written.
func (l *Log) Full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.full
}

// Bounds of the last lines that are kept.
const (
	tailLines = 10
	tailWidth = 200     // characters of a line
	tailBytes = 8 << 10 // enough for all of these
)

// tail keeps the end of what is written.
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

// lines are the last lines, as they can be shown: characters that are none are
// replaced, and the beginnings of very long lines left out.
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
