package terminal_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
)

// configLine reads the config line of a recording as nested JSON values.
func configLine(t *testing.T, name string) map[string]any {
	t.Helper()
	file, err := os.Open(simtest.Shared(t, "replays", "terminal", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(unpacked)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) != "" {
			var config map[string]any
			if err := json.Unmarshal(lines.Bytes(), &config); err != nil {
				t.Fatal(err)
			}
			return config
		}
	}
	t.Fatalf("%s has no config line", name)
	return nil
}

// flat lists the numbers of a JSON value by path; an upgrade is there as 1.
func flat(dst map[string]float64, path string, value any) map[string]float64 {
	switch v := value.(type) {
	case map[string]any:
		if strings.HasSuffix(path, ".upgrade") {
			dst[path] = 1
		}
		for key, value := range v {
			flat(dst, strings.TrimPrefix(path+"."+key, "."), value)
		}
	case []any:
		for i, value := range v {
			flat(dst, path+"."+strconv.Itoa(i), value)
		}
	case float64:
		dst[path] = v
	}
	return dst
}

// canonical lists the values of rules by the keys of their text.
func canonical(t *testing.T, r terminal.Rules) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	for line := range strings.Lines(string(r.AppendText(nil))) {
		key, text, _ := strings.Cut(strings.TrimSpace(line), "=")
		if text == "true" || text == "false" {
			values[key] = map[string]float64{"true": 1, "false": 0}[text]
			continue
		}
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		values[key] = value
	}
	return values
}

// unplayed are keys of configurations that rules have no use for.
var unplayed = []string{"iconxScale", "iconyScale", "unitCategory", "debug", "playWaitTimeBotSoft", "playWaitTimeBotMax", "waitTimeManual",
	"waitTimeStartGame", "waitTimeEndGame", "replaySave", "playReplaySave", "seasonCompatibilityMode", "misc"}

func playedKey(key string) bool {
	for _, part := range unplayed {
		if strings.Contains(key, part) {
			return false
		}
	}
	return true
}

// TestRuleSetsOfRecordings compares the rule sets from 2020 on with the config
// lines of recordings, key by key: every key of the rules must have the value
// of the file (0 if it is not there; in upgrades that of the base), and every
// number of the file must be in the rules.
func TestRuleSetsOfRecordings(t *testing.T) {
	for _, name := range terminal.RuleSets()[3:] {
		file := flat(map[string]float64{}, "", configLine(t, name+"-001.replay.gz"))
		rules, _ := terminal.RuleSet(name)
		values := canonical(t, rules)
		for key, got := range values {
			if strings.HasPrefix(key, "moonfarm.") {
				continue
			}
			want := file[key]
			if base, upgrade, ok := strings.Cut(key, ".upgrade."); ok && file[base+".upgrade"] == 1 {
				if _, overridden := file[key]; !overridden {
					want = file[base+"."+upgrade]
				}
			}
			if float32(got) != float32(want) {
				t.Errorf("%s: %s is %v, the recording says %v", name, key, got, want)
			}
		}
		for key := range file {
			_, known := values[key]
			if !known && playedKey(key) {
				t.Errorf("%s: the recording's %s is not in the rules", name, key)
			}
		}
	}
}

// legacyKeys translates keys of 2019: to each of ours, the recording's.
var legacyKeys = map[string]string{
	"0.cost1": "0.cost", "1.cost1": "1.cost", "2.cost1": "2.cost", "3.cost2": "3.cost", "4.cost2": "4.cost", "5.cost2": "5.cost",
	"2.attackRange": "2.range", "3.attackRange": "3.range", "4.attackRange": "4.range", "5.attackRange": "5.range",
	"2.attackDamageWalker": "2.damage", "1.shieldRange": "1.range", "1.shieldPerUnit": "1.shieldAmount",
}

