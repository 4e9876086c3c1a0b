// Package stats sums up the columns of step rows: of a sample of rows for
// statistics.json, and of all rows for inspect.
package stats

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"moonfarm/features"
)

// Every is the distance between the step rows of the sample, which begins with the
// first row of each shard. Summing all rows would take several percent of the time; as
// the distance is a prime, all seats are sampled alike. The sums of a shard are in its
// sidecar. Planes are summed as integers, scalars in the order of the rows, and shards
// are added in order, so that the statistics are the same for any number of workers and
// after any stop.
const Every = 127

// Statistics sum up the planes and scalars of a sample of step rows, for learners that
// normalise their inputs. They are in statistics.json.
type Statistics struct {
	Every   int         `json:"every"`  // rows 0, every, 2·every … of each shard are in the sample
	Rows    uint64      `json:"rows"`   // in the sample
	Planes  []Statistic `json:"planes"` // over all cells; packed observations are unpacked
	Scalars []Statistic `json:"scalars"`
}

// Statistic sums up one plane or scalar.
type Statistic struct {
	Name      string  `json:"name"`
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"` // standard deviation: the root of the mean square less the square of the mean
	Min       float64 `json:"min"`
	Max       float64 `json:"max"`
	Nonzero   float64 `json:"nonzero"` // share of the numbers that are not 0
}

// Sums are the sums of the rows of a shard, or of several.
type Sums struct {
	Rows    uint64         `json:"rows"`
	Planes  []Sum[uint64]  `json:"planes"`
	Scalars []Sum[float64] `json:"scalars"`
}

// NewSums returns the sums of no rows, for that number of planes and scalars.
func NewSums(planes, scalars int) Sums {
	s := Sums{Planes: make([]Sum[uint64], planes), Scalars: make([]Sum[float64], scalars)}
	for i := range s.Planes {
		s.Planes[i].Min = math.MaxUint8
	}
	return s
}

// Row adds one row. planes [P, H, W] may be empty if there are no planes, scalars [S]
// if there are no scalars.
func (s *Sums) Row(planes []uint8, scalars []float32) {
	for p := range s.Planes {
		cells := len(planes) / len(s.Planes)
		AddCells(&s.Planes[p], planes[p*cells:(p+1)*cells])
	}
	for k := range s.Scalars {
		v, f := float64(scalars[k]), &s.Scalars[k]
		if s.Rows == 0 {
			f.Min, f.Max = v, v
		}
		f.Put(v)
	}
	s.Rows++
}

// Sum sums up one plane or scalar.
type Sum[T uint64 | float64] struct {
	Sum     T      `json:"sum"`
	Squares T      `json:"squares"`
	Min     T      `json:"min"`
	Max     T      `json:"max"`
	Nonzero uint64 `json:"nonzero"`
}

// Add adds the sums of the next shard.
func (s *Sums) Add(o *Sums) error {
	if s.Rows == 0 {
		*s = Sums{o.Rows, append(s.Planes[:0], o.Planes...), append(s.Scalars[:0], o.Scalars...)}
		return nil
	}
	if o.Rows == 0 {
		return nil
	}
	if len(s.Planes) != len(o.Planes) || len(s.Scalars) != len(o.Scalars) {
		return fmt.Errorf("sums of %d planes and %d scalars, expected %d and %d", len(o.Planes), len(o.Scalars), len(s.Planes), len(s.Scalars))
	}
	s.Rows += o.Rows
	for i := range s.Planes {
		s.Planes[i].Add(&o.Planes[i])
	}
	for i := range s.Scalars {
		s.Scalars[i].Add(&o.Scalars[i])
	}
	return nil
}

// Put adds one number.
func (f *Sum[T]) Put(v T) {
	f.Sum += v
	f.Squares += T(v * v) // the conversion keeps the compiler from fusing product and sum
	f.Min, f.Max = min(f.Min, v), max(f.Max, v)
	if v != 0 {
		f.Nonzero++
	}
}

// Add adds the sums of other numbers.
func (f *Sum[T]) Add(o *Sum[T]) {
	f.Sum += o.Sum
	f.Squares += o.Squares
	f.Min, f.Max = min(f.Min, o.Min), max(f.Max, o.Max)
	f.Nonzero += o.Nonzero
}

// Statistic returns the statistic of n numbers with these sums. The conversion of the
// product keeps the compiler from fusing it with the sum.
func (f *Sum[T]) Statistic(name string, n float64) Statistic {
	s := Statistic{Name: name}
	if n > 0 {
		s.Mean, s.Min, s.Max, s.Nonzero = float64(f.Sum)/n, float64(f.Min), float64(f.Max), float64(f.Nonzero)/n
		s.Deviation = math.Sqrt(max(0, float64(f.Squares)/n-float64(s.Mean*s.Mean)))
	}
	if f.Min == f.Max {
		s.Deviation = 0 // exactly, despite rounding
	}
	return s
}

