package policy

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/policy/neural"
)

// node is a parsed spec: a name, with or without options, or a mixture of other nodes.
//
//	spec    = name | name "(" setting { "," setting } ")" | "mix(" member { "," member } ")"
//	setting = name "=" value | "greedy"
//	member  = weight "*" spec
//	name    = letters, digits, "-", "_", of ASCII | path that ends in ".onnx" | quoted, the same
//	path    = letters and digits of any script, "-", "_", ".", "+", "~", "/", "\", ":"
//	value   = letters, digits, "-", "_", ".", "+" | path that ends in ".onnx" | any path, for head and device | quoted, any text
//	weight  = a decimal number above 0
//	quoted  = any text between two " or two ', in which that quote itself is doubled
//
// ".onnx" may be in capitals. Blanks are allowed between any two of these.
type node struct {
	at       int // character where it begins, from 1
	name     string
	settings []setting // of options
	members  []member  // of a mixture
	model    *loaded   // of a network, or of a search with a network
}

// setting is an option and its value.
type setting struct {
	at          int // character where it begins
	name, value string
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
	text     string
	at       int // bytes read
	policies int // in mixtures
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

// character returns the number of the next character after blanks, from 1.
func (s *scanner) character() int {
	s.peek()
	return utf8.RuneCountInString(s.text[:s.at]) + 1
}

// unexpected returns the error for a text that should continue with want.
func (s *scanner) unexpected(want string) error {
	if s.peek() == 0 {
		return fmt.Errorf("character %d: the text ends, expected %s", s.character(), want)
	}
	next, _ := utf8.DecodeRuneInString(s.text[s.at:])
	return fmt.Errorf("character %d: found %q, expected %s", s.character(), next, want)
}

// expect reads one byte.
func (s *scanner) expect(c byte) error {
	if s.peek() != c {
		return s.unexpected(strconv.Quote(string(rune(c))))
	}
	s.at++
	return nil
}

// word reads the longest run of characters of a set.
func (s *scanner) word(in func(c rune) bool) string {
	s.peek()
	from := s.at
	for s.at < len(s.text) {
		c, size := utf8.DecodeRuneInString(s.text[s.at:])
		if !in(c) {
			break
		}
		s.at += size
	}
	return s.text[from:s.at]
}

// pathOr reads a path of a network without quotes, or else a word.
func (s *scanner) pathOr(in func(c rune) bool) string {
	s.peek()
	from := s.at
	if path := s.word(inPath); isModel(path) {
		return path
	}
	s.at = from
	return s.word(in)
}

func inName(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

func inWeight(c rune) bool {
	return '0' <= c && c <= '9' || c == '.' || c == '-' || c == '+' || c == 'e'
}

func inValue(c rune) bool { return inName(c) || c == '.' || c == '+' }

func inPath(c rune) bool {
	return inValue(c) || c == '~' || c == '/' || c == '\\' || c == ':' ||
		c != utf8.RuneError && c >= utf8.RuneSelf && unicode.In(c, unicode.Letter, unicode.Mark, unicode.Digit)
}

func (s *scanner) spec(depth int) (node, error) {
	n := node{at: s.character()}
	var err error
	if n.name, err = s.name(); err != nil {
		return n, err
	}
	if s.peek() != '(' {
		return n, nil
	}
	if depth == maxDepth && n.name == "mix" {
		return n, fmt.Errorf("character %d: mixtures nested more than %d deep", n.at, maxDepth)
	}
	s.at++
	for {
		if err := s.argument(&n, depth); err != nil {
			return n, err
		}
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

// argument reads a member of a mixture, or a setting of any other name.
func (s *scanner) argument(n *node, depth int) error {
	if n.name == "mix" {
		at := s.character()
		m, err := s.member(depth)
		if n.members = append(n.members, m); err == nil && m.node.members == nil {
			if s.policies++; s.policies > rollout.MaxMembers {
				err = fmt.Errorf("character %d: more than the %d policies that a mixture may have", at, rollout.MaxMembers)
			}
		}
		return err
	}
	o, err := s.setting()
	n.settings = append(n.settings, o)
	return err
}

func (s *scanner) setting() (o setting, err error) {
	o.at = s.character()
	if o.name = s.word(inName); o.name == "" {
		return o, s.unexpected("an option, as in sims=400")
	}
	if o.name == optionGreedy {
		return o, nil
	}
	if err = s.expect('='); err != nil {
		return o, err
	}
	if s.quote() {
		o.value, err = s.quoted()
		return o, err
	}
	if o.value = s.pathOr(o.bare()); o.value == "" {
		return o, s.unexpected("the value of " + o.name)
	}
	return o, nil
}

// bare returns the set of characters that a value without quotes may have.
func (s *setting) bare() func(c rune) bool {
	if s.name == optionHead { // names of outputs come from other programs
		return inPath
	}
	return inValue
}

func (s *scanner) member(depth int) (member, error) {
	at := s.character()
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

// check looks up all names, and reads all options and rewrites them in canonical form.
func (n *node) check(game string) error {
	if n.members == nil {
		if n.name == "mix" {
			return fmt.Errorf("character %d: mix needs members, as in mix(0.5*random,0.5*random)", n.at)
		}
		e, err := find(game, n.name)
		if err != nil {
			return fmt.Errorf("character %d: %w", n.at, err)
		}
		return n.checkSettings(e)
	}
	for i := range n.members {
		if err := n.members[i].node.check(game); err != nil {
			return err
		}
	}
	return nil
}

// checkSettings reads the options of policy e.
func (n *node) checkSettings(e entry) error {
	var o searchOptions
	var m neural.Options
	for i := range n.settings {
		given := &n.settings[i]
		if len(e.Options) == 0 {
			return fmt.Errorf("character %d: %q takes no options", given.at, n.name)
		}
		if slices.ContainsFunc(n.settings[:i], func(other setting) bool { return other.name == given.name }) {
			return fmt.Errorf("character %d: %s is set twice", given.at, given.name)
		}
		if err := given.known(e.Options); err != nil {
			return fmt.Errorf("character %d: %w", given.at, err)
		}
		err := error(nil)
		if e.search != nil {
			err = o.set(e.search, given)
		} else {
			err = setModel(&m, given)
		}
		if err != nil {
			return fmt.Errorf("character %d: %w", given.at, err)
		}
	}
	if at := n.option(optionMS); at != nil && n.option(optionSims) != nil {
		return fmt.Errorf("character %d: %s and %s are both set, expected one budget", at.at, optionSims, optionMS)
	}
	for _, name := range []string{optionHead, optionWork, optionSHA256, optionTrust, optionTurns, optionTemperature} {
		if at := n.option(name); at != nil && e.search != nil && n.option(optionModel) == nil {
			return fmt.Errorf("character %d: %s is set without %s", at.at, name, optionModel)
		}
	}
	return n.checkPairs()
}

// checkPairs refuses options that exclude each other, and those without another one that they belong to.
func (n *node) checkPairs() error {
	for _, pair := range [][2]string{
		{optionGreedy, optionTemperature}, {optionGumbel, optionNoise}, {optionGumbel, optionSampled},
		{optionMS, optionGumbel}, {optionMS, optionFull},
	} {
		if at := n.option(pair[1]); at != nil && n.option(pair[0]) != nil {
			return fmt.Errorf("character %d: %s and %s are both set, expected one", at.at, pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{{optionCheap, optionFull}, {optionVisits, optionSampled}} {
		if at := n.option(pair[0]); at != nil && n.option(pair[1]) == nil {
			return fmt.Errorf("character %d: %s is set without %s", at.at, pair[0], pair[1])
		}
	}
	return nil
}

// known fails if there is no such option.
func (s *setting) known(all []Option) error {
	names := make([]string, len(all))
	for k := range all {
		if names[k] = all[k].Name; names[k] == s.name {
			return nil
		}
	}
	return fmt.Errorf("no option %q; there are: %s", s.name, strings.Join(names, ", "))
}

// value returns the value of the option of that name, "" if it is not set.
func (n *node) value(name string) string {
	if given := n.option(name); given != nil {
		return given.value
	}
	return ""
}

// option returns the setting of that name, nil if it is not set.
func (n *node) option(name string) *setting {
	for i := range n.settings {
		if n.settings[i].name == name {
			return &n.settings[i]
		}
	}
	return nil
}

// reproducible returns an error if a node or a member of it reads the clock.
func (n *node) reproducible() error {
	if at := n.option(optionMS); at != nil {
		return fmt.Errorf("character %d: %s=%s: its games depend on the speed of the machine and are not reproducible; expected a budget in simulations, as in %s(%s=400)",
			at.at, at.name, at.value, n.name, optionSims)
	}
	for i := range n.members {
		if err := n.members[i].node.reproducible(); err != nil {
			return err
		}
	}
	return nil
}

// String returns the spec in canonical form.
func (n node) String() string {
	name := canonical(n.name, inName)
	if n.members == nil && n.settings == nil {
		return name
	}
	if n.settings != nil {
		parts := make([]string, len(n.settings))
		for i, o := range n.settings {
			if parts[i] = o.name; o.name != optionGreedy {
				parts[i] += "=" + canonical(o.value, o.bare())
			}
		}
		return name + "(" + strings.Join(parts, ",") + ")"
	}
	parts := make([]string, len(n.members))
	for i, m := range n.members {
		parts[i] = strconv.FormatFloat(m.weight, 'g', -1, 64) + "*" + m.node.String()
	}
	return "mix(" + strings.Join(parts, ",") + ")"
}

// build makes the policy; depth is the number of mixtures that contain it.
func (n node) build(game string, s env.Spec, depth uint64) (rollout.Policy, error) {
	if n.members == nil {
		if n.model != nil && isNetwork(n.name) {
			return newModel(n, s)
		}
		e, err := find(game, n.name)
		switch {
		case err != nil:
			return nil, err
		case e.oneGame && s.Info.Name != game:
			return nil, fmt.Errorf("%s plays %s, not %s", e.Name, game, s.Info.Name)
		case e.search != nil:
			return newSearch(e.search, n, s)
		}
		return e.make(s)
	}
	m := &mix{name: n.String(), depth: depth, lists: make([][]int32, len(n.members))}
	weights := make([]float64, len(n.members))
	for i, each := range n.members {
		p, err := each.node.build(game, s, depth+1)
		if err != nil {
			return nil, err
		}
		m.firsts = append(m.firsts, uint8(len(m.all)))
		m.members = append(m.members, p)
		if c, ok := p.(rollout.Mixture); ok {
			m.all = append(m.all, c.Members()...)
		} else {
			m.all = append(m.all, p)
		}
		if m.wants |= p.Wants(); len(rollout.StatesOf(p)) > 0 {
			m.recurrent = append(m.recurrent, i)
		}
		weights[i] = each.weight
	}
	m.weights = rollout.NewWeights(weights)
	return m, nil
}
