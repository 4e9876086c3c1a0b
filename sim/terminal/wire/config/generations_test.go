package config

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/internal/wiretest"
	"moonfarm/sim/texts"
)

// TestForeignConfigs reads configs of other people that Parse once refused.
func TestForeignConfigs(t *testing.T) {
	names := simtest.SharedFiles(t, "replays", "terminal-more", "refused-config-*.json")
	for _, name := range names {
		c, err := Parse(simtest.Text(t, name))
		if err == nil {
			err = c.Rules.Validate()
		}
		assert.NoError(t, err, filepath.Base(name))
		back, err := Parse(c.Append(nil, Local))
		require.NoErrorf(t, err, "%s, written and read again", filepath.Base(name))
		assert.Truef(t, back.Rules == c.Rules, "%s, written and read again", filepath.Base(name))
	}
}

// TestEarlierGenerations checks which rules the keys of a config set, and that the key moonfarm
// overrides them.
func TestEarlierGenerations(t *testing.T) {
	type choices struct{ doomed, bare, text, kind, free, of2018 bool }
	const season = `,"seasonCompatibilityModeP1":5`
	for _, c := range []struct {
		name, text string
		want       choices
	}{
		{"2018", oldConfig, choices{doomed: true, bare: true, of2018: true}},
		{"2019", strings.Replace(oldConfig, `"waitTimeBotSoft"`, `"waitTimeStartGame":3000,"waitTimeBotSoft"`, 1),
			choices{doomed: true, bare: true, free: true}},
		{"February 2020", small("", season), choices{bare: true, text: true, kind: true}},
		{"since September 2020", small(`"icon":"S3",`, season), choices{}},
		{"written by hand", small("", ""), choices{}},
		{"with the key moonfarm", small("", season+`,"moonfarm":{"tiesByText":false,"freePenalties":true}`),
			choices{bare: true, kind: true, free: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			read, err := Parse([]byte(c.text))
			require.NoError(t, err)
			r := &read.Rules
			require.Equal(t, c.want, choices{r.DoomedTargets, r.BareWeakest, r.TiesByText, r.UpgradeAsKind, r.FreePenalties, read.Of2018})
			require.Equal(t, c.want.of2018, read.Inexact() != "")
		})
	}
	got := Of(wiretest.RuleSet(t, "2020-02"))
	assert.Truef(t, got.Generation == "2020-02" && rulesBack(t, got.Rules, Local).Generation == "2020-02", "the generation is %q", got.Generation)
}

// TestComments checks that Parse skips comments and trailing commas, and that Append leaves
// them out.
func TestComments(t *testing.T) {
	plain := small(`"startHealth":20,`, "")
	text := strings.Replace(plain, `"startHealth":20,`, "// a \"comment\", {\n\"startHealth\":20, //Unhandled\r\n\"display\":\"http://wall\",", 1)
	text = strings.Replace(text, "}]", "},]", 1)
	text = text[:len(text)-1] + ",\n}// the end"
	c, err := Parse([]byte(text))
	want, _ := Parse([]byte(plain))
	require.NoError(t, err)
	require.Truef(t, c.Rules == want.Rules, "%+v", c.Rules)
	line := c.Append(nil, Local)
	back, err := Parse(line)
	require.NoError(t, err)
	assert.Truef(t, back.Rules == c.Rules && !bytes.Contains(line, []byte("Unhandled")) && bytes.Contains(line, []byte("http://wall")), "written as %s", line)
	simtest.Refuses(t, strings.Contains, func(text string) error { _, err := Parse([]byte(text)); return err }, map[string]string{
		strings.Replace(plain, `"startHealth"`, `/"startHealth"`, 1): `column 22: unitInformation[0]: expected a key, found "/"`,
		strings.Replace(plain, `"startHealth"`, `,"startHealth"`, 1): `expected a key, found ","`,
		plain[:len(plain)-1] + "// }":                                `found the end of the text`,
	})
	// In 2019 only supports shield, whatever the other structures' keys say.
	c, err = Parse([]byte(strings.ReplaceAll(oldConfig, `"shorthand":"FF"`, `"shieldAmount":3,"shorthand":"FF"`)))
	require.NoErrorf(t, err, "shields of %v, %v", c.Rules.Units[terminal.Wall].Shield, c.Rules.Units[terminal.Support].Shield)
	assert.Truef(t, c.Rules.Units[terminal.Wall].Shield == 0 && c.Rules.Units[terminal.Support].Shield == 10, "shields of %v, %v", c.Rules.Units[terminal.Wall].Shield, c.Rules.Units[terminal.Support].Shield)
}

// TestByteOrderMark checks that a config may begin with a byte order mark, which is not in Raw.
func TestByteOrderMark(t *testing.T) {
	want := []byte(small("", ""))
	c, err := Parse(append([]byte(texts.Mark), want...))
	require.NoErrorf(t, err, "config %q", c.Raw)
	assert.Truef(t, bytes.Equal(c.Raw, want), "config %q", c.Raw)
}
