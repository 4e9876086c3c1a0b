package catalog_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/features/featuretest"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/recording"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
)

// forms returns the names of the forms of a game.
func forms(t *testing.T, g catalog.Entry) (names []string) {
	t.Helper()
	v, err := g.New("", env.Settings{N: 1})
	require.NoError(t, err)
	for _, f := range v.Spec().Forms {
		names = append(names, f.Form)
	}
	return names
}

// TestGames makes every game in every form and plays it, choosing the first
// legal choice of each head but one.
func TestGames(t *testing.T) {
	for _, g := range catalog.Games() {
		for _, form := range forms(t, g) {
			t.Run(g.Name+"/"+form, func(t *testing.T) { playGame(t, g, form) })
		}
	}
}

func playGame(t *testing.T, g catalog.Entry, form string) {
	v, err := g.New("", env.Settings{N: 2, Form: form})
	require.NoError(t, err)
	s := v.Spec()
	assert.Truef(t, s.Info.Name == g.Name && g.Doc != "" && s.Form == form, "the game %s calls itself %s, form %s", g.Name, s.Info.Name, s.Form)
	b := env.NewBatch(s, 2, env.WantPlanes|env.WantPacked|env.WantScalars|env.WantMask|env.WantAction)
	for turn := range 60 {
		v.Observe(b)
		choose(s, b, turn)
		v.Step(b)
	}
	texter := v
	text := texter.AppendText([]byte("game 1: "), 1)
	assert.Truef(t, strings.HasPrefix(string(text), "game 1: ") && bytes.Count(text, []byte("\n")) >= 5, "the board as text: %q", text)
	v.Reset(1, 0)
	if again := texter.AppendText(nil, 1); string(again) == string(text[len("game 1: "):]) || len(again) == 0 {
		t.Errorf("after 60 turns the board is the text of the start: %q", again)
	}
	again, err := g.New(s.Info.Config, env.Settings{N: 1})
	require.NoError(t, err, "its own rules")
	assert.True(t, again.Spec().Info == s.Info, "the canonical text of the rules makes another game")
}

// TestMaskAtTheEnd: once a game has ended, over or cut, the mask allows only
// the choice that orders nothing in each head. Without any legal choice a
// masked softmax would divide by 0.
func TestMaskAtTheEnd(t *testing.T) {
	for _, g := range catalog.Games() {
		for _, form := range forms(t, g) {
			checkMaskAtTheEnd(t, g, env.Settings{N: 1, Form: form, MaxTurns: 1})
			if g.Name == "tron" || g.Name == "towerdefence" { // the other games last too long for a test
				checkMaskAtTheEnd(t, g, env.Settings{N: 1, Form: form})
			}
		}
	}
}

func checkMaskAtTheEnd(t *testing.T, g catalog.Entry, settings env.Settings) {
	t.Helper()
	v, err := g.New("", settings)
	require.NoError(t, err)
	s := v.Spec()
	b := env.NewBatch(s, 1, env.WantMask|env.WantAction)
	for turn := 0; b.Status[0] == sim.Running; turn++ {
		v.Observe(b)
		choose(s, b, turn)
		v.Step(b)
	}
	v.Observe(b)
	for row := range b.Rows {
		at, mask := 0, b.Mask[row*s.MaskWords:][:s.MaskWords]
		for h, n := range s.Heads {
			for c := range n {
				if i := at + c; (mask[i/64]>>(i%64)&1 != 0) != (c == s.Nothing) {
					t.Fatalf("%s in form %s, row %d, head %d: the bit of choice %d is %v at the end", g.Name, s.Form, row, h, c, c != s.Nothing)
				}
			}
			at += n
		}
	}
	// The choice orders nothing in a running game, too.
	v.Reset(0, 1)
	v.Observe(b)
	for i := range b.Action {
		b.Action[i] = int32(s.Nothing)
	}
	v.Step(b)
	if i := slices.IndexFunc(b.Orders[:b.OrderLen[0]], func(o sim.Order) bool { return o != 0 }); i >= 0 {
		t.Errorf("%s in form %s: choice %d of every head gives the order %#x", g.Name, s.Form, s.Nothing, b.Orders[i])
	}
}

// choose chooses a legal choice in each head, a different one from head to head
// and from turn to turn.
func choose(s env.Spec, b *env.Batch, turn int) {
	for row := range b.Rows {
		heads := len(s.Heads)
		featuretest.Choose(b.Action[row*heads:], s.Heads, b.Mask[row*s.MaskWords:],
			func(h, n int) int { return (turn*7 + h*13 + row) % n })
	}
}

