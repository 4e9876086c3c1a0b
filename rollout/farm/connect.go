package farm

import (
	"cmp"
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"moonfarm/rollout/files"
	"moonfarm/rollout/redact"
	"moonfarm/sim/texts"
)

// ConnectOptions say where the server is and who connects.
type ConnectOptions struct {
	URL    string  // nats:// or tls://host:port, several with commas; or
	Server *Server // in this process, with all rights
	Name   string  // name of the client, if the credentials have none; "" is the host's name and the process id
	// Credentials is a file, "-" for standard input: JSON with name and seed (of an nkey), and
	// role if a Key has given them; or the server's KeyFile; or a NATS .creds file.
	Credentials   string
	Find          bool   // if Credentials is "", look for the key of this user's server on this machine before each try
	Role          string // RoleWorker and so on, with a KeyFile; "" is RoleOperator
	CA, Cert, Key string // files: the CA of the server's certificate; the client's certificate and key
	Log           *slog.Logger
}

// Conn is a connection to a farm's server.
type Conn struct {
	nc     *nats.Conn
	name   string
	role   string // "" if the credentials do not come from a Key
	seed   []byte // of the nkey, if the credentials come from a Key
	key    Key    // the server's key, nil if it is not known here
	inbox  string // subject of answers
	where  string
	log    *slog.Logger
	denied atomic.Pointer[error] // the last thing that the server denied

	mu     sync.Mutex
	asking map[*question]bool
}

// question is a request whose answer is awaited.
type question struct {
	subject string
	end     context.CancelCauseFunc
}

// credentials is a file of a client.
type credentials struct {
	Name string `json:"name"`
	Role string `json:"role,omitempty"`
	Seed string `json:"seed"`
}

// Connect connects to a server. While there is none, it retries until ctx is done. It fails if the
// server refuses the credentials. The connection is restored automatically if it is lost later.
func Connect(ctx context.Context, o ConnectOptions) (*Conn, error) {
	c := &Conn{name: o.Name, where: redact.Text(o.URL), log: logger(o.Log), asking: map[*question]bool{}}
	find := o.Find && o.Credentials == ""
	for b, begun := (backoff{100 * time.Millisecond, 5 * time.Second}), time.Now(); ; {
		if find {
			o.Credentials = FindKey(o.URL)
		}
		opts, err := c.options(&o)
		if err != nil {
			return nil, err
		}
		c.nc, err = nats.Connect(o.URL, opts...)
		switch {
		case err == nil:
			return c, nil
		case errors.Is(err, nats.ErrAuthorization) && find && time.Since(begun) < settling:
			// The server may have just started, and its file of credentials does not exist yet.
		case errors.Is(err, nats.ErrAuthorization) && o.Server == nil:
			return nil, fmt.Errorf("connect to %s: %w: the server does not know %s", c.where, err, c.presented(&o))
		case !temporary(err):
			return nil, fmt.Errorf("connect to %s: %w", c.where, err)
		case b.next == 200*time.Millisecond: // the second time
			c.log.Warn("no server yet", "url", c.where, "err", err)
		}
		if !b.pause(ctx) {
			return nil, fmt.Errorf("connect to %s: %w", c.where, err)
		}
	}
}

// settling is the time for which a client that looks for its credentials retries after a refusal.
const settling = 2 * time.Second

// presented describes the credentials with which a client asked to connect.
func (c *Conn) presented(o *ConnectOptions) string {
	switch {
	case o.Credentials == "":
		return "a client without credentials; they come from moonfarm-full farm credentials, beside the server"
	case c.role != "":
		return fmt.Sprintf("the %s %s with the credentials of %s", c.role, c.name, o.Credentials)
	}
	return fmt.Sprintf("%s with the credentials of %s", c.name, o.Credentials)
}

// temporary reports whether an error of connecting means only that the server has not started yet
// or has just ended.
func temporary(err error) bool {
	for _, e := range []error{
		nats.ErrNoServers, nats.ErrTimeout, nats.ErrConnectionClosed, os.ErrDeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return strings.Contains(strings.ToLower(err.Error()), "authentication timeout") // a busy machine
}

// options returns the options of the library, and sets the name.
func (c *Conn) options(o *ConnectOptions) ([]nats.Option, error) {
	opts := []nats.Option{
		nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond), nats.ReconnectJitter(500*time.Millisecond, time.Second),
		nats.ReconnectBufSize(-1), nats.PingInterval(20 * time.Second), nats.Timeout(5 * time.Second),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrPermissionViolation) {
				c.deny(err)
				return
			}
			c.log.Warn("connection", "url", c.where, "err", err)
		}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				c.log.Warn("connection lost", "url", c.where, "err", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { c.log.Info("connected again", "url", c.where) }),
	}
	if o.Server != nil {
		c.where = "this process"
		c.key = o.Server.gate.key
		opts = append(opts, nats.InProcessServer(o.Server.s), nats.UserInfo(insideUser, o.Server.gate.inside))
	}
	if c.name == "" {
		c.name = processName()
	}
	if o.Credentials != "" {
		text, err := readSecret(o.Credentials)
		if err != nil {
			return nil, err
		}
		WarnReadable(c.log, o.Credentials)
		opt, err := c.credentials(o, text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Credentials, err)
		}
		opts = append(opts, opt)
	}
	if err := files.CheckRegular(o.CA, o.Cert, o.Key); err != nil {
		return nil, err
	}
	if o.CA != "" {
		opts = append(opts, nats.RootCAs(o.CA))
	}
	if o.Cert != "" {
		opts = append(opts, nats.ClientCert(o.Cert, o.Key))
	}
	if err := checkName(c.name); err != nil {
		return nil, err
	}
	if c.inbox = inbox(c.name); c.role != "" {
		c.inbox = roleInbox(c.role, c.name)
	}
	return append(opts, nats.Name(clientName(c.role, c.name)), nats.CustomInboxPrefix(c.inbox)), nil
}

