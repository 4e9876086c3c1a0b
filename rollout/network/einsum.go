package network

import (
	"fmt"
	"slices"
	"strings"
)

// readEinsum reads an Einsum, as sums, products of two matrices each, and changes of the order of dimensions.
func readEinsum(k *call) []*value {
	ranks := make([]int, len(k.in))
	for i := range k.in {
		ranks[i] = len(k.arg(i).shape.dims)
	}
	terms, out, err := equation(k.text("equation", ""), ranks)
	k.refuse(err != nil, "equation: %w", err)
	k.widen(terms)
	a := k.arg(0)
	if len(terms) > 0 {
		a, terms[0] = k.summed(a, terms[0], out+strings.Join(terms[1:], ""))
	}
	for i := 1; i < len(terms); i++ {
		left, rest := terms[i-1], out+strings.Join(terms[i+1:], "")
		b, right := k.summed(k.in[i], terms[i], rest+left)
		a, left = k.summed(a, left, rest+right)
		terms[i] = out
		if i < len(terms)-1 {
			terms[i] = labels(left+labels(right, left, false), rest, true)
		}
		if b.shape.axis >= 0 && !strings.ContainsRune(left, rune(right[b.shape.axis])) { // the batch belongs to the rows of the product
			a, b, left, right = b, a, right, left
		}
		a = k.contract(a, b, left, right, terms[i])
	}
	return one(k.ordered(a, terms[len(terms)-1], out))
}

// widen checks that each letter stands for one size, and drops dimensions of size 1 where another array has more.
func (k *call) widen(terms []string) {
	sizes, batch := map[rune]int{}, map[rune]bool{}
	for i, term := range terms {
		for j, label := range term {
			n, s := sizes[label], k.in[i].shape
			if d := s.dims[j]; n > 1 && d > 1 && n != d {
				k.fail("equation: expected one size for %q, found %d and %d", label, n, d)
			}
			sizes[label], batch[label] = max(n, s.dims[j]), batch[label] || s.axis == j
		}
	}
	for i, term := range terms {
		var gone []int
		s := k.in[i].shape
		for j, label := range term {
			if s.dims[j] == 1 && s.axis != j && (sizes[label] > 1 || batch[label]) {
				gone = append(gone, j)
				terms[i] = strings.Replace(terms[i], string(label), "", 1)
			}
		}
		if len(gone) > 0 {
			s = s.without(gone, false)
			k.in[i] = k.reshaped(k.in[i], s.dims, s.axis)
		}
	}
}

// equation splits the equation of an Einsum into the terms of its inputs, which have these numbers of dimensions, and that
// of the result. The dimensions of "..." become digits.
func equation(text string, ranks []int) (terms []string, out string, err error) {
	left, out, explicit := strings.Cut(strings.ReplaceAll(text, " ", ""), "->")
	terms = strings.Split(left, ",")
	if len(terms) != len(ranks) {
		return nil, "", fmt.Errorf("expected a term for each input, found %q for %d", text, len(ranks))
	}
	const digits, dots = "01234567", "..." // as many digits as an array may have dimensions
	found, most := map[rune]int{}, ""
	for i, term := range terms {
		if n := ranks[i] - len(term) + len(dots); strings.Contains(term, dots) && n >= 0 && n <= len(digits) {
			term = strings.Replace(term, dots, digits[len(digits)-n:], 1)
			most = digits[min(len(digits)-len(most), len(digits)-n):]
		}
		terms[i] = term
		for j, label := range term {
			if !(label >= 'a' && label <= 'z' || label >= 'A' && label <= 'Z' || strings.ContainsRune(most, label)) || strings.ContainsRune(term[:j], label) {
				return nil, "", fmt.Errorf("expected terms of different letters, found %q", text)
			}
			found[label]++
		}
		if len(term) != ranks[i] {
			return nil, "", fmt.Errorf("expected %d letters for input %d, found %q", ranks[i], i, text)
		}
	}
	if out = strings.Replace(out, dots, most, 1); !explicit {
		out = most
		for label := 'A'; label <= 'z'; label++ {
			if found[label] == 1 {
				out += string(label)
			}
		}
	}
	for i, label := range out {
		if found[label] == 0 || strings.ContainsRune(out[:i], label) {
			return nil, "", fmt.Errorf("expected a result with letters of the terms, each once, found %q", text)
		}
	}
	return terms, out, nil
}

// labels returns the letters of a term that are in another one, or those that are not in it.
func labels(term, other string, in bool) string {
	return strings.Map(func(label rune) rune {
		if strings.ContainsRune(other, label) != in {
			return -1
		}
		return label
	}, term)
}

// summed sums an array over the dimensions whose letters are not in keep, and returns it with its new term.
func (k *call) summed(v *value, term, keep string) (*value, string) {
	var gone []int
	for i, label := range term {
		if !strings.ContainsRune(keep, label) {
			gone = append(gone, i)
		}
	}
	k.rows(v.shape, gone...)
	if len(gone) == 0 {
		return v, term
	}
	return k.reduce("sum", v, gone, false), labels(term, keep, true)
}

// ordered returns an array with its dimensions in the order of another term.
func (k *call) ordered(v *value, term, to string) *value {
	if term == to {
		return v
	}
	var perm []int
	for _, label := range to {
		perm = append(perm, strings.IndexRune(term, label))
	}
	return k.permuted(v, perm)
}

// contract multiplies two arrays and sums over the letters that both have and the result lacks.
func (k *call) contract(a, b *value, left, right, out string) *value {
	both := labels(left, right, true)
	stack, sum := labels(both, out, true), labels(both, out, false)
	rows, columns := labels(left, right, false), labels(right, left, false)
	var dims []int
	batch, lead := -1, stack // lead: the stack of the first array and of the result
	if a.shape.axis >= 0 {
		label := left[a.shape.axis : a.shape.axis+1]
		if strings.Contains(rows, label) && stack != "" { // rows of the batch cannot be rows of several matrices
			lead, rows = label+stack, strings.Replace(rows, label, "", 1)
		}
		batch = strings.Index(lead+rows, label)
	}
	for _, label := range lead + rows {
		dims = append(dims, a.shape.dims[strings.IndexRune(left, label)])
	}
	for _, label := range columns {
		dims = append(dims, b.shape.dims[strings.IndexRune(right, label)])
	}
	joint := k.matmul(k.matrices(a, left, lead, rows, sum), k.matrices(b, right, stack, sum, columns))
	return k.ordered(k.reshaped(joint, dims, batch), lead+rows+columns, out)
}

// matrices returns an array as a stack of matrices, whose rows and columns each may be several dimensions.
func (k *call) matrices(v *value, term, stack, rows, columns string) *value {
	v = k.ordered(v, term, stack+rows+columns)
	n := len(stack)
	dims := append(slices.Clone(v.shape.dims[:n]), product(v.shape.dims[n:n+len(rows)]), product(v.shape.dims[n+len(rows):]))
	axis := v.shape.axis
	if axis >= n {
		axis = n + min(1, max(0, axis-n-len(rows)+1))
	}
	return k.reshaped(v, dims, axis)
}
