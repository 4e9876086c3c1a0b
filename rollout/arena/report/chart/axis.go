package chart

import (
	"math"
	"strconv"
	"strings"
)

// Axis defines the labels of an axis.
type Axis struct {
	Label  string
	Whole  bool // mark only whole numbers
	Signed bool // write a plus sign before positive numbers
}

// The largest number of ticks of an axis, and the distance of ticks on a vertical one.
const (
	mostTicks = 7
	tickLines = 24
)

// mostValue bounds the numbers drawn, so that their differences are finite.
const mostValue = 1e300

// drawable reports whether a number can be drawn.
func drawable(v float64) bool { return math.Abs(v) <= mostValue }

// extent is a range of numbers.
type extent struct {
	low, high float64
	any       bool
}

func (e *extent) add(v float64) {
	switch {
	case !drawable(v):
	case !e.any:
		e.low, e.high, e.any = v, v, true
	default:
		e.low, e.high = min(e.low, v), max(e.high, v)
	}
}

// span returns the range that an axis shows: the range of its numbers, widened if its ticks would
// be equal.
func (a Axis) span(e extent) (low, high float64) {
	if !e.any {
		return 0, 1
	}
	low, high = e.low, e.high
	if least := float64(max(math.Abs(low), math.Abs(high)) * 1e-9); high-low < least {
		low, high = low-least, high+least
	}
	if high-low < 1e-280 {
		low, high = low-1, high+1
	}
	if a.Whole && high-low < 1 {
		low, high = math.Floor(low), math.Ceil(high)
	}
	return low, high
}

// scale maps the numbers of an axis to points: low to from, high to to.
type scale struct{ low, high, from, to float64 }

// at returns the point of a number. It converts the product, so that no machine fuses it with the
// sum.
func (s scale) at(v float64) float64 {
	share := (v - s.low) / (s.high - s.low)
	return s.from + float64(share*(s.to-s.from))
}

// tick is a marked number.
type tick struct {
	value float64
	label string
}

// ticks returns at most `most` multiples of 1, 2 or 5 times a power of ten from low to high.
func (a Axis) ticks(low, high float64, most int) (ticks []tick) {
	exponent := exponentOf((high - low) / float64(most))
	step, factors := 0.0, []float64{1, 2, 5}
	for k := 0; ; k++ {
		decade := exponent + k/len(factors)
		if a.Whole && decade < 0 {
			continue
		}
		step = factors[k%len(factors)] * math.Pow10(decade)
		if math.Floor(high/step+1e-6)-math.Ceil(low/step-1e-6) < float64(most) {
			exponent = decade
			break
		}
	}
	// The tolerance is for a bound that is a multiple itself, such as 0.6 of 0.2.
	for k := math.Ceil(low/step - 1e-6); k <= math.Floor(high/step+1e-6); k++ {
		value := float64(k*step) + 0 // no −0
		ticks = append(ticks, tick{value, a.number(value, exponent)})
	}
	return ticks
}

// exponentOf returns the power of ten of the first digit of v. It reads the digits, since
// logarithms differ between machines.
func exponentOf(v float64) int {
	_, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
	n, _ := strconv.Atoi(exponent)
	return n
}

// number writes the number of a tick with digits down to a power of ten. A text of more than nine
// characters becomes "1.5e12" if that is shorter.
func (a Axis) number(v float64, exponent int) string {
	text := "0"
	if v != 0 {
		text = strconv.FormatFloat(v, 'f', max(0, -exponent), 64)
		mantissa, power, _ := strings.Cut(strconv.FormatFloat(v, 'e', max(0, exponentOf(v)-exponent), 64), "e")
		n, _ := strconv.Atoi(power)
		if strings.Contains(mantissa, ".") {
			mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
		}
		if short := mantissa + "e" + strconv.Itoa(n); len(text) > 9 && len(short) < len(text) {
			text = short
		}
	}
	if a.Signed && v > 0 {
		text = "+" + text
	}
	return text
}

// label is a text centred at x.
type label struct {
	x    float64
	text string
}

// ends returns where the text begins and ends.
func (l label) ends() (from, to float64) {
	half := float64(widthOfText(l.text) / 2) // rounded, not fused with what follows
	return l.x - half, l.x + half
}

// labelsBelow returns the labels below a horizontal axis: as many as fit side by side, moved
// inwards if they would leave the picture.
func (a Axis) labelsBelow(s scale) (ticks []tick, labels []label) {
	for most := mostTicks; most >= 2; most-- {
		ticks, labels = a.ticks(s.low, s.high, most), nil
		fit, end := true, 0.0
		for _, t := range ticks {
			l := label{s.at(t.value), t.label}
			from, to := l.ends()
			l.x += max(0, edge-from) + min(0, Width-edge-to)
			from, to = l.ends()
			if len(labels) > 0 && from < end+gap {
				fit = false
				continue
			}
			labels, end = append(labels, l), to
		}
		if fit {
			break
		}
	}
	return ticks, labels
}
