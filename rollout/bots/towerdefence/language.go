package towerdefence

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// language says how bots of some languages are started.
type language struct {
	names string // values of botLanguage, separated by blanks
	// tools are the names of the program that starts the bots; the first that exists is
	// used. They are empty if the bot's file is a program.
	tools   []string
	version string // first number of the tool's version, if it matters
	args    func(file string, m *meta) []string
	path    bool // args gets the file's path, not its name
}

// languages lists the languages that the original's runner 3.0.2 can start.
var languages = []language{
	{names: "java kotlin scala", tools: []string{"java"}, args: func(file string, _ *meta) []string { return []string{"-jar", file} }},
	{names: "c#core", tools: []string{"dotnet"}, args: fileAlone},
	{names: "javascript", tools: []string{"node"}, args: fileAlone},
	{names: "python2", tools: []string{"python2", "python2.7", "python"}, version: "2", args: fileAlone},
	{names: "python3", tools: []string{"python3", "python"}, version: "3", args: fileAlone},
	{names: "php", tools: []string{"php"}, args: fileAlone},
	{names: "golang", tools: []string{"go"}, args: func(file string, _ *meta) []string { return []string{"run", file} }, path: true},
	{names: "rust c++ lisp"},
	{names: "haskell", args: func(_ string, m *meta) []string {
		if m.Arguments == nil {
			return nil
		}
		return []string{"+RTS", fmt.Sprintf("-N%d", m.Arguments.CoreCount), "-RTS"}
	}},
}

func fileAlone(file string, _ *meta) []string { return []string{file} }

// command returns a function from the working directory to the command line of the bot. The
// error says which program was searched.
func (m *meta) command() (func(work string) []string, error) {
	var known []string
	for i := range languages {
		l := &languages[i]
		names := strings.Fields(l.names)
		known = append(known, names...)
		if !slices.Contains(names, m.BotLanguage) {
			continue
		}
		tool := ""
		if len(l.tools) > 0 {
			var err error
			if tool, err = l.find(); err != nil {
				return nil, fmt.Errorf("language %s: %w", m.BotLanguage, err)
			}
		}
		return func(work string) []string { return l.line(tool, work, m) }, nil
	}
	return nil, fmt.Errorf("bot.json: botLanguage is %q, expected one of %s", m.BotLanguage, strings.Join(known, ", "))
}

// line returns the program and its arguments.
func (l *language) line(tool, work string, m *meta) (args []string) {
	file := m.BotFileName
	if l.path {
		file = filepath.Join(work, file)
	}
	if tool == "" {
		tool = "./" + file
	}
	args = append(args, tool)
	if l.args != nil {
		args = append(args, l.args(file, m)...)
	}
	return args
}

// find finds the program that starts bots of the language.
func (l *language) find() (string, error) {
	found := ""
	for _, name := range l.tools {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if l.version == "" || versionOf(path) == l.version {
			return name, nil
		}
		found += fmt.Sprintf("; %s is not version %s", path, l.version)
	}
	return "", fmt.Errorf("looked in PATH for %s, found none%s", strings.Join(l.tools, ", "), found)
}

// versionTime limits how long an interpreter may take to print its version.
const versionTime = 20 * time.Second

// versionOf returns the first number of the version of a Python, "" if the program does not
// print it. The name alone is no proof: some systems have a program of that name that only
// says how to install Python.
func versionOf(python string) string {
	ctx, stop := context.WithTimeout(context.Background(), versionTime)
	defer stop()
	c := exec.CommandContext(ctx, python, "-c", "import sys; sys.stdout.write(str(sys.version_info[0]))")
	c.WaitDelay = time.Second
	out, err := c.Output()
	if err != nil {
		return ""
	}
	return string(out)
}
