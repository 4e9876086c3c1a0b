package codecraft

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/simtest"
)

var ruleText = simtest.RuleText[Rules, *Rules](ParseRules)

// TestConfigRoundTrip writes and reads the texts of all presets.
func TestConfigRoundTrip(t *testing.T) {
	texts := map[string]string{}
	for _, base := range Presets() {
		for players := range 5 {
			name := base
			if players > 0 {
				name = fmt.Sprintf("%s-%d", base, players)
			}
			want, ok := Preset(name)
			if !ok {
				t.Fatalf("no preset %q", name)
			}
			text := string(want.AppendText(nil))
			if other, twice := texts[text]; twice && players != 2 && players != 4 {
				t.Errorf("%s and %s have one text", name, other)
			}
			texts[text] = name
			ruleText.Named(t, name, want)
		}
	}
	ruleText.Is(t, DefaultRules(), "")
}

func TestConfigNamesEveryField(t *testing.T) {
	ruleText.EveryField(t, Rules{}, func(i int, value any) {
		*value.(*TypeList) = ListOf(Type(i%Types), Type((i+3)%Types))
	})
}

// TestParseRules reads texts of all allowed forms.
func TestParseRules(t *testing.T) {
	want := DefaultRules()
	want.MaxTurns, want.Fog, want.Start = 77, false, ListOf(Turret, MeleeUnit)
	want.Types[BuilderUnit].Builds = TypeList{}
	ruleText.Is(t, want,
		"max_tick_count=77\nfog_of_war=false\nstart=Turret,MeleeUnit\nBuilderUnit.build.options=",
		"\n# remark = x\n  max_tick_count =  +77 \r\n\tfog_of_war\t= false\r\nstart = Turret , MeleeUnit\nBuilderUnit.build.options =  \n\n",
		"finals\nBuilderUnit.build.options=\nstart=Turret,MeleeUnit\nfog_of_war=false\nmax_tick_count=077",
	)
	// Equal lists are equal rules, whatever list was read before.
	list := want.Start
	err := list.ParseText("House")
	require.NoErrorf(t, err, "a list read over another is %+v", list)
	assert.Truef(t, list == ListOf(House), "a list read over another is %+v", list)
}

// TestParseRulesErrors checks that every error names the line and the found text.
func TestParseRulesErrors(t *testing.T) {
	simtest.Refuses(t, strings.Contains, func(text string) error { _, err := ParseRules([]byte(text)); return err }, map[string]string{
		"round3":                              `line 1: expected the name of a preset (finals, round2, round1, with -1 to -4 for 1 to 4 players) or a key, = and a value, found "round3"`,
		"finals-5":                            `line 1: expected the name of a preset`,
		"finals-0":                            `line 1: expected the name of a preset`,
		"finals-":                             `line 1: expected the name of a preset`,
		"-2":                                  `line 1: expected the name of a preset`,
		"\n\nmax_ticks=3":                     `line 3: key "max_ticks": not a key of this game: expected one like "max_tick_count"`,
		"=3":                                  `line 1: key "": not a key`,
		"finals\nround1":                      `line 2: expected a key, = and a value, found "round1"`,
		"players=2\nround1":                   `line 2: expected a key, = and a value, found "round1"`,
		"players=":                            `line 1: key "players": expected a whole number of 32 bits, found ""`,
		"players=two":                         `found "two"`,
		"players=2.0":                         `found "2.0"`,
		"players=0x2":                         `found "0x2"`,
		"players=1=2":                         `found "1=2"`,
		"players=2147483648":                  `found "2147483648"`,
		"bonus=1":                             `line 1: key "bonus": expected true or false, found "1"`,
		"start=House,Castle":                  `line 1: key "start": expected types of entities, found "Castle"`,
		"start=House,":                        `expected types of entities, found ""`,
		"start=House,Wall,House":              `type House twice`,
		"bonus=true\n\nplayers=1\nbonus=true": `line 4: key "bonus" was given already in line 1`,
	})
}

// FuzzParseRules plays some ticks by all rules that Validate accepts.
func FuzzParseRules(f *testing.F) {
	ruleText.Fuzz(f, func(_ *testing.T, r Rules) {
		g, err := New(r)
		if err != nil {
			return
		}
		var s State
		g.Reset(&s, 1)
		for range 3 {
			g.Tick(&s)
		}
	}, string(DefaultRules().AppendText(nil)), "round1-3\nWall.size=5\nstart=\nmap.octaves=8",
		"max_pathfind_nodes=1\nBuilderUnit.build=false\nBuilderUnit.build.options=\nBuilderUnit.build.init_health=0")
}
