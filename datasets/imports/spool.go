package imports

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"moonfarm/rollout"
)

// spool keeps episodes on disk until their shards are written, so that every file is
// read once. Its file has no name on systems where an open file can be removed.
type spool struct {
	mu   sync.Mutex
	file *os.File
	size int64
}

// spooled is the place of an episode in a spool.
type spooled struct{ at, size int64 }

// newSpool makes a spool beside out, or in the folder for temporary files if it cannot
// write there.
func newSpool(out string) (*spool, error) {
	const name = ".moonfarm-import-*"
	f, err := os.CreateTemp(filepath.Dir(filepath.Clean(out)), name)
	if err != nil {
		if f, err = os.CreateTemp("", name); err != nil {
			return nil, err
		}
	}
	os.Remove(f.Name()) // where an open file cannot be removed, close removes it
	return &spool{file: f}, nil
}

func (s *spool) close() {
	s.file.Close()
	os.Remove(s.file.Name())
}

// add appends an episode. An error is one of the disk.
func (s *spool) add(e *rollout.Episode) (spooled, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(e); err != nil {
		return spooled{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := spooled{s.size, int64(b.Len())}
	n, err := s.file.WriteAt(b.Bytes(), s.size)
	if s.size += int64(n); err != nil {
		err = fmt.Errorf("episodes cannot be kept until their shards are written: %w", err)
	}
	return p, err
}

// episode reads an episode.
func (s *spool) episode(p spooled) (*rollout.Episode, error) {
	b := make([]byte, p.size)
	if _, err := s.file.ReadAt(b, p.at); err != nil {
		return nil, err
	}
	e := new(rollout.Episode)
	return e, gob.NewDecoder(bytes.NewReader(b)).Decode(e)
}
