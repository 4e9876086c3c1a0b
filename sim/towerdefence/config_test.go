package towerdefence

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestDefaultConfig holds the canonical text of the default rules against the
// file kept with the package and reads it back.
func TestDefaultConfig(t *testing.T) {
	text := DefaultRules().AppendText(nil)
	want, err := os.ReadFile("testdata/game-config.properties")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, want) {
		t.Errorf("text of the default rules\n got %s\nwant %s", text, want)
	}
	r, err := ParseRules(text)
	if err != nil || r != DefaultRules() {
		t.Errorf("read back: %+v, %v", r, err)
	}
}

// TestConfigNamesEveryField sets every rule value to another number and reads
// the text back: a field without a key would be lost.
func TestConfigNamesEveryField(t *testing.T) {
	r := DefaultRules()
	var size [2]int
	for i, v := range r.configValues(&size)[2:] {
		*v.value = 1000 + i
	}
	for i, v := range r.configIcons() {
		*v.icon = byte('a' + i)
	}
	if strings.Contains(string(r.AppendText(nil)), "=0\n") {
		t.Error("a value kept its number")
	}
	got, err := ParseRules(r.AppendText(nil))
	if err != nil || got != r {
		t.Errorf("got %+v, %v\nwant %+v", got, err, r)
	}
}

// TestParseRules covers the syntax of properties files.
func TestParseRules(t *testing.T) {
	for _, text := range []string{
		"game.config.start-energy=77",
		"game.config.start-energy = 77  \r\n",
		"# a comment \\\n! another\n\n \t\n  game.config.start-energy:77",
		"game.config.start-energy 77\r",
		"game.config.start-energy\t=\t77\n",
		"game.config.start-en\\\n   ergy=7\\\r\n  7\n",
		"game.config.start\\u002denergy=\\u00377",
		"game.config.start\\-energy=+77\\",
	} {
		r, err := ParseRules([]byte(text))
		want := DefaultRules()
		want.StartEnergy = 77
		if err != nil || r != want {
			t.Errorf("%q: start energy %d, error %v", text, r.StartEnergy, err)
		}
	}
}

// TestParseRulesErrors checks that every refusal names the line and what was found.
func TestParseRulesErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"\n\ngame.config.start-enrgy=3", `line 3: key "game.config.start-enrgy"`},
		{"nonsense", `line 1: key "nonsense"`},
		{"=3", `line 1: key ""`},
		{"game.config.start-energy=", `line 1: key "game.config.start-energy": want a whole number from 0 to 2147483647, found ""`},
		{"game.config.start-energy=-1", `found "-1"`},
		{"game.config.start-energy=2147483648", `found "2147483648"`},
		{"game.config.start-energy=1e3", `found "1e3"`},
		{"game.config.ironcurtain.config.reset-period=0", `want a whole number from 1`},
		{"game.config.tesla.config.icon=", `want one ASCII letter, found ""`},
		{"game.config.tesla.config.icon=TT", `found "TT"`},
		{"game.config.tesla.config.icon=7", `found "7"`},
		{"game.config.start-energy=1\ngame.config.max-rounds=1\ngame.config.start-energy=1", `line 3: key "game.config.start-energy" was given already in line 1`},
		{"game.config.map-width=16\ngame.config.map-height=16", `line 2: key "game.config.map-height": the board is fixed at 8, found 16`},
		{"game.config.map-width=8", `the board is fixed at 16, found 8`},
		{"a\\u12", `line 1: want four hexadecimal digits`},
		{"a\\uzzzz=1", `found "zzzz"`},
	} {
		_, err := ParseRules([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want one with %q", c.text, err, c.want)
		}
	}
}

// FuzzParseRules: any text is refused or its rules survive their canonical text.
func FuzzParseRules(f *testing.F) {
	f.Add(DefaultRules().AppendText(nil))
	f.Add([]byte("game.config.start-energy \\\n 77\n!x\n"))
	f.Add([]byte("\\u0061\\=\\"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ParseRules(text)
		if err != nil {
			return
		}
		if again, err := ParseRules(r.AppendText(nil)); err != nil || again != r {
			t.Errorf("rules of %q read back as %+v, %v", text, again, err)
		}
	})
}
