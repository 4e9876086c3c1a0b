package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/simtest"
)

// outside is a program of another module that plays games and reads datasets.
const outside = `package main

import (
	"context"
	"fmt"
	"log"

	"moonfarm/datasets"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
)

type sink struct{}

func (sink) Episode(e *rollout.Episode) error { fmt.Println(e.ID, e.Turns > 0); return nil }

func main() {
	game, err := catalog.Find("towerdefence")
	if err != nil {
		log.Fatal(err)
	}
	v, err := game.New("", env.Settings{N: 2})
	if err != nil {
		log.Fatal(err)
	}
	maker, err := policy.New(game.Name, "random")
	if err != nil {
		log.Fatal(err)
	}
	p, err := maker(v.Spec())
	if err != nil {
		log.Fatal(err)
	}
	if err := rollout.Shard(context.Background(), v, []rollout.Policy{p, p}, 1, 0, 2, sink{}); err != nil {
		log.Fatal(err)
	}
	_, err = datasets.Open("nowhere")
	fmt.Println(err != nil)
}
`

// TestPageOutside builds a program outside of the module as env/README.md says. It needs no
// network: it copies what go mod tidy would find, the versions and sums of other modules, from
// this module. Without the versions Go would ask for modules that this one does not need.
func TestPageOutside(t *testing.T) {
	if testing.Short() {
		t.Skip("left out: it builds a program")
	}
	edit := regexp.MustCompile(`(?m)^go (mod edit .*)$`).FindStringSubmatch(document(t, "env/README.md").Text)
	require.NotNil(t, edit, "the page does not say how to import the module")
	here, err := filepath.Abs(top)
	require.NoError(t, err)
	dir := t.TempDir()
	mine := filepath.Join(dir, "mybot")
	for _, err := range []error{
		os.Mkdir(mine, 0o777),
		os.WriteFile(filepath.Join(mine, "main.go"), []byte(outside), 0o666),
		os.WriteFile(filepath.Join(mine, "go.sum"), simtest.Text(t, filepath.Join(top, "go.sum")), 0o666),
	} {
		require.NoError(t, err)
	}
	command := func(args ...string) string {
		c := exec.Command("go", args...)
		c.Dir = mine
		c.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOPROXY=off", "PWD="+mine)
		out, err := c.CombinedOutput()
		require.NoErrorf(t, err, "go %v: %v\n%s", args, err, out)
		return string(out)
	}
	requires := strings.SplitN(string(simtest.Text(t, filepath.Join(top, "go.mod"))), "\n", 2)[1]
	requires = strings.ReplaceAll(requires, " => ./", " => "+here+"/") // with a network go mod tidy finds the replaced modules instead
	require.NoError(t, os.WriteFile(filepath.Join(mine, "go.mod"), []byte("module mybot\n"+requires), 0o666))
	command(strings.Fields(strings.ReplaceAll(edit[1], "../moonfarm", here))...) // of this path Go has compiled the packages already
	got, want := command("run", "-mod=mod", "."), "0 true\n1 true\ntrue\n"
	assert.Equal(t, want, got, "printed")
}
