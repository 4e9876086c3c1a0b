package onnx

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"moonfarm/sim/bounded"
)

// embedder moves the data of other files into an ONNX file.
type embedder struct {
	dir   string
	root  *os.Root         // dir, once a file in it is needed
	sizes map[string]int64 // sizes of the files in it that were opened
	total int64            // bytes of data so far
}

func (e *embedder) close() {
	if e.root != nil {
		e.root.Close()
	}
}

// rope is a message in pieces, some of which are in other files. So large arrays are copied
// only once.
type rope struct {
	pieces []piece
	size   int64
}

// piece is either bytes or a part of a file.
type piece struct {
	bytes    []byte
	location string
	offset   int64
	size     int64
}

func (r *rope) add(p piece) {
	r.pieces = append(r.pieces, p)
	r.size += p.size
}

func (r *rope) bytes(b []byte) { r.add(piece{bytes: b, size: int64(len(b))}) }

// message adds a field that holds a message.
func (r *rope) message(number protowire.Number, m *rope) {
	head := protowire.AppendTag(nil, number, protowire.BytesType)
	r.bytes(protowire.AppendVarint(head, uint64(m.size)))
	r.pieces = append(r.pieces, m.pieces...)
	r.size += m.size
}

// inner has the rewriters of the fields that may contain arrays; other fields stay unchanged.
type inner map[protowire.Number]func(e *embedder, b []byte) (*rope, error)

var (
	inModel     = inner{7: rewriter(&inGraph), 25: rewriter(&inFunction)}
	inGraph     = inner{1: rewriter(&inNode), 5: (*embedder).tensor}
	inFunction  = inner{7: rewriter(&inNode)}
	inNode      = inner{5: rewriter(&inAttribute)}
	inAttribute = inner{5: (*embedder).tensor}
)

// rewriter rewrites a message. It looks up the tables of fields when it runs, since they refer
// to each other.
func rewriter(in *inner) func(e *embedder, b []byte) (*rope, error) {
	return func(e *embedder, b []byte) (*rope, error) { return e.rewrite(b, *in) }
}

// embed returns the file with all data in it; without external data, that is the file itself.
// A damaged file is returned unchanged, so that Parse reports the damage.
func (e *embedder) embed(data []byte) ([]byte, error) {
	r, err := e.rewrite(data, inModel)
	if err != nil || r == nil {
		return data, err
	}
	if r.size > MaxFile {
		return nil, fmt.Errorf("expected at most %d bytes together with its data, found %d", MaxFile, r.size)
	}
	whole := make([]byte, r.size)
	at := int64(0)
	for i := range r.pieces {
		p := &r.pieces[i]
		to := whole[at:][:p.size]
		if at += p.size; p.location == "" {
			copy(to, p.bytes)
		} else if err := e.read(to, p); err != nil {
			return nil, fmt.Errorf("data in %q: %w", p.location, err)
		}
	}
	return whole, nil
}

// read reads a part of a file.
func (e *embedder) read(to []byte, p *piece) error {
	f, err := e.root.Open(p.location)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.ReadAt(to, p.offset)
	if err == io.EOF {
		err = errors.New("the file ends while it is read")
	}
	return err
}

// rewrite returns the message with all data in it, nil if it has no external data or is damaged.
func (e *embedder) rewrite(b []byte, in inner) (*rope, error) {
	r, same, at := &rope{}, 0, 0 // the bytes from same on stay as they are
	var fault error
	damage := fields(b, func(f field) error {
		begin := at
		at += len(f.all)
		write := in[f.number]
		if write == nil || f.kind != protowire.BytesType {
			return nil
		}
		var m *rope
		if m, fault = write(e, f.b); m != nil {
			r.bytes(b[same:begin])
			r.message(f.number, m)
			same = at
		}
		return fault
	})
	if damage != nil || same == 0 {
		return nil, fault
	}
	r.bytes(b[same:])
	return r, nil
}

// reference is the location of the data of an array.
type reference struct {
	name, location, offset, length string
	external, raw                  bool
}

// tensor rewrites an array; it returns nil if its data is in it.
func (e *embedder) tensor(b []byte) (*rope, error) {
	ref, r := reference{}, &rope{}
	damage := fields(b, func(f field) error {
		if !ref.read(f) {
			r.bytes(f.all)
		}
		return nil
	})
	if damage != nil || !ref.external {
		return nil, nil
	}
	p, err := e.find(&ref)
	if err == nil && ref.raw {
		err = errors.New("expected its data in one place, found some in the file, too")
	}
	if err != nil {
		return nil, fmt.Errorf("array %q, whose data is in another file, %q: %w", ref.name, ref.location, err)
	}
	m := &rope{}
	m.add(p)
	const rawData = 9
	r.message(rawData, m)
	return r, nil
}

// read reads a field of an array, and reports whether it is about the location of the data.
func (r *reference) read(f field) bool {
	switch {
	case f.number == 14 && f.kind == protowire.VarintType:
		r.external = f.x == 1
		return true
	case f.kind != protowire.BytesType:
		return false
	}
	switch f.number {
	case 8:
		r.name = string(f.b)
	case 9:
		r.raw = true
	case 13:
		key, value := "", ""
		err := f.fields(func(f field) error {
			switch f.number {
			case 1:
				return f.text(&key)
			case 2:
				return f.text(&value)
			}
			return nil
		})
		if err != nil {
			return false
		}
		if to := map[string]*string{"location": &r.location, "offset": &r.offset, "length": &r.length}[key]; to != nil {
			*to = value
		}
		return true
	}
	return false
}

// find opens the file of a reference, and checks that it is long enough for the data.
func (e *embedder) find(r *reference) (piece, error) {
	name := filepath.FromSlash(r.location)
	if !filepath.IsLocal(name) || strings.ContainsRune(r.location, '\\') {
		return piece{}, errors.New(`expected a path below the model's own folder, without ".."`)
	}
	size, err := e.size(name)
	if err != nil {
		return piece{}, err
	}
	p := piece{location: name}
	if r.offset != "" {
		if p.offset, err = strconv.ParseInt(r.offset, 10, 64); err != nil || p.offset < 0 || p.offset > size {
			return piece{}, fmt.Errorf("expected an offset from 0 to %d, the size of the file, found %q", size, r.offset)
		}
	}
	p.size = size - p.offset
	if r.length != "" {
		if p.size, err = strconv.ParseInt(r.length, 10, 64); err != nil || p.size < 0 || p.size > size-p.offset {
			return piece{}, fmt.Errorf("expected a length from 0 to %d, since the file has %d bytes and the offset is %d, found %q", size-p.offset, size, p.offset, r.length)
		}
	}
	if e.total += p.size; e.total > MaxFile {
		return piece{}, fmt.Errorf("expected at most %d bytes of data, found more", MaxFile)
	}
	return p, nil
}

// size returns the size of a file with data.
func (e *embedder) size(name string) (int64, error) {
	if size, ok := e.sizes[name]; ok {
		return size, nil
	}
	if e.root == nil {
		var err error
		if e.root, err = os.OpenRoot(e.dir); err != nil {
			return 0, err
		}
	}
	info, err := e.root.Stat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return 0, fmt.Errorf("there is no such file beside the model: %w", err)
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, errors.New("not a regular file")
	case info.Size() > MaxFile:
		return 0, &bounded.SizeError{Size: info.Size(), Most: MaxFile}
	}
	head, err := headOf(e.root.Open, name)
	if err == nil {
		err = pointed(head)
	}
	e.sizes[name] = info.Size()
	return info.Size(), err
}
