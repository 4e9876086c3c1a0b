package full

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/command"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/datasets"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/farm"
	"moonfarm/rollout/policy"
)

// app is the program, with the commands of the farm.
type app struct{ *console.Console }

// farming makes the command farm.
func farming(of *console.Console) *cobra.Command {
	a := &app{of}
	c := console.Group("farm", "Play episodes on many machines",
		`Makes datasets on many machines: one serves, any number work. The dataset is the
same, byte for byte, as that of generate.

"farm run" does all of this in one process. For several machines "farm serve"
keeps the runs and hands out shards, "farm worker" makes them, on any machine
that reaches the server and the output, and "farm submit" begins a run. Workers
may come and go at any time: the shards of a lost worker go to another one.`)
	for _, sub := range []func() *cobra.Command{
		a.farmRun, a.farmServe, a.farmSubmit, a.farmWorker, a.farmStatus, a.farmCancel, a.farmRetry, a.farmCredentials,
	} {
		c.AddCommand(sub())
	}
	return c
}

// defaultServer is the default address of a server.
const defaultServer = "127.0.0.1:4222"

// connectFlags are the flags for the connection to a server.
type connectFlags struct {
	url, credentials string
	ca, cert, key    string
}

// add adds the flags; without is the default URL.
func (f *connectFlags) add(c *cobra.Command, without string) {
	flags := c.Flags()
	flags.StringVar(&f.url, "connect", without, "`URL` of the server, nats://HOST:PORT or tls://HOST:PORT; several with commas")
	flags.StringVar(&f.credentials, "credentials", "", "`FILE` with the credentials of this client (- for standard input): from farm credentials, or a .creds file of NATS (default: the key of this user's server on this machine, found by the port of --connect)")
	flags.StringVar(&f.ca, "tls-ca", "", "`FILE` with the certificates of authorities that sign the other side's certificate")
	flags.StringVar(&f.cert, "tls-cert", "", "`FILE` with the certificate of this side")
	flags.StringVar(&f.key, "tls-key", "", "`FILE` with the key of that certificate")
}

// check returns an error if the flags are wrong.
func (f *connectFlags) check() error {
	for _, one := range strings.Split(f.url, ",") {
		u, err := url.Parse(one)
		switch {
		case strings.Contains(one, "@"): // not printed, as it holds secrets in any form
			return console.WrongUse("--connect: a URL with a name or password; expected nats://HOST:PORT or tls://HOST:PORT (names and secrets stand in --credentials)")
		case err != nil:
			return console.WrongUse("--connect: %w", err)
		case u.Scheme != "nats" && u.Scheme != "tls" || u.Hostname() == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "":
			return console.WrongUse("--connect %s: expected nats://HOST:PORT or tls://HOST:PORT (names and secrets stand in --credentials)", one)
		}
	}
	return f.checkTLS()
}

func (f *connectFlags) checkTLS() error {
	if (f.cert == "") != (f.key == "") {
		return console.WrongUse("--tls-cert and --tls-key: expected both or none")
	}
	return nil
}

// options returns the options of a connection with a role.
func (f *connectFlags) options(role, name string, log *slog.Logger) farm.ConnectOptions {
	return farm.ConnectOptions{URL: f.url, Role: role, Name: name, Credentials: f.credentials, Find: true,
		CA: f.ca, Cert: f.cert, Key: f.key, Log: log}
}

// reach is the time that a command for people waits for a server.
const reach = 10 * time.Second

// client connects to the server for a few requests.
func (f *connectFlags) client(ctx context.Context, log *slog.Logger) (*farm.Client, func(), error) {
	if err := f.check(); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, reach)
	defer cancel()
	c, err := farm.Connect(ctx, f.options(farm.RoleOperator, "", log))
	if err != nil {
		return nil, nil, err
	}
	return farm.NewClient(c), c.Close, nil
}

// logFlags are the flags for the log on standard error.
type logFlags struct {
	format string
	level  slog.Level
}

func (l *logFlags) add(c *cobra.Command, level slog.Level) {
	l.format, l.level = "text", level
	show := func() string { return strings.ToLower(l.level.String()) }
	words := []string{"debug", "info", "warn", "error"}
	set := func(text string) error {
		if err := l.level.UnmarshalText([]byte(text)); err != nil || show() != text {
			return fmt.Errorf("expected one of: %s", strings.Join(words, ", "))
		}
		return nil
	}
	c.Flags().Var(console.Choice(&l.format, "text", "json"), "log-format", "form of the log on standard error")
	c.Flags().Var(console.Value{Parse: set, Show: show, Kind: strings.Join(words, "|"), Words: words}, "log-level", "least level that is logged")
}

