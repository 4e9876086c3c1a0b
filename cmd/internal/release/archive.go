package main

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"compress/gzip"
	"io"
	"os"
	"time"
)

// member is a file of an archive.
type member struct {
	name string
	file string // path of its content
	mode os.FileMode
}

// writeTar writes files in a folder as tar.gz. Owners and times do not depend on the
// machine.
func writeTar(out io.Writer, folder string, members []member, when time.Time) error {
	z, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, m := range members {
		info, err := os.Stat(m.file)
		if err != nil {
			return err
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: folder + "/" + m.name, Mode: int64(m.mode), Size: info.Size(), ModTime: when, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if err := copyFile(t, m.file); err != nil {
			return err
		}
	}
	return cmp.Or(t.Close(), z.Close())
}

// writeZip writes files in a folder as zip.
func writeZip(out io.Writer, folder string, members []member, when time.Time) error {
	z := zip.NewWriter(out)
	for _, m := range members {
		h := &zip.FileHeader{Name: folder + "/" + m.name, Method: zip.Deflate, Modified: when}
		h.SetMode(m.mode)
		w, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if err := copyFile(w, m.file); err != nil {
			return err
		}
	}
	return z.Close()
}

// copyFile writes the bytes of a file.
func copyFile(out io.Writer, file string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = io.Copy(out, in)
	return err
}
