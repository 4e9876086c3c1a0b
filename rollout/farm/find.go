package farm

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"moonfarm/sim/bounded"
)

// The servers of this user that listen on loopback are found by their port: a file
// under that name in the user's cache has the path of the server's key.

// noteFile is that file of a port.
func noteFile(port string) (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "moonfarm", "farm", "servers", port), err
}

// NoteKey notes where the key of a server is. What it returns forgets it.
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

// FindKey finds the key file of a server of this user by its URL, which is on
// loopback; "" if there is none.
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
