package full

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/command"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/cmd/moonfarm/internal/viewer"
	"moonfarm/datasets"
	"moonfarm/rollout/farm"
	"moonfarm/rollout/farm/places"
	"moonfarm/rollout/farm/web"
	"moonfarm/rollout/filelock"
	"moonfarm/rollout/files"
	"moonfarm/sim/bounded"
	"moonfarm/sim/texts"
)

// farmServeFlags are the flags of farm serve.
type farmServeFlags struct {
	connectFlags
	logFlags
	store, listen string
	allow         []string // of --allow-out
	cluster       farm.ClusterOptions
	clusterSecret string // a file
	replicas      int
	audit         float64
	page          web.Options
	pagePassword  string // a file
}

// served has the addresses of a server. Its JSON keys are documented in the help.
type served struct {
	URL    string `json:"url"`
	Key    string `json:"key,omitempty"`
	HTTP   string `json:"http,omitempty"`
	Health string `json:"health,omitempty"`
}

// serveDoc is the help of farm serve.
const serveDoc = `Serves a farm until it is stopped: a NATS server with JetStream keeps runs,
shards and workers in a folder, and a coordinator hands out shards, has a sample
of them made again, and completes datasets. After a stop or a kill, the same
command continues. With --connect, NATS servers that run elsewhere keep the
state; several coordinators may then serve, one of which acts.

All connections need credentials, also on this machine. The server's key is in
the file key.json of its store, readable only by its owner. If the server is on
loopback, farm submit, worker, status, cancel and retry of the same user find
the key; farm credentials makes credentials for others from it. With --tls-ca
clients need a certificate that it signed, too. Beyond loopback the server needs
--tls-cert and --tls-key, and the page of --http needs them and a user with a
password.

Outputs must be below an --allow-out, which may be given several times: a folder
or a URL with all options of the outputs except region, timeout and
use_path_style, such as 's3://bucket/runs?endpoint=https://HOST:PORT'. Without
--allow-out they must be below the current folder.

--http serves a page with runs, workers, failures and audits, and /status.json,
/metrics for Prometheus, /healthz and /readyz. All but the last two need a user
and a password (--http-user) or, without one, the secret in the printed address:
a browser opens that address, and a program sends the secret in the header
Authorization: Bearer. The secret stays the same: it is in the file page.token
of the store. With --connect each start has another one. --health serves
/healthz and /readyz at an address of their own, to everybody, so that a full
page cannot delay a probe.

SIGTERM and Ctrl-C end it with status 0.

With --json: one object, when it listens, with the keys url (where clients
connect), key (the file with the key), http (of the page, with the secret) and
health (of --health).`

