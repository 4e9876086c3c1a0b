// Package config reads and writes the config file of C1 Terminal's official engine, and
// writes numbers as the engine's files have them.
package config

import (
	"bytes"

	"moonfarm/sim/terminal"
)

// MaxSize bounds the bytes of a config. The configs of the recordings have 3.5 KB.
const MaxSize = 1 << 20

const maxShorthand = 16 // bytes of a name in Config.Shorthands

// Config holds the content of the original's config file. The same text is the first line
// that bots get and the first line of a replay file.
type Config struct {
	Rules      terminal.Rules
	Raw        []byte    // the text that was parsed, without white space around it; nil if none was parsed
	Generation string    // the built-in rule set that has these values (see terminal.RuleSets), or ""
	Legacy     bool      // the config has the keys of 2018 and 2019
	Of2018     bool      // the config is Legacy and from 2018
	Style      Style     // how the text writes numbers
	Shorthands [8]string // in bots' answers: the names of units by terminal.Kind, then of removal and upgrade
}

// Of returns the config of rules that do not come from a file.
func Of(r terminal.Rules) Config {
	return Config{Rules: r, Generation: generation(&r), Shorthands: standardShorthands}
}

// Inexact returns the reason why a correct recording with this config may differ from the
// match as played here, or "" if all rules of its engine are known.
func (c *Config) Inexact() string {
	if c.Of2018 {
		return "a recording of 2018, whose engine has rules that are not known: turns may differ although nothing is wrong with it"
	}
	return ""
}

// standardShorthands holds the names in all known configs.
var standardShorthands = [8]string{"FF", "EF", "DF", "PI", "EI", "SI", "RM", "UP"}

// generation returns the name of the built-in rule set with these values, or "".
func generation(r *terminal.Rules) string {
	for _, name := range terminal.RuleSets() {
		if set, _ := terminal.RuleSet(name); set == *r {
			return name
		}
	}
	return ""
}

// ParseRules reads rules from the JSON of a config file or from the text that
// terminal.ParseRules reads. For blank text it returns terminal.DefaultRules.
func ParseRules(text []byte) (terminal.Rules, error) {
	switch trimmed := bytes.TrimSpace(text); {
	case len(trimmed) == 0:
		return terminal.DefaultRules(), nil
	case trimmed[0] == '{':
		c, err := Parse(text)
		return c.Rules, err
	}
	return terminal.ParseRules(text)
}
