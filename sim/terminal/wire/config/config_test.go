package config

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/internal/wiretest"
)

// TestRecordings reads the config lines of all official replays: those of 2019 and since 2020
// are built-in rule sets. Parse must know all keys with numbers that matter for a match.
func TestRecordings(t *testing.T) {
	read := append(keyNames(unitKeys[:]), keyNames(oldUnitKeys[:])...)
	read = append(append(read, keyNames(resourceKeys[:])...), keyNames(timeKeys[:])...)
	read = append(append(read, keyNames(mechanicsKeys[:])...), "coresForPlayerDamage", "unitCategory", "numBlockedLocations")
	ignored := []string{"iconxScale", "iconyScale", "playWaitTimeBotSoft", "playWaitTimeBotMax", "waitTimeManual", "waitTimeStartGame",
		"waitTimeEndGame", "replaySave", "playReplaySave", "seasonCompatibilityModeP1", "seasonCompatibilityModeP2"}
	numbers := regexp.MustCompile(`"(\w+)": *[-0-9]`)
	n := 0
	for _, path := range wiretest.Recordings(t) {
		name := filepath.Base(path)
		year, _, _ := strings.Cut(name, "-")
		text := wiretest.Lines(t, path)[0]
		c, err := Parse(text)
		require.NoError(t, err)
		want := year
		switch year {
		case "2018a", "2018b":
			want = ""
		}
		assert.Truef(t, c.Generation == want && c.Legacy == (year < "2020") && c.Shorthands == standardShorthands, "%s: generation %q, legacy %v, shorthands %q", name, c.Generation, c.Legacy, c.Shorthands)
		assert.NoError(t, c.Rules.Validate(), name)
		line := c.Append(nil, c.Style)
		assert.Truef(t, bytes.Equal(line, text), "%s: the config is not written as it was read:\n%s\n%s", name, text, line)
		for _, m := range numbers.FindAllSubmatch(text, -1) {
			if key := string(m[1]); !slices.Contains(read, key) && !slices.Contains(ignored, key) {
				t.Errorf("%s: the key %s is not known", name, key)
			}
		}
		n++
	}
	t.Logf("%d config lines", n)
}

func keyNames[T any](keys []valueKey[T]) (names []string) {
	for _, key := range keys {
		names = append(names, key.name)
	}
	return names
}

// TestAppendOfficial checks that the config written for the rules of 2026 has the bytes of the
// original.
func TestAppendOfficial(t *testing.T) {
	for _, name := range []string{"2026-001.replay.gz", "2026-018.replay.gz"} {
		want := wiretest.Recording(t, name)[0]
		read, err := Parse(want)
		require.NoError(t, err)
		c := Of(terminal.DefaultRules())
		got := c.Append(nil, read.Style)
		assert.Truef(t, bytes.Equal(got, want), "%s:\nofficial %s\nwritten  %s", name, want, got)
	}
}

// TestAppendForm checks the form of a config without the recordings: the beginning of the
// line, the keys of a wall and of a support, and the end.
func TestAppendForm(t *testing.T) {
	c := Of(terminal.DefaultRules())
	got := string(c.Append(nil, Local))
	const want = `{"debug":{"printMapString":false,"printTStrings":false,"printActStrings":false,"printHitStrings":false,` +
		`"printPlayerInputStrings":false,"printBotErrors":true,"printPlayerGetHitStrings":false},"unitInformation":[` +
		`{"iconxScale":0.4,"turnsRequiredToRemove":2,"refundPercentage":0.9,"cost1":1.0,"getHitRadius":0.01,` +
		`"upgrade":{"iconxScale":0.4,"turnsRequiredToRemove":3,"refundPercentage":0.8,"cost1":2.0,"icon":"S3_filter",` +
		`"iconyScale":0.5,"startHealth":200.0},"unitCategory":0,"display":"Filter","icon":"S3_filter","iconyScale":0.5,` +
		`"startHealth":60.0,"shorthand":"FF"},` +
		`{"iconxScale":0.5,"refundPercentage":0.9,"cost1":4.0,"upgrade":{"iconxScale":0.5,"turnsRequiredToRemove":3,` +
		`"shieldBonusPerY":0.7,"refundPercentage":0.8,"shieldRange":7.0,"shieldPerUnit":1.0,"icon":"S3_encryptor",` +
		`"iconyScale":0.5,"startHealth":40.0},"shieldRange":3.5,"shieldPerUnit":3.0,"display":"Encryptor",`
	assert.Truef(t, strings.HasPrefix(got, want), "the config begins with\n%s\nwant\n%s", got[:min(len(got), len(want))], want)
	const end = `"resources":{"bitsPerRound":1.0,"coresPerRound":4.0,"startingBits":1.0,"turnIntervalForBitCapSchedule":5,` +
		`"turnIntervalForBitSchedule":5,"bitRampBitCapGrowthRate":5.0,"bitDecayPerRound":0.25,"roundStartBitRamp":5,` +
		`"bitGrowthRate":1.0,"startingHP":40.0,"startingCores":8.0,"maxBits":150.0},` +
		`"seasonCompatibilityModeP2":5,"seasonCompatibilityModeP1":5}`
	assert.Truef(t, strings.HasSuffix(got, end), "the config ends with\n%s\nwant\n%s", got[max(0, len(got)-len(end)):], end)
}

