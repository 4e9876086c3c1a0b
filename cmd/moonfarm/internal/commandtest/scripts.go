package commandtest

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
)

// Scripts runs the archives in testdata/script. Besides the usual commands they have
//
//	status N PROGRAM ARGS…   run it and check its exit status
//	flip FILE BIT            flip one bit of a file, counted from its start
//	cut FILE BYTES           remove the last bytes of a file
//	same DIR DIR             compare two folders, names and bytes
//	join FILE FILE…          write a file of others one after the other
//	windows FILE TO          write a text as an editor of Windows does, and to TO.gz as
//	                         gzip with padding
//	page FILE NAME           write the JSON that a page of view has by that name to page.json
//	keys COMMAND…            take the JSON in stdout apart: its keys go to keys.txt,
//	                         and JSON.md or the help of the command must name each of them
//
// root makes the command line with the help that keys reads.
func Scripts(t *testing.T, root func() *cobra.Command, setup func(dir string) error) {
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: os.Getenv("MOONFARM_UPDATE") != "",
		Setup:         func(e *testscript.Env) error { return setup(e.WorkDir) },
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status": scriptStatus, "flip": scriptFlip, "cut": scriptCut, "same": scriptSame, "join": scriptJoin, "windows": scriptWindows, "page": scriptPage,
			"keys": func(ts *testscript.TestScript, _ bool, args []string) { scriptKeys(ts, root(), args) },
		},
	})
}

func scriptStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N PROGRAM ARGS…")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit status %d, expected %s", got, args[0])
	}
}

// change rewrites a file.
func change(ts *testscript.TestScript, args []string, how func(content []byte, n int) []byte) {
	if len(args) != 2 {
		ts.Fatalf("expected FILE N")
	}
	file := ts.MkAbs(args[0])
	content, err := os.ReadFile(file)
	ts.Check(err)
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(file, how(content, n), 0o666))
}

func scriptFlip(ts *testscript.TestScript, _ bool, args []string) {
	change(ts, args, func(b []byte, n int) []byte {
		b[n/8%len(b)] ^= 1 << (n % 8)
		return b
	})
}

func scriptCut(ts *testscript.TestScript, _ bool, args []string) {
	change(ts, args, func(b []byte, n int) []byte { return b[:len(b)-n] })
}

func scriptJoin(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: join FILE FILE…")
	}
	var all []byte
	for _, file := range args[1:] {
		b, err := os.ReadFile(ts.MkAbs(file))
		ts.Check(err)
		all = append(all, b...)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), all, 0o666))
}

func scriptWindows(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: windows FILE TO")
	}
	text := "\uFEFF" + strings.ReplaceAll(ts.ReadFile(args[0]), "\n", "\r\n")
	to := ts.MkAbs(args[1])
	ts.Check(os.WriteFile(to, []byte(text), 0o666))
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	ts.Check(errors.Join(err, z.Close()))
	b.Write(make([]byte, 1000))
	ts.Check(os.WriteFile(to+".gz", b.Bytes(), 0o666))
}

func scriptSame(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: same DIR DIR")
	}
	diff, err := TreesDiffer(ts.MkAbs(args[0]), ts.MkAbs(args[1]))
	ts.Check(err)
	if neg != (diff != "") {
		ts.Fatalf("%s and %s: difference %q", args[0], args[1], diff)
	}
}

// TreesDiffer compares two folders and returns a description of a difference, or "".
func TreesDiffer(a, b string) (string, error) {
	left, err := readTree(a)
	right, err2 := readTree(b)
	if err := cmp.Or(err, err2); err != nil {
		return "", err
	}
	for dir, trees := range map[string][2]map[string]string{a: {left, right}, b: {right, left}} {
		for name, content := range trees[0] {
			if other, ok := trees[1][name]; !ok {
				return name + " is in " + dir + " only", nil
			} else if content != other {
				return name + " differs", nil
			}
		}
	}
	return "", nil
}

func readTree(dir string) (map[string]string, error) {
	all := map[string]string{}
	return all, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, dir)
		if d.IsDir() {
			all[name+"/"] = ""
			return nil
		}
		content, err := os.ReadFile(path)
		all[name] = string(content)
		return err
	})
}

func scriptKeys(ts *testscript.TestScript, root *cobra.Command, args []string) {
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &v))
	found := map[string]bool{}
	collectKeys("", v, found)
	list := slices.Sorted(maps.Keys(found))
	ts.Check(os.WriteFile(ts.MkAbs("keys.txt"), []byte(strings.Join(list, "\n")+"\n"), 0o666))

	c, _, err := root.Find(args)
	ts.Check(err)
	_, told, _ := strings.Cut(c.Long, "With --json:")
	told += " " + section(ts, strings.Join(args, " "))
	words := strings.FieldsFunc(told, func(r rune) bool { return !(r == '_' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9') })
	for _, k := range list {
		if last := k[strings.LastIndex(k, ".")+1:]; !slices.Contains(words, strings.TrimSuffix(last, "[]")) {
			ts.Fatalf("neither JSON.md nor the help of %s names the key %s", c.CommandPath(), k)
		}
	}
}

// section returns the section of a command in the page on JSON, "" if there is none.
func section(ts *testscript.TestScript, command string) string {
	top := "."
	for {
		if _, err := os.Stat(filepath.Join(top, "go.mod")); err == nil {
			break
		}
		top = filepath.Join(top, "..")
	}
	page, err := os.ReadFile(filepath.Join(top, "cmd", "moonfarm", "JSON.md"))
	ts.Check(err)
	_, text, _ := strings.Cut(string(page), "\n## "+command+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// elsewhere has the keys whose content is documented elsewhere, or whose content has data as
// keys.
var elsewhere = []string{"manifest", "sha256"}

// collectKeys collects the paths of all keys.
func collectKeys(path string, v any, into map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, child := range v {
			p := strings.TrimPrefix(path+"."+k, ".")
			into[p] = true
			if !slices.Contains(elsewhere, k) {
				collectKeys(p, child, into)
			}
		}
	case []any:
		for _, child := range v {
			collectKeys(path+"[]", child, into)
		}
	}
}

func scriptPage(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: page FILE NAME")
	}
	_, data, _ := strings.Cut(ts.ReadFile(args[0]), `id="moonfarm-data">`)
	var packed map[string][]byte
	ts.Check(json.NewDecoder(strings.NewReader(data)).Decode(&packed))
	in, err := gzip.NewReader(bytes.NewReader(packed[args[1]]))
	ts.Check(err)
	text, err := io.ReadAll(in)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("page.json"), append(text, '\n'), 0o666))
}