func (a *app) farmServe() *cobra.Command {
	f := &farmServeFlags{replicas: 1}
	c := &cobra.Command{
		Use: "serve --store DIR", Short: "Keep runs and hand out their shards",
		Long: serveDoc,
		Example: `  moonfarm-full farm serve --store farm --http 127.0.0.1:8080 --allow-out s3://bucket
  moonfarm-full farm serve --store farm --listen 0.0.0.0:4222 --tls-cert cert.pem --tls-key key.pem --allow-out /mnt/data`,
		Args: console.Takes(),
		RunE: func(c *cobra.Command, _ []string) error { return a.runFarmServe(c.Context(), f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.store, "store", "", "`DIR` of the state; made if missing")
	flags.StringVar(&f.listen, "listen", defaultServer, "`ADDR`, HOST:PORT, for workers and clients; port 0: any")
	flags.StringArrayVar(&f.allow, "allow-out", nil, "`PREFIX` of outputs, a folder or a URL (default: the current folder)")
	f.connectFlags.add(c, "")
	flags.StringVar(&f.cluster.Name, "cluster-name", "", "`NAME` of this server among several that keep the state together")
	flags.StringVar(&f.cluster.Listen, "cluster-listen", "", "`ADDR`, HOST:PORT, for the other servers")
	flags.StringSliceVar(&f.cluster.Routes, "cluster-routes", nil, "`ADDRS`, HOST:PORT, of the other servers, with commas")
	flags.StringVar(&f.clusterSecret, "cluster-secret-file", "", "`FILE` with the common password of the servers")
	flags.Var(console.Whole(&f.replicas, 1, 5), "replicas", "number of servers that keep each part of the state")
	auditFlag(c, &f.audit)
	a.LockFlag(c, "the folder of the state")
	flags.StringVar(&f.page.Listen, "http", "", "`ADDR`, HOST:PORT, of the page")
	flags.StringVar(&f.page.Health, "health", "", "`ADDR`, HOST:PORT, of /healthz and /readyz alone")
	viewer.HostFlag(c, &f.page.Hosts)
	flags.StringVar(&f.page.User, "http-user", "", "`NAME` of the user of the page")
	flags.StringVar(&f.pagePassword, "http-password-file", "", "`FILE` with the password of that user")
	flags.BoolVar(&f.page.Profile, "pprof", false, "serve /debug/pprof/ beside the page")
	f.logFlags.add(c, slog.LevelInfo)
	return c
}

// check refuses flags that exclude each other, and reads passwords.
func (f *farmServeFlags) check() (err error) {
	remote := f.url != ""
	switch {
	case f.store == "" && !remote:
		return console.WrongUse("--store is missing: the folder of the state, such as --store farm")
	case f.store != "" && remote:
		return console.WrongUse("--store and --connect: the state is kept here or elsewhere, expected one of them")
	case remote && f.cluster.Name != "":
		return console.WrongUse("--connect: --cluster-name is for a server in this process")
	case (f.cluster.Name == "") != (f.cluster.Listen == ""):
		return console.WrongUse("--cluster-name and --cluster-listen: expected both or none")
	case f.page.Listen == "" && (f.page.User != "" || f.page.Profile || f.page.Health != ""):
		return console.WrongUse("--http is missing: the address of the page, such as --http 127.0.0.1:8080")
	case (f.page.User == "") != (f.pagePassword == ""):
		return console.WrongUse("--http-user and --http-password-file: expected both or none")
	}
	if remote {
		err = f.connectFlags.check()
	} else {
		err = errors.Join(address("listen", f.listen), f.checkTLS())
	}
	if err == nil && f.page.Listen != "" {
		err = address("http", f.page.Listen)
	}
	if err == nil && f.page.Health != "" {
		err = address("health", f.page.Health)
	}
	for _, p := range []struct {
		file string
		to   *string
	}{{f.pagePassword, &f.page.Password}, {f.clusterSecret, &f.cluster.Secret}} {
		if err == nil && p.file != "" {
			*p.to, err = firstLine(p.file)
		}
	}
	return err
}

// firstLine reads a password from the first line of a file.
func firstLine(file string) (string, error) {
	text, err := bounded.ReadFile(files.Open, file, 4096)
	line, _, _ := strings.Cut(texts.Unmarked(string(text)), "\n")
	line = strings.TrimSuffix(line, "\r")
	if err == nil && line == "" {
		err = fmt.Errorf("%s: expected a password in its first line", file)
	}
	return line, err
}

func (a *app) runFarmServe(ctx context.Context, f *farmServeFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	allow, err := places.Allow(f.allow)
	if err != nil {
		return console.WrongUse("--allow-out: %w", err)
	}
	a.lingers(0)
	log := a.logger(&f.logFlags)
	farm.WarnReadable(log, f.pagePassword)
	o := f.options(farm.RoleCoordinator, "", log)
	at := served{URL: f.url}
	if f.url == "" {
		s, forget, err := f.serveHere(&at, log, &a.Locks)
		if err != nil {
			return err
		}
		defer s.Close()
		defer forget()
		o = farm.ConnectOptions{Server: s, Name: f.cluster.Name, Log: log}
	}
	c, err := farm.Connect(ctx, o)
	if err != nil {
		return err
	}
	defer c.Close()
	if f.page.Listen != "" {
		if f.url == "" { // with --connect it is a client's certificate
			f.page.Cert, f.page.Key = f.cert, f.key
		}
		if f.url == "" && f.page.User == "" {
			if f.page.Token, err = farm.PageToken(f.store, log); err != nil {
				return err
			}
		}
		f.page.Log = log
		p, err := web.Serve(f.page, farm.NewClient(c))
		if err != nil {
			return err
		}
		defer p.Close()
		at.HTTP, at.Health = p.URL(), p.HealthURL()
	}
	if err := a.Print(at, func() { a.printServed(at) }); err != nil {
		return err
	}
	if err := a.Out.Flush(); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return farm.Coordinate(ctx, c, farm.CoordinatorOptions{
		Version: datasets.Version, Open: allow.Guard(a.openShards), Within: allow.Within, Replicas: f.replicas, Audit: f.audit, Server: o.Server, Log: log,
	})
}

// serveHere starts a server in this process. Other commands of this user find its key
// until forget is called.
func (f *farmServeFlags) serveHere(at *served, log *slog.Logger, locks *filelock.Locker) (s *farm.Server, forget func(), err error) {
	so := farm.ServerOptions{Dir: f.store, Listen: f.listen, Cert: f.cert, Key: f.key, CA: f.ca, Log: log, Locks: locks}
	if f.cluster.Name != "" {
		so.Cluster = &f.cluster
		farm.WarnReadable(log, f.clusterSecret)
	}
	if s, err = farm.Serve(so); err != nil {
		return nil, nil, err
	}
	at.URL, at.Key = s.URL(), filepath.Join(f.store, farm.KeyFile)
	if forget, err = farm.NoteKey(at.URL, at.Key); err != nil {
		log.Warn("other commands do not find this server's key by themselves: give them --credentials", "file", at.Key, "err", err)
		forget = func() {}
	}
	return s, forget, nil
}

func (a *app) printServed(at served) {
	a.Printf("serving at %s\n", at.URL)
	if at.HTTP != "" {
		a.Printf("page at %s\n", at.HTTP)
	}
}

// farmWorkerFlags are the flags of farm worker.
type farmWorkerFlags struct {
	connectFlags
	logFlags
	workers int
	name    string
	allow   []string // of --allow-out
	grace   time.Duration
}

func (a *app) farmWorker() *cobra.Command {
	f := &farmWorkerFlags{}
	c := &cobra.Command{
		Use: "worker --connect URL", Short: "Make shards for a farm",
		Long: `Makes shards that a server hands out, one per core at a time, until it is
stopped. It waits for a server that has not started yet, and reconnects to a
server that was restarted. It must have the server's version, and reach the
outputs of the runs, such as a bucket whose credentials are in its environment.
It writes below the places that the server allows, or, with --allow-out, only
below those.

It finds the key of a server of the same user on this machine. For another
server, farm credentials prints credentials there.

After SIGTERM or Ctrl-C it finishes the shards in hand, or hands them back when
--grace is over, and ends with status 0. If it is killed, other workers get its
shards after half a minute.`,
		Example: `  moonfarm-full farm worker --connect nats://127.0.0.1:4222
  moonfarm-full farm worker --connect tls://farm.example:4222 --tls-ca ca.pem --credentials worker7.json --allow-out /mnt/data`,
		Args: console.Takes(),
		RunE: func(c *cobra.Command, _ []string) error { return a.runFarmWorker(c.Context(), f) },
	}
	f.connectFlags.add(c, "")
	console.WorkersFlag(c, &f.workers)
	a.LockFlag(c, "folders")
	c.Flags().StringVar(&f.name, "name", "", "`NAME` of the worker in the farm, if the credentials have none (default: made of host and process)")
	c.Flags().StringArrayVar(&f.allow, "allow-out", nil, "`PREFIX` of outputs, a folder or a URL as for farm serve (default: all that the server allows)")
	a.graceFlag(c, &f.grace)
	f.logFlags.add(c, slog.LevelInfo)
	return c
}

func (a *app) runFarmWorker(ctx context.Context, f *farmWorkerFlags) error {
	if f.url == "" {
		return console.WrongUse("--connect is missing: the URL of the server, such as --connect nats://%s", defaultServer)
	}
	if err := f.check(); err != nil {
		return err
	}
	open := places.Obey(a.openShards)
	if len(f.allow) > 0 {
		allow, err := places.Allow(f.allow)
		if err != nil {
			return console.WrongUse("--allow-out: %w", err)
		}
		open = allow.Guard(a.openShards)
	}
	defer command.SaveMemory()()
	a.lingers(f.grace)
	log := a.logger(&f.logFlags)
	c, err := farm.Connect(ctx, f.options(farm.RoleWorker, f.name, log))
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer c.Close()
	log.Info("working", "worker", c.Name(), "url", f.url, "at_once", f.workers)
	err = farm.Work(ctx, c, farm.WorkerOptions{Version: datasets.Version, Slots: f.workers, Open: open, Grace: f.grace, Log: log})
	if errors.Is(err, console.ErrInterrupted) {
		return nil
	}
	return err
}

// farmCredentialsFlags are the flags of farm credentials.
type farmCredentialsFlags struct {
	url, key, name, role string
}

func (a *app) farmCredentials() *cobra.Command {
	f := &farmCredentialsFlags{role: farm.RoleWorker}
	c := &cobra.Command{
		Use: "credentials --name NAME", Short: "Print credentials for another machine or person",
		Long: `Prints credentials, one line of JSON, which give their holder a name and the
rights of a role. A worker may make shards, under its own name only; an operator
may submit, look at, cancel and retry runs. A coordinator in another process
(farm serve --connect) takes the key itself as --credentials.

Credentials are derived from the server's key, which is in the file key.json of
its store. Without --credentials the key is that of a server of the same user on
this machine, found by the port of --connect. Credentials are valid as long as
the key: a server that is started without its key makes a new one.

Give each worker a name of its own, and pass the line on without showing it to
others, such as through the standard input of ssh:

  moonfarm-full farm credentials --name m2 | ssh -R 4223:127.0.0.1:4222 m2 \
    moonfarm-full farm worker --connect nats://127.0.0.1:4223 --credentials -`,
		Example: `  moonfarm-full farm credentials --name worker7 > worker7.json
  moonfarm-full farm credentials --name anna --role operator --credentials farm/key.json > anna.json`,
		Args: console.Takes(),
		RunE: func(*cobra.Command, []string) error { return a.runFarmCredentials(f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.name, "name", "", "`NAME` of the holder in the farm")
	flags.Var(console.Choice(&f.role, farm.RoleWorker, farm.RoleOperator), "role", "rights of the holder")
	flags.StringVar(&f.url, "connect", "nats://"+defaultServer, "`URL` of the server")
	flags.StringVar(&f.key, "credentials", "", "`FILE` with the server's key, STORE/"+farm.KeyFile)
	return c
}

func (a *app) runFarmCredentials(f *farmCredentialsFlags) error {
	if f.name == "" {
		return console.WrongUse("--name is missing: the name of the worker or person, such as --name worker7")
	}
	if f.key == "" {
		if f.key = farm.FindKey(f.url); f.key == "" {
			return fmt.Errorf("no server of this user is known at %s: expected --credentials STORE/%s, the key in the server's store", f.url, farm.KeyFile)
		}
	}
	key, err := farm.ReadKey(f.key)
	if err != nil {
		return err
	}
	text, err := key.Credentials(f.role, f.name)
	if err != nil {
		return err
	}
	a.Text(string(text))
	return nil
}
