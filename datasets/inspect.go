package datasets

import (
	"context"
	"encoding/binary"
	"math"
	"math/bits"

	"moonfarm/features"
)

// InspectOptions say how much to look at.
type InspectOptions struct {
	Workers int  // goroutines; at least 1
	Shards  int  // how many shards to read, spread evenly; 0: all
	Sums    bool // also the sha256 of every step column, over all shards
}

// Card sums up a dataset.
type Card struct {
	Manifest *Manifest         `json:"manifest"`
	Shards   int               `json:"shards"` // read for the statistics
	Rows     uint64            `json:"rows"`   // read for the statistics
	Planes   []Stat            `json:"planes"` // per plane, if observations are planes
	Scalars  []Stat            `json:"scalars"`
	Turns    Stat              `json:"turns"`   // of episodes
	Reward   Stat              `json:"reward"`  // of rows
	Return   Stat              `json:"return"`  // of rows
	Choices  Stat              `json:"choices"` // legal choices of rows, all heads together
	Sums     map[string]string `json:"sha256,omitempty"`
}

// Stat sums up numbers.
type Stat struct {
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Mean    float64 `json:"mean"`
	Min     float64 `json:"min"`
	Max     float64 `json:"max"`
	Nonzero float64 `json:"nonzero"` // share of the numbers that are not 0
}

// Inspect reads a dataset and sums it up. The outcome balance is in
// Manifest.Totals. It fails as Open does, and on a damaged file, which the
// error names.
func Inspect(ctx context.Context, dir string, o InspectOptions) (*Card, error) {
	d, err := Open(dir)
	if err != nil {
		return nil, err
	}
	all, n := len(d.manifest.Shards), o.Shards
	if n <= 0 || n > all {
		n = all
	}
	parts := make([]tallies, n)
	err = parallel(ctx, o.Workers, n, func() (*inspector, error) { return d.inspector() }, func(x *inspector, i int) error {
		parts[i] = d.newTallies()
		return x.shard(d.manifest.Shards[i*all/n], &parts[i])
	})
	if err != nil {
		return nil, err
	}
	for _, p := range parts[1:] {
		parts[0].add(&p)
	}
	c := parts[0].card(d.manifest)
	c.Shards = n
	if o.Sums {
		err = d.sums(ctx, o.Workers, c)
	}
	return c, err
}

// sums adds the sums of all step columns to the card.
func (d *Dataset) sums(ctx context.Context, workers int, c *Card) error {
	all := make([]string, len(d.steps.Columns))
	err := parallel(ctx, workers, len(all), func() (nothing, error) { return nothing{}, nil }, func(_ nothing, i int) (err error) {
		all[i], err = d.ColumnSHA256(stepsDir, d.steps.Columns[i].Name)
		return err
	})
	c.Sums = map[string]string{}
	for i, s := range all {
		c.Sums[d.steps.Columns[i].Name] = s
	}
	return err
}

type nothing struct{}

func (nothing) close() {}

// tally sums up numbers exactly enough: whole numbers exactly.
type tally struct {
	n, nonzero    uint64
	sum, min, max float64
}

func newTally() tally { return tally{min: math.Inf(1), max: math.Inf(-1)} }

func (t *tally) put(v float64) {
	t.n++
	if v != 0 {
		t.nonzero++
	}
	t.sum += v
	t.min, t.max = min(t.min, v), max(t.max, v)
}

func (t *tally) add(o tally) {
	t.n += o.n
	t.nonzero += o.nonzero
	t.sum += o.sum
	t.min, t.max = min(t.min, o.min), max(t.max, o.max)
}

func (t tally) stat(name, unit string) Stat {
	s := Stat{Name: name, Unit: unit}
	if t.n > 0 {
		s.Mean, s.Min, s.Max, s.Nonzero = t.sum/float64(t.n), t.min, t.max, float64(t.nonzero)/float64(t.n)
	}
	return s
}

// tallies are those of one shard, or of several added up in order.
type tallies struct {
	rows                        uint64
	planes, scalars             []tally
	turns, reward, ret, choices tally
}

