package onnx

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"moonfarm/rollout/files"
	"moonfarm/sim/bounded"
)

// MaxFile is the limit of the bytes of an ONNX file, including its data in other files.
const MaxFile = 1 << 30

// ReadFile reads an ONNX file together with its arrays in other files (external data). It
// returns the bytes of a single ONNX file that contains these arrays, so that one sha256
// identifies all data. In this file the arrays have a field raw_data at their end instead of
// the fields data_location and external_data; all else is unchanged.
//
// The other files must be in the folder of the ONNX file or below it. Paths with ".." and
// symbolic links that lead elsewhere are refused.
func ReadFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	var why *fs.PathError
	switch {
	case errors.As(err, &why):
		return nil, fmt.Errorf("%s: %w", path, why.Err)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, files.CheckRegular(path)
	case info.Size() > MaxFile:
		return nil, fmt.Errorf("%s: %w", path, &bounded.SizeError{Size: info.Size(), Most: MaxFile})
	}
	if err := checkHead(files.OpenRegular, path); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	data, err := bounded.ReadFile(files.OpenRegular, path, MaxFile)
	if err != nil {
		return nil, err
	}
	e := &embedder{dir: filepath.Dir(path), sizes: map[string]int64{}}
	defer e.close()
	if data, err = e.embed(data); err != nil {
		return nil, fmt.Errorf("%s: onnx: %w", path, err)
	}
	return data, nil
}

// pointer is the beginning of the files by which Git LFS replaces large ones.
const pointer = "version https://git-lfs.github.com/spec/"

// checkHead refuses a file that does not begin like an ONNX file, before all of it is read.
func checkHead[F fs.File](open func(name string) (F, error), name string) error {
	head, err := headOf(open, name)
	if err == nil {
		err = pointed(head)
	}
	if err != nil {
		return err
	}
	number, kind, n := protowire.ConsumeTag(head)
	if len(head) == 0 || n < 0 || number > 25 || kind != protowire.VarintType && kind != protowire.BytesType {
		return fmt.Errorf("onnx: expected fields of an ONNX model, found a file that begins with %.20q", head)
	}
	return nil
}

func headOf[F fs.File](open func(name string) (F, error), name string) ([]byte, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return head[:n], err
}

// pointed returns an error for a pointer of Git LFS.
func pointed(head []byte) error {
	if !bytes.HasPrefix(head, []byte(pointer)) {
		return nil
	}
	size := "the file"
	for line := range strings.Lines(string(head)) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), "size "); ok {
			size += " of " + n + " bytes"
		}
	}
	return fmt.Errorf("expected a network, found a pointer of Git LFS: %s itself is fetched by git lfs pull", size)
}
