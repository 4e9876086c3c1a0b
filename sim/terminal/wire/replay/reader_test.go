package replay

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/terminal/wire/frame"
	"moonfarm/sim/terminal/wire/internal/wiretest"
)

// tiny returns the frames of local.replay and web.replay in testdata.
func tiny() []*frame.Frame {
	first := new(frame.Frame)
	first.Clear()
	first.Number = -1
	first.Stats = [2]frame.Stats{{Health: 40, Cores: 8, Bits: 1, Time: 0}, {Health: 40, Cores: 8, Bits: 1, Time: 0}}
	second := new(frame.Frame)
	second.Clear()
	second.Phase, second.Index = frame.PhaseAction, 1
	second.Stats = [2]frame.Stats{{Health: 40, Cores: 7, Bits: 0, Time: 12}, {Health: 40, Cores: 8, Bits: 1, Time: 0.5}}
	second.Units[0][terminal.Wall] = []frame.Unit{{At: pos(13, 5), Value: 60, ID: 1}}
	second.Units[0][terminal.Scout] = []frame.Unit{{At: pos(14, 0), Value: 15, ID: 2}}
	second.Events.Spawns = []terminal.SpawnEvent{{At: pos(13, 5), Kind: terminal.Wall, ID: 1}, {At: pos(14, 0), Kind: terminal.Scout, ID: 2}}
	second.Events.Moves = []terminal.MoveEvent{{From: pos(13, 0), To: pos(14, 0), Kind: terminal.Scout, ID: 2}}
	return []*frame.Frame{first, second, parsed(wiretest.RichLine)}
}

// parsed returns the frame of a line.
func parsed(line string) *frame.Frame {
	f := new(frame.Frame)
	if err := frame.Parse(f, []byte(line)); err != nil {
		panic(err)
	}
	return f
}

// pos returns a cell.
func pos(x, y uint8) terminal.Pos { return terminal.Pos{X: x, Y: y} }

// goldens lists the files in testdata and their frames.
var goldens = []struct {
	file   string
	style  config.Style
	frames func() []*frame.Frame
}{
	{"testdata/local.replay", config.Local, tiny},
	{"testdata/web.replay", config.Web, tiny},
	{"testdata/old.replay", config.Web, func() []*frame.Frame { return []*frame.Frame{parsed(wiretest.OldLine)} }},
}

// TestGoldenReplays reads the files in testdata frame by frame, and writes them byte for byte.
// It also reads them compressed, with more blank lines and with other ends of lines.
func TestGoldenReplays(t *testing.T) {
	for _, g := range goldens {
		text, err := os.ReadFile(g.file)
		require.NoError(t, err)
		got, _ := copyReplay(t, g.file, text)
		assert.Truef(t, bytes.Equal(got, text), "%s is written as\n%s", g.file, got)
		loose := "\r\n \t\n" + strings.ReplaceAll(string(text), "\n", "\r\n\r\n") + "\n\n  "
		for _, form := range [][]byte{text, compressed(t, text), []byte(loose), compressed(t, []byte(loose))} {
			r, err := NewReader(g.file, bytes.NewReader(form))
			if err != nil {
				t.Fatal(err)
			}
			if r.Config.Style != g.style || r.Config.Legacy != (g.file == "testdata/old.replay") {
				t.Errorf("%s: style %d, legacy %v", g.file, r.Config.Style, r.Config.Legacy)
			}
			var f frame.Frame
			for i, want := range g.frames() {
				if err := r.Next(&f); err != nil {
					t.Fatal(err)
				}
				if got, line := f.Append(nil, g.style), want.Append(nil, g.style); !bytes.Equal(got, line) {
					t.Errorf("%s: frame %d is\n%s, want\n%s", g.file, i, got, line)
				}
			}
			for range 2 {
				if err := r.Next(&f); err != io.EOF {
					t.Errorf("%s: after the end: %v", g.file, err)
				}
			}
		}
	}
}

