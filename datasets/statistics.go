package datasets

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/bits"

	"moonfarm/features"
)

// sampleEvery is the distance of the step rows that the statistics look at, from
// the first row of each shard on. Looking at all rows would cost several percent
// of the time; as the distance is a prime, all seats are looked at alike. The sums
// of a shard are in its sidecar. Planes are summed in whole numbers, scalars in
// the order of the rows, and shards are added in order, so that the statistics are
// the same for any workers and after any stop.
const sampleEvery = 127

// Statistics sum up the planes and scalars of a sample of step rows, for
// learners that normalise what they see. They are in statistics.json.
type Statistics struct {
	Every   int         `json:"every"`  // rows 0, every, 2·every … of each shard are looked at
	Rows    uint64      `json:"rows"`   // looked at in all
	Planes  []Statistic `json:"planes"` // over all cells; those of packed observations as they are unpacked
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

// sampled are the sums of a shard, or of several.
type sampled struct {
	Rows    uint64              `json:"rows"`
	Planes  []fieldSum[uint64]  `json:"planes"`
	Scalars []fieldSum[float64] `json:"scalars"`
}

// fieldSum sums up one plane or scalar.
type fieldSum[T uint64 | float64] struct {
	Sum     T      `json:"sum"`
	Squares T      `json:"squares"`
	Min     T      `json:"min"`
	Max     T      `json:"max"`
	Nonzero uint64 `json:"nonzero"`
}

// add adds the sums of the next shard.
func (s *sampled) add(o *sampled) error {
	if s.Rows == 0 {
		*s = sampled{o.Rows, append(s.Planes[:0], o.Planes...), append(s.Scalars[:0], o.Scalars...)}
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
		s.Planes[i].add(&o.Planes[i])
	}
	for i := range s.Scalars {
		s.Scalars[i].add(&o.Scalars[i])
	}
	return nil
}

func (f *fieldSum[T]) put(v T) {
	f.Sum += v
	f.Squares += T(v * v) // the conversion keeps the compiler from fusing product and sum
	f.Min, f.Max = min(f.Min, v), max(f.Max, v)
	if v != 0 {
		f.Nonzero++
	}
}

func (f *fieldSum[T]) add(o *fieldSum[T]) {
	f.Sum += o.Sum
	f.Squares += o.Squares
	f.Min, f.Max = min(f.Min, o.Min), max(f.Max, o.Max)
	f.Nonzero += o.Nonzero
}

// statistic sums up n numbers with these sums. The conversion of the product keeps
// the compiler from fusing it with the sum.
func (f *fieldSum[T]) statistic(name string, n float64) Statistic {
	s := Statistic{Name: name}
	if n > 0 {
		s.Mean, s.Min, s.Max, s.Nonzero = float64(f.Sum)/n, float64(f.Min), float64(f.Max), float64(f.Nonzero)/n
		s.Deviation = math.Sqrt(max(0, float64(f.Squares)/n-float64(s.Mean*s.Mean)))
	}
	if f.Min == f.Max {
		s.Deviation = 0 // exactly, in spite of rounding
	}
	return s
}

// statistics are the Statistics of the sums.
func (s *sampled) statistics(m *Manifest) *Statistics {
	o := m.Observation
	t := &Statistics{Every: sampleEvery, Rows: s.Rows, Planes: []Statistic{}, Scalars: []Statistic{}}
	for i := range s.Planes {
		t.Planes = append(t.Planes, s.Planes[i].statistic(field(o.PlaneFields, i).Name, float64(s.Rows)*float64(o.Height*o.Width)))
	}
	for i := range s.Scalars {
		t.Scalars = append(t.Scalars, s.Scalars[i].statistic(field(o.ScalarFields, i).Name, float64(s.Rows)))
	}
	return t
}

// field is the description of a plane or scalar, empty if there is none.
func field(all []features.Field, i int) (f features.Field) {
	if i < len(all) {
		f = all[i]
	}
	return f
}

// Statistics reads statistics.json. It fails if the file is not the one that
// the manifest describes. Datasets without observations have none, nor have those
// of format 1.
func (d *Dataset) Statistics() (*Statistics, error) {
	if d.manifest.Statistics.Path == "" {
		return nil, fmt.Errorf("%s: the dataset has no statistics", d.dir)
	}
	text, err := d.attached(d.manifest.Statistics)
	if err != nil {
		return nil, err
	}
	s := new(Statistics)
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("%s: damaged: %w", statisticsName, err)
	}
	return s, nil
}

// sampler sums up the sample of one shard after the other.
type sampler struct {
	planes, scalars, cells, words int
	unpack                        *features.Unpacker // nil: observations are planes, or cannot be unpacked
	row                           []uint8            // scratch: an unpacked observation
	sum                           sampled
}

// newSampler returns the sampler of observations of that shape and form; nil if
// there are no observations. layout is the layout of packed ones; if it is nil,
// only their scalars are summed.
func newSampler(z features.Shape, layout *features.Layout, o Obs) (*sampler, error) {
	s := &sampler{planes: z.Planes, scalars: z.Scalars, cells: z.Height * z.Width, words: z.Words}
	switch {
	case o == ObsNone:
		return nil, nil
	case o == ObsPlanes:
	case layout == nil || z.Words == 0:
		s.planes = 0
	default:
		var err error
		if s.unpack, err = features.NewUnpacker(z, layout); err != nil {
			return nil, err
		}
		s.row = make([]uint8, z.PlaneBytes())
	}
	s.start()
	return s, nil
}

// start begins a shard. It makes new sums, as those of the shard before may be in
// use.
func (s *sampler) start() {
	s.sum = sampled{Planes: make([]fieldSum[uint64], s.planes), Scalars: make([]fieldSum[float64], s.scalars)}
	for i := range s.sum.Planes {
		s.sum.Planes[i].Min = math.MaxUint8
	}
}

// batch adds the rows of a batch that are in the sample; first is the number of
// its first row in the shard. It fails if a scalar is not finite.
func (s *sampler) batch(d *stepData, first uint64, rows int) error {
	skip := (sampleEvery - first%sampleEvery) % sampleEvery
	for i := int(skip); i < rows; i += sampleEvery {
		planes := s.row
		if s.unpack != nil {
			s.unpack.Unpack(planes, d.packed[i*s.words:])
		} else if s.planes > 0 {
			planes = d.planes[i*s.planes*s.cells:]
		}
		for p := range s.sum.Planes {
			addCells(&s.sum.Planes[p], planes[p*s.cells:(p+1)*s.cells])
		}
		for k := range s.sum.Scalars {
			v := float64(d.scalars[i*s.scalars+k])
			if v-v != 0 {
				return fmt.Errorf("row %d: scalar %d is %v", first+uint64(i), k, v)
			}
			f := &s.sum.Scalars[k]
			if s.sum.Rows == 0 {
				f.Min, f.Max = v, v
			}
			f.put(v)
		}
		s.sum.Rows++
	}
	return nil
}

// addCells adds the cells of one plane, eight at once where they are 0 or 1, as
// most are.
func addCells(f *fieldSum[uint64], b []uint8) {
	const ones = 0x0101010101010101
	low, high := uint8(f.Min), uint8(f.Max)
	add := func(v uint8) {
		low, high = min(low, v), max(high, v)
		f.Sum += uint64(v)
		f.Squares += uint64(v) * uint64(v)
		f.Nonzero += uint64(flag(v != 0))
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
