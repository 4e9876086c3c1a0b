// Package bench measures the speed of playing turns, writing observations, writing rows to
// disk and evaluating networks. `moonfarm bench`, `go test -bench` and RESULTS.md show its
// figures. Only the command imports it.
//
// Every figure is the median over passes of the same fixed work, and has a checksum of that
// work. A change that is not meant to change play keeps the checksum.
package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/policy/models"
	"moonfarm/rollout/recordings"
)

// Figure is a measured speed.
type Figure struct {
	Game        string  `json:"game"`
	What        string  `json:"what"`          // see CommonFigures
	Value       float64 `json:"value"`         // median over the passes
	Unit        string  `json:"unit"`          // what is counted, per second
	Best        float64 `json:"best"`          // the fastest pass
	PerCPU      float64 `json:"per_cpu"`       // median for a second of this program's processor time; 0: unknown
	NsPerOp     float64 `json:"ns_per_op"`     // of the median
	AllocsPerOp float64 `json:"allocs_per_op"` // heap allocations of the median pass
	Passes      int     `json:"passes"`
	Ops         int     `json:"ops_per_pass"`
	Cores       int     `json:"cores"`    // that the work was spread over
	Checksum    string  `json:"checksum"` // of the work: the same on every machine
	Note        string  `json:"note"`
}

// Options select the figures and the time for each.
type Options struct {
	Time       time.Duration // minimum time per figure
	What       []string      // names of figures; none: all
	Recordings []string      // files whose commands step plays; none: it plays generated commands
	Workers    int           // of figures that use all cores
	Progress   func(what string)

	ends []func() // end what setups have begun
}

// pass does the work of a figure once and returns its checksum.
type pass func() (checksum uint64, err error)

// measure describes how a figure is measured. setup makes a pass of ops operations.
type measure struct {
	what, unit, note string
	cores            int // 0: one; −1: all workers
	setup            func(o *Options) (p pass, ops int, err error)
}

// suite has the benchmarks of a game.
type suite struct {
	figures func() []measure // without the figures that every game has
	// episodes and shard are the episodes of the datasets that generate writes, in total and
	// in each shard.
	episodes, shard uint64
	games           int    // that a Stepper plays
	network         []byte // of the policy net, as an ONNX file; nil if there is none
}

// suites has the suite of every game.
var suites = map[string]suite{
	"codecraft":    {craftFigures, 8, 1, 16, models.Codecraft}, // of 1000 ticks each
	"terminal":     {terminalFigures, 4000, 100, 256, models.Terminal},
	"towerdefence": {towerDefence, 4000, 100, 1024, models.Towerdefence},
	"tron":         {tronFigures, 20000, 1000, 1024, nil},
}

// CommonFigures lists the figures that games have in common, each with a description. A
// game may have more figures, or lack some.
func CommonFigures() [][2]string {
	return [][2]string{
		{"step", "turns played with commands given beforehand, one core"},
		{"playout", "turns played with moves chosen on the way, random or by scripts, one core"},
		{"observe", "turns of a vector of games with planes, scalars and masks of all seats, one core"},
		{"observe-packed", "the same with the packed form"},
		{"search", "playouts within a tree search, one core"},
		{"search-playouts", "as many playouts of the same positions without it"},
		{"stepper", "rows of a learner's loop: turns of many games, random orders, all cores"},
		{"generate", "rows of a dataset with planes written, all cores"},
		{"generate-packed", "the same with the packed form"},
		{"generate-none", "the same with orders only"},
	}
}

// FigureNames lists the figures of a game. It fails for an unknown game.
func FigureNames(game string) (names []string, err error) {
	list, err := measures(game)
	for _, m := range list {
		names = append(names, m.what)
	}
	return names, err
}

// measures lists the measures of a game.
func measures(game string) ([]measure, error) {
	if _, err := catalog.Find(game); err != nil {
		return nil, err
	}
	e, ok := suites[game]
	if !ok {
		return nil, fmt.Errorf("game %s has no benchmark", game)
	}
	return append(append(e.figures(), stepped(game, e)), generated(game, e)...), nil
}

// Run measures a game, one figure after the other. It fails for an unknown game, for a
// recording that cannot be read, and if two passes of a figure differ.
func Run(ctx context.Context, game string, o Options) ([]Figure, error) {
	list, err := measures(game)
	if err != nil {
		return nil, err
	}
	var results []Figure
	for _, m := range list {
		if len(o.What) > 0 && !slices.Contains(o.What, m.what) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if o.Progress != nil {
			o.Progress(game + " " + m.what)
		}
		r, err := m.run(ctx, &o)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", game, m.what, err)
		}
		r.Game = game
		results = append(results, r)
	}
	return results, nil
}

