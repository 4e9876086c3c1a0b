package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Ratio compares the speed of a figure in two programs.
type Ratio struct {
	Game     string  `json:"game"`
	What     string  `json:"what"`
	Value    float64 `json:"value"`    // of this program: the median of the runs
	Other    float64 `json:"other"`    // of the other program
	Unit     string  `json:"unit"`     // of both
	PerCPU   bool    `json:"per_cpu"`  // both are for a second of processor time, else by the clock
	Ratio    float64 `json:"ratio"`    // the median of value/other over pairs of runs
	Least    float64 `json:"least"`    // of the interval of that median
	Most     float64 `json:"most"`     //
	Coverage float64 `json:"coverage"` // probability that the interval has the true median
	Pairs    int     `json:"pairs"`
	SameWork bool    `json:"same_work"` // the checksums are equal
}

// Against says how two programs are compared.
type Against struct {
	Programs [2]string // this program and the other
	Pairs    int       // of runs
	Time     time.Duration
	Flags    []string // further flags for both
	Progress func(pair int, what string)
}

// Compare runs a figure in both programs in turn. The order within a pair changes from pair to pair, so
// that a machine which becomes slower favours neither.
func (a Against) Compare(ctx context.Context, game, what string) (Ratio, error) {
	r := Ratio{Game: game, What: what, Pairs: a.Pairs}
	var values [2][]float64
	var ratios []float64
	for pair := range a.Pairs {
		if a.Progress != nil {
			a.Progress(pair, what)
		}
		var runs [2]Figure
		for k := range runs {
			k ^= pair & 1
			var err error
			if runs[k], err = a.figure(ctx, a.Programs[k], game, what); err != nil {
				return r, err
			}
		}
		r.Unit, r.PerCPU = runs[0].Unit, runs[0].PerCPU > 0 && runs[1].PerCPU > 0
		same := runs[0].Checksum == runs[1].Checksum
		r.SameWork = same && (pair == 0 || r.SameWork)
		for k, f := range runs {
			v := f.Value
			if r.PerCPU {
				v = f.PerCPU
			}
			values[k] = append(values[k], v)
		}
		ratios = append(ratios, values[0][pair]/values[1][pair])
	}
	for k := range values {
		slices.Sort(values[k])
	}
	slices.Sort(ratios)
	r.Value, r.Other, r.Ratio = medianOf(values[0]), medianOf(values[1]), medianOf(ratios)
	r.Least, r.Most, r.Coverage = interval(ratios)
	return r, nil
}

// figure measures a figure in a program.
func (a Against) figure(ctx context.Context, program, game, what string) (Figure, error) {
	args := append([]string{"bench", game, "--what", what, "--time", a.Time.String(), "--json"}, a.Flags...)
	c := exec.CommandContext(ctx, program, args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if ctx.Err() != nil {
		return Figure{}, context.Cause(ctx)
	}
	if err != nil {
		return Figure{}, fmt.Errorf("%s bench %s --what %s: %w: %s", program, game, what, err, strings.TrimSpace(stderr.String()))
	}
	var figures []Figure
	if err := json.Unmarshal(out, &figures); err != nil || len(figures) != 1 || figures[0].Value <= 0 {
		return Figure{}, fmt.Errorf("%s bench %s --what %s --json: expected one figure, got %.200q", program, game, what, out)
	}
	return figures[0], nil
}

// medianOf returns the median of sorted values.
func medianOf(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// covered is the least coverage of an interval, where there are enough values.
const covered = 0.95

// interval returns the narrowest interval between two of the sorted values, as many from the least as from
// the largest, that has the median of their distribution with the probability covered or more; of few
// values the least and the largest. Each value is below the median with probability 1/2, whatever the
// distribution (the sign test).
func interval(sorted []float64) (least, most, coverage float64) {
	n := len(sorted)
	below := math.Pow(0.5, float64(n)) // the probability of k values below the median, at first for k = 0
	outside := 2 * below
	from := 0
	for k := 1; k < (n+1)/2; k++ {
		below *= float64(n-k+1) / float64(k)
		if outside+2*below > 1-covered {
			break
		}
		outside += 2 * below
		from = k
	}
	return sorted[from], sorted[n-1-from], 1 - outside
}
