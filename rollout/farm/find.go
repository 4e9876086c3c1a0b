package farm

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"moonfarm/sim/bounded"
)

// Commands find a server of the same user on loopback by its port: a file of that name in
// the user's cache has the path of the server's key.

// noteFile is the file of a port.
func noteFile(port string) (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "moonfarm", "farm", "servers", port), err
}

// NoteKey notes where the key of a server is. The returned function removes the note.
func NoteKey(server, key string) (forget func(), err error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	file, err := noteFile(u.Port())
	if err != nil {
		return nil, err
	}
	if key, err = filepath.Abs(key); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	if err := writeSecret(file, []byte(key)); err != nil {
		return nil, err
	}
	return func() {
		if text, err := bounded.ReadFile(os.Open, file, maxSecret); err == nil && string(text) == key {
			os.Remove(file)
		}
	}, nil
}

// FindKey finds the key file of this user's server at a loopback URL, and returns "" if it
// finds no key.
func FindKey(servers string) string {
	for _, one := range strings.Split(servers, ",") {
		u, err := url.Parse(one)
		if err != nil {
			continue
		}
		if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			continue
		}
		port := u.Port()
		if port == "" {
			port = "4222"
		}
		file, err := noteFile(port)
		if err != nil {
			return ""
		}
		if text, err := bounded.ReadFile(os.Open, file, maxSecret); err == nil {
			if _, err := os.Stat(string(text)); err == nil {
				return string(text)
			}
		}
	}
	return ""
}
