package main

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"compress/gzip"
	"io"
	"io/fs"
)

// writeTar writes files as tar.gz.
func writeTar(out io.Writer, files fs.FS) error {
	z, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	return cmp.Or(t.AddFS(files), t.Close(), z.Close())
}

// writeZip writes files as zip.
func writeZip(out io.Writer, files fs.FS) error {
	z := zip.NewWriter(out)
	return cmp.Or(z.AddFS(files), z.Close())
}
