package child

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLog(t *testing.T) {
	for _, c := range []struct {
		limit  int64
		writes []string
		want   string
	}{
		{10, []string{"a", "", "bc\n"}, "abc\n"},
		{4, []string{"abcd"}, "abcd"},
		{4, []string{"abcd", "e", "f"}, "abcd\n[the limit of 4 bytes is reached: the rest was dropped]\n"},
		{4, []string{"abc\n", "e"}, "abc\n[the limit of 4 bytes is reached: the rest was dropped]\n"},
		{4, []string{"ab", "cdef"}, "abcd\n[the limit of 4 bytes is reached: the rest was dropped]\n"},
		{0, []string{"a"}, "[the limit of 0 bytes is reached: the rest was dropped]\n"},
		{-1, []string{"a"}, "[the limit of -1 bytes is reached: the rest was dropped]\n"},
	} {
		t.Run(fmt.Sprintf("%d %q", c.limit, c.writes), func(t *testing.T) {
			var to strings.Builder
			l := NewLog(&to, c.limit)
			for _, w := range c.writes {
				n, err := l.Write([]byte(w))
				assert.Truef(t, n == len(w) && err == nil, "%q: %d, %v", w, n, err)
			}
			if to.String() != c.want || l.Full() != strings.Contains(c.want, "[") {
				t.Errorf("%q: %q, full %v", c.writes, to.String(), l.Full())
			}
		})
	}
	broken := &breaks{}
	l := NewLog(broken, 100)
	for range 3 {
		l.Write([]byte("x"))
	}
	assert.Truef(t, broken.writes == 1 && l.Full(), "%d writes after an error", broken.writes)
}

// breaks is a file that cannot be written.
type breaks struct{ writes int }

func (b *breaks) Write([]byte) (int, error) { b.writes++; return 0, errors.New("disk full") }

func TestTail(t *testing.T) {
	for _, c := range []struct {
		writes []string
		want   []string
	}{
		{nil, nil},
		{[]string{" \n\n"}, nil},
		{[]string{"a\tb\r\n", "\x1b[1m\xff\n"}, []string{"a b", "\uFFFD[1m\uFFFD"}},
		{[]string{strings.Repeat("1\n", 20), "x"}, append(slices.Repeat([]string{"1"}, tailLines-1), "x")},
		{[]string{strings.Repeat("x", 3*tailBytes) + "y"}, []string{"…" + strings.Repeat("x", tailWidth-2) + "y"}},
		{slices.Repeat([]string{strings.Repeat("x", 999) + "\n"}, 20), append([]string{strings.Repeat("x", tailBytes-8*1000-1)},
			slices.Repeat([]string{"…" + strings.Repeat("x", tailWidth-1)}, 8)...)},
	} {
		t.Run(fmt.Sprintf("%.40q", c.writes), func(t *testing.T) {
			var k tail
			for _, w := range c.writes {
				k.Write([]byte(w))
				assert.LessOrEqualf(t, len(k.kept), tailBytes, "%d bytes kept", len(k.kept))
			}
			assert.Truef(t, slices.Equal(k.lines(), c.want), "%.40q", c.writes)
		})
	}
}
