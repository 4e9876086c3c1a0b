package child

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// guardTimeout is how long this program waits for a guard to start, to kill a bot's
// processes, or to end. On a very busy machine a guard may need seconds.
const guardTimeout = 30 * time.Second

// Guard starts the processes of one bot for one match, one after the other.
type Guard struct {
	limits       Limits
	box          Box
	means        Means
	folder       *os.Root     // see Folder
	port         net.Listener // see Port
	starts       starter
	core         int // of Limits.Cores; −1: none
	ctx          context.Context
	stopWatching func() bool // stops ending the guard with the context
	work         sync.WaitGroup

	run     sync.Mutex // locked by Run and Close
	runs    int
	current *Process // the latest; guarded by run
	closed  bool

	mu      sync.Mutex
	started *Process // the process whose end the starter reports next; guarded by mu
}

// starter starts processes and kills them. It calls ended of its Guard once for
// each process that it started.
type starter interface {
	// start starts a process with these standard files.
	start(l *launch, files [3]*os.File) error
	// kill kills a process, if it has not ended, with all of its descendants.
	kill(number int) error
	// end begins to kill all processes and to end the starter.
	end()
	// close waits until the starter has ended.
	close() error
}

// Start starts a Guard, which must be closed, in a box as the limits ask for it. When the
// context is done, the Guard kills the bot's process, and Run fails.
func Start(ctx context.Context, limits Limits, box Box) (*Guard, error) {
	if err := limits.validate(); err != nil {
		return nil, err
	}
	if !mainCalled.Load() {
		return nil, errNoMain
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	means, why := limits.Box.Means()
	if limits.Box == Strict && means == Nothing {
		return nil, why
	}
	return startWith(ctx, limits, box, means)
}

// startWith starts a Guard with these means of boxes.
func startWith(ctx context.Context, limits Limits, box Box, means Means) (*Guard, error) {
	g := &Guard{limits: limits, box: box, means: means, core: -1, ctx: ctx}
	var err error
	if limits.Cores != nil {
		select {
		case g.core = <-limits.Cores:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		defer func() {
			if err != nil {
				limits.Cores <- g.core
			}
		}()
	}
	if box.Port && means != Namespaces {
		if g.port, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			err = fmt.Errorf("no port for a bot: %w", err)
			return nil, err
		}
	}
	if g.starts, err = newStarter(g); err != nil {
		if g.port != nil {
			g.port.Close()
		}
		err = fmt.Errorf("the guard of a bot could not be started: %w", err)
		return nil, err
	}
	g.stopWatching = context.AfterFunc(ctx, g.starts.end)
	return g, nil
}

// Run starts a process. The process before it must have ended, as reported by its Wait,
// End or Kill. Run fails if the program cannot be started or the Guard has ended; the error
// is a *Fault if the bot has used up its processor time.
func (g *Guard) Run(c Command) (*Process, error) {
	path, dir, err := c.find()
	if err != nil {
		return nil, err
	}
	g.run.Lock()
	defer g.run.Unlock()
	switch {
	case g.closed:
		return nil, os.ErrClosed
	case g.ctx.Err() != nil:
		return nil, context.Cause(g.ctx)
	case g.current != nil && !g.current.ended():
		return nil, errors.New("the bot's process before this one has not ended")
	}
	if g.current != nil {
		g.current.closeFiles()
		g.current = nil
	}
	g.runs++
	p := &Process{guard: g, number: g.runs, begin: time.Now(), to: c.Log, over: make(chan struct{}), drained: make(chan struct{})}
	files, err := p.pipes(&c)
	defer func() {
		for _, f := range files {
			if f != nil {
				f.Close()
			}
		}
	}()
	if err == nil {
		g.begun(p)
		g.work.Go(p.drain)
		err = g.starts.start(&launch{p.number, path, dir, c.Args, g.environ(dir)}, files)
	}
	if err != nil {
		g.begun(nil)
		p.closeFiles()
		return nil, err
	}
	g.current = p
	return p, nil
}

// harmless are the beginnings of the variables that a strict box passes on: of the system and of languages.
var harmless = []string{"PATH=", "HOME=", "USER=", "LOGNAME=", "SHELL=", "TERM=", "TZ=", "LANG=", "LANGUAGE=", "LC_", "TMPDIR=", "LD_LIBRARY_PATH=", "OMP_",
	"PYTHON", "PYENV_", "VIRTUAL_ENV=", "CONDA_", "NVM_", "NODE_", "JAVA_HOME=", "JDK_", "DOTNET_", "MONO_", "GOROOT=", "GOPATH=", "GOCACHE=", "CARGO_HOME=", "RUSTUP_HOME=", "JULIA_"}

// environ returns the environment of a process that works in a folder. In a box go gets its cache, which it need not write.
func (g *Guard) environ(dir string) []string {
	env, strict := os.Environ(), g.limits.Box == Strict
	if strict {
		env = slices.DeleteFunc(env, func(variable string) bool {
			return !slices.ContainsFunc(harmless, func(begin string) bool { return strings.HasPrefix(variable, begin) })
		})
	}
	if cache, err := os.UserCacheDir(); err == nil && os.Getenv("GOCACHE") == "" && g.means != Nothing {
		cache = filepath.Join(cache, "go-build")
		if _, err := os.Stat(cache); err == nil && (!strict || slices.ContainsFunc(g.limits.Folders.Shown, func(of string) bool { return strings.HasPrefix(cache, of) })) {
			env = append(env, "GOCACHE="+cache)
		}
	}
	return (&exec.Cmd{Env: append(env, "PWD="+dir)}).Environ() // removes duplicates
}

// begun sets the process whose end the starter reports next.
func (g *Guard) begun(p *Process) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.started = p
}

// ended handles the starter's report of the end of a process.
func (g *Guard) ended(e endReport) {
	g.mu.Lock()
	p := g.started
	if p == nil || p.number != e.Number {
		p = nil
	} else {
		g.started = nil
	}
	g.mu.Unlock()
	if p != nil {
		g.work.Go(func() { p.finish(e) })
	}
}

// lost ends the started process with a fault, after the starter has ended.
func (g *Guard) lost(why string) {
	g.mu.Lock()
	p := g.started
	g.mu.Unlock()
	if p != nil {
		g.ended(endReport{p.number, Exit{Status: "unknown", Code: -1, Fault: &Fault{Lost, why}}})
	}
}

// Close kills all processes of the bot and ends the guard. After an error processes may be
// left running.
func (g *Guard) Close() error {
	g.stopWatching()
	g.starts.end()
	g.run.Lock()
	defer g.run.Unlock()
	if g.closed {
		return nil
	}
	g.closed = true
	err := g.starts.close()
	if g.limits.Cores != nil {
		g.limits.Cores <- g.core
	}
	if g.current != nil {
		g.current.closeFiles()
	}
	if err == nil {
		g.work.Wait()
	}
	if g.folder != nil {
		g.folder.Close()
	}
	if g.port != nil {
		g.port.Close()
	}
	return err
}

// Folder returns the folder of a Box as the bot's processes see and change it; nil if they see
// the folder itself. Close closes it.
func (g *Guard) Folder() *os.Root { return g.folder }

// Port returns the port of a Box; nil if it has none. Close closes it.
func (g *Guard) Port() net.Listener { return g.port }

// Means returns what keeps the bot's processes from the machine.
func (g *Guard) Means() Means { return g.means }
