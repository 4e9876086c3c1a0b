package towerdefence

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/simtest"
)

var ruleText = simtest.RuleText[Rules, *Rules](ParseRules)

// TestDefaultConfig compares the canonical text of the default rules with the
// file kept with the package, and reads it back.
func TestDefaultConfig(t *testing.T) {
	simtest.Golden(t, "testdata/game-config.properties", DefaultRules().AppendText(nil))
	ruleText.Is(t, DefaultRules())
}

func TestConfigNamesEveryField(t *testing.T) {
	ruleText.EveryField(t, DefaultRules(), func(i int, value any) {
		if p, ok := value.(*letter); ok { // the other values are sides of the map, which are fixed
			*p = letter('a' + i%26)
		}
	})
}

// TestHandicap: the text has the keys of B's start only if it differs from A's.
func TestHandicap(t *testing.T) {
	r := DefaultRules()
	r.SetStart([2]int{20, 20}, [2]int{100, 100})
	if r != DefaultRules() || strings.Contains(string(r.AppendText(nil)), ".b=") {
		t.Errorf("no handicap: %s", r.AppendText(nil))
	}
	r.SetStart([2]int{4000, 0}, [2]int{100, 250})
	ruleText.Is(t, r)
	g, err := New(r)
	require.NoError(t, err)
	var want, s State
	g.Reset(&s, 0)
	g.Reset(&want, 0)
	g.SetStart(&want, 0, 4000, 100)
	g.SetStart(&want, 1, 0, 250)
	assert.Truef(t, s == want && s.Half[1].Energy == 0 && s.Half[1].Health() == 250, "start %+v", s.Half)
	for _, bad := range []Handicap{{Energy: -4001}, {Energy: MaxEnergy}, {Health: -100}, {Health: MaxHealth}} {
		r.Handicap = bad
		err = r.Validate()
		assert.ErrorContainsf(t, err, ".b is ", "%+v", bad)
	}
}

// TestParseRules covers the syntax of properties files.
func TestParseRules(t *testing.T) {
	want := DefaultRules()
	want.StartEnergy = 77
	ruleText.Is(t, want,
		"game.config.start-energy=77",
		"game.config.start-energy = 77  \r\n",
		"# a comment \\\n! another\n\n \t\n  game.config.start-energy:77",
		"game.config.start-energy 77\r",
		"game.config.start-energy\t=\t77\n",
		"game.config.start-en\\\n   ergy=7\\\r\n  7\n",
		"game.config.start\\u002denergy=\\u00377",
		"game.config.start\\-energy=+77\\",
		"\uFEFFgame.config.start-energy=77\r\n",
	)
}

// TestParseRulesErrors checks that every error names the line and what was
// found.
func TestParseRulesErrors(t *testing.T) {
	simtest.Refuses(t, strings.Contains, func(text string) error { _, err := ParseRules([]byte(text)); return err }, map[string]string{
		"\n\ngame.config.start-enrgy=3":                 `line 3: key "game.config.start-enrgy"`,
		"nonsense":                                      `line 1: key "nonsense"`,
		"=3":                                            `line 1: key ""`,
		"game.config.start-energy=":                     `line 1: key "game.config.start-energy": expected a whole number from 0 to 1000000, found ""`,
		"game.config.start-energy=-1":                   `found "-1"`,
		"game.config.start-energy=2147483648":           `found "2147483648"`,
		"game.config.start-energy=1e3":                  `found "1e3"`,
		"game.config.ironcurtain.config.reset-period=0": `expected a whole number from 1`,
		"game.config.tesla.config.icon=":                `expected one ASCII letter, found ""`,
		"game.config.tesla.config.icon=TT":              `found "TT"`,
		"game.config.tesla.config.icon=7":               `found "7"`,
		"game.config.start-energy=1\ngame.config.max-rounds=1\ngame.config.start-energy=1": `line 3: key "game.config.start-energy" was given already in line 1`,
		"game.config.map-width=16\ngame.config.map-height=16":                              `line 2: key "game.config.map-height": the board is fixed at 8, found 16`,
		"game.config.map-width=8": `the board is fixed at 16, found 8`,
		"a\\u12":                  `line 1: expected four hexadecimal digits`,
		"a\\uzzzz=1":              `found "zzzz"`,
	})
}

func FuzzParseRules(f *testing.F) {
	ruleText.Fuzz(f, nil, string(DefaultRules().AppendText(nil)), "game.config.start-energy \\\n 77\n!x\n", "\\u0061\\=\\")
}
