package farm

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"moonfarm/rollout/access"
	"moonfarm/rollout/filelock"
	"moonfarm/rollout/files"
)

// ServerOptions configure an embedded server: its store and its clients.
type ServerOptions struct {
	Dir    string // of the store; made if missing
	Listen string // host:port, port 0 for any free one; "" serves only this process
	// Cert and Key are files of TLS. With CA, clients must present a certificate that it signed.
	Cert, Key, CA string
	Cluster       *ClusterOptions
	Log           *slog.Logger
	Locks         *filelock.Locker // keeps other servers out of Dir; nil: the zero Locker
}

// ClusterOptions join several servers into one cluster.
type ClusterOptions struct {
	Name   string   // of this server; each has its own
	Listen string   // host:port for the other servers
	Routes []string // host:port of the other servers
	Secret string   // the servers' common password; their common Key is derived from it
}

// Server is an embedded NATS server with JetStream.
type Server struct {
	s         *server.Server
	gate      *gate  // admits clients
	dir       string // of the store
	clustered bool
	unlock    func() // releases the lock of the store
	log       *slog.Logger
	lines     chan string // for the coordinator in this process

	living    context.Context // done when the server is to stop
	end       context.CancelFunc
	why       atomic.Pointer[string]                  // why nothing can be written
	last      atomic.Pointer[string]                  // the last reason
	failed    atomic.Int64                            // number of failed writes
	fatal     atomic.Pointer[string]                  // why the server cannot start
	endTerm   atomic.Pointer[context.CancelCauseFunc] // ends the coordinator's term
	reopening sync.WaitGroup
	reopened  time.Time // time of the last reopening
	pause     backoff   // before the next reopening

	mu     sync.Mutex
	logged map[string]int // counts of lines by their kind
}

// insideUser is the user name of connections from this process.
const insideUser = "inside"

// maxPayload is the largest size of a message in bytes.
const maxPayload = 4 << 20

// Limits of JetStream: only the disk limits the store.
const (
	maxStore     = 1 << 50
	maxMemory    = 1 << 30
	syncInterval = 10 * time.Second
)

func newServer(o *ServerOptions) *Server {
	s := &Server{gate: &gate{inside: rand.Text()}, dir: o.Dir, clustered: o.Cluster != nil, log: logger(o.Log), lines: make(chan string, maxEvents), logged: map[string]int{}}
	s.living, s.end = context.WithCancel(context.Background())
	return s
}

// Serve starts a server. It admits only clients with credentials from its Key, which it keeps in
// KeyFile. It refuses to listen beyond loopback without TLS.
func Serve(o ServerOptions) (*Server, error) {
	s := newServer(&o)
	so, err := s.options(&o)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil { // specs, records and the key are secret
		return nil, fmt.Errorf("server: %w", err)
	}
	s.unlock, err = o.Locks.Lock(o.Dir, false)
	if errors.Is(err, filelock.ErrHeld) {
		err = fmt.Errorf("%s: another server has its store there%s", o.Dir, filelock.Detail(err))
	}
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if o.Listen != "" {
		if s.gate.key, err = serverKey(o.Dir, o.Cluster, s.log); err != nil {
			s.unlock()
			return nil, fmt.Errorf("server: %w", err)
		}
	}
	if s.s, err = server.NewServer(so); err != nil {
		s.unlock()
		return nil, fmt.Errorf("server: %w", err)
	}
	s.s.SetLogger(&serverLog{s}, false, false)
	s.s.Start()
	if err := s.ready(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// ready waits until the server listens and its store is open.
func (s *Server) ready() error {
	for begun := time.Now(); !s.s.ReadyForConnections(100 * time.Millisecond); {
		if why := s.fatal.Load(); why != nil {
			return fmt.Errorf("server with its store in %s: %s", s.dir, *why)
		}
		if time.Since(begun) > time.Minute {
			return fmt.Errorf("server: it does not start to listen, or its store in %s does not open", s.dir)
		}
	}
	return nil
}

// URL returns the address where clients connect, "" if the server does not listen.
func (s *Server) URL() string { return s.s.ClientURL() }

// Close stops the server; acknowledged messages are kept.
func (s *Server) Close() {
	s.end()
	s.reopening.Wait()
	s.s.Shutdown()
	s.s.WaitForShutdown()
	s.unlock()
}

func (s *Server) options(o *ServerOptions) (*server.Options, error) {
	so := &server.Options{
		ServerName: "moonfarm", JetStream: true, StoreDir: o.Dir, SyncInterval: syncInterval,
		DontListen: o.Listen == "", NoSigs: true, MaxPayload: maxPayload, MaxConn: 200_000,
		PingInterval: 20 * time.Second, WriteDeadline: 10 * time.Second,
		JetStreamMaxStore: maxStore, JetStreamMaxMemory: maxMemory,
		CustomClientAuthentication: s.gate, AlwaysEnableNonce: true, AuthTimeout: 15,
	}
	if o.Dir == "" {
		return nil, errors.New("server: no folder for the store")
	}
	config, err := o.tls()
	if err != nil {
		return nil, err
	}
	if o.Listen != "" {
		if so.Host, so.Port, err = listenOn(o.Listen, o.Cert != ""); err != nil {
			return nil, err
		}
		if config != nil {
			so.TLS, so.TLSConfig, so.TLSTimeout, so.TLSVerify = true, config, 5, o.CA != ""
		}
	}
	WarnReadable(s.log, o.Key)
	if c := o.Cluster; c != nil {
		if c.Secret == "" {
			return nil, errors.New("cluster: no secret: without one anybody who reaches the port joins the cluster with all rights")
		}
		so.ServerName = c.Name
		so.Cluster = server.ClusterOpts{Name: "moonfarm", Username: "route", Password: c.Secret, TLSConfig: config, TLSTimeout: 5}
		if so.Cluster.Host, so.Cluster.Port, err = listenOn(c.Listen, o.Cert != ""); err != nil {
			return nil, fmt.Errorf("cluster: %w", err)
		}
		for _, r := range c.Routes {
			so.Routes = append(so.Routes, &url.URL{Scheme: "nats", Host: r, User: url.UserPassword("route", c.Secret)})
		}
	}
	return so, nil
}

// listenOn splits an address. It refuses an address beyond loopback unless safe is set.
func listenOn(address string, safe bool) (host string, port int, err error) {
	host, p, err := net.SplitHostPort(address)
	if err == nil {
		port, err = strconv.Atoi(p)
	}
	if err != nil {
		return "", 0, fmt.Errorf("listen on %q: expected host:port: %w", address, err)
	}
	if !safe && !access.Loopback(host) {
		return "", 0, fmt.Errorf("listen on %q: beyond loopback a farm needs TLS (certificate and key)", address)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	return host, port, nil
}

// tls reads the certificates; it returns nil if there are none.
func (s *ServerOptions) tls() (*tls.Config, error) {
	if s.Cert == "" {
		return nil, nil
	}
	if err := files.CheckRegular(s.Cert, s.Key, s.CA); err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	config, err := server.GenTLSConfig(&server.TLSConfigOpts{CertFile: s.Cert, KeyFile: s.Key, CaFile: s.CA, Verify: s.CA != ""})
	if err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	return config, nil
}