// rulesBack writes rules as a config, reads it and checks that nothing has changed.
func rulesBack(t *testing.T, r terminal.Rules, s Style) Config {
	t.Helper()
	c := Of(r)
	line := c.Append(nil, s)
	back, err := Parse(line)
	require.NoErrorf(t, err, "%v\n%s", err, line)
	require.Truef(t, back.Rules == r, "other rules were read back:\n%s", line)
	require.Truef(t, back.Shorthands == c.Shorthands && back.Generation == c.Generation && back.Style == s && bytes.Equal(back.Raw, line), "generation %q, style %d, shorthands %q", back.Generation, back.Style, back.Shorthands)
	return back
}

// TestAppend writes and reads all rule sets and many random rules.
func TestAppend(t *testing.T) {
	for _, name := range terminal.RuleSets() {
		r, _ := terminal.RuleSet(name)
		for _, s := range []Style{Local, Web} {
			if back := rulesBack(t, r, s); back.Generation != name {
				t.Errorf("%s was read back as %q", name, back.Generation)
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		rulesBack(t, randomRules(rng), Style(rng.IntN(2)))
	}
}

// TestConfigHasAllRules checks that a config has each value of terminal.Rules.Table.
func TestConfigHasAllRules(t *testing.T) {
	r := terminal.DefaultRules()
	r.Upgradable = [terminal.Structures]bool{true, true, true}
	for i, rule := range r.Table() {
		other := r
		switch to := other.Table()[i].Value.(type) {
		case *float32:
			*to += 1
		case *int32:
			*to++
		case *bool:
			*to = !*to
		}
		c := Of(other)
		back, err := Parse(c.Append(nil, Local))
		got, want := back.Rules.Table()[i].AppendText(nil), other.Table()[i].AppendText(nil)
		require.NoErrorf(t, err, "%s was read back as %s, want %s", rule.Key, got, want)
		assert.Truef(t, bytes.Equal(got, want), "%s was read back as %s, want %s", rule.Key, got, want)
	}
}

// randomRules returns rules with random values, playable or not.
func randomRules(rng *rand.Rand) terminal.Rules {
	r := defaultChoices()
	random := func(p any) {
		switch p := p.(type) {
		case *float32:
			*p = [...]float32{0, 1, 0.1, 2.5, 1e-5, 3e8, 16777216, rng.Float32() * 100, -1}[rng.IntN(9)]
		case *int32:
			*p = int32(rng.Uint32()) >> rng.IntN(32)
		case *bool:
			*p = rng.IntN(2) == 0
		}
	}
	for k := range r.Units {
		for _, key := range unitKeys {
			random(key.of(&r.Units[k]))
		}
	}
	for k := range r.Upgraded {
		if r.Upgradable[k] = rng.IntN(3) > 0; r.Upgradable[k] {
			r.Upgraded[k] = r.Units[k]
			for _, key := range unitKeys {
				if rng.IntN(2) == 0 {
					random(key.of(&r.Upgraded[k]))
				}
			}
		}
	}
	for _, keys := range [][]valueKey[terminal.Rules]{resourceKeys[:], timeKeys[:], choiceKeys[:]} {
		for _, key := range keys {
			random(key.of(&r))
		}
	}
	r.StartCores = 1 // a whole number, from which Parse tells the style
	return r
}

// oldConfig has the keys of 2018 and 2019.
const oldConfig = `{"unitInformation":[
 {"damage":0,"cost":1,"getHitRadius":0.51,"range":2.0,"shorthand":"FF","stability":60},
 {"damage":0,"cost":4,"getHitRadius":0.51,"shieldAmount":10,"range":3,"shorthand":"EF","stability":30},
 {"damage":4,"cost":3,"getHitRadius":0.51,"range":3,"shorthand":"DF","stability":75},
 {"damageI":1,"damageToPlayer":2,"cost":1,"getHitRadius":0.51,"damageF":7,"range":3,"shorthand":"PI","stability":15,"speed":0.5},
 {"damageI":3,"damageToPlayer":1,"cost":3,"getHitRadius":0.51,"damageF":3,"range":5,"shorthand":"EI","stability":5,"speed":0.25},
 {"damageI":10,"damageToPlayer":1,"cost":1,"getHitRadius":0.51,"damageF":0,"range":3,"shorthand":"SI","stability":40,"speed":0.25},
 {"display":"Remove","shorthand":"RM"}],
"timingAndReplay":{"waitTimeBotMax":35000.0,"waitTimeBotSoft":5000,"playWaitTimeBotSoft":10000},
"resources":{"roundStartBitRamp":10.0,"startingHP":30,"coresForPlayerDamage":6},
"mechanics":{"basePlayerHealthDamage":1,"destroyOwnUnitRefund":0.5,"stepsRequiredSelfDestruct":5,"selfDestructRadius":1.5,
 "shieldDecayPerFrame":0.15,"meleeMultiplier":0,"destroyOwnUnitDelay":1,"rerouteMidRound":true}}`

func TestParseOldConfig(t *testing.T) {
	c, err := Parse([]byte(oldConfig))
	require.NoError(t, err)
	want := terminal.Rules{
		Units: [terminal.Kinds]terminal.Unit{
			{Cores: 1, Health: 60, HitRadius: 0.51, Refund: 0.5, RemoveTurns: 1},
			{Cores: 4, Health: 30, HitRadius: 0.51, Refund: 0.5, RemoveTurns: 1, Shield: 10, ShieldRange: 3, ShieldDecay: 0.15},
			{Cores: 3, Health: 75, HitRadius: 0.51, Refund: 0.5, RemoveTurns: 1, AttackRange: 3, DamageMobile: 4},
			{Bits: 1, Health: 15, HitRadius: 0.51, AttackRange: 3, DamageMobile: 1, DamageStruct: 7, Speed: 0.5,
				BreachDamage: 2, BreachCores: 6, BlastMobile: 15, BlastStruct: 15, BlastRange: 1.5, BlastSteps: 5},
			{Bits: 3, Health: 5, HitRadius: 0.51, AttackRange: 5, DamageMobile: 3, DamageStruct: 3, Speed: 0.25,
				BreachDamage: 1, BreachCores: 6, BlastMobile: 5, BlastStruct: 5, BlastRange: 1.5, BlastSteps: 5},
			{Bits: 1, Health: 40, HitRadius: 0.51, AttackRange: 3, DamageMobile: 10, Speed: 0.25,
				BreachDamage: 1, BreachCores: 6, BlastMobile: 40, BlastStruct: 40, BlastRange: 1.5, BlastSteps: 5},
		},
		StartHealth: 30, GrowthStart: 10, SoftTime: 5000, MaxTime: 35000,
		MaxTurns: 100, CapBits: true, DoomedShielded: true, DoomedExplode: true, RemovedGive: true,
		DeadAt: 1e-4, OldIDs: true, DoomedTargets: true, BareWeakest: true,
	}
	assert.Truef(t, c.Rules == want, "read %+v\nwant %+v", c.Rules, want)
	assert.Truef(t, c.Legacy && c.Shorthands == standardShorthands && c.Generation == "", "legacy %v, shorthands %q, generation %q", c.Legacy, c.Shorthands, c.Generation)
	line := c.Append(nil, Local)
	assert.False(t, bytes.ContainsAny(line, "\r\n"), "a config of several lines is written as several")
	back, err := Parse(line)
	require.NoError(t, err, "written and read again")
	assert.True(t, back.Rules == c.Rules, "written and read again")
}

// smallConfig is a config with keys since 2020, most of which are missing.
// UNITS stands for more of the first unit, MORE for more of the whole.
const smallConfig = `{"unitInformation":[{UNITS"cost1":1},{},{},{},{},{}],"resources":{"startingHP":30}MORE}`

func small(unit, more string) string {
	return strings.NewReplacer("UNITS", unit, "MORE", more).Replace(
		strings.Replace(smallConfig, "},{},{},{},{},{}", `,"shorthand":"A"},{"shorthand":"B"},{},{},{},{}`, 1))
}

func TestParse(t *testing.T) {
	c, err := Parse([]byte(small(`"upgrade":{"startHealth":50,"cost1":0,"hat":[1,{"a":null}]},"startHealth":20,"speed":0.50,`,
		`,"moonfarm":{"capBits":false,"maxTurns":7},"new\n":{"key":[true,"\u00e9"]}`)))
	require.NoError(t, err)
	r := &c.Rules
	u, v := r.Units[0], r.Upgraded[0]
	assert.Truef(t, u == (terminal.Unit{Cores: 1, Health: 20, Speed: 0.5}) && v == (terminal.Unit{Health: 50, Speed: 0.5}), "wall %+v, upgraded %+v", u, v)
	assert.Truef(t, r.Upgradable == [3]bool{true, false, false} && !r.CapBits && r.RemovedGive && r.MaxTurns == 7 && r.StartHealth == 30, "rules %+v", r)
	assert.Truef(t, c.Shorthands == [8]string{"A", "B", "DF", "PI", "EI", "SI", "RM", "UP"} && c.Style == Web && !c.Legacy, "shorthands %q, style %d, legacy %v", c.Shorthands, c.Style, c.Legacy)
}

// TestParseStarterKit reads the config of the starter kit, which has one key of 2018 beside the later
// ones. That key does not set the cores that a breach pays.
func TestParseStarterKit(t *testing.T) {
	text := strings.Replace(small("", ""), `"startingHP":30`, `"startingHP":30,"coresForPlayerDamage":6`, 1)
	text = strings.Replace(text, `},{},{},{}]`, `},{},{"metalForBreach":2},{}]`, 1)
	c, err := Parse([]byte(text))
	if r := &c.Rules; err != nil || c.Legacy || r.OldIDs || r.Units[3].BreachCores != 0 || r.Units[4].BreachCores != 2 {
		t.Errorf("%v, legacy %v, %+v", err, c.Legacy, r.Units)
	}
}

func TestParseErrors(t *testing.T) {
	deep := strings.Repeat("[", 20) + strings.Repeat("]", 20)
	simtest.Refuses(t, strings.Contains, func(text string) error { _, err := Parse([]byte(text)); return err }, map[string]string{
		``:        `config: column 1: expected an object, found the end of the text`,
		`[]`:      `config: column 1: expected an object, found "["`,
		`{"a":1}`: `config: column 8: expected the key unitInformation, found the end of the text`,
		`{"unitInformation":[{},{}],"resources":{}}`:                                       `column 26: unitInformation: expected at least 6 units, found "]"`,
		`{"unitInformation":[{},{},{},{},{},{},{},{},{}],"resources":{}}`:                  `unitInformation[8]: expected the end of the list of units, found "{"`,
		small(`"cost2":"1",`, ""):                                                          `unitInformation[0].cost2: expected a number, found "\"1\""`,
		small(`"cost2":1e40,`, ""):                                                         `unitInformation[0].cost2: expected a number within the range of float32, found "1e40"`,
		small(`"turnsRequiredToRemove":1.5,`, ""):                                          `unitInformation[0].turnsRequiredToRemove: expected a whole number of 32 bits, found "1.5"`,
		small(`"turnsRequiredToRemove":3000000000,`, ""):                                   `expected a whole number of 32 bits, found "3000000000"`,
		small(`"upgrade":null,`, ""):                                                       `unitInformation[0].upgrade: expected an object, found "null"`,
		small(`"upgrade":{"cost1":true},`, ""):                                             `unitInformation[0].upgrade.cost1: expected a number, found "true"`,
		small(`"unitCategory":1,`, ""):                                                     `unitInformation[0].unitCategory: expected the category of a wall, found "1"`,
		small(`"stability":1,`, ""):                                                        `expected keys of 2018 and 2019 or later ones, found both`,
		small("", `,"mechanics":{}`):                                                       `expected keys of 2018 and 2019 or later ones, found both`,
		small("", `,"misc":{"blockedLocations":[[1,2]]}`):                                  `misc.blockedLocations[0]: expected no blocked locations, which cannot be played, found "["`,
		small("", `,"misc":{"numBlockedLocations":2}`):                                     `misc.numBlockedLocations: expected no blocked locations`,
		small("", `,"moonfarm":{"capbits":true}`):                                          `moonfarm.capbits: expected a choice of the rules, found "true"`,
		small("", `,"moonfarm":{"capBits":1}`):                                             `moonfarm.capBits: expected true or false, found "1"`,
		small("", `,"a":`+deep):                                                            `expected at most 16 lists and objects in each other, found more`,
		strings.Replace(small("", ""), `"B"`, `"A"`, 1):                                    `unitInformation: expected another shorthand for each unit, found ["A" "A" "DF" "PI" "EI" "SI" "RM" "UP"] for support`,
		strings.Replace(small("", ""), `"B"`, `"a name that is far too long"`, 1):          `unitInformation[1].shorthand: expected a string of at most 16 bytes, found "\"a name that is far too "`,
		strings.Replace(small("", ""), `"B"`, `"RM"`, 1):                                   `"UP"] for removal`,
		strings.Replace(small("", ""), `"B"`, `""`, 1):                                     `"UP"] for support`,
		strings.Replace(small("", ""), `{},{},{},{}]`, `{},{"upgrade":{}},{},{}]`, 1):      `unitInformation[3].upgrade: expected no upgrade of a mobile unit`,
		strings.Replace(oldConfig, `"meleeMultiplier":0`, `"meleeMultiplier":1`, 1):        `mechanics.meleeMultiplier: expected the only value that can be played, found "1"`,
		strings.Replace(oldConfig, `"rerouteMidRound":true`, `"rerouteMidRound":false`, 1): `mechanics.rerouteMidRound: expected the only value`,
		strings.Repeat(" ", MaxSize+1):                                                     `config: expected at most 1048576 bytes, found 1048577`,
	})
}

// TestParseMemory bounds the memory for configs of the greatest size that consist of keys, lists and
// objects.
func TestParseMemory(t *testing.T) {
	keys := []byte("{")
	for i := 0; len(keys) < MaxSize-500; i++ {
		keys = fmt.Appendf(keys, `"%x":0,`, i)
	}
	for _, more := range []string{
		string(keys[1 : len(keys)-1]), `"a":[` + strings.Repeat("{},", MaxSize/3-200) + `0]`,
		`"a":[` + strings.Repeat("0,", MaxSize/2-200) + `0]`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse([]byte(small("", ","+more)))
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err != nil || took > 100<<20 {
			t.Errorf("%.20s…: %d MB were allocated, error %v", more, took>>20, err)
		} else {
			t.Logf("%.20s…: %d MB were allocated in all", more, took>>20)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range terminal.RuleSets() {
		r, _ := terminal.RuleSet(name)
		c := Of(r)
		f.Add(c.Append(nil, Local))
	}
	f.Add([]byte(oldConfig))
	f.Add([]byte(small("", "")))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse(text)
		if err != nil {
			return
		}
		back, err := Parse(c.Append(nil, Local))
		if err != nil || back.Rules != c.Rules || back.Shorthands != c.Shorthands || back.Legacy != c.Legacy {
			t.Fatalf("written as it was and read again: %v", err)
		}
		plain := Of(c.Rules)
		plain.Shorthands = c.Shorthands
		back, err = Parse(plain.Append(nil, Local))
		if err != nil || back.Rules != c.Rules || back.Shorthands != c.Shorthands {
			t.Fatalf("written from the rules and read again: %v", err)
		}
	})
}