// legacyKey is the recording's key for one of ours, or "".
func legacyKey(key string) string {
	k, isUnit := strings.CutPrefix(key, "unitInformation.")
	if !isUnit || strings.Contains(key, "upgrade") {
		return key
	}
	if old := legacyKeys[k]; old != "" {
		return "unitInformation." + old
	}
	kind, name, _ := strings.Cut(k, ".")
	old := map[string]string{"startHealth": "stability", "getHitRadius": name, "speed": name}[name]
	switch {
	case kind < "3" && name == "refundPercentage":
		return "mechanics.destroyOwnUnitRefund"
	case kind < "3" && name == "turnsRequiredToRemove":
		return "mechanics.destroyOwnUnitDelay"
	case kind == "1" && name == "shieldDecay":
		return "mechanics.shieldDecayPerFrame"
	case kind >= "3" && old == "":
		old = map[string]string{"attackDamageWalker": "damageI", "attackDamageTower": "damageF", "playerBreachDamage": "damageToPlayer",
			"selfDestructDamageWalker": "stability", "selfDestructDamageTower": "stability"}[name]
		mechanics := map[string]string{"metalForBreach": "resources.coresForPlayerDamage",
			"selfDestructRange": "mechanics.selfDestructRadius", "selfDestructStepsRequired": "mechanics.stepsRequiredSelfDestruct"}
		if mechanics[name] != "" {
			return mechanics[name]
		}
	}
	return "unitInformation." + kind + "." + old
}

// TestRuleSet2019 does the same with the old keys.
func TestRuleSet2019(t *testing.T) {
	file := flat(map[string]float64{}, "", configLine(t, "2019-001.replay.gz"))
	rules, _ := terminal.RuleSet("2019")
	for key, got := range canonical(t, rules) {
		if want := file[legacyKey(key)]; !strings.HasPrefix(key, "moonfarm.") && float32(got) != float32(want) {
			t.Errorf("%s is %v, the recording's %q says %v", key, got, legacyKey(key), want)
		}
	}
	if !rules.OldIDs || rules.DeadAt != 1e-4 {
		t.Errorf("old ids %v, dead at %v", rules.OldIDs, rules.DeadAt)
	}
}