// processName is the default name of a connection: host and process.
func processName() string {
	host, _ := os.Hostname()
	return strings.Map(func(r rune) rune {
		if nameForm.MatchString(string(r)) {
			return r
		}
		return '-'
	}, fmt.Sprintf("%.40s-%d", host, os.Getpid()))
}

// proven fails if a spec belongs to another run than the requested one, or if the sender
// does not have the key from which the credentials of this worker are derived.
func (c *Conn) proven(run string, a *answer) error {
	switch {
	case a.Spec == nil || a.Spec.ID() != run:
		return fmt.Errorf("%s answers with the spec of another run", c.where)
	case c.seed != nil && !hmac.Equal([]byte(proofOf(c.seed, run)), []byte(a.Proof)):
		return fmt.Errorf("%s does not prove that it has the key of this worker's farm: either another account listens there, "+
			"or the coordinator runs without the key (farm serve --credentials STORE/%s)", c.where, KeyFile)
	}
	return nil
}

// deny ends the requests that the server denies, with an error that names the needed role.
func (c *Conn) deny(err error) {
	err = fmt.Errorf("permission denied at %s: %w", c.where, err)
	c.denied.Store(&err)
	c.mu.Lock()
	defer c.mu.Unlock()
	for q := range c.asking {
		if strings.Contains(err.Error(), `"`+q.subject+`"`) || strings.Contains(err.Error(), `"`+c.inbox) {
			q.end(c.needs(q.subject))
		}
	}
	if len(c.asking) == 0 {
		c.log.Warn("connection", "err", err)
	}
}

// needs returns the error for a client that may not publish to a subject.
func (c *Conn) needs(subject string) error {
	action, name, _ := strings.Cut(strings.TrimPrefix(subject, workerSubject), ".")
	switch {
	case strings.HasPrefix(subject, workerSubject):
		return fmt.Errorf("%w: permission denied at %s: %s may not send %q as a worker: expected credentials with the role worker and the name %s",
			errRefused, c.where, c.name, action, name)
	case strings.HasPrefix(subject, clientSubject):
		return fmt.Errorf("permission denied at %s: %s may not ask for %q: expected credentials with the role operator",
			c.where, c.name, strings.TrimPrefix(subject, clientSubject))
	}
	return fmt.Errorf("permission denied at %s: %s may not publish to %s: expected credentials with the role coordinator", c.where, c.name, subject)
}

// credentials reads the text of a file of credentials; a name in it is the connection's.
func (c *Conn) credentials(o *ConnectOptions, text []byte) (nats.Option, error) {
	if strings.Contains(string(text), "BEGIN NATS USER JWT") {
		if o.Credentials == "-" {
			return nats.UserCredentialBytes(text), nil
		}
		return nats.UserCredentials(o.Credentials), nil
	}
	if key, err := parseKey(text); err == nil {
		c.role, c.key = cmp.Or(o.Role, RoleOperator), key
		if c.seed, err = key.seed(c.role, c.name); err != nil {
			return nil, err
		}
		return signs(c.seed)
	}
	var k credentials
	if err := json.Unmarshal(texts.Unmarked(text), &k); err != nil || k.Name == "" || k.Seed == "" {
		return nil, errors.New(`expected {"name": …, "seed": …} as farm credentials prints it, the key of a server, or a NATS .creds file`)
	}
	c.name = k.Name
	if c.role = k.Role; c.role != "" {
		c.seed = []byte(k.Seed)
	}
	return signs([]byte(k.Seed))
}

// signs proves possession of an nkey without sending it.
func signs(seed []byte) (nats.Option, error) {
	pair, err := nkeys.FromSeed(seed)
	if err != nil {
		return nil, fmt.Errorf("seed: %w", err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("seed: %w", err)
	}
	return nats.Nkey(public, pair.Sign), nil
}

// Name returns the name of the client.
func (c *Conn) Name() string { return c.name }

// Close ends the connection.
func (c *Conn) Close() { c.nc.Close() }

// inbox returns the subject of answers to a name with credentials of another NATS server, which lets
// no other client listen there.
func inbox(name string) string { return "_INBOX_" + name }

// roleInbox returns the inbox of a client with credentials from a Key. A worker and an
// operator with the same name have different ones.
func roleInbox(role, name string) string { return "_INBOX." + role + "." + name }

// logger returns log, or a logger that discards all lines if log is nil.
func logger(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return log
}