// Statistics returns the Statistics of the sums, for planes with that number of cells.
func (s *Sums) Statistics(planes, scalars []features.Field, cells int) *Statistics {
	t := &Statistics{Every: Every, Rows: s.Rows, Planes: []Statistic{}, Scalars: []Statistic{}}
	for i := range s.Planes {
		t.Planes = append(t.Planes, s.Planes[i].Statistic(Field(planes, i).Name, float64(s.Rows)*float64(cells)))
	}
	for i := range s.Scalars {
		t.Scalars = append(t.Scalars, s.Scalars[i].Statistic(Field(scalars, i).Name, float64(s.Rows)))
	}
	return t
}

// Summaries returns the summary of each plane, over all its cells, and of each scalar.
func (s *Sums) Summaries(planes, scalars []features.Field, cells int) (of, numbers []Summary) {
	of, numbers = []Summary{}, []Summary{}
	for i := range s.Planes {
		of = append(of, s.Planes[i].Summary(Field(planes, i), float64(s.Rows)*float64(cells)))
	}
	for i := range s.Scalars {
		numbers = append(numbers, s.Scalars[i].Summary(Field(scalars, i), float64(s.Rows)))
	}
	return of, numbers
}

// Field returns the description of a plane or scalar, empty if there is none.
func Field(all []features.Field, i int) (f features.Field) {
	if i < len(all) {
		f = all[i]
	}
	return f
}

// Sampler sums up the samples of shards, one after the other.
type Sampler struct {
	planes, scalars, cells, words int
	unpack                        *features.Unpacker // nil: observations are planes, or cannot be unpacked
	row                           []uint8            // scratch: an unpacked observation
	Sums                          Sums               // of the shard in hand
}

// NewSampler returns the Sampler of observations of that shape, packed or as planes.
// layout is the layout of packed observations; if it is nil, only scalars are summed.
func NewSampler(z features.Shape, layout *features.Layout, packed bool) (*Sampler, error) {
	s := &Sampler{planes: z.Planes, scalars: z.Scalars, cells: z.Height * z.Width, words: z.Words}
	switch {
	case !packed:
	case layout == nil || z.Words == 0:
		s.planes = 0
	default:
		var err error
		if s.unpack, err = features.NewUnpacker(z, layout); err != nil {
			return nil, err
		}
		s.row = make([]uint8, z.PlaneBytes())
	}
	s.Start()
	return s, nil
}

// Start begins a shard. It makes new sums, because the sums of the shard before may be
// in use.
func (s *Sampler) Start() {
	s.Sums = NewSums(s.planes, s.scalars)
}

// Batch adds the rows of a batch that are in the sample; first is the number in the
// shard of the batch's first row. It fails if a scalar is not finite.
func (s *Sampler) Batch(planes []uint8, packed []uint64, scalars []float32, first uint64, rows int) error {
	skip := (Every - first%Every) % Every
	for i := int(skip); i < rows; i += Every {
		seen := s.row
		if s.unpack != nil {
			s.unpack.Unpack(seen, packed[i*s.words:])
		} else if s.planes > 0 {
			seen = planes[i*s.planes*s.cells:]
		}
		numbers := scalars[i*s.scalars : (i+1)*s.scalars]
		for k, v := range numbers {
			if v-v != 0 {
				return fmt.Errorf("row %d: scalar %d is %v", first+uint64(i), k, v)
			}
		}
		s.Sums.Row(seen[:s.planes*s.cells], numbers)
	}
	return nil
}

// AddCells adds the cells of one plane, eight at once where all eight are 0 or 1, as
// most are.
func AddCells(f *Sum[uint64], b []uint8) {
	const ones = 0x0101010101010101
	low, high := uint8(f.Min), uint8(f.Max)
	add := func(v uint8) {
		low, high = min(low, v), max(high, v)
		f.Sum += uint64(v)
		f.Squares += uint64(v) * uint64(v)
		if v != 0 {
			f.Nonzero++
		}
	}
	for ; len(b) >= 8; b = b[8:] {
		w := binary.LittleEndian.Uint64(b)
		if w&^ones != 0 {
			for _, v := range b[:8] {
				add(v)
			}
			continue
		}
		n := uint64(bits.OnesCount64(w))
		f.Sum, f.Squares, f.Nonzero = f.Sum+n, f.Squares+n, f.Nonzero+n
		if n > 0 {
			high = max(high, 1)
		}
		if n < 8 {
			low = 0
		} else {
			low = min(low, 1)
		}
	}
	for _, v := range b {
		add(v)
	}
	f.Min, f.Max = uint64(low), uint64(high)
}
