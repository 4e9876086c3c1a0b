package farm

import (
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// gate decides which clients may connect to a server, and the rights of each. It
// implements server.Authentication.
type gate struct {
	inside string // password of connections within this process
	key    Key    // nil: the server does not listen
}

// Check admits a client with the rights of its role.
func (g *gate) Check(c server.ClientAuthentication) bool {
	if c.Kind() != server.CLIENT {
		return false
	}
	o := c.GetOpts()
	if o.Username == insideUser && subtle.ConstantTimeCompare([]byte(o.Password), []byte(g.inside)) == 1 {
		return true
	}
	role, name := clientOf(o.Name)
	rights, err := rightsOf(role, name)
	if err != nil || !g.derived(o.Nkey, role, name) || !signed(o.Nkey, o.Sig, c.GetNonce()) {
		return false
	}
	c.RegisterUser(&server.User{Username: name, Permissions: rights})
	return true
}

// derived reports whether a public key is derived from the server's key for a role and a name.
func (g *gate) derived(public, role, name string) bool {
	if g.key == nil || checkName(name) != nil {
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

// clientName returns the name of a connection, which tells the server who connects:
// "moonfarm ROLE NAME", or "moonfarm NAME" for credentials of another NATS server.
func clientName(role, name string) string {
	if role != "" {
		name = role + " " + name
	}
	return "moonfarm " + name
}

// clientOf parses a clientName with a role.
func clientOf(text string) (role, name string) {
	if words := strings.Split(text, " "); len(words) == 3 {
		return words[1], words[2]
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
		return nil, fmt.Errorf("role %q, expected worker, operator or coordinator", role)
	}
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{say}},
		Subscribe: &server.SubjectPermission{Allow: []string{roleInbox(role, name) + ".>"}},
	}, nil
}
