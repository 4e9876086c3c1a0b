// Package viewer shows games: on pages of a browser, also while a game is played, and in a terminal.
package viewer

import (
	"context"
	"errors"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/rollout/view"
	"moonfarm/rollout/view/human"
)

// Pages begins to serve a page to browsers.
type Pages func(at Address, shown Shown) (Server, error)

// Server serves a page.
type Server interface {
	URL() string // with the secret that visitors need
	Close()
}

// Shown is what a page shows: one of these.
type Shown struct {
	Games  func() (view.Answerer, int, error) // a serve.Source
	Person *human.Session                     // a game with a person
	Live   *view.Live                         // a game that is being played
}

// Address is where a page is served.
type Address struct {
	Listen string   // host:port of this machine
	Hosts  []string // names under which a proxy forwards visitors
}

// Add adds the flags of the page.
func (a *Address) Add(c *cobra.Command, page string) {
	c.Flags().StringVar(&a.Listen, "http", "127.0.0.1:0", "`HOST:PORT` of "+page+"; 0: a free port")
	HostFlag(c, &a.Hosts)
}

// Changed reports whether one of the flags is given.
func (a *Address) Changed(c *cobra.Command) bool {
	return c.Flags().Changed("http") || c.Flags().Changed("http-host")
}

// HostFlag adds the flag for the names of a proxy.
func HostFlag(c *cobra.Command, to *[]string) {
	set := func(text string) error {
		for _, name := range strings.Split(text, ",") {
			if u, err := url.Parse("http://" + name); err != nil || name == "" || u.Hostname() != name || u.Host != name {
				return errors.New("expected names without a port, such as viewer.example")
			}
			*to = append(*to, name)
		}
		return nil
	}
	c.Flags().Var(console.Value{Parse: set, Show: func() string { return strings.Join(*to, ",") }, Kind: "NAMES"}, "http-host",
		"names, with commas, under which a proxy forwards visitors to --http")
}

// Viewed is the result of view. Its JSON keys are documented in JSON.md.
type Viewed struct {
	File  string `json:"file"`
	Bytes int    `json:"bytes"`
	URL   string `json:"url"`
}

// Serve serves a page until ctx is done, and says where it is.
func (p Pages) Serve(ctx context.Context, c *console.Console, what string, at Address, shown Shown) error {
	s, err := p(at, shown)
	if err != nil {
		return err
	}
	defer s.Close()
	if c.Print(Viewed{URL: s.URL()}, func() { c.Printf("%s\n", s.URL()) }) == nil {
		_ = c.Out.Flush() // an error is reported at the end
	}
	c.Tell("%s is shown there; Ctrl-C ends it\n", what)
	<-ctx.Done()
	return nil
}

// Watched is a game list that is opened again when its file changes.
type Watched struct {
	file string
	open func() (view.GameList, error) // opens it again

	mu        sync.Mutex
	responder *view.Responder
	total     uint64 // games
	version   int
	looked    time.Time
	opening   time.Duration // how long it took the last time
	size      int64
	changed   time.Time
}

// Watch returns the game list of a file, which open opens again.
func Watch(file string, games view.GameList, open func() (view.GameList, error)) *Watched {
	w := &Watched{file: file, responder: view.NewResponder(games), total: games.Head().Total, version: 1, open: open}
	w.stamp()
	return w
}

// stamp reports whether the file has changed since the last call.
func (w *Watched) stamp() bool {
	s, err := os.Stat(w.file)
	if w.looked = time.Now(); err != nil || s.IsDir() || s.Size() == w.size && s.ModTime().Equal(w.changed) {
		return false
	}
	w.size, w.changed = s.Size(), s.ModTime()
	return true
}

// lookEvery is the least time between two looks at the file.
const lookEvery = time.Second / 2

// Source is a serve.Source. While a changed file cannot be read, such as one that is being written, it
// shows what was there before. It spends at most a twentieth of the time on opening a file that keeps changing.
func (w *Watched) Source() (view.Answerer, int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.looked) > max(lookEvery, 20*w.opening) && w.stamp() {
		begun := time.Now()
		if games, err := w.open(); err == nil {
			h := games.Head()
			if h.Grows && h.Total >= w.total {
				w.responder = w.responder.Grown(games)
			} else {
				w.responder = view.NewResponder(games)
			}
			w.total = h.Total
			w.version++
		}
		w.opening = time.Since(begun)
	}
	return w.responder, w.version, nil
}
