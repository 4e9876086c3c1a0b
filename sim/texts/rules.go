// Package texts reads and writes what the texts of all games have in common:
// rules, as lines of a key and a value, and positions, as lines of words.
package texts

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Rule is one value of a game's rules. A game lists all its rules once, in the
// order of their canonical text. The text, its parser, the check of the bounds,
// the help and the tables of RULES.md are made from that list.
type Rule struct {
	Key string
	// Value points to the value: an *int32, a *float32, a *bool, an *int of 32
	// bits, which no text may set below Least, or a Value of the game's own.
	Value any
	// Least and Most are the bounds of a number; both are 0 for a *bool.
	Least, Most float64
	Doc         string // meaning and unit, in one line
}

// NewRule returns a rule.
func NewRule(key string, value any, least, most float64, doc string) Rule {
	return Rule{key, value, least, most, doc}
}

// Value is a rule value other than a plain number or a bool.
type Value interface {
	// AppendText appends the value as ParseText reads it.
	AppendText(dst []byte) []byte
	// ParseText sets the value. The error says what was expected and found.
	ParseText(text string) error
	// Number returns the number that the rule's bounds apply to, such as a
	// list's length.
	Number() float64
}

// Only returns the rule if the condition holds. Otherwise its value must be 0.
func (r Rule) Only(holds bool) Rule {
	if !holds {
		r.Least, r.Most = 0, 0
	}
	return r
}

// Bounds returns Least and Most of a number as texts, or empty texts for other
// values.
func (r Rule) Bounds() (least, most string) {
	switch r.Value.(type) {
	case *int, *int32, *float32:
		text := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
		return text(r.Least), text(r.Most)
	}
	return "", ""
}

// AppendText appends the value of the rule as text: a float as the shortest
// decimal that is read as the same float32.
func (r Rule) AppendText(dst []byte) []byte {
	switch p := r.Value.(type) {
	case *int:
		return strconv.AppendInt(dst, int64(*p), 10)
	case *int32:
		return strconv.AppendInt(dst, int64(*p), 10)
	case *float32:
		return AppendFloat(dst, *p)
	case *bool:
		return strconv.AppendBool(dst, *p)
	}
	return r.Value.(Value).AppendText(dst)
}

// AppendFloat appends the shortest decimal that is read as the same float32. A
// zero has no sign.
func AppendFloat(dst []byte, f float32) []byte {
	return strconv.AppendFloat(dst, float64(f+0), 'f', -1, 32)
}

// AppendRules appends one line "key=value" per rule.
func AppendRules(dst []byte, rules []Rule) []byte {
	for _, r := range rules {
		dst = append(append(dst, r.Key...), '=')
		dst = append(r.AppendText(dst), '\n')
	}
	return dst
}

// parse sets the value of the rule.
func (r Rule) parse(text string) error {
	switch p := r.Value.(type) {
	case *int:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || float64(n) < r.Least {
			return fmt.Errorf("expected a whole number from %.0f to %.0f, found %q", r.Least, r.Most, text)
		}
		*p = int(n)
	case *int32:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return fmt.Errorf("expected a whole number of 32 bits, found %q", text)
		}
		*p = int32(n)
	case *float32:
		f, err := ParseFloat(text)
		if err != nil {
			return err
		}
		*p = f
	case *bool:
		if text != "true" && text != "false" {
			return fmt.Errorf("expected true or false, found %q", text)
		}
		*p = text == "true"
	case Value:
		return p.ParseText(text)
	}
	return nil
}

// ParseFloat reads a finite decimal as the nearest float32. A zero has no sign.
func ParseFloat(text string) (float32, error) {
	f, err := strconv.ParseFloat(text, 32)
	if err != nil || strings.Trim(text, "+-.0123456789eE") != "" {
		return 0, fmt.Errorf("expected a finite number, found %q", text)
	}
	return float32(f) + 0, nil
}

// Parser sets rules by their keys.
type Parser struct {
	rules   map[string]Rule
	example string
	given   map[string]int // the line of each key that was set
}

// NewParser returns a parser of the rules. example is a key that errors show.
func NewParser(rules []Rule, example string) *Parser {
	p := &Parser{map[string]Rule{}, example, map[string]int{}}
	for _, r := range rules {
		p.rules[r.Key] = r
	}
	return p
}

// Set sets the rule with the key to the value on the given line of the text. It
// fails, naming the line, if the key is unknown or was set before, or the value
// has another form. Check tells whether numbers are within their bounds.
func (p *Parser) Set(line int, key, value string) error {
	r, ok := p.rules[key]
	if !ok {
		return fmt.Errorf("line %d: key %q: not a key of this game: expected one like %q", line, key, p.example)
	}
	if p.given[key] != 0 {
		return fmt.Errorf("line %d: key %q was given already in line %d", line, key, p.given[key])
	}
	p.given[key] = line
	if err := r.parse(value); err != nil {
		return fmt.Errorf("line %d: key %q: %w", line, key, err)
	}
	return nil
}

// Parse reads lines of a key, = and a value. The first line may instead be the
// name of a rule set: use sets the rules to it and reports whether it exists,
// and names lists the names in errors. Blank lines and lines that begin with #
// are skipped.
func (p *Parser) Parse(text, names string, use func(name string) bool) error {
	begun, line := false, 0
	for l := range strings.Lines(Unmarked(text)) {
		line++
		l = strings.TrimSpace(l)
		if l == "" || l[0] == '#' {
			continue
		}
		key, value, pair := strings.Cut(l, "=")
		switch {
		case pair:
			if err := p.Set(line, strings.TrimSpace(key), strings.TrimSpace(value)); err != nil {
				return err
			}
		case begun:
			return fmt.Errorf("line %d: expected a key, = and a value, found %q", line, l)
		case !use(l):
			return fmt.Errorf("line %d: expected the name of a %s or a key, = and a value, found %q", line, names, l)
		}
		begun = true
	}
	return nil
}

// Outside is the error that a rule's number is not within its bounds.
type Outside struct{ Key, Found, Least, Most string }

// Error implements error.
func (o Outside) Error() string {
	if o.Least == o.Most {
		return fmt.Sprintf("%s is %s, expected %s", o.Key, o.Found, o.Least)
	}
	return fmt.Sprintf("%s is %s, expected %s to %s", o.Key, o.Found, o.Least, o.Most)
}

// Check returns the first rule whose number is outside of its bounds, if any. A
// negative zero is outside, because its sign would appear in the texts of
// states.
func Check(rules []Rule) (o Outside, found bool) {
	for _, r := range rules {
		n, bits := r.number()
		least, most := r.Least, r.Most
		if bits == 32 {
			least, most = float64(float32(least)), float64(float32(most))
		}
		if !(n >= least && n <= most) || n == 0 && math.Signbit(n) {
			text := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, bits) }
			return Outside{r.Key, text(n), text(least), text(most)}, true
		}
	}
	return Outside{}, false
}

// number returns the number that the bounds apply to, and the bits of its type
// as a float64.
func (r Rule) number() (n float64, bits int) {
	switch p := r.Value.(type) {
	case *int:
		return float64(*p), 64
	case *int32:
		return float64(*p), 64
	case *float32:
		return float64(*p), 32
	case Value:
		return p.Number(), 64
	}
	return 0, 64 // a bool has no bounds
}
