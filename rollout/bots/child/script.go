package child

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"moonfarm/sim/texts"
)

// shells lists the shells: no line of their scripts may end with CR LF. Other interpreters
// accept such lines, except the first.
var shells = []string{"sh", "bash", "dash", "ash", "ksh", "zsh"}

// checkScripts checks the program, and its script if the program is a shell.
func (p *Program) checkScripts(path, dir string) error {
	if err := checkScript(path, false); err != nil || !slices.Contains(shells, filepath.Base(path)) {
		return err
	}
	for _, arg := range p.Args[1:] {
		if strings.HasPrefix(arg, "-") {
			continue
		}
		if !filepath.IsAbs(arg) {
			arg = filepath.Join(dir, arg)
		}
		return checkScript(arg, true)
	}
	return nil
}

// ScriptArgs returns the command line that runs a shell script: its path, or bash and its
// path if the file has no right to be executed (archives can lose it, and Windows has
// none). It fails if the file does not exist or checkScript refuses it.
func ScriptArgs(path string) ([]string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", filepath.Base(path))
	}
	if err := checkScript(path, false); err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o111 == 0 {
		return []string{"bash", path}, nil
	}
	return []string{path}, nil
}

// checkScript returns an error if the first line of a script cannot work on this system:
// on systems other than Windows it must not end with CR LF, and no byte order mark may
// precede #!. It returns nil for other files and for files that cannot be read. shell says
// that the file is a script even without #!.
func checkScript(path string, shell bool) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	if s, err := os.Stat(path); err != nil || !s.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil // a program can be executable and not readable
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head) // an error means a short file
	line, _, whole := bytes.Cut(head[:n], []byte("\n"))
	text := texts.Unmarked(line)
	interpreted := bytes.HasPrefix(text, []byte("#!"))
	switch {
	case whole && (interpreted || shell) && bytes.HasSuffix(line, []byte("\r")):
		return fmt.Errorf(`%s: the lines of this script end with CR LF, as on Windows, so that the system looks for an interpreter %q; `+
			`expected lines that end with LF alone: convert the file, such as with sed -i 's/\r$//' %s`,
			path, strings.TrimSpace(strings.TrimPrefix(string(text), "#!"))+"\r", path)
	case interpreted && len(text) < len(line):
		return fmt.Errorf(`%s: a byte order mark stands before the #! of this script, so that the system does not find its interpreter; `+
			`remove the mark, such as with sed -i '1s/^\xEF\xBB\xBF//' %s`, path, path)
	}
	return nil
}