// vectorOf makes n games by the default rules.
func vectorOf(game string, n int) (env.Vector, error) {
	g, err := catalog.Find(game)
	if err != nil {
		return nil, err
	}
	return g.New("", env.Settings{N: n})
}

// playerOf makes a policy for a vector.
func playerOf(v env.Vector, spec string) (rollout.Policy, error) {
	maker, err := policy.NewReproducible(v.Spec().Info.Name, spec)
	if err != nil {
		return nil, err
	}
	return maker(v.Spec())
}

// recorded calls each with the games of recordings. It fails where they differ from what is played here.
func recorded(files []string, each func(g *recordings.RecordedGame) error) error {
	for _, name := range files {
		in, err := recordings.Open(context.Background(), name)
		if err != nil {
			return err
		}
		_, err = in.Read(recordings.ReadOptions{}, func(r *recordings.RecordedGame) error {
			if r.Why != nil {
				return r.Why
			}
			return each(r)
		})
		if err = cmp.Or(err, in.Close()); err != nil {
			return err
		}
	}
	return nil
}

// minPasses is the minimum number of passes of a figure.
const minPasses = 5

// run measures one figure.
func (m measure) run(ctx context.Context, o *Options) (Figure, error) {
	defer o.end()
	pass, ops, err := m.setup(o)
	if err != nil {
		return Figure{}, err
	}
	begin := time.Now()
	t, err := timed(ctx, pass, o.Time, func() time.Duration { return time.Since(begin) })
	if err != nil {
		return Figure{}, err
	}
	r := Figure{What: m.what, Unit: m.unit, Note: m.note, Ops: ops, Cores: max(1, m.cores), Passes: len(t.seconds), Checksum: t.checksum}
	if m.cores < 0 {
		r.Cores = o.Workers
	}
	n := float64(ops)
	r.Value, r.Best, r.NsPerOp = math.Round(n/t.median()), math.Round(n/t.seconds[0]), t.median()/n*1e9
	r.AllocsPerOp = t.allocs(ops)
	if cpu := t.cpu[len(t.cpu)/2]; cpu > 0 {
		r.PerCPU = math.Round(n / cpu)
	}
	return r, nil
}

// end ends what setups have begun.
func (o *Options) end() {
	for _, f := range o.ends {
		f()
	}
	o.ends = nil
}

// times has the measurements of the passes of a figure.
type times struct {
	seconds  []float64 // of each pass, sorted
	cpu      []float64 // processor time of this program in each pass, sorted; 0: unknown
	mallocs  []uint64  // of each pass, sorted
	checksum string
}

func (t *times) median() float64 { return t.seconds[len(t.seconds)/2] }

// allocs returns the allocations per operation of the median pass of ops operations. Some
// passes have more because the runtime and the rest of the program allocate now and then,
// which shows where a pass has few operations.
func (t *times) allocs(ops int) float64 {
	n := float64(t.mallocs[len(t.mallocs)/2]) / float64(ops)
	if n < 0.001 { // the few allocations of the harness itself
		return 0
	}
	return n
}

// timed runs one pass to warm up, then passes for at least the given time, and times each
// of them by the clock. It fails if a pass fails or two passes have different checksums.
func timed(ctx context.Context, p pass, least time.Duration, clock func() time.Duration) (times, error) {
	sum, err := p()
	if err != nil {
		return times{}, err
	}
	t := times{checksum: fmt.Sprintf("%016x", sum), seconds: make([]float64, 0, 1024), cpu: make([]float64, 0, 1024), mallocs: make([]uint64, 0, 1024)}
	var before, after runtime.MemStats
	runtime.GC()
	for start := time.Now(); len(t.seconds) < minPasses || time.Since(start) < least; {
		if ctx.Err() != nil {
			return times{}, context.Cause(ctx)
		}
		runtime.ReadMemStats(&before)
		from, used := clock(), processTime()
		again, err := p()
		t.seconds = append(t.seconds, (clock() - from).Seconds())
		t.cpu = append(t.cpu, (processTime() - used).Seconds())
		runtime.ReadMemStats(&after)
		t.mallocs = append(t.mallocs, after.Mallocs-before.Mallocs)
		if err != nil {
			return times{}, err
		}
		if again != sum {
			return times{}, fmt.Errorf("two passes of the same work have the checksums %016x and %016x", sum, again)
		}
	}
	slices.Sort(t.seconds)
	slices.Sort(t.cpu)
	slices.Sort(t.mallocs)
	return t, nil
}
