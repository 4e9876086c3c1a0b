package child

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestScripts: a script with lines of Windows is refused before a match, with the way to
// convert it; other files are accepted.
func TestScripts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("scripts of Unix")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o777))
	}
	const crlf = `: the lines of this script end with CR LF, as on Windows, so that the system looks for an interpreter "/bin/sh\r"`
	for text, want := range map[string]string{
		"#!/bin/sh\nexit\n":                 "",
		"#!/bin/sh":                         "",
		"#!/bin/sh\n# \r\n":                 "",
		"text\r\n":                          "",
		"":                                  "",
		"#!/bin/sh\r\nexit\r\n":             crlf,
		"#! /bin/sh\r\n":                    crlf,
		"\xEF\xBB\xBF#!/bin/sh\r\nexit\r\n": crlf,
		"\xEF\xBB\xBF#!/bin/sh\nexit\n":     "a byte order mark stands before the #!",
		"\xEF\xBB\xBFtext":                  "",
	} {
		t.Run(strconv.Quote(text), func(t *testing.T) {
			write("run.sh", text)
			err := (&Program{Args: []string{"./run.sh", "x"}, Dir: dir}).Check()
			if want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, want)
				require.ErrorContains(t, err, "sed -i ")
			}
		})
	}
	write("run.sh", "while read l\r\ndo\r\ndone\r\n")
	require.NoError(t, (&Program{Args: []string{"./run.sh"}, Dir: dir}).Check())
	require.ErrorContains(t, (&Program{Args: []string{"sh", "-e", "run.sh"}, Dir: dir}).Check(), "end with CR LF")
	require.NoError(t, (&Program{Args: []string{"sh", "-c", "true"}, Dir: dir}).Check())
}
