package farm

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestKeyFile: a server's key is readable by its owner only and does not change; the servers of a
// cluster have one key; a damaged key is an error.
func TestKeyFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	serve := func(o ServerOptions) error {
		o.Dir, o.Listen = dir, "127.0.0.1:0"
		s, err := Serve(o)
		if err == nil {
			s.Close()
		}
		return err
	}
	require.NoError(t, serve(ServerOptions{}))
	name := filepath.Join(dir, KeyFile)
	first, err := ReadKey(name)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{name: 0o600, dir: 0o700} {
			info, err := os.Stat(path)
			require.NoErrorf(t, err, "%s: mode %v, want %o", path, info.Mode(), want)
			assert.Equalf(t, want, info.Mode().Perm(), "%s: mode %v", path, info.Mode())
		}
	}
	l := &logs{}
	for i, mode := range []os.FileMode{0o640, 0o604} {
		require.NoError(t, os.Chmod(name, mode))
		require.NoError(t, serve(ServerOptions{Log: newLog(l)}))
		n := l.count("other accounts of this machine can read")
		assert.Truef(t, n == i+1 || runtime.GOOS == "windows", "%d warnings of keys that others can read, expected %d", n, i+1)
	}
	again, err := ReadKey(name)
	require.NoError(t, err, "the key has changed")
	assert.True(t, bytes.Equal(first, again), "the key has changed")
	require.NoError(t, os.WriteFile(name, []byte("{}"), 0o600))
	err = serve(ServerOptions{})
	assert.ErrorContains(t, err, KeyFile+": expected the key", "a damaged key")
	os.Remove(name)
	one, err := serverKey(dir, &ClusterOptions{Secret: "common"}, logger(nil))
	require.NoError(t, err)
	two, err := serverKey(t.TempDir(), &ClusterOptions{Secret: "common"}, logger(nil))
	require.NoError(t, err, "two servers of a cluster have two keys")
	assert.True(t, bytes.Equal(one, two), "two servers of a cluster have two keys")
}