func compressed(t testing.TB, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// readAll reads a replay to its end or its first error.
func readAll(in io.Reader) (frames int, err error) {
	r, err := NewReader("x", in)
	if err != nil {
		return 0, err
	}
	var f frame.Frame
	for {
		if err := r.Next(&f); err != nil {
			if again := r.Next(&f); again != err {
				return frames, fmt.Errorf("first %w, then %w", err, again)
			}
			if err == io.EOF {
				err = nil
			}
			return frames, err
		}
		frames++
	}
}

func TestReaderErrors(t *testing.T) {
	text, err := os.ReadFile("testdata/local.replay")
	require.NoError(t, err)
	zip := compressed(t, text)
	damaged := bytes.Clone(zip)
	damaged[len(damaged)/2] ^= 0x10
	for _, c := range []struct {
		name   string
		text   []byte
		frames int // at least
		want   string
	}{
		{"no text", nil, 0, `replay x: line 0: expected the config, found the end of the file: unexpected EOF`},
		{"blank lines", []byte("\n\n \n"), 0, `replay x: line 3: expected the config, found the end of the file: unexpected EOF`},
		{"an empty object", []byte("\n{}\n"), 0, `replay x: line 2: config: column 3: expected the key unitInformation, found the end of the text`},
		{"half a frame", text[:len(text)-20], 2, `replay x: line 6: column 1`},
		{"a wrong index", bytes.Replace(text, []byte(`[1,0,0,1]`), []byte(`[1,0,0,"1"]`), 1), 1, `replay x: line 5: column 56: turnInfo: expected an index from 0 on, found "\"1\""`},
		{"gzip without its end", zip[:len(zip)-9], 3, `replay x: line 7: unexpected EOF`},
		{"30 bytes of gzip", zip[:30], 0, `replay x: line 1: unexpected EOF`},
		{"5 bytes of gzip", zip[:5], 0, `replay x: gzip: unexpected EOF`},
		{"text after gzip", append(bytes.Clone(zip), "more than is there"...), 3, `replay x: line 7: expected the end of the file, zero bytes or more gzip data behind the compressed data`},
		{"damaged gzip", damaged, 0, `replay x: line `},
	} {
		t.Run(c.name, func(t *testing.T) {
			frames, err := readAll(bytes.NewReader(c.text))
			require.ErrorContains(t, err, c.want)
			require.GreaterOrEqual(t, frames, c.frames)
		})
	}
}

// failing fails after some bytes.
type failing int

var errFull = errors.New("full")

func (f *failing) Write(p []byte) (int, error) {
	if *f -= failing(len(p)); *f < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWriterErrorSticks(t *testing.T) {
	c := config.Of(terminal.DefaultRules())
	f := tiny()[0]
	size := len(c.Append(nil, config.Local)) + len(f.Append(nil, config.Local)) + 4
	for _, room := range []int{0, 100, size + 100} {
		to := failing(room)
		w := NewWriter(&to, &c, config.Local)
		err := w.Frame(f)
		assert.Equalf(t, room > size, err == nil, "room for %d bytes: the first frame gives %v", room, err)
		for range 2 {
			if err := w.Frame(f); err != errFull {
				t.Errorf("room for %d bytes: a later frame gives %v", room, err)
			}
		}
		if to += 1 << 20; w.Frame(f) != errFull {
			t.Errorf("room for %d bytes: the error does not stick", room)
		}
	}
}

// peak reads a replay and returns the greatest size of the heap.
func peak(in func() io.Reader) (frames int, bytes uint64, err error) {
	var before, m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r, err := NewReader("x", in())
	var f frame.Frame
	for err == nil {
		if err = r.Next(&f); err == nil {
			frames++
		}
		if frames%1024 == 0 || err != nil {
			runtime.ReadMemStats(&m)
			bytes = max(bytes, m.HeapSys-min(m.HeapSys, m.HeapReleased)-min(before.HeapInuse, m.HeapSys))
		}
	}
	runtime.KeepAlive(&f)
	if err == io.EOF {
		err = nil
	}
	return frames, bytes, err
}

// repeat returns a reader of n bytes that repeat a text.
func repeat(text string, n int64) io.Reader { return io.LimitReader(&loop{text: text}, n) }

type loop struct {
	text string
	at   int
}

func (l *loop) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		c := copy(p[n:], l.text[l.at:])
		n, l.at = n+c, (l.at+c)%len(l.text)
	}
	return n, nil
}

// TestReaderMemory bounds the memory for a replay of 100 MB, and for files made to take much.
func TestReaderMemory(t *testing.T) {
	const limit = 200 << 20
	c := config.Of(terminal.DefaultRules())
	start := string(c.Append(nil, config.Local)) + "\n"
	f := parsed(wiretest.RichLine)
	line := string(f.Append(nil, config.Local)) + "\n"
	n := int64(100<<20) / int64(len(line)) * int64(len(line))
	for _, x := range []struct {
		name   string
		in     func() io.Reader
		frames int
		want   string // of the error
	}{
		{"100 MB", func() io.Reader { return repeat(line, n) }, int(n) / len(line), ""},
		{"one line", func() io.Reader { return repeat("[", 1<<30) }, 0, "replay x: line 2: expected at most 16777216 bytes in a line"},
		{"blank lines", func() io.Reader { return repeat("\n", 1<<30) }, 0, "replay x: line 65538: expected a line or the end of the file, found more than 65536 bytes of blank lines"},
		{"a million units", func() io.Reader {
			return strings.NewReader(`{"p1Units":[[` + strings.Repeat(`[13,0,1,"1"],`, 1_000_000) + `]]}`)
		}, 0, "p1Units: expected at most 65536 units in a frame, found more"},
		{"900,000 events", func() io.Reader {
			return strings.NewReader(`{"events":{"spawn":[` + strings.Repeat(`[[13,0],1,"1",1],`, 900_000) + `]}}`)
		}, 0, "events.spawn: expected at most 262144 events in a frame, found more"},
	} {
		t.Run(x.name, func(t *testing.T) {
			frames, bytes, err := peak(func() io.Reader { return io.MultiReader(strings.NewReader(start), x.in()) })
			t.Logf("%d frames, %d MB of memory, %v", frames, bytes>>20, err)
			require.Equal(t, x.frames, frames)
			if x.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, x.want)
			}
			require.LessOrEqual(t, bytes, uint64(limit))
		})
	}
}

func FuzzReader(f *testing.F) {
	for _, g := range goldens {
		text, err := os.ReadFile(g.file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		f.Add(compressed(f, text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := NewReader("x", bytes.NewReader(text))
		if err != nil {
			return
		}
		var out bytes.Buffer
		w := NewWriter(&out, &r.Config, r.Config.Style)
		var next frame.Frame
		frames := 0
		for r.Next(&next) == nil {
			if err := w.Frame(&next); err != nil {
				t.Fatal(err)
			}
			frames++
		}
		first := bytes.Clone(out.Bytes())
		if n, err := readAll(&out); n != frames || err != nil {
			t.Fatalf("%d frames were written, %d read: %v", frames, n, err)
		}
		if again, _ := copyReplay(t, "x", first); !bytes.Equal(again, first) {
			t.Fatalf("written first\n%s\nthen\n%s", first, again)
		}
	})
}
