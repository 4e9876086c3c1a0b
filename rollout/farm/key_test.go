package farm

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
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
	if err := serve(ServerOptions{}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, KeyFile)
	first, err := ReadKey(name)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{name: 0o600, dir: 0o700} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: mode %v, want %o (%v)", path, info.Mode(), want, err)
			}
		}
	}
	l := &logs{}
	if err := os.Chmod(name, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := serve(ServerOptions{Log: newLog(l)}); err != nil {
		t.Fatal(err)
	}
	if n := l.count("other accounts of this machine can read"); n != 1 && runtime.GOOS != "windows" {
		t.Errorf("%d warnings of a key that all can read, want 1", n)
	}
	if again, err := ReadKey(name); err != nil || !bytes.Equal(first, again) {
		t.Errorf("the key has changed: %v", err)
	}
	if err := os.WriteFile(name, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := serve(ServerOptions{}); err == nil || !strings.Contains(err.Error(), KeyFile+": expected the key") {
		t.Errorf("a damaged key: %v", err)
	}
	os.Remove(name)
	one, err := serverKey(dir, &ClusterOptions{Secret: "common"}, logger(nil))
	if err != nil {
		t.Fatal(err)
	}
	if two, err := serverKey(t.TempDir(), &ClusterOptions{Secret: "common"}, logger(nil)); err != nil || !bytes.Equal(one, two) {
		t.Errorf("two servers of a cluster have two keys: %v", err)
	}
}

// TestReadableUsers: a list of users that other accounts can read causes a warning, and a name that
// occurs twice is an error.
func TestReadableUsers(t *testing.T) {
	list := []byte(`{"users": [{"name": "w1", "role": "worker", "password": "p"}]}`)
	for mode, want := range map[os.FileMode]int{0o600: 0, 0o640: 1, 0o604: 1} {
		t.Run(mode.String(), func(t *testing.T) {
			name := file(t, "users.json", list)
			if err := os.Chmod(name, mode); err != nil {
				t.Fatal(err)
			}
			l := &logs{}
			o := ServerOptions{Dir: t.TempDir(), Users: name, Log: newLog(l)}
			if _, err := newServer(&o).options(&o); err != nil {
				t.Fatal(err)
			}
			if n := l.count("other accounts of this machine can read"); n != want && runtime.GOOS != "windows" {
				t.Errorf("mode %o: %d warnings, want %d", mode, n, want)
			}
		})
	}
	twice := bytes.Replace(list, []byte("]"), []byte(`, {"name": "w1", "role": "operator", "password": "q"}]`), 1)
	o := ServerOptions{Dir: t.TempDir(), Users: file(t, "u", twice)}
	if _, err := newServer(&o).options(&o); err == nil || !strings.Contains(err.Error(), "occurs twice") {
		t.Errorf("a name with two users: %v", err)
	}
}
