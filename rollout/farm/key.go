package farm

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/nats-io/nkeys"

	"moonfarm/rollout/access"
	"moonfarm/rollout/files"
	"moonfarm/sim/bounded"
	"moonfarm/sim/texts"
)

// The roles of credentials.
const (
	RoleWorker      = "worker"      // may claim and commit shards under its own name
	RoleOperator    = "operator"    // may submit, look at, cancel and retry runs
	RoleCoordinator = "coordinator" // may do everything
)

// KeyFile is the name of the file in the folder of a server's store that has its Key.
const KeyFile = "key.json"

// Key is the secret of a server. The nkey of each role and name is derived from it, so the server
// knows all nkeys without a list. The holder of the key has all rights.
type Key []byte

const keyBytes = 32

// pair derives the nkey of a role and a name.
func (k Key) pair(role, name string) (nkeys.KeyPair, error) {
	h := hmac.New(sha256.New, k)
	fmt.Fprintf(h, "moonfarm farm nkey\n%s\n%s", role, name)
	return nkeys.FromRawSeed(nkeys.PrefixByteUser, h.Sum(nil))
}

// seed returns the seed of a pair.
func (k Key) seed(role, name string) ([]byte, error) {
	pair, err := k.pair(role, name)
	if err != nil {
		return nil, err
	}
	return pair.Seed()
}

// Credentials returns the text of a credentials file, one line of JSON, with which its
// holder has the role under the name: RoleWorker or RoleOperator. A coordinator needs the
// key itself.
func (k Key) Credentials(role, name string) ([]byte, error) {
	if role != RoleWorker && role != RoleOperator {
		return nil, fmt.Errorf("role %q, expected worker or operator", role)
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	seed, err := k.seed(role, name)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(credentials{Name: name, Role: role, Seed: string(seed)})
	return append(text, '\n'), err
}

// proof proves to a worker, whose nkey is derived from the key, that the sender of a run's spec has
// the key. Without it, an account that listens at the server's port while the server is away could
// choose where workers write.
func (k Key) proof(worker, run string) string {
	seed, err := k.seed(RoleWorker, worker)
	if err != nil {
		return ""
	}
	return proofOf(seed, run)
}

// proofOf computes a proof from the seed of a worker.
func proofOf(seed []byte, run string) string {
	h := hmac.New(sha256.New, seed)
	h.Write([]byte("moonfarm farm run " + run))
	return hex.EncodeToString(h.Sum(nil))
}

// keyText is the content of a key file.
type keyText struct {
	Key []byte `json:"key"`
}

// ReadKey reads a key file.
func ReadKey(file string) (Key, error) {
	text, err := readSecret(file)
	if err != nil {
		return nil, err
	}
	k, err := parseKey(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return k, nil
}

func parseKey(text []byte) (Key, error) {
	var t keyText
	if err := json.Unmarshal(texts.Unmarked(text), &t); err != nil || len(t.Key) != keyBytes {
		return nil, fmt.Errorf(`expected the key of a farm's server, {"key": …} with %d bytes in base64`, keyBytes)
	}
	return t.Key, nil
}

// serverKey returns the key of the server with its store in a folder, which must be
// locked, and makes the file if it is missing. The servers of a cluster have one key,
// derived from their common secret.
func serverKey(dir string, c *ClusterOptions, log *slog.Logger) (Key, error) {
	file := filepath.Join(dir, KeyFile)
	var common Key
	if c != nil {
		h := hmac.New(sha256.New, []byte(c.Secret))
		h.Write([]byte("moonfarm farm key"))
		common = h.Sum(nil)
	}
	k, err := ReadKey(file)
	switch {
	case err == nil && (common == nil || hmac.Equal(k, common)):
		WarnReadable(log, file)
		return k, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if k = common; k == nil {
		k = make(Key, keyBytes)
		if _, err := rand.Read(k); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(keyText{k})
	if err != nil {
		return nil, err
	}
	return k, files.WriteSecret(file, append(text, '\n'))
}

// PageToken returns the secret of the page of the server with its store in a folder: the line of its file page.token, which
// it makes if it is missing. So programs that read the page, and open pages, go on after a restart.
func PageToken(dir string, log *slog.Logger) (string, error) {
	file := filepath.Join(dir, "page.token")
	text, err := readSecret(file)
	if errors.Is(err, fs.ErrNotExist) {
		token := access.NewToken()
		return token, files.WriteSecret(file, []byte(token+"\n"))
	}
	token := strings.TrimSpace(string(text))
	if err == nil && len(token) < leastToken {
		err = fmt.Errorf("%s: expected a secret of %d characters or more; without the file the server makes one", file, leastToken)
	}
	WarnReadable(log, file)
	return token, err
}

// leastToken is the least number of characters of a secret of PageToken.
const leastToken = 20

// maxSecret is the largest size in bytes of a file with the credentials of one client.
const maxSecret = 64 << 10

// readSecret reads a file with credentials; "-" is standard input.
func readSecret(file string) ([]byte, error) {
	var f fs.File = os.Stdin
	if file != "-" {
		var err error
		if f, err = files.Open(file); err != nil {
			return nil, err
		}
		defer f.Close()
	}
	text, err := bounded.Read(f, maxSecret)
	if err != nil {
		err = fmt.Errorf("%s: expected credentials: %w", file, err)
	}
	return text, err
}

// WarnReadable logs a warning if others than its owner can read a file of secrets.
func WarnReadable(log *slog.Logger, file string) {
	if file == "" || file == "-" || runtime.GOOS == "windows" { // modes mean nothing on Windows
		return
	}
	if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o044 != 0 {
		log.Warn("other accounts of this machine can read a file of secrets: set its mode to 600, and change the secrets if others had access",
			"file", file, "mode", fmt.Sprintf("%03o", info.Mode().Perm()))
	}
}

// Commands find a server of the same user on loopback by its port: a file named after the
// port in the user's cache folder has the path of the server's key.

// noteFile returns the file of a port.
func noteFile(port string) (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "moonfarm", "farm", "servers", port), err
}

// NoteKey records where the key of a server is, for FindKey. The returned function removes the
// record.
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
	if err := files.WriteSecret(file, []byte(key)); err != nil {
		return nil, err
	}
	return func() {
		if text, err := bounded.ReadFile(files.OpenRegular, file, maxSecret); err == nil && string(text) == key {
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
		if !access.Loopback(u.Hostname()) {
			continue
		}
		file, err := noteFile(cmp.Or(u.Port(), "4222"))
		if err != nil {
			return ""
		}
		if text, err := bounded.ReadFile(files.OpenRegular, file, maxSecret); err == nil {
			if _, err := os.Stat(string(text)); err == nil {
				return string(text)
			}
		}
	}
	return ""
}
