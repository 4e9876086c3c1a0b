package bench

import (
	"context"
	"math"
	"runtime"
	"slices"
	"time"

	"moonfarm/env"
	"moonfarm/env/catalog"
)

// Scaling says how speed and memory change with workers and with games.
type Scaling struct {
	Workers []WorkersPoint `json:"workers"`
	Games   []GamesPoint   `json:"games"`
}

// WorkersPoint is the speed of a figure with a number of workers.
type WorkersPoint struct {
	Game    string  `json:"game"`
	What    string  `json:"what"`
	Workers int     `json:"workers"`
	Value   float64 `json:"value"` // a second, the median
	Unit    string  `json:"unit"`
	Times   float64 `json:"times"` // the speed of one worker, the median over rounds in which all take turns
	// CPUTimes is the processor time of the work relative to that of one worker. Unlike Times it does not
	// depend on other programs, but does not show waiting. 0: unknown.
	CPUTimes float64 `json:"cpu_times"`
}

// GamesPoint is the speed of a Stepper with a number of games and one worker.
type GamesPoint struct {
	Game   string  `json:"game"`
	Games  int     `json:"games"`
	Value  float64 `json:"value"`   // rows a second, the median
	PerCPU float64 `json:"per_cpu"` // rows for a second of processor time; 0: unknown
	Bytes  uint64  `json:"bytes"`   // memory for a game: its state and the slabs of all its rows
}

// numbersOfGames are the sizes of Steppers. mostBytes bounds the memory of their slabs.
var numbersOfGames = []int{1, 16, 256, 4096, 65536}

const mostBytes = 1 << 30

// Scale measures a game with 1, 2, 4, … workers up to o.Workers, and with 1 to 65,536 games, as far as the
// observations take at most 1 GiB.
func Scale(ctx context.Context, game string, o Options) (*Scaling, error) {
	list, err := measures(game)
	if err != nil {
		return nil, err
	}
	o.complete()
	s := &Scaling{}
	for _, m := range list {
		if m.cores >= 0 || len(o.What) > 0 && !slices.Contains(o.What, m.what) {
			continue
		}
		points, err := m.scale(ctx, game, &o)
		if err != nil {
			return nil, err
		}
		s.Workers = append(s.Workers, points...)
	}
	for _, n := range numbersOfGames {
		o.tell("%s with %d games", game, n)
		p, err := scaleGames(ctx, game, n, &o)
		if err != nil {
			return nil, err
		}
		if p != nil {
			s.Games = append(s.Games, *p)
		}
	}
	return s, nil
}

// scale measures a figure with each number of workers. They take turns, pass by pass.
func (m measure) scale(ctx context.Context, game string, o *Options) ([]WorkersPoint, error) {
	o.tell("%s %s", game, m.what)
	defer o.end()
	var passes []pass
	var points []WorkersPoint
	ops := 0
	for w := 1; ; w = min(2*w, o.Workers) {
		with := *o
		with.Workers, with.ends = w, nil
		with.unsummed = true // one goroutine makes it
		p, n, err := m.setup(&with)
		o.ends = append(o.ends, with.ends...)
		if err == nil {
			_, err = p() // to warm up
		}
		if err != nil {
			return nil, err
		}
		ops = n
		passes = append(passes, p)
		points = append(points, WorkersPoint{Game: game, What: m.what, Workers: w, Unit: m.unit})
		if w == o.Workers {
			break
		}
	}
	clocks := make([][]float64, len(passes)) // seconds of each pass
	cpu := make([][]float64, len(passes))
	for begun := time.Now(); len(clocks[0]) < minPasses || time.Since(begun) < o.Time*time.Duration(len(passes)); {
		for k, p := range passes {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			from, used := time.Now(), processTime()
			if _, err := p(); err != nil {
				return nil, err
			}
			clocks[k] = append(clocks[k], time.Since(from).Seconds())
			cpu[k] = append(cpu[k], (processTime() - used).Seconds())
		}
	}
	for k := range points {
		points[k].Times = medianRatio(clocks[0], clocks[k])
		if cpu[k][0] > 0 {
			points[k].CPUTimes = medianRatio(cpu[k], cpu[0])
		}
	}
	for k := range points {
		slices.Sort(clocks[k])
		points[k].Value = math.Round(float64(ops) / medianOf(clocks[k]))
	}
	return points, nil
}

// medianRatio returns the median of a[i]/b[i].
func medianRatio(a, b []float64) float64 {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i] / b[i]
	}
	slices.Sort(ratios)
	return medianOf(ratios)
}

// scaleGames measures a Stepper of n games; nil if its slabs would take too much memory.
func scaleGames(ctx context.Context, game string, n int, o *Options) (*GamesPoint, error) {
	e := suites[game]
	turns := max(4, e.games*turnsStepped/n) // as many turns of a game in all, where that is enough for four of each
	g, err := catalog.Find(game)
	if err != nil {
		return nil, err
	}
	v, err := g.New("", env.Settings{N: 1})
	if err != nil {
		return nil, err
	}
	spec := v.Spec()
	choices := 4 * len(spec.Heads) // bytes of the choices of a row
	row := spec.Shape.PlaneBytes() + 4*spec.Shape.Scalars + 8*spec.MaskWords + choices*(1+min(turns, 4))
	if n*spec.Info.Players*row > mostBytes {
		return nil, nil
	}
	before := heap()
	s, err := newStepped(game, n, 1, turns)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	held := heap() - before - int64(turns*s.Rows()*choices)
	begun := time.Now()
	t, err := timed(ctx, s.pass, o.Time, func() time.Duration { return time.Since(begun) })
	if err != nil {
		return nil, err
	}
	ops := float64(turns * s.Rows())
	p := &GamesPoint{Game: game, Games: n, Value: math.Round(ops / t.median()), Bytes: uint64(max(0, held)) / uint64(n)}
	if cpu := t.cpu[len(t.cpu)/2]; cpu > 0 {
		p.PerCPU = math.Round(ops / cpu)
	}
	return p, nil
}

// heap returns the bytes of live memory.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
