package codecraft

import (
	"fmt"
	"strings"
	"testing"
)

// TestConfigRoundTrip reads the texts of all presets back.
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
			for _, from := range []string{text, name, "  " + name + "\r\n\n", "# ours\n" + name + "\n" + text, name + "\nbonus=" + fmt.Sprint(want.Bonus)} {
				if got, err := ParseRules([]byte(from)); err != nil || got != want {
					t.Errorf("%s: read from %.40q …: %+v, %v", name, from, got, err)
				}
			}
		}
	}
	if got, err := ParseRules(nil); err != nil || got != DefaultRules() {
		t.Errorf("no text: %v", err)
	}
}

// TestConfigNamesEveryField sets every rule value to another one and reads the
// text back: a field without a key would be lost, or keep its zero.
func TestConfigNamesEveryField(t *testing.T) {
	var r Rules
	keys := map[string]bool{}
	for i, v := range r.configValues() {
		if keys[v.key] {
			t.Errorf("key %s twice", v.key)
		}
		keys[v.key] = true
		switch p := v.value.(type) {
		case *int32:
			*p = 1000 + int32(i)
		case *bool:
			*p = true
		case *TypeList:
			*p = ListOf(Type(i%Types), Type((i+3)%Types))
		default:
			t.Errorf("key %s is a %T", v.key, p)
		}
	}
	text := string(r.AppendText(nil))
	if strings.Contains(text, "=0\n") || strings.Contains(text, "=false\n") || strings.Contains(text, "=\n") {
		t.Errorf("a value kept its zero:\n%s", text)
	}
	if got, err := ParseRules([]byte(text)); err != nil || got != r {
		t.Errorf("got %+v, %v\nwant %+v", got, err, r)
	}
	if n := strings.Count(text, "\n"); n != len(keys) {
		t.Errorf("%d lines for %d keys", n, len(keys))
	}
}

// TestParseRules covers what a text may look like.
func TestParseRules(t *testing.T) {
	want := DefaultRules()
	want.MaxTurns, want.Fog, want.Start = 77, false, ListOf(Turret, MeleeUnit)
	want.Types[BuilderUnit].Builds = TypeList{}
	for _, text := range []string{
		"max_tick_count=77\nfog_of_war=false\nstart=Turret,MeleeUnit\nBuilderUnit.build.options=",
		"\n# remark = x\n  max_tick_count =  +77 \r\n\tfog_of_war\t= false\r\nstart = Turret , MeleeUnit\nBuilderUnit.build.options =  \n\n",
		"finals\nBuilderUnit.build.options=\nstart=Turret,MeleeUnit\nfog_of_war=false\nmax_tick_count=077",
	} {
		if got, err := ParseRules([]byte(text)); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	// Equal lists are equal rules, whatever was read before.
	list := want.Start
	if err := list.parse("House"); err != nil || list != ListOf(House) {
		t.Errorf("a list read over another is %+v, %v", list, err)
	}
}

// TestParseRulesErrors checks that every refusal names the line and what was found.
func TestParseRulesErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"round3", `line 1: want the name of a preset (finals, round2, round1, with -1 to -4 for so many players) or a key, = and a value, found "round3"`},
		{"finals-5", `line 1: want the name of a preset`},
		{"finals-0", `line 1: want the name of a preset`},
		{"finals-", `line 1: want the name of a preset`},
		{"-2", `line 1: want the name of a preset`},
		{"\n\nmax_ticks=3", `line 3: key "max_ticks": not a key of this game: want one like "max_tick_count"`},
		{"=3", `line 1: key "": not a key`},
		{"finals\nround1", `line 2: want a key, = and a value, found "round1"`},
		{"players=2\nround1", `line 2: want a key, = and a value, found "round1"`},
		{"players=", `line 1: key "players": want a whole number of 32 bits, found ""`},
		{"players=two", `found "two"`},
		{"players=2.0", `found "2.0"`},
		{"players=0x2", `found "0x2"`},
		{"players=1=2", `found "1=2"`},
		{"players=2147483648", `found "2147483648"`},
		{"bonus=1", `line 1: key "bonus": want true or false, found "1"`},
		{"start=House,Castle", `line 1: key "start": want types of entities, found "Castle"`},
		{"start=House,", `want types of entities, found ""`},
		{"start=House,Wall,House", `type House twice`},
		{"bonus=true\n\nplayers=1\nbonus=true", `line 4: key "bonus" was given already in line 1`},
	} {
		_, err := ParseRules([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want one with %q", c.text, err, c.want)
		}
	}
}

// FuzzParseRules: any text is refused or its rules survive their canonical text,
// and what Validate accepts can be played.
func FuzzParseRules(f *testing.F) {
	f.Add(DefaultRules().AppendText(nil))
	f.Add([]byte("round1-3\nWall.size=5\nstart=\nmap.octaves=8"))
	f.Add([]byte("max_pathfind_nodes=1\nBuilderUnit.build=false\nBuilderUnit.build.options=\nBuilderUnit.build.init_health=0"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ParseRules(text)
		if err != nil {
			return
		}
		if again, err := ParseRules(r.AppendText(nil)); err != nil || again != r {
			t.Errorf("rules of %q read back as %+v, %v", text, again, err)
		}
		g, err := New(r)
		if err != nil {
			return
		}
		var s State
		g.Reset(&s, 1)
		for range 3 {
			g.Tick(&s)
		}
	})
}
