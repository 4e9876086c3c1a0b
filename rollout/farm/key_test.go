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
	require.NoError(t, os.Chmod(name, 0o644))
	require.NoError(t, serve(ServerOptions{Log: newLog(l)}))
	n := l.count("other accounts of this machine can read")
	assert.Truef(t, n == 1 || runtime.GOOS == "windows", "%d warnings of a key that all can read, want 1", n)
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

// TestReadableUsers: a list of users that other accounts can read causes a warning, and a name that
// occurs twice is an error.
func TestReadableUsers(t *testing.T) {
	list := []byte(`{"users": [{"name": "w1", "role": "worker", "password": "p"}]}`)
	for mode, want := range map[os.FileMode]int{0o600: 0, 0o640: 1, 0o604: 1} {
		t.Run(mode.String(), func(t *testing.T) {
			name := file(t, "users.json", list)
			require.NoError(t, os.Chmod(name, mode))
			l := &logs{}
			o := ServerOptions{Dir: t.TempDir(), Users: name, Log: newLog(l)}
			_, err := newServer(&o).options(&o)
			require.NoError(t, err)
			n := l.count("other accounts of this machine can read")
			assert.Truef(t, n == want || runtime.GOOS == "windows", "mode %o: %d warnings, want %d", mode, n, want)
		})
	}
	twice := bytes.Replace(list, []byte("]"), []byte(`, {"name": "w1", "role": "operator", "password": "q"}]`), 1)
	o := ServerOptions{Dir: t.TempDir(), Users: file(t, "u", twice)}
	_, err := newServer(&o).options(&o)
	assert.ErrorContains(t, err, "occurs twice", "a name with two users")
}