func (d *Dataset) newTallies() tallies {
	many := func(n int) []tally {
		t := make([]tally, n)
		for i := range t {
			t[i] = newTally()
		}
		return t
	}
	o := d.manifest.Observation
	t := tallies{turns: newTally(), reward: newTally(), ret: newTally(), choices: newTally()}
	if o.Form == ObsPlanes {
		t.planes = many(o.Planes)
	}
	if o.Form != ObsNone {
		t.scalars = many(o.Scalars)
	}
	return t
}

func (t *tallies) add(o *tallies) {
	t.rows += o.rows
	for i := range t.planes {
		t.planes[i].add(o.planes[i])
	}
	for i := range t.scalars {
		t.scalars[i].add(o.scalars[i])
	}
	t.turns.add(o.turns)
	t.reward.add(o.reward)
	t.ret.add(o.ret)
	t.choices.add(o.choices)
}

func (t *tallies) card(m *Manifest) *Card {
	c := &Card{Manifest: m, Rows: t.rows, Planes: []Stat{}, Scalars: []Stat{}}
	field := func(f []features.Field, i int) (name, unit string) {
		if i < len(f) {
			return f[i].Name, f[i].Unit
		}
		return "", ""
	}
	for i, p := range t.planes {
		c.Planes = append(c.Planes, p.stat(field(m.Observation.Fields, i)))
	}
	for i, s := range t.scalars {
		c.Scalars = append(c.Scalars, s.stat(field(m.Observation.Numbers, i)))
	}
	c.Turns, c.Choices = t.turns.stat("turns", "turns"), t.choices.stat("choices", "choices")
	c.Reward, c.Return = t.reward.stat("reward", ""), t.ret.stat("return", "")
	return c
}

// inspector reads shards into tallies.
type inspector struct {
	d     *Dataset
	r     *tableReader
	cells int
}

func (d *Dataset) inspector() (*inspector, error) {
	want := map[string]bool{ColPlanes: true, ColScalars: true, ColMask: true, ColTurn: true, ColSeat: true,
		ColReward: true, ColReturn: true, ColTerminated: true, ColTruncated: true}
	r, err := d.stepReader(func(name string) bool { return want[name] })
	return &inspector{d, r, d.manifest.Observation.Height * d.manifest.Observation.Width}, err
}

func (x *inspector) close() { x.r.close() }

func (x *inspector) shard(s Shard, t *tallies) error {
	return x.r.read(s.Steps, func(uint64) error {
		x.batch(t)
		return nil
	})
}

func (x *inspector) batch(t *tallies) {
	rows, d := x.r.table.Rows, newStepData(x.r.table)
	t.rows += uint64(rows)
	words := x.d.manifest.Action.MaskWords
	for i := range rows {
		if d.planes != nil {
			x.planes(t, d.planes[i*len(t.planes)*x.cells:])
		}
		for k := range t.scalars {
			t.scalars[k].put(float64(d.scalars[i*len(t.scalars)+k]))
		}
		t.reward.put(float64(d.reward[i]))
		t.ret.put(float64(d.ret[i]))
		if d.mask != nil {
			n := 0
			for _, w := range d.mask[i*words : (i+1)*words] {
				n += bits.OnesCount64(w)
			}
			t.choices.put(float64(n))
		}
		if d.seat[i] == 0 && d.terminated[i]|d.truncated[i] != 0 {
			t.turns.put(float64(d.turn[i] + 1))
		}
	}
}

// planes adds the planes of one observation.
func (x *inspector) planes(t *tallies, b []uint8) {
	for p := range t.planes {
		t.planes[p].cells(b[p*x.cells : (p+1)*x.cells])
	}
}

// cells adds the cells of one plane; whole words of zeros at once, as most are.
func (t *tally) cells(b []uint8) {
	t.n += uint64(len(b))
	low, high, sum := uint8(255), uint8(0), 0
	for ; len(b) >= 8; b = b[8:] {
		if binary.LittleEndian.Uint64(b) == 0 {
			low = 0
			continue
		}
		for _, v := range b[:8] {
			t.nonzero += uint64(flag(v != 0))
			low, high, sum = min(low, v), max(high, v), sum+int(v)
		}
	}
	for _, v := range b {
		t.nonzero += uint64(flag(v != 0))
		low, high, sum = min(low, v), max(high, v), sum+int(v)
	}
	t.sum += float64(sum)
	t.min, t.max = min(t.min, float64(low)), max(t.max, float64(high))
}
