package recordings

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"

	"moonfarm/rollout/files"
	"moonfarm/sim/unzip"
)

// Recording is an open recording: a file or a folder. It can be verified, read or shown
// once.
type Recording struct {
	Engine Engine
	Holds  string // the content: Games, or something else that can be verified

	ctx    context.Context
	file   string
	in     io.Reader // the uncompressed content of the file
	folder fs.FS     // a match log of Tower Defence; nil for a file
	closer io.Closer // the file; nil for a folder
}

// Close closes the file.
func (r *Recording) Close() error {
	if r.closer == nil {
		return nil
	}
	return r.closer.Close()
}

// IsFolder reports whether the recording is a folder.
func (r *Recording) IsFolder() bool { return r.folder != nil }

// Open opens a recording, compressed with gzip or not, and finds its engine and its content. It
// refuses everything but files and folders, since a pipe can be read only once. Reading fails once ctx is done.
func Open(ctx context.Context, file string) (*Recording, error) {
	s, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, &fs.PathError{Op: "open", Path: file, Err: errors.Unwrap(err)}
	case s.IsDir():
		return OpenFolder(file)
	}
	f, err := files.OpenRegular(file)
	if err != nil {
		return nil, err
	}
	text, err := Uncompressed(interruptibleReader{ctx, f})
	var head []byte
	if err == nil {
		if head, err = text.Peek(4096); err == io.EOF {
			err = nil
		}
	}
	if err == nil {
		for _, e := range Engines() {
			if holds := e.Holds(head); holds != "" {
				return &Recording{Engine: e, Holds: holds, ctx: ctx, file: file, in: text, closer: f}, nil
			}
		}
		if err = fmt.Errorf("not a recording of any game known here; it begins with %.40q", head); len(head) == 0 {
			err = errors.New("expected a recording, found an empty file")
		}
	}
	f.Close()
	return nil, fmt.Errorf("%s: %w", file, err)
}

// OpenFolder opens a recording that is a folder: a match log, which has a folder for its first
// round.
func OpenFolder(dir string) (*Recording, error) {
	f := os.DirFS(dir)
	if first, err := fs.Glob(f, "Round 0*"); err != nil || len(first) == 0 {
		return nil, fmt.Errorf("%s: expected a recording, or the folder of a match log of towerdefence; it is a directory", dir)
	}
	return &Recording{Engine: towerdefenceEngine{}, Holds: Games, ctx: context.Background(), file: dir, folder: f}, nil
}

// Read calls yield with each game of the recording as an episode, and returns the checksum of the
// file's content. An error after the last game counts only if every game could be read as an
// episode and o.Keep is not set.
func (r *Recording) Read(o ReadOptions, yield func(*RecordedGame) error) (sum [sha256.Size]byte, err error) {
	if r.Holds != Games {
		return sum, r.noGames()
	}
	if r.folder != nil {
		return readMatchLog(r.file, r.folder, o, yield)
	}
	content := &summed{r.in, sha256.New()}
	reported := o.Keep
	err = r.Engine.Read(r.file, content, o, func(g *RecordedGame) error {
		reported = reported || g.Why != nil
		return yield(g)
	})
	if err == nil {
		if _, err = io.Copy(io.Discard, content); reported && r.ctx.Err() == nil {
			err = nil
		} else if err != nil {
			err = fmt.Errorf("%s: %w", r.file, err)
		}
	}
	return [sha256.Size]byte(content.sum.Sum(nil)), err
}

// noGames returns the error for a recording with other content.
func (r *Recording) noGames() error { return fmt.Errorf("%s: contains %s, no games", r.file, r.Holds) }

// Show returns a position of the recording as text. An *OptionError means that the rules or an
// option are wrong.
func (r *Recording) Show(rules string, o ShowOptions) (p Position, err error) {
	info := r.Engine.Info()
	if r.Holds != Games {
		return p, r.noGames()
	}
	in := r.in
	if r.folder != nil {
		if in, rules, err = matchLogText(r.folder, rules); err != nil {
			return p, fmt.Errorf("%s: %w", r.file, err)
		}
	}
	if p, err = r.Engine.Show(r.file, in, rules, o); err != nil {
		return p, err
	}
	p.File, p.Game, p.As = r.file, info.Game, o.As
	return p, nil
}

// summed adds everything that is read to a checksum.
type summed struct {
	io.Reader
	sum hash.Hash
}

// Read implements io.Reader.
func (s *summed) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.sum.Write(p[:n])
	return n, err
}

// Uncompressed decompresses the input if it is gzip, and skips a byte order mark.
func Uncompressed(r io.Reader) (*bufio.Reader, error) {
	in, err := unzip.NewReader(r)
	if err != nil {
		return nil, gzipError(err)
	}
	return bufio.NewReader(wholeGzip{in}), nil
}

// wholeGzip replaces the error of truncated compressed data by a clear one.
type wholeGzip struct{ io.Reader }

// Read implements io.Reader.
func (w wholeGzip) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	return n, gzipError(err)
}

// gzipError explains the error of truncated data.
func gzipError(err error) error {
	if err == io.ErrUnexpectedEOF {
		return errors.New("the file ends in the middle of the compressed data")
	}
	return err
}

// interruptibleReader fails once the context is done.
type interruptibleReader struct {
	ctx context.Context
	io.Reader
}

// Read implements io.Reader.
func (i interruptibleReader) Read(p []byte) (int, error) {
	if i.ctx.Err() != nil {
		return 0, context.Cause(i.ctx)
	}
	return i.Reader.Read(p)
}
