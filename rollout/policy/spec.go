package policy

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"moonfarm/env"
	"moonfarm/rollout"
)

// node is a spec that was read: a plain name, or a mixture of others.
//
//	spec    = name | "mix(" member { "," member } ")"
//	member  = weight "*" spec
//	name    = letters, digits, "-", "_"
//	weight  = a decimal number above 0
//
// Blanks may stand between any two of these.
type node struct {
	at      int // character where it begins, from 1
	name    string
	members []member // of a mixture
}

type member struct {
	weight float64
	node   node
}

// maxDepth bounds the nesting of mixtures.
const maxDepth = 16

// parse reads a spec.
func parse(spec string) (node, error) {
	s := scanner{text: spec}
	n, err := s.spec(0)
	if err == nil && s.peek() != 0 {
		err = s.unexpected("the end")
	}
	return n, err
}

// scanner reads a spec from left to right.
type scanner struct {
	text string
	at   int // bytes read
}

// peek skips blanks and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\t') {
		s.at++
	}
	if s.at == len(s.text) {
		return 0
	}
	return s.text[s.at]
}

// unexpected is the error that something else stands where want should.
func (s *scanner) unexpected(want string) error {
	if s.peek() == 0 {
		return fmt.Errorf("character %d: the text ends, expected %s", s.at+1, want)
	}
	rest := []rune(s.text[s.at:])
	return fmt.Errorf("character %d: found %q, expected %s", s.at+1, rest[0], want)
}

// expect reads one byte.
func (s *scanner) expect(c byte) error {
	if s.peek() != c {
		return s.unexpected(strconv.Quote(string(rune(c))))
	}
	s.at++
	return nil
}

// word reads the longest run of bytes of a set.
func (s *scanner) word(in func(c byte) bool) string {
	s.peek()
	from := s.at
	for s.at < len(s.text) && in(s.text[s.at]) {
		s.at++
	}
	return s.text[from:s.at]
}

func inName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

func inWeight(c byte) bool {
	return '0' <= c && c <= '9' || c == '.' || c == '-' || c == '+' || c == 'e'
}

func (s *scanner) spec(depth int) (node, error) {
	s.peek()
	n := node{at: s.at + 1}
	if n.name = s.word(inName); n.name == "" {
		return n, s.unexpected("the name of a policy")
	}
	if s.peek() != '(' {
		return n, nil
	}
	if n.name != "mix" {
		return n, fmt.Errorf("character %d: %q takes no arguments; only mix does", s.at+1, n.name)
	}
	if depth == maxDepth {
		return n, fmt.Errorf("character %d: mixtures nested more than %d deep", n.at, maxDepth)
	}
	s.at++
	for {
		m, err := s.member(depth)
		if err != nil {
			return n, err
		}
		n.members = append(n.members, m)
		if s.peek() != ',' {
			break
		}
		s.at++
	}
	if s.peek() != ')' {
		return n, s.unexpected(`"," or ")"`)
	}
	s.at++
	return n, nil
}

func (s *scanner) member(depth int) (member, error) {
	s.peek()
	at := s.at + 1
	text := s.word(inWeight)
	if text == "" {
		return member{}, s.unexpected("a weight, as in 0.5*random")
	}
	w, err := strconv.ParseFloat(text, 64)
	if err != nil || !(w > 0) || math.IsInf(w, 0) {
		return member{}, fmt.Errorf("character %d: weight %s, expected a number above 0", at, text)
	}
	if err := s.expect('*'); err != nil {
		return member{}, err
	}
	n, err := s.spec(depth + 1)
	return member{w, n}, err
}

// check finds all names.
func (n node) check(game string) error {
	if n.members == nil {
		if n.name == "mix" {
			return fmt.Errorf("character %d: mix needs members, as in mix(0.5*random,0.5*random)", n.at)
		}
		if _, err := find(game, n.name); err != nil {
			return fmt.Errorf("character %d: %w", n.at, err)
		}
	}
	for _, m := range n.members {
		if err := m.node.check(game); err != nil {
			return err
		}
	}
	return nil
}

// String is the spec in canonical form.
func (n node) String() string {
	if n.members == nil {
		return n.name
	}
	parts := make([]string, len(n.members))
	for i, m := range n.members {
		parts[i] = strconv.FormatFloat(m.weight, 'g', -1, 64) + "*" + m.node.String()
	}
	return "mix(" + strings.Join(parts, ",") + ")"
}

// build makes the policy; depth is the number of mixtures around it.
func (n node) build(game string, s env.Spec, depth uint64) (rollout.Policy, error) {
	if n.members == nil {
		make, err := find(game, n.name)
		if err != nil {
			return nil, err
		}
		return make(s)
	}
	m := &mix{name: n.String(), depth: depth, lists: make([][]int32, len(n.members))}
	weights := make([]float64, len(n.members))
	for i, each := range n.members {
		p, err := each.node.build(game, s, depth+1)
		if err != nil {
			return nil, err
		}
		m.firsts = append(m.firsts, uint8(len(m.Members()))) // more than fit are refused by whoever asks
		m.members = append(m.members, p)
		m.wants |= p.Wants()
		weights[i] = each.weight
	}
	m.limits = limits(weights)
	return m, nil
}
