package towerdefence

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tools makes programs with these names the only ones in PATH. They print the given texts.
func tools(t *testing.T, prints map[string]string) {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh for programs that stand in for others")
	}
	dir := t.TempDir()
	for name, text := range prints {
		write(t, filepath.Join(dir, name), "#!"+sh+"\nprintf '"+text+"'\n")
		require.NoError(t, os.Chmod(filepath.Join(dir, name), 0o755))
	}
	t.Setenv("PATH", dir)
}

// botJSON returns a bot.json.
func botJSON(location, file, language, more string) string {
	return fmt.Sprintf(`{"author": "x", "email": "x@y", "nickName": "Ann", "botLocation": %q, "botFileName": %q, "botLanguage": %q%s}`, location, file, language, more)
}

// TestLanguages: bots of every language are started as the original does.
func TestLanguages(t *testing.T) {
	tools(t, map[string]string{"java": "", "dotnet": "", "node": "", "python": "2", "python3": "3", "php": "", "go": ""})
	for language, want := range map[string]string{
		"java": "java -jar FILE", "kotlin": "java -jar FILE", "scala": "java -jar FILE", "c#core": "dotnet FILE", "javascript": "node FILE",
		"python2": "python FILE", "python3": "python3 FILE", "php": "php FILE", "golang": "go run DIR/FILE",
		"rust": "./FILE", "c++": "./FILE", "lisp": "./FILE", "haskell": "./FILE", "haskell 3": "./FILE +RTS -N3 -RTS",
	} {
		t.Run(language, func(t *testing.T) {
			language, cores, ok := strings.Cut(language, " ")
			more := ""
			if ok {
				more = `, "arguments": {"coreCount": ` + cores + `}`
			}
			dir := t.TempDir()
			write(t, filepath.Join(dir, "bot.json"), "\uFEFF"+botJSON("/out", "my bot", language, more))
			write(t, filepath.Join(dir, "out", "my bot"), "")
			require.NoError(t, os.Chmod(filepath.Join(dir, "out", "my bot"), 0o755))
			p, err := Open(dir)
			if err != nil {
				t.Errorf("%s: %v", language, err)
				return
			}
			want = strings.ReplaceAll(strings.ReplaceAll(want, "DIR", p.Work), "FILE", "my bot")
			got := strings.Join(p.args(p.Work), " ")
			assert.Truef(t, got == want && p.Name == "Ann" && p.Dir == dir && p.Work == filepath.Join(dir, "out"), "%s: %+v is started as %s, want %s", language, p, got, want)
		})
	}
}

