package simtest_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/simtest"
	"moonfarm/sim/texts"
)

// values are rules for these tests.
type values struct {
	Size  int32
	Share float32
	Fog   bool
}

func (v *values) Table() []texts.Rule {
	return []texts.Rule{
		texts.NewRule("size", &v.Size, 1, 5, "cells of a side"), texts.NewRule("share", &v.Share, 0, 1, "what is left"),
		texts.NewRule("fog", &v.Fog, 0, 0, "whether there is fog"),
	}
}

func (v values) AppendText(dst []byte) []byte { return texts.AppendRules(dst, v.Table()) }

func parse(text []byte) (v values, err error) {
	err = texts.NewParser(v.Table(), "size").Parse(string(text), "set", func(name string) bool { return name == "none" })
	return v, err
}

// forgetful reads all values but the share.
func forgetful(text []byte) (values, error) {
	v, err := parse(text)
	v.Share = 0
	return v, err
}

var (
	ruleText  = simtest.RuleText[values, *values](parse)
	stateText = simtest.StateText[string]{
		Parse:  func(text string) (string, error) { return text, nil },
		Append: func(s *string) string { return *s },
	}
)

func TestTexts(t *testing.T) {
	ruleText.Named(t, "none", values{})
	ruleText.EveryField(t, values{}, nil)
	stateText.Is(t, "a", "a")
	stateText.Again(t, "b")
	stateText.Hashes(t, func(s *string) uint64 { return uint64((*s)[0]) }, "a", [][2]string{{"a", "b"}, {"a", "c"}})
	simtest.Refuses(t, strings.HasPrefix, func(text string) error { return errors.New(text) }, map[string]string{"ab": "a"})
	simtest.Spoil(t, new(int), fault, check, map[string]func(*int){"is 3": func(n *int) { *n = 3 }})
}

// TestSharedFiles finds a file by a pattern and reads it.
func TestSharedFiles(t *testing.T) {
	t.Setenv(simtest.SharedEnv, t.TempDir())
	path := simtest.Shared(t) + "/a.txt"
	require.NoError(t, os.WriteFile(path, []byte("text"), 0o666))
	files := simtest.SharedFiles(t, "*.txt")
	assert.Truef(t, len(files) == 1 && string(simtest.Text(t, files[0])) == "text", "found %q", files)
}

// generator makes a temporary folder the working folder: a package whose generator, of one line,
// writes the file asm.s.
func generator(t *testing.T, asm string) {
	t.Helper()
	t.Setenv("MOONFARM_LONG", "1")
	t.Setenv("GOWORK", "off")
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("gen", 0o777))
	for name, text := range map[string]string{
		"go.mod":      "module toy\n",
		"toy.go":      "package toy\n\n//go:generate go run -C gen . -out ../asm.s\n",
		"asm.s":       "// by -out ../asm.s\n" + asm,
		"gen/go.mod":  "module toy/gen\n",
		"gen/main.go": "package main\n\nimport \"os\"\n\nfunc main() { os.WriteFile(os.Args[2], []byte(\"// by another name\\nRET\\n\"), 0o666) }\n",
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
}

// TestGeneratedIsTheFile compares a file with the output of its generator, but for the first line.
func TestGeneratedIsTheFile(t *testing.T) {
	generator(t, "RET\n")
	simtest.Generated(t)
}

func FuzzRuleText(f *testing.F)  { ruleText.Fuzz(f, nil, "size=3", "none\nsize", "share=0.1") }
func FuzzStateText(f *testing.F) { stateText.Fuzz(f, nil, "x") }

func fault(n *int) string {
	if *n != 0 {
		return fmt.Sprintf("it is %d", *n)
	}
	return ""
}

func check(n *int) {
	if f := fault(n); f != "" {
		panic(f)
	}
}

// brokenTexts has a test that must fail for each check, by the check's name.
var brokenTexts = map[string]func(t *testing.T){
	"Refuses": func(t *testing.T) {
		simtest.Refuses(t, strings.Contains, func(string) error { return nil }, map[string]string{"": ""})
	},
	"RuleText":  func(t *testing.T) { simtest.RuleText[values, *values](forgetful).EveryField(t, values{}, nil) },
	"StateText": func(t *testing.T) { stateText.Is(t, "a", "b") },
	"Hashes": func(t *testing.T) {
		stateText.Hashes(t, func(s *string) uint64 { return uint64(len(*s)) }, "a", [][2]string{{"a", "b"}})
	},
	"Generated": func(t *testing.T) {
		generator(t, "NOP\n")
		simtest.Generated(t)
	},
	"Spoil": func(t *testing.T) { simtest.Spoil(t, new(int), fault, check, map[string]func(*int){"": func(*int) {}}) },
}