// TestRules reads rules in all their forms and plays games with them.
func TestRules(t *testing.T) {
	old, _ := terminal.RuleSet("2022")
	c := config.Of(old)
	newest, older := string(terminal.DefaultRules().AppendText(nil)), string(old.AppendText(nil))
	round1, _ := codecraft.Preset("round1-3")
	three := string(round1.AppendText(nil))
	type form struct {
		what, text string
		config     string // config of the rules; "": not checked
		seats      int
		fails      string // with an error that contains this
	}
	ofTerminal := []form{
		{"default", "", newest, 2, ""},
		{"blank", " \n", newest, 2, ""},
		{"rule set", "2022", older, 2, ""},
		{"canonical", older, older, 2, ""},
		{"config", "\n" + string(c.Append(nil, config.Local)), older, 2, ""},
		{"no set", "1999", "", 0, "1999"},
		{"bad config", `{"resources":7}`, "", 0, "resources"},
		{"unplayable", "2026\nresources.startingHP=-1", "", 0, "startingHP is -1"},
	}
	for name, forms := range map[string][]form{"terminal": ofTerminal, "codecraft": {
		{"default", "", "", 2, ""},
		{"round 2", "round2", "", 4, ""},
		{"three", "round1-3", three, 3, ""},
		{"alone", "finals-1\n", "", 1, ""},
		{"canonical", three, three, 3, ""},
		{"changed", "round1\nplayers=2\nBuilderUnit.sight_range=3", "", 2, ""},
		{"no preset", "round3", "", 0, "round3"},
		{"no key", "sight=3", "", 0, "sight"},
		{"unplayable", "players=5", "", 0, "players is 5"},
	}} {
		g := find(t, name)
		for _, f := range forms {
			t.Run(name+"/"+f.what, func(t *testing.T) {
				v, err := g.New(f.text, env.Settings{N: 1, Reward: "wealth"})
				if f.fails != "" {
					assert.ErrorContainsf(t, err, f.fails, "%s, %s", name, f.what)
					return
				}
				if err != nil {
					t.Errorf("%s, %s: %v", name, f.what, err)
					return
				}
				s := v.Spec()
				assert.Truef(t, s.Info.Players == f.seats && (f.config == "" || s.Info.Config == f.config), "%s, %s: %d seats, want %d; or other rules: %s", name, f.what, s.Info.Players, f.seats, s.Info.Config)
				b := env.NewBatch(s, 1, env.WantPlanes|env.WantMask|env.WantAction)
				for turn := range 12 {
					v.Observe(b)
					choose(s, b, turn)
					v.Step(b)
				}
				assert.Equalf(t, int32(12), b.Turn[0], "%s, %s: %d turns were played", name, f.what, b.Turn[0])
			})
		}
	}
}

func find(t *testing.T, name string) catalog.Entry {
	t.Helper()
	g, err := catalog.Find(name)
	require.NoError(t, err)
	return g
}

// TestRecorded replays a recording, and refuses texts that are no recordings
// and recordings with other rules.
func TestRecorded(t *testing.T) {
	g := find(t, "codecraft")
	rules, _ := codecraft.Preset("round1-2")
	game, err := codecraft.New(rules)
	require.NoError(t, err)
	const ticks = 5
	var file bytes.Buffer
	s := new(codecraft.State)
	game.Reset(s, 1)
	recorder := recording.NewRecorder(&file, game, s)
	for range ticks {
		game.Step(s, sim.NewTurn(0))
		require.NoError(t, recorder.Tick(s))
	}
	require.NoError(t, recorder.Close())
	text := string(rules.AppendText(nil))
	v, orders, ends, err := g.Recorded(text, env.Settings{}, file.Bytes())
	require.NoErrorf(t, err, "%d orders, %d ends", len(orders), len(ends))
	require.Truef(t, len(ends) == ticks*2 && len(orders) == 0, "%d orders, %d ends", len(orders), len(ends))
	b := env.NewBatch(v.Spec(), 1, 0)
	for range ticks {
		v.Step(b)
	}
	states, _ := env.States[codecraft.State](v)
	last := states[0]
	last.Seed = s.Seed // recordings do not contain it
	assert.Truef(t, last.Tick == ticks && game.Hash(&last) == game.Hash(s), "after tick %d the state is another than when it was recorded", last.Tick)
	for what, c := range map[string]struct{ rules, file, want string }{
		"rules": {"sight=3", file.String(), "sight"},
		"file":  {text, "torn", "in the dataset"},
		"other": {"round2-4", file.String(), "other rules"},
	} {
		t.Run(what, func(t *testing.T) {
			_, _, _, err := g.Recorded(c.rules, env.Settings{}, []byte(c.file))
			assert.ErrorContains(t, err, c.want, what)
		})
	}
}
