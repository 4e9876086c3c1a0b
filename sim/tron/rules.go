package tron

import "moonfarm/sim/texts"

// Size is the number of rows, and of columns, of the board: it is one uint64.
const Size = 8

// RulesVersion names the rules played; any change of play raises it.
const RulesVersion = "1"

// Rules are the values that a game may be played with.
type Rules struct {
	Torus bool // the edges of the board are joined instead of walled (2.2)
}

// DefaultRules returns those of a board with walls.
func DefaultRules() Rules { return Rules{} }

// Table lists the rules in the order of their canonical text. The values are
// those of r, to be read and set.
func (r *Rules) Table() []texts.Rule {
	return []texts.Rule{texts.NewRule("torus", &r.Torus, 0, 0, "the edges of the board are joined instead of walled")}
}

// AppendText appends the canonical text of the rules: "key=value" a line.
func (r Rules) AppendText(dst []byte) []byte { return texts.AppendRules(dst, r.Table()) }

// ParseRules reads what AppendText writes. What the text does not say is as in
// DefaultRules. The error names the line.
func ParseRules(text []byte) (Rules, error) {
	r := DefaultRules()
	none := func(string) bool { return false }
	err := texts.NewParser(r.Table(), "torus").Parse(string(text), "rule set (there is none)", none)
	return r, err
}