func (a *app) logger(f *logFlags) *slog.Logger {
	o := &slog.HandlerOptions{Level: f.level, ReplaceAttr: withoutSecrets}
	if f.format == "json" {
		return slog.New(slog.NewJSONHandler(a.Stderr, o))
	}
	return slog.New(slog.NewTextHandler(a.Stderr, o))
}

// graceFlag adds --grace.
func (a *app) graceFlag(c *cobra.Command, to *time.Duration) {
	*to = 20 * time.Second
	c.Flags().Var(console.Duration(to), "grace", "time to finish the shards in hand after Ctrl-C or SIGTERM; then they are handed back")
}

// lingers lets an interrupted program wait for the grace period and its cleanup.
func (a *app) lingers(grace time.Duration) { a.SetPatience(grace + 15*time.Second) }

// auditFlag adds --audit.
func auditFlag(c *cobra.Command, to *float64) {
	*to = 0.01
	c.Flags().Var(console.Share(to), "audit", "share of the shards that a second worker makes again, larger for workers without a history; 0: no audits")
}

// address checks a flag that takes host:port.
func address(flag, text string) error {
	if strings.Contains(text, "@") { // not printed, as it may be a password
		return console.WrongUse("--%s: a name or password; expected HOST:PORT, such as %s", flag, defaultServer)
	}
	if _, port, err := net.SplitHostPort(text); err != nil || port == "" {
		return console.WrongUse("--%s %s: expected HOST:PORT, such as %s", flag, text, defaultServer)
	}
	return nil
}

// specFlags are the flags for the dataset of a run and its place.
type specFlags struct {
	command.JobFlags
	out string
}

func (s *specFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&s.out, "out", "", "`URL` or folder of the dataset, which every worker reaches under that name, such as s3://bucket/td")
	s.JobFlags.Add(c)
}

// read makes the spec and opens its shards, so that errors in it are found here and not
// by a worker. The caller closes the shards.
func (s *specFlags) read(ctx context.Context, game string, o datasets.Options) (*farm.Spec, *datasets.Run, error) {
	j, g, err := s.Job(game)
	if err != nil {
		return nil, nil, err
	}
	if s.out == "" {
		return nil, nil, console.WrongUse("--out is missing: the URL or folder to write, such as --out data/%s", game)
	}
	out := s.out
	if !console.IsURL(out) {
		if out, err = filepath.Abs(out); err != nil {
			return nil, nil, err
		}
	}
	r, err := datasets.OpenRun(ctx, out, j, command.Makers(g), o)
	if err != nil {
		return nil, nil, err
	}
	j.Policies = r.Policies() // the files of networks are in the output now
	text, err := json.Marshal(j)
	if err != nil {
		return nil, nil, errors.Join(err, r.Close())
	}
	return &farm.Spec{Name: game, Build: r.Build(), Shards: int(command.Shards(&j)), Episodes: j.Episodes, Job: text, Out: out}, r, nil
}

// openShards opens the shards of a spec, which is checked, as any client may have sent it.
func (a *app) openShards(ctx context.Context, s *farm.Spec, workers int) (farm.Shards, error) {
	var j datasets.Job
	d := json.NewDecoder(bytes.NewReader(s.Job))
	d.DisallowUnknownFields()
	if err := d.Decode(&j); err != nil {
		return nil, fmt.Errorf("the job of run %.8s: %w", s.ID(), err)
	}
	if j.ShardEpisodes == 0 || j.Episodes != s.Episodes || command.Shards(&j) != uint64(s.Shards) || s.Shards > command.MaxShards {
		return nil, fmt.Errorf("the job of run %.8s has %d episodes, %d in a shard; its spec says %d in %d shards",
			s.ID(), j.Episodes, j.ShardEpisodes, s.Episodes, s.Shards)
	}
	if s.Name != j.Game {
		return nil, fmt.Errorf("the job of run %.8s is of %.40q; its spec says %s", s.ID(), j.Game, s.Name)
	}
	g, err := catalog.Find(j.Game)
	if err != nil {
		return nil, err
	}
	m := command.Makers(g)
	m.Policy = func(name string, files rollout.Files) (rollout.Maker, error) {
		return policy.NewStored(g.Name, name, files)
	}
	o := datasets.Options{Workers: workers, Within: s.Within, Build: s.Build, Locks: &a.Locks}
	r, err := datasets.OpenRun(ctx, cmp.Or(s.Folder, s.Out), j, m, o)
	if err != nil {
		return nil, err
	}
	return r, nil
}
