// Command notices prints the licences of Go and of all modules that the programs link, on any system:
//
//	go run ./cmd/internal/notices >THIRD_PARTY_NOTICES
//
// A test fails if the file is not what it prints.
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"moonfarm/rollout/files"
	"moonfarm/sim/bounded"
)

// programs are what is released, and systems those that it is released for.
var (
	programs = []string{"./cmd/moonfarm", "./cmd/moonfarm-full", "./cmd/libmoonfarm"}
	systems  = []string{"linux", "darwin", "windows"}
)

// mostText bounds a licence in bytes.
const mostText = 1 << 20

func main() {
	text, err := notices(".")
	if err == nil {
		_, err = os.Stdout.Write(text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// notices returns the text of the file, for the module in a folder.
func notices(root string) ([]byte, error) {
	modules, err := linked(root)
	if err != nil {
		return nil, err
	}
	tool, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	modules["Go"] = strings.TrimSpace(string(tool))
	var texts []string
	owners := map[string][]string{} // by text
	names := make([]string, 0, len(modules))
	for name := range modules {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		own, err := licences(modules[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, text := range own {
			if owners[text] == nil {
				texts = append(texts, text)
			}
			owners[text] = append(owners[text], name)
		}
	}
	var out bytes.Buffer
	out.WriteString("The programs and the library of moonfarm contain parts of these works, under these terms.\n")
	for _, text := range texts {
		fmt.Fprintf(&out, "\n%s\n\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(owners[text], "\n"), text)
	}
	return out.Bytes(), nil
}

// linked returns the folders of the modules that the programs link, by their names with versions.
func linked(root string) (map[string]string, error) {
	modules := map[string]string{}
	for _, system := range systems {
		c := exec.Command("go", append([]string{"list", "-deps", "-f", "{{with .Module}}{{if not (or .Main .Replace)}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}"}, programs...)...)
		c.Dir, c.Env = root, append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=1", "GOFLAGS=")
		c.Stderr = os.Stderr
		list, err := c.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", system, err)
		}
		for line := range strings.Lines(string(list)) {
			if name, dir, found := strings.Cut(strings.TrimSpace(line), "\t"); found {
				modules[name] = dir
			}
		}
	}
	return modules, nil
}

// licences returns the texts of the licences and notices in a module's folder.
func licences(dir string) (texts []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.IsDir() || !slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE"}, func(begin string) bool { return strings.HasPrefix(name, begin) }) {
			continue
		}
		text, err := bounded.ReadFile(files.OpenRegular, filepath.Join(dir, e.Name()), mostText)
		if err != nil {
			return nil, err
		}
		texts = append(texts, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("%s has no licence", dir)
	}
	return texts, nil
}
