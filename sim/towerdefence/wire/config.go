package wire

import (
	"fmt"
	"io"

	"moonfarm/sim/towerdefence"
)

// maxConfig bounds a configuration file; the original's has 4 KB.
const maxConfig = 1 << 20

// ReadConfig reads a game-config.properties file. Keys it does not name keep
// the value of release 3.0.2; what is refused, and how it is reported, is
// said at towerdefence.ParseRules.
func ReadConfig(r io.Reader) (towerdefence.Rules, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxConfig+1))
	if err != nil {
		return towerdefence.Rules{}, fmt.Errorf("reading the configuration: %w", err)
	}
	if len(text) > maxConfig {
		return towerdefence.Rules{}, fmt.Errorf("configuration: want at most %d bytes, found more", maxConfig)
	}
	rules, err := towerdefence.ParseRules(text)
	if err != nil {
		return towerdefence.Rules{}, fmt.Errorf("configuration: %w", err)
	}
	return rules, nil
}

// AppendConfig appends the rule values as a game-config.properties file with
// every key.
func AppendConfig(dst []byte, rules towerdefence.Rules) []byte { return rules.AppendText(dst) }
