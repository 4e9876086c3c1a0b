package tron

import "moonfarm/sim/texts"

// Size is the number of rows and of columns of the board, which is one uint64.
const Size = 8

// RulesVersion is the version of the rules. Any change of play raises it.
const RulesVersion = "1"

// Rules holds the rule values, which players may change.
type Rules struct {
	Torus bool // the edges of the board are joined instead of walled (2.2)
}

// DefaultRules returns the rules of a board with walls.
func DefaultRules() Rules { return Rules{} }

// Table lists the rules in the order of their canonical text. Each Rule points
// to its value in r.
func (r *Rules) Table() []texts.Rule {
	return []texts.Rule{texts.NewRule("torus", &r.Torus, 0, 0, "the edges of the board are joined instead of walled")}
}

// AppendText appends the canonical text of the rules: one line "key=value" per
// rule.
func (r Rules) AppendText(dst []byte) []byte { return texts.AppendRules(dst, r.Table()) }

// ParseRules reads the text that AppendText writes. Rules that are missing have
// the values of DefaultRules. The error names the line.
func ParseRules(text []byte) (Rules, error) {
	r := DefaultRules()
	none := func(string) bool { return false }
	err := texts.NewParser(r.Table(), "torus").Parse(string(text), "rule set (there is none)", none)
	return r, err
}
