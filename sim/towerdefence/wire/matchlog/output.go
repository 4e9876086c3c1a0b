package matchlog

import (
	"errors"
	"fmt"
	"io/fs"

	"moonfarm/sim/bounded"
)

// EachOutput calls each with what the bots printed in each round of a match log, as far as the log has such files.
// Texts have at most 64 KiB; cut says that the file has more. text is not kept or changed.
func EachOutput(fsys fs.FS, each func(round, player int, text []byte, cut bool)) error {
	rounds, err := roundFolders(fsys)
	if err != nil {
		return fmt.Errorf("match log: %w", err)
	}
	for n, folder := range rounds {
		players, err := playerFolders(fsys, folder)
		if err != nil {
			return fmt.Errorf("match log: %w", err)
		}
		for p, player := range players {
			text, cut, err := readOutput(fsys, folder+"/"+player+"/"+logOutput)
			if err != nil {
				return fmt.Errorf("match log: %w", err)
			}
			if len(text) > 0 {
				each(n, p, text, cut)
			}
		}
	}
	return nil
}

// readOutput reads the beginning of a file; "" if there is none.
func readOutput(fsys fs.FS, name string) (text []byte, cut bool, err error) {
	s, err := fs.Stat(fsys, name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !s.Mode().IsRegular() {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	return bounded.Prefix(f, maxFile)
}
