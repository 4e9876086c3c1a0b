package farm

import (
	"crypto/subtle"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
	"golang.org/x/crypto/bcrypt"

	"moonfarm/rollout/files"
	"moonfarm/sim/bounded"
	"moonfarm/sim/texts"
)

// gate decides which clients may connect to a server, and the rights of each. It
// implements server.Authentication.
type gate struct {
	inside string           // password of connections within this process
	key    Key              // nil: the server does not listen
	users  map[string]*user // by name
	nkeys  map[string]*user // by public key
	// certified lets clients without credentials connect: TLS has checked their
	// certificates, and there is no file of users.
	certified bool
}

// user is one entry of a file of users.
type user struct {
	Name     string `json:"name"`
	Role     string `json:"role"`
	Password string `json:"password"`
	Nkey     string `json:"nkey"`
}

// read reads a file of users.
func (g *gate) read(file string) error {
	text, err := bounded.ReadFile(files.Open, file, bounded.Config)
	if err != nil {
		return err
	}
	var list struct {
		Users []user `json:"users"`
	}
	if err := json.Unmarshal(texts.Unmarked(text), &list); err != nil {
		return err
	}
	g.users, g.nkeys = map[string]*user{}, map[string]*user{}
	for i := range list.Users {
		u := &list.Users[i]
		if err := checkName(u.Name); err != nil || u.Name == insideUser {
			return fmt.Errorf("user %q: not a name for a user: %v", u.Name, err)
		}
		_, err := rightsOf(u.Role, u.Name)
		switch {
		case err != nil:
			return fmt.Errorf("user %s: %w", u.Name, err)
		case (u.Password == "") == (u.Nkey == ""):
			return fmt.Errorf("user %s: want a password or an nkey", u.Name)
		case g.users[u.Name] != nil:
			return fmt.Errorf("user %s: the name occurs twice; an inbox belongs to one user", u.Name)
		case u.Nkey != "" && !nkeys.IsValidPublicUserKey(u.Nkey):
			return fmt.Errorf("user %s: the nkey is not the public key of a user", u.Name)
		case u.Nkey != "":
			g.nkeys[u.Nkey] = u
		}
		g.users[u.Name] = u
	}
	return nil
}

// Check admits a client with the rights of its role.
func (g *gate) Check(c server.ClientAuthentication) bool {
	if c.Kind() != server.CLIENT {
		return false
	}
	o := c.GetOpts()
	if o.Username == insideUser && same(o.Password, g.inside) {
		return true
	}
	u, rights := g.known(o, c.GetNonce())
	if u == nil && g.certified && o.Nkey == "" && o.Username == "" && o.Token == "" {
		name, _ := clientOf(o.Name)
		u, rights = certified(c.GetTLSConnectionState(), name)
	}
	if u == nil {
		return false
	}
	c.RegisterUser(&server.User{Username: u.Name, Permissions: rights})
	return true
}

// known returns the user of a client and its rights; a nil user means that the client is refused.
func (g *gate) known(o *server.ClientOpts, nonce []byte) (*user, *server.Permissions) {
	name, role := clientOf(o.Name)
	var u *user
	var in string // the client's inbox
	switch {
	case o.Nkey != "" && g.nkeys[o.Nkey] != nil:
		u = g.nkeys[o.Nkey]
		in = inbox(u.Name)
	case o.Nkey != "" && g.key != nil && role != "" && g.users[name] == nil && g.derived(o.Nkey, role, name):
		u = &user{Name: name, Role: role}
		in = roleInbox(role, name)
	case o.Nkey == "" && g.users[o.Username] != nil && g.users[o.Username].Nkey == "":
		u = g.users[o.Username]
		if !knowsPassword(u.Password, o.Password) {
			return nil, nil
		}
		in = inbox(u.Name)
	}
	if u == nil || o.Nkey != "" && !signed(o.Nkey, o.Sig, nonce) {
		return nil, nil
	}
	rights, err := rightsOf(u.Role, u.Name)
	if err != nil {
		return nil, nil
	}
	if rights != nil {
		rights.Subscribe.Allow = []string{in + ".>"}
	}
	return u, rights
}

// derived reports whether a public key is derived from the server's key for a role and a name.
func (g *gate) derived(public, role, name string) bool {
	if _, err := rightsOf(role, name); err != nil || checkName(name) != nil {
		return false
	}
	pair, err := g.key.pair(role, name)
	if err != nil {
		return false
	}
	p, err := pair.PublicKey()
	return err == nil && p == public
}

// signed reports whether the owner of a public key signed the nonce.
func signed(public, sig string, nonce []byte) bool {
	raw, err := base64.RawURLEncoding.DecodeString(sig)
	if err != nil {
		return false
	}
	key, err := nkeys.FromPublicKey(public)
	return err == nil && len(nonce) > 0 && key.Verify(nonce, raw) == nil
}

// knowsPassword compares a password with the expected one, which may be a bcrypt hash.
func knowsPassword(want, got string) bool {
	if strings.HasPrefix(want, "$2") {
		return bcrypt.CompareHashAndPassword([]byte(want), []byte(got)) == nil
	}
	return same(want, got)
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// clientName returns the name of a connection, which tells the server who connects:
// "moonfarm NAME", or "moonfarm ROLE NAME" for credentials from a Key.
func clientName(role, name string) string {
	if role != "" {
		name = role + " " + name
	}
	return "moonfarm " + name
}

// clientOf parses a clientName.
func clientOf(text string) (name, role string) {
	switch words := strings.Split(text, " "); len(words) {
	case 2:
		return words[1], ""
	case 3:
		return words[2], words[1]
	}
	return "", ""
}

// rightsOf returns the subjects that a role may use, nil for all. A worker publishes under
// its own name only; neither a worker nor an operator has any right to JetStream.
func rightsOf(role, name string) (*server.Permissions, error) {
	say := ""
	switch role {
	case RoleCoordinator:
		return nil, nil
	case RoleWorker:
		say = workerSubject + "*." + name
	case RoleOperator:
		say = clientSubject + "*"
	default:
		return nil, fmt.Errorf("role %q, want worker, operator or coordinator", role)
	}
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{say}},
		Subscribe: &server.SubjectPermission{Allow: []string{inbox(name) + ".>"}},
	}, nil
}

// certified returns the user of a client that has only a certificate, and its rights. A
// certificate whose subject has a role as an organizational unit (OU) has the rights of
// that role under its common name (CN). Any other certificate gives the rights of an operator
// and of a worker under the client's own name.
func certified(state *tls.ConnectionState, name string) (*user, *server.Permissions) {
	if state == nil || len(state.PeerCertificates) == 0 || checkName(name) != nil {
		return nil, nil
	}
	subject := state.PeerCertificates[0].Subject
	for _, role := range subject.OrganizationalUnit {
		if rights, err := rightsOf(role, name); err == nil {
			if name != subject.CommonName {
				return nil, nil
			}
			return &user{Name: name, Role: role}, rights
		}
	}
	return &user{Name: name}, &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{workerSubject + "*." + name, clientSubject + "*"}},
		Subscribe: &server.SubjectPermission{Allow: []string{inbox(name) + ".>"}},
	}
}
