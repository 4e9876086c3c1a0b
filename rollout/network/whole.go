package network

import (
	"fmt"
	"strconv"
)

// whole is a constant whole number: n, or n times the size of the batch, which is unknown when
// the model is read. Exporters compute shapes with them.
type whole struct {
	n     int64
	batch bool
}

// String returns the number as text.
func (w whole) String() string {
	switch {
	case !w.batch:
		return strconv.FormatInt(w.n, 10)
	case w.n == 1:
		return "batch"
	}
	return strconv.FormatInt(w.n, 10) + "·batch"
}

// maxWhole bounds the factors of products.
const maxWhole = 1 << 40

// apply computes a op b. It fails if the result is not the same for all batches.
func (w whole) apply(op string, v whole) (whole, error) {
	unknown := fmt.Errorf("expected numbers for which %s is the same for any batch, found %v and %v", op, w, v)
	if abs64(w.n) > maxWhole || abs64(v.n) > maxWhole {
		switch op {
		case "Min", "Max", "Equal": // exporters use the largest int as the end of a slice
		default:
			return whole{}, fmt.Errorf("expected numbers within ±2^40, found %v and %v", w, v)
		}
	}
	switch op {
	case "Mul":
		if w.batch && v.batch || abs64(w.n) > 1<<20 && abs64(v.n) > 1<<20 {
			return whole{}, unknown
		}
		return whole{w.n * v.n, w.batch || v.batch}, nil
	case "Div":
		if v.n == 0 || v.batch && !w.batch || w.batch && w.n%v.n != 0 {
			return whole{}, unknown
		}
		return whole{w.n / v.n, w.batch && !v.batch}, nil
	case "Equal":
		return truth(w == v), nil
	}
	if w.batch != v.batch {
		return whole{}, unknown
	}
	switch op {
	case "Add":
		w.n += v.n
	case "Sub":
		w.n -= v.n
	case "Min":
		w.n = min(w.n, v.n)
	case "Max":
		w.n = max(w.n, v.n)
	default:
		return whole{}, fmt.Errorf("expected constants of floating-point numbers, found whole ones")
	}
	w.batch = w.batch && w.n != 0
	return w, nil
}

func truth(is bool) whole {
	if is {
		return whole{n: 1}
	}
	return whole{}
}

func abs64(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}
