package wire

import (
	"bytes"

	"moonfarm/sim/terminal"
)

// Config is the original's config file, which is also the first line that bots
// get and the first of a replay file.
type Config struct {
	Rules      terminal.Rules
	Raw        []byte    // the text that was read, without white space around it; nil if none was
	Generation string    // the built-in rule set that has these values (see terminal.RuleSets), or ""
	Legacy     bool      // it has the keys of 2018 and 2019
	Of2018     bool      // of these, one of 2018
	Style      Style     // as its numbers are written
	Shorthands [8]string // of the units by terminal.Kind, then of removals and upgrades, in bots' answers
}

// ConfigOf returns a config for rules that do not come from a file.
func ConfigOf(r terminal.Rules) Config {
	return Config{Rules: r, Generation: generation(&r), Shorthands: standardShorthands}
}

// Inexact says why a recording with this config may differ from what is played here
// although nothing is wrong with it; "" if the rules of its engine are known.
func (c *Config) Inexact() string {
	if c.Of2018 {
		return "a recording of 2018, of whose engine not all rules are known: turns may differ although nothing is wrong with it"
	}
	return ""
}

// standardShorthands are the names that all known configs give.
var standardShorthands = [8]string{"FF", "EF", "DF", "PI", "EI", "SI", "RM", "UP"}

// generation is the name of the rule set with these values, or "".
func generation(r *terminal.Rules) string {
	for _, name := range terminal.RuleSets() {
		if set, _ := terminal.RuleSet(name); set == *r {
			return name
		}
	}
	return ""
}

// ParseRules reads rules in any of their forms: the JSON of a config file, or
// what terminal.ParseRules reads. Blank text is terminal.DefaultRules.
func ParseRules(text []byte) (terminal.Rules, error) {
	switch trimmed := bytes.TrimSpace(text); {
	case len(trimmed) == 0:
		return terminal.DefaultRules(), nil
	case trimmed[0] == '{':
		config, err := ParseConfig(text)
		return config.Rules, err
	}
	return terminal.ParseRules(text)
}
