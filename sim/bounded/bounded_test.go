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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
				assert.Truef(t, (err == nil) == want && (!want || string(text) == "hello"), "at most %d bytes: %q, %v", n, text, err)
				size := new(SizeError)
				assert.Truef(t, want || errors.As(err, &size) && size.Size == -1 && size.Most == n, "at most %d bytes: %v", n, err)
			}
		})
	}
	z := &zeros{}
	_, err := Read(z, 1<<16)
	assert.Truef(t, err != nil && z.read <= 1<<17, "of a reader that never ends %d bytes are read, %v", z.read, err)
	_, err = Read(iotest.ErrReader(io.ErrClosedPipe), 9)
	assert.Truef(t, err == io.ErrClosedPipe, "%v", err)
}

// TestReadFile: the size of a file is checked before it is read, and memory is
// allocated once.
func TestReadFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "large")
	f, err := os.Create(name)
	require.NoError(t, err)
	if err := errors.Join(f.Truncate(1<<40), f.Close()); err != nil {
		t.Skip("no sparse files here:", err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = ReadFile(os.Open, name, 1<<30)
	runtime.ReadMemStats(&after)
	size := new(SizeError)
	assert.Truef(t, errors.As(err, &size) && size.Size == 1<<40 && strings.HasPrefix(err.Error(), name+": expected at most"), "of 1 TiB: %v", err)
	taken := after.TotalAlloc - before.TotalAlloc
	assert.LessOrEqualf(t, taken, uint64(1<<20), "%d bytes of memory for a file that is refused", taken)
	require.NoError(t, os.Truncate(name, 1<<22))
	runtime.ReadMemStats(&before)
	text, err := ReadFile(os.Open, name, 1<<22)
	runtime.ReadMemStats(&after)
	require.NoErrorf(t, err, "%d bytes", len(text))
	assert.Equalf(t, 1<<22, len(text), "%d bytes", len(text))
	taken = after.TotalAlloc - before.TotalAlloc
	assert.LessOrEqualf(t, taken, uint64(1<<22+1<<21), "%d bytes of memory for a file of %d", taken, 1<<22)
	_, err = ReadFile(os.Open, name+"r", 9)
	assert.ErrorIs(t, err, os.ErrNotExist)
	files := fstest.MapFS{"a": {Data: []byte("text")}}
	if text, err := ReadFile(files.Open, "a", 4); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
}