// TestOpenErrors: the error says what is missing, and where it was searched.
func TestOpenErrors(t *testing.T) {
	tools(t, map[string]string{"python3": "nothing"})
	for _, c := range []struct{ text, want string }{
		{"", "open DIR/bot.json: no such file or directory"},
		{"{", "bot.json: unexpected end of JSON input"},
		{`{"nickName": 3}`, "bot.json: json: cannot unmarshal number"},
		{strings.Repeat(" ", maxMeta+1), "DIR/bot.json: expected at most 65536 bytes"},
		{`{"nickName": "x", "botFileName": "y"}`, "bot.json: expected a text for botLanguage, found none"},
		{`{"botFileName": "y", "botLanguage": "rust"}`, "bot.json: expected a text for nickName, found none"},
		{botJSON("", "a\x00b", "rust", ""), `bot.json: "a\x00b" has a zero byte`},
		{botJSON("/", "file", "haskell", `, "arguments": {}`), "bot.json: expected a coreCount of 1 or more, found 0"},
		{botJSON("/", "file", "c#", ""), `bot.json: botLanguage is "c#", expected one of java, kotlin, scala, c#core, `},
		{botJSON("/", "file", "java", ""), "language java: looked in PATH for java, found none"},
		{botJSON("/", "file", "python3", ""), "language python3: looked in PATH for python3, python, found none; "},
		{botJSON("/", "other", "rust", ""), "botFileName: there is no file DIR/other; perhaps the bot must be built first"},
		{botJSON("/", "folder", "rust", ""), "botFileName: DIR/folder is not a file"},
		{botJSON("/nowhere", "file", "rust", ""), `botLocation "/nowhere": there is no folder DIR/nowhere; perhaps the bot must be built first`},
		{botJSON("nowhere", "file", "rust", ""), `botLocation "nowhere": there is no folder DIRnowhere; perhaps`}, // as the original joins them
		{botJSON("/", "file", "c++", ""), "botFileName: it cannot be started: "},                                  // it has no right to be executed
		{botJSON("/", "file", "c#core", ""), "language c#core: looked in PATH for dotnet, found none"},
		{botJSON("/", "file", "php", ""), "language php: looked in PATH for php, found none"},
		{botJSON("/", "file", "golang", ""), "language golang: looked in PATH for go, found none"},
		{botJSON("/", "file", "javascript", ""), "language javascript: looked in PATH for node, found none"},
		{botJSON("/", "file", "python2", ""), "language python2: looked in PATH for python2, python2.7, python, found none"},
		{botJSON("/file", "file", "rust", ""), `botLocation "/file": DIR/file is not a folder`},
	} {
		t.Run(c.want, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "file"), "")
			write(t, filepath.Join(dir, "folder", "x"), "")
			if c.text != "" {
				write(t, filepath.Join(dir, "bot.json"), strings.ReplaceAll(c.text, "\\x00", "\\u0000"))
			}
			want := "bot " + dir + ": " + strings.ReplaceAll(c.want, "DIR", dir)
			_, err := Open(dir)
			assert.Truef(t, err != nil && strings.HasPrefix(err.Error(), want), "%.100s: error %v, want %s", c.text, err, want)
		})
	}
	dir := t.TempDir()
	for line, want := range map[string]string{
		"'x":        "a quote ' is not closed",
		"./bot":     "/bot: no such file or directory",
		"nosuchbot": `"nosuchbot": executable file not found in $PATH`,
	} {
		t.Run(line, func(t *testing.T) {
			_, err := Command(line, dir)
			assert.ErrorContains(t, err, want, line)
		})
	}
	_, err := Command("python3 x", filepath.Join(dir, "nowhere"))
	assert.ErrorContains(t, err, "the folder to work in")
}

// TestScripts: small bots of the installed languages play a match from their folders.
func TestScripts(t *testing.T) {
	for _, c := range []struct{ language, file, text string }{
		{"python3", "Bot.py", "import json\ns = json.load(open('state.json'))\nopen('command.txt', 'w').write('%d,0,2' % s['gameDetails']['round'])\n"},
		{"javascript", "Bot.js", "const fs = require('fs');\nconst s = JSON.parse(fs.readFileSync('state.json'));\nfs.writeFileSync('command.txt', s.gameDetails.round + ',0,2');\n"},
		{"c++", "bot", "#!/bin/sh\necho \"$(sed -n 's/^Round Number : //p' textMap.txt),0,2\" > command.txt\n"},
	} {
		t.Run(c.language, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "bot.json"), botJSON("/", c.file, c.language, ""))
			write(t, filepath.Join(dir, c.file), c.text)
			require.NoError(t, os.Chmod(filepath.Join(dir, c.file), 0o755))
			p, err := Open(dir)
			if err != nil {
				t.Skip(err)
			}
			if c.language == "c++" {
				if _, err := exec.LookPath("/bin/sh"); err != nil {
					t.Skip(err)
				}
			}
			m := &Match{Rules: rules(1), Seats: []Seat{{Policy: maker(t, "rush")}, {Program: p}}}
			m.Rules.SetStart([2]int{20, 200}, [2]int{100, 100})
			r, l := play(t, m)
			clean(t, r.Records[1])
			var got []string
			for round := range r.Turns {
				got = append(got, l.text(t, round, "B - Ann", "PlayerCommand.txt"))
			}
			want := []string{"0,0,2", "1,0,2"}
			assert.Truef(t, slices.Equal(got, want), "%s: commands %q, want %q; %+v", c.language, got, want, r.Records[1])
		})
	}
}
