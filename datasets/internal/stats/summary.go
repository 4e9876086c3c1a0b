package stats

import "moonfarm/features"

// Summary sums up numbers.
type Summary struct {
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Mean    float64 `json:"mean"`
	Min     float64 `json:"min"`
	Max     float64 `json:"max"`
	Nonzero float64 `json:"nonzero"` // share of the numbers that are not 0
}

// Summary returns the summary of n numbers with these sums.
func (f *Sum[T]) Summary(of features.Field, n float64) Summary {
	s := f.Statistic(of.Name, n)
	return Summary{of.Name, of.Unit, s.Mean, s.Min, s.Max, s.Nonzero}
}

// Tally sums up numbers and counts them.
type Tally struct {
	sum Sum[float64]
	n   uint64
}

// Put adds one number.
func (t *Tally) Put(v float64) {
	if t.n == 0 {
		t.sum.Min, t.sum.Max = v, v
	}
	t.n++
	t.sum.Put(v)
}

// Add adds the numbers of another Tally.
func (t *Tally) Add(o *Tally) {
	switch {
	case t.n == 0:
		*t = *o
	case o.n > 0:
		t.n += o.n
		t.sum.Add(&o.sum)
	}
}

// Summary returns the summary of the numbers.
func (t *Tally) Summary(of features.Field) Summary { return t.sum.Summary(of, float64(t.n)) }
