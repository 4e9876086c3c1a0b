package terminal

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/simtest"
)

var ruleText = simtest.RuleText[Rules, *Rules](ParseRules)

// TestConfigRoundTrip writes and reads the texts of all rule sets.
func TestConfigRoundTrip(t *testing.T) {
	byText := map[string]string{}
	for _, name := range RuleSets() {
		want, ok := RuleSet(name)
		require.Truef(t, ok, "no rule set %q", name)
		text := string(want.AppendText(nil))
		other := byText[text]
		assert.Equalf(t, "", other, "%s and %s have one text", name, other)
		byText[text] = name
		ruleText.Named(t, name, want)
	}
	ruleText.Is(t, DefaultRules(), "")
	assert.Equal(t, "2026", RuleSets()[len(RuleSets())-1], "the newest rule set")
	_, ok := RuleSet("2023")
	assert.False(t, ok, "there is a rule set 2023")
}

// TestConfigOfEarlierEngines checks that the text has rules of earlier engines only if they are true.
func TestConfigOfEarlierEngines(t *testing.T) {
	for name, want := range map[string]string{
		"2026":    "",
		"2019":    "moonfarm.doomedTargets=true\nmoonfarm.bareWeakest=true\nmoonfarm.freePenalties=true\n",
		"2020-02": "moonfarm.bareWeakest=true\nmoonfarm.tiesByText=true\nmoonfarm.upgradeAsKind=true\n",
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := RuleSet(name)
			_, earlier, found := strings.Cut(string(r.AppendText(nil)), "\nmoonfarm.oldIDs=")
			require.True(t, found)
			_, earlier, _ = strings.Cut(earlier, "\n")
			require.Equal(t, want, earlier, "the lines after moonfarm.oldIDs")
		})
	}
	r, err := ParseRules([]byte("2019\nmoonfarm.bareWeakest=false"))
	require.NoErrorf(t, err, "%v, %v", r.BareWeakest, r.DoomedTargets)
	assert.Truef(t, !r.BareWeakest && r.DoomedTargets, "%v, %v", r.BareWeakest, r.DoomedTargets)
}

func TestConfigNamesEveryField(t *testing.T) { ruleText.EveryField(t, Rules{}, nil) }

// TestConfigFloats checks that floats are written as the shortest decimals of their float32, and zeros
// without a sign.
func TestConfigFloats(t *testing.T) {
	for f, want := range map[float32]string{
		0.1: "0.1", 3.5: "3.5", 999999: "999999", 0.33333: "0.33333", 1e-4: "0.0001", 16777216: "16777216", 1. / 3: "0.33333334",
		float32(math.Copysign(0, -1)): "0",
	} {
		t.Run(want, func(t *testing.T) {
			r := DefaultRules()
			r.DeadAt = f
			text := string(r.AppendText(nil))
			require.Contains(t, text, "\nmoonfarm.deadAt="+want+"\n")
			got, err := ParseRules([]byte(text))
			require.NoError(t, err)
			require.True(t, got == r, "the rules are read back")
			require.False(t, math.Signbit(float64(got.DeadAt)))
		})
	}
}

// TestParseRules reads texts of all forms.
func TestParseRules(t *testing.T) {
	want := DefaultRules()
	want.StartHealth, want.Upgradable[Wall], want.SoftTime = 77.5, false, -3
	ruleText.Is(t, want,
		"resources.startingHP=77.5\nunitInformation.0.upgrade=false\ntimingAndReplay.waitTimeBotSoft=-3",
		"\n# remark = x\n  resources.startingHP =  7.75e1 \r\n\tunitInformation.0.upgrade\t=false\r\ntimingAndReplay.waitTimeBotSoft = -3\r\n\n",
		"2026\ntimingAndReplay.waitTimeBotSoft=-3\nunitInformation.0.upgrade=false\nresources.startingHP=+77.50",
	)
}

// TestParseRulesErrors checks that every error contains the line and the text found.
func TestParseRulesErrors(t *testing.T) {
	simtest.Refuses(t, strings.Contains, func(text string) error { _, err := ParseRules([]byte(text)); return err }, map[string]string{
		"2023":                         `line 1: expected the name of a rule set (classic, later, 2019, 2020-02, 2020, 2021, 2022, 2024, 2025a, 2025b, 2025c, 2026) or a key, = and a value, found "2023"`,
		"\n\nresources.startingHp=3":   `line 3: key "resources.startingHp": not a key`,
		"=3":                           `line 1: key "": not a key`,
		"2022\n2022":                   `line 2: expected a key, = and a value, found "2022"`,
		"resources.startingHP=":        `line 1: key "resources.startingHP": expected a finite number, found ""`,
		"resources.startingHP=NaN":     `found "NaN"`,
		"resources.startingHP=inf":     `found "inf"`,
		"resources.startingHP=1e39":    `found "1e39"`,
		"resources.startingHP=0x1p3":   `found "0x1p3"`,
		"resources.startingHP=1_000":   `found "1_000"`,
		"resources.startingHP=1=2":     `found "1=2"`,
		"moonfarm.maxTurns=1.5":        `expected a whole number of 32 bits, found "1.5"`,
		"moonfarm.maxTurns=2147483648": `found "2147483648"`,
		"moonfarm.capBits=1":           `expected true or false, found "1"`,
		"moonfarm.capBits=true\n\nmoonfarm.deadAt=1\nmoonfarm.capBits=true": `line 4: key "moonfarm.capBits" was given already in line 1`,
	})
}

func FuzzParseRules(f *testing.F) {
	ruleText.Fuzz(f, func(t *testing.T, r Rules) {
		if err := r.Validate(); err == nil && r.MaxMobile() > maxMobile {
			t.Errorf("rules allow %d mobile units:\n%s", r.MaxMobile(), r.AppendText(nil))
		}
	}, string(DefaultRules().AppendText(nil)), "2019\nmoonfarm.deadAt=-0\nresources.maxBits=1e-45", "resources.startingHP=3.4028236e38")
}
