package farm

import (
	"encoding/json"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"moonfarm/sim/texts"
)

// TestSecrets: a farm refuses outputs with a secret, and hides secrets in a store of an earlier
// version and in the errors of workers.
func TestSecrets(t *testing.T) {
	spec := Spec{Name: "n", Build: "b", Shards: 1, Episodes: 1, Job: json.RawMessage("{}")}
	for _, out := range []string{"s3://KEY:hidden@bucket/td", "s3://bucket/td?secret=hidden"} {
		spec.Out = out
		err := spec.check()
		require.ErrorContains(t, err, "spec: output s3://", out)
		require.NotContains(t, err.Error(), "hidden")
		for _, r := range []runRecord{{Spec: &spec, Text: out + ": no such bucket"}, {Spec: &spec, End: &RunStatus{Out: out, Text: out}}} {
			text, err := json.Marshal((&run{runRecord: r}).status(0, time.Now()))
			require.NoError(t, err)
			require.NotContains(t, string(text), "hidden")
		}
		require.NotContains(t, line("worker: "+out), "hidden")
	}
	spec.Out = "s3://bucket/td?region=eu-west-1"
	require.NoError(t, spec.check())
}

// TestMarkedFiles: credentials may begin with a byte order mark, as Windows editors write it.
func TestMarkedFiles(t *testing.T) {
	text, err := Key(make([]byte, keyBytes)).Credentials(RoleWorker, "w")
	require.NoError(t, err)
	c := &Conn{}
	_, err = c.credentials(&ConnectOptions{}, append([]byte(texts.Mark), text...))
	require.NoError(t, err)
	require.Equal(t, "w", c.name)
}

// TestPageToken: the secret of a page stays the same in a file that its owner alone can read; a short one is refused.
func TestPageToken(t *testing.T) {
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	first, err := PageToken(dir, log)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(first), leastToken)
	again, err := PageToken(dir, log)
	require.NoError(t, err)
	require.Equal(t, first, again)
	name := filepath.Join(dir, "page.token")
	if info, err := os.Stat(name); runtime.GOOS != "windows" {
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode())
	}
	require.NoError(t, os.WriteFile(name, []byte("short\n"), 0o600))
	_, err = PageToken(dir, log)
	require.ErrorContains(t, err, "page.token: expected a secret of 20 characters or more")
	other, err := PageToken(t.TempDir(), log)
	require.NoError(t, err)
	require.NotEqual(t, first, other)
}
