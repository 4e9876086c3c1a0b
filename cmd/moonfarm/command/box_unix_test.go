//go:build unix

package command

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/rollout/bots/child"
)

// TestBox: a bot in a box plays, and writes nothing outside; the first line says how it is enclosed.
func TestBox(t *testing.T) {
	outside := t.TempDir()
	bot := filepath.Join(t.TempDir(), "bot.sh")
	script := fmt.Sprintf("#!/bin/sh\ntouch mark %s/mark\necho 0,0,2 >command.txt\n", outside)
	require.NoError(t, os.WriteFile(bot, []byte(script), 0o755))
	play := func(box string) (printed, said string, err error) {
		p := commandtest.Start(t, "moonfarm", "match", "towerdefence", "--player", "cmd:"+bot, "--player", "random", "--seed", "3", "--json", "--box", box)
		err = p.Wait()
		return p.Out.String(), p.Errs.String(), err
	}
	if means, _ := child.Automatic.Means(); means != child.Namespaces {
		_, said, err := play("auto")
		require.NoError(t, err)
		assert.Contains(t, said, "box: "+means.String()+": ")
		_, said, err = play("strict")
		require.Error(t, err)
		assert.Contains(t, said, "--box strict: ")
		return
	}
	for _, box := range []string{"auto", "strict"} {
		printed, said, err := play(box)
		require.NoError(t, err, said)
		assert.Contains(t, printed, `refused: \"0,0,2\"`, "its command is read")
		assert.NotContains(t, printed, `"missing"`)
		assert.Contains(t, said, "box: namespaces")
		assert.NoFileExists(t, filepath.Join(outside, "mark"))
		assert.NoFileExists(t, "mark")
	}
}