// TestRuleBooks holds classic and later against the tables of the rule books.
func TestRuleBooks(t *testing.T) {
	for name, want := range map[string]string{
		"classic": `
			30 health 40 cores 5 bits 5 cores 5 bits
			wall 1 0 60 0 0 0; 1 120 0 0 0
			support 4 0 30 3.5 3 0; 4 30 7 4 0
			turret 6 0 75 3.5 16 0; 6 75 3.5 32 0
			scout 0 1 15 3.5 2 2 1; demolisher 0 3 5 4.5 8 8 0.5; interceptor 0 1 40 4.5 20 0 0.25`,
		"later": `
			30 health 40 cores 5 bits 5 cores 5 bits
			wall 1 0 30 0 0 0; 1 120 0 0 0
			support 4 0 30 0 0 0; 3 30 7 4 0.3
			turret 2 0 90 2.5 5 0; 4 90 3.5 16 0
			scout 0 1 15 3.5 2 2 1; demolisher 0 3 5 4.5 6 6 0.5; interceptor 0 1 40 4.5 20 0 0.25`,
	} {
		r, _ := terminal.RuleSet(name)
		if got := bookText(r); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
		for k := range terminal.Kind(terminal.Kinds) {
			u := r.Units[k]
			if k.Structure() && (u.Refund != 0.75 || u.RemoveTurns != 1 || !r.Upgradable[k]) {
				t.Errorf("%s: %v %+v", name, k, u)
			}
			if k.Mobile() && (u.BlastMobile != u.Health || u.BlastStruct != u.Health || u.BlastRange != 1.5 || u.BlastSteps != 5 ||
				u.BreachDamage != 1 || u.BreachCores != 1) {
				t.Errorf("%s: %v %+v", name, k, u)
			}
		}
		if r.BitDecay != 0.25 || r.BitGrowth != 1 || r.GrowthStart != 10 || r.GrowthInterval != 10 || r.MaxTurns != 100 || r.SoftTime != 5000 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// bookText writes rules as the table above: prices, health, range and damage
// (of supports range, shield, bonus), speed.
func bookText(r terminal.Rules) string {
	var words []string
	add := func(values ...float32) {
		for _, v := range values {
			words = append(words, strconv.FormatFloat(float64(v), 'g', -1, 32))
		}
	}
	add(r.StartHealth)
	words = append(words, "health")
	add(r.StartCores)
	words = append(words, "cores")
	add(r.StartBits)
	words = append(words, "bits")
	add(r.CoresPerTurn)
	words = append(words, "cores")
	add(r.BitsPerTurn)
	words = append(words, "bits")
	does := func(k terminal.Kind, u terminal.Unit) {
		if k == terminal.Support {
			add(u.ShieldRange, u.Shield, u.ShieldPerY)
		} else {
			add(u.AttackRange, u.DamageMobile, u.DamageStruct)
		}
	}
	for k := range terminal.Kind(terminal.Kinds) {
		u := r.Units[k]
		words = append(words, k.String())
		add(u.Cores, u.Bits, u.Health)
		does(k, u)
		if k.Mobile() {
			add(u.Speed)
			if k != terminal.Interceptor {
				words[len(words)-1] += ";"
			}
			continue
		}
		words[len(words)-1] += ";"
		up := r.Upgraded[k]
		add(up.Cores, up.Health)
		does(k, up)
	}
	return strings.Join(words, " ")
}

// randomRules draws rules that Rules.Validate accepts: those of a random rule
// set, some of whose values are others.
func randomRules(r *prng.Rand) terminal.Rules {
	names := terminal.RuleSets()
	for {
		rules, _ := terminal.RuleSet(names[r.IntN(len(names))])
		for range r.IntN(12) {
			changeRule(&rules, r)
		}
		if rules.Validate() == nil {
			return rules
		}
	}
}

// changeRule changes one value.
func changeRule(rules *terminal.Rules, r *prng.Rand) {
	amounts := []float32{0, 0.1, 0.5, 1, 1.7, 2, 3, 5, 7.3, 10, 30, 100}
	some := func() float32 { return amounts[r.IntN(len(amounts))] }
	k := r.IntN(terminal.Kinds)
	u := &rules.Units[k]
	if k < terminal.Structures && rules.Upgradable[k] && r.IntN(2) == 0 {
		u = &rules.Upgraded[k]
	}
	switch r.IntN(18) {
	case 0:
		u.Health = some()
	case 1:
		u.Cores = some() * float32(min(1, max(0, terminal.Structures-k)))
	case 2:
		u.Bits = some() * float32(min(1, k/terminal.Structures))
	case 3:
		u.AttackRange = some() / 2
	case 4:
		u.DamageMobile = some()
	case 5:
		u.DamageStruct = some()
	case 6:
		u.HitRadius = some() / 10
	case 7:
		u.Speed = []float32{0.01, 0.1, 0.15, 0.3, 1. / 3, 0.5, 0.75, 1}[r.IntN(8)]
	case 8:
		u.BlastRange, u.BlastSteps = some(), int32(r.IntN(10))
	case 9:
		u.BlastMobile, u.BlastStruct = some(), some()
	case 10:
		u.Shield, u.ShieldPerY, u.ShieldRange = some(), some()/10, some()
	case 11:
		decay := some() / 20
		rules.Units[terminal.Support].ShieldDecay = decay
		if rules.Upgradable[terminal.Support] {
			rules.Upgraded[terminal.Support].ShieldDecay = decay
		}
	case 12:
		u.Refund, u.RemoveTurns = some()/10, 1+int32(r.IntN(15))
	case 13:
		u.GivesBits, u.GivesCores = some()/5, some()/5
	case 14:
		u.BreachDamage, u.BreachCores = some(), some()
	case 15:
		rules.StartHealth, rules.StartCores, rules.StartBits = some(), 10*some(), 10*some()
		rules.BitDecay = min(some()/7, 1)
	case 16:
		rules.GrowthStart, rules.GrowthInterval, rules.CapInterval = int32(r.IntN(5)), 1+int32(r.IntN(4)), 1+int32(r.IntN(4))
		rules.MaxBits, rules.BitGrowth, rules.CapGrowth = 10*some(), some(), some()
	case 17:
		rules.MaxTurns = 1 + int32(r.IntN(60))
		rules.CapBits, rules.DoomedShielded = r.IntN(2) == 0, r.IntN(2) == 0
		rules.DoomedExplode, rules.RemovedGive = r.IntN(2) == 0, r.IntN(2) == 0
		rules.OldIDs = r.IntN(2) == 0
	}
}

// TestRandomRules: random rules are played, and are many.
func TestRandomRules(t *testing.T) {
	r := prng.New(1)
	seen := map[string]bool{}
	for range 300 {
		rules := randomRules(&r)
		if err := rules.Validate(); err != nil {
			t.Fatal(err)
		}
		seen[string(rules.AppendText(nil))] = true
	}
	if len(seen) < 200 {
		t.Errorf("%d different rules of 300", len(seen))
	}
}

// TestRuleSetsArePlayed: all rule sets are valid.
func TestRuleSetsArePlayed(t *testing.T) {
	for _, name := range terminal.RuleSets() {
		r, _ := terminal.RuleSet(name)
		if err := r.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s: at most %d mobile units in one turn, %d orders", name, r.MaxMobile(), r.MaxOrders())
	}
}
