package catalog_test

import (
	"strings"
	"testing"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire"
)

// TestGames makes every game and plays it, always by the first legal choice of
// each head but one.
func TestGames(t *testing.T) {
	for _, g := range catalog.Games() {
		t.Run(g.Name, func(t *testing.T) {
			v, err := g.New("", env.Config{N: 2})
			if err != nil {
				t.Fatal(err)
			}
			s := v.Spec()
			if s.Info.Name != g.Name || g.Doc == "" {
				t.Errorf("the game %s calls itself %s", g.Name, s.Info.Name)
			}
			b := env.NewBatch(s, 2, env.WantPlanes|env.WantPacked|env.WantScalars|env.WantMask|env.WantAction)
			for turn := range 60 {
				v.Observe(b)
				choose(s, b, turn)
				v.Step(b)
			}
			again, err := g.New(s.Info.Config, env.Config{N: 1})
			if err != nil {
				t.Fatalf("its own rules: %v", err)
			}
			if again.Spec().Info != s.Info {
				t.Error("the canonical text of the rules makes another game")
			}
		})
	}
}

// choose takes, of each head, one of the legal choices that changes from head to
// head and from turn to turn.
func choose(s env.Spec, b *env.Batch, turn int) {
	for row := range b.Rows {
		at := 0
		for h, n := range s.Heads {
			var legal []int32
			for c := range n {
				if i := row*s.MaskWords + (at+c)/64; b.Mask[i]>>((at+c)%64)&1 != 0 {
					legal = append(legal, int32(c))
				}
			}
			if at += n; len(legal) > 0 {
				b.Action[row*len(s.Heads)+h] = legal[(turn*7+h*13+row)%len(legal)]
			}
		}
	}
}

// TestTerminalRules reads the rules of Terminal in all their forms.
func TestTerminalRules(t *testing.T) {
	old, _ := terminal.RuleSet("2022")
	c := wire.ConfigOf(old)
	config := wire.AppendConfig(nil, &c)
	for _, name := range []string{"terminal", "terminal-sequential"} {
		g, err := catalog.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for what, c := range map[string]struct{ text, want, fails string }{
			"default":    {"", string(terminal.DefaultRules().AppendText(nil)), ""},
			"blank":      {" \n", string(terminal.DefaultRules().AppendText(nil)), ""},
			"rule set":   {"2022", string(old.AppendText(nil)), ""},
			"canonical":  {string(old.AppendText(nil)), string(old.AppendText(nil)), ""},
			"config":     {"\n" + string(config), string(old.AppendText(nil)), ""},
			"no set":     {"1999", "", "1999"},
			"bad config": {`{"resources":7}`, "", "resources"},
			"unplayable": {"2026\nresources.startingHP=-1", "", "startingHP is -1"},
		} {
			v, err := g.New(c.text, env.Config{N: 1})
			switch {
			case c.fails != "":
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("%s, %s: error %v, want one with %q", name, what, err, c.fails)
				}
			case err != nil:
				t.Errorf("%s, %s: %v", name, what, err)
			case v.Spec().Info.Config != c.want:
				t.Errorf("%s, %s: other rules", name, what)
			}
		}
	}
}

// TestCodeCraftRules reads the rules of CodeCraft in all their forms, and plays
// them with every number of seats.
func TestCodeCraftRules(t *testing.T) {
	g, err := catalog.Find("codecraft")
	if err != nil {
		t.Fatal(err)
	}
	round1, _ := codecraft.Preset("round1-3")
	for what, c := range map[string]struct {
		text  string
		seats int
		fails string
	}{
		"default":    {"", 2, ""},
		"round 2":    {"round2", 4, ""},
		"three":      {"round1-3", 3, ""},
		"alone":      {"finals-1\n", 1, ""},
		"canonical":  {string(round1.AppendText(nil)), 3, ""},
		"changed":    {"round1\nplayers=2\nBuilderUnit.sight_range=3", 2, ""},
		"no preset":  {"round3", 0, "round3"},
		"no key":     {"sight=3", 0, "sight"},
		"unplayable": {"players=5", 0, "players is 5"},
	} {
		v, err := g.New(c.text, env.Config{N: 1, Reward: "wealth"})
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: error %v, want one with %q", what, err, c.fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		s := v.Spec()
		if s.Info.Players != c.seats {
			t.Errorf("%s: %d seats, want %d", what, s.Info.Players, c.seats)
		}
		b := env.NewBatch(s, 1, env.WantPlanes|env.WantMask|env.WantAction)
		for turn := range 12 {
			v.Observe(b)
			choose(s, b, turn)
			v.Step(b)
		}
		if b.Turn[0] != 12 {
			t.Errorf("%s: %d turns were played", what, b.Turn[0])
		}
	}
}
