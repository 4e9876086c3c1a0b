package bounded

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"
)

// zeros is a reader that never ends.
type zeros struct{ read int64 }

func (z *zeros) Read(p []byte) (int, error) {
	clear(p)
	z.read += int64(len(p))
	return len(p), nil
}

func TestRead(t *testing.T) {
	for n, want := range map[int64]bool{0: false, 4: false, 5: true, 6: true, 1 << 20: true} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader("hello"), iotest.OneByteReader(strings.NewReader("hello"))} {
				text, err := Read(r, n)
				if (err == nil) != want || want && string(text) != "hello" {
					t.Errorf("at most %d bytes: %q, %v", n, text, err)
				}
				if size := new(SizeError); !want && (!errors.As(err, &size) || size.Size != -1 || size.Most != n) {
					t.Errorf("at most %d bytes: %v", n, err)
				}
			}
		})
	}
	z := &zeros{}
	if _, err := Read(z, 1<<16); err == nil || z.read > 1<<17 {
		t.Errorf("of a reader that never ends %d bytes are read, %v", z.read, err)
	}
	if _, err := Read(iotest.ErrReader(io.ErrClosedPipe), 9); err != io.ErrClosedPipe {
		t.Errorf("%v", err)
	}
}

// TestReadFile: the size of a file is checked before it is read, and memory is
// allocated once.
func TestReadFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "large")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(1<<40), f.Close()); err != nil {
		t.Skip("no sparse files here:", err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = ReadFile(os.Open, name, 1<<30)
	runtime.ReadMemStats(&after)
	if size := new(SizeError); !errors.As(err, &size) || size.Size != 1<<40 || !strings.HasPrefix(err.Error(), name+": expected at most") {
		t.Errorf("of 1 TiB: %v", err)
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 1<<20 {
		t.Errorf("%d bytes of memory for a file that is refused", taken)
	}
	if err := os.Truncate(name, 1<<22); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&before)
	text, err := ReadFile(os.Open, name, 1<<22)
	runtime.ReadMemStats(&after)
	if err != nil || len(text) != 1<<22 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 1<<22+1<<21 {
		t.Errorf("%d bytes of memory for a file of %d", taken, 1<<22)
	}
	if _, err := ReadFile(os.Open, name+"r", 9); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	files := fstest.MapFS{"a": {Data: []byte("text")}}
	if text, err := ReadFile(files.Open, "a", 4); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
}
