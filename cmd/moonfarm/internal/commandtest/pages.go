package commandtest

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Document is a page of the repository.
type Document struct {
	Path string // from the top folder: "datasets/README.md"
	Text string
}

// Block is a block of code in a page.
type Block struct {
	Language string // "sh", "go", …; "" for drawings and outputs
	Text     string
}

var fenced = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// Pages returns all pages of the repository with the top folder top, sorted by path. It
// leaves out test data, packages of others, and cards of datasets, which begin with a
// header.
func Pages(t *testing.T, top string) (all []Document) {
	t.Helper()
	err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if name != top && (base[0] == '.' || slices.Contains([]string{"testdata", "node_modules"}, base)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".md") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil || bytes.HasPrefix(text, []byte("---\n")) {
			return err
		}
		path, err := filepath.Rel(top, name)
		all = append(all, Document{filepath.ToSlash(path), string(text)})
		return err
	})
	require.NoError(t, err)
	return all
}

// Blocks returns the blocks of code of the page.
func (d Document) Blocks() (all []Block) {
	for _, m := range fenced.FindAllStringSubmatch(d.Text, -1) {
		all = append(all, Block{m[1], m[2]})
	}
	return all
}

// Prose returns the page without its blocks of code.
func (d Document) Prose() string { return fenced.ReplaceAllString(d.Text, "") }
