package command

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/internal/console"
)

// TestSearchBots plays short matches of the example bots that search, at both seats: they
// answer in every turn, and the rules refuse none of their orders.
func TestSearchBots(t *testing.T) {
	if testing.Short() {
		t.Skip("left out: it builds three programs")
	}
	dir := t.TempDir()
	for _, c := range []struct{ game, rules, flags, other string }{
		{"towerdefence", "game.config.max-rounds=8\n", " -think 1h -games 400 -depth 8", "random"},
		{"terminal", "moonfarm.maxTurns=4\n", " -turns 20 -replies 1", "random"},
		{"codecraft", "max_tick_count=30\n", " -depth 5 -every 10", "quickstart"},
	} {
		t.Run(c.game, func(t *testing.T) {
			bot := filepath.Join(dir, "search"+c.game)
			if out, err := exec.Command("go", "build", "-o", bot, "../examples/search"+c.game).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Chdir(dir) // where the bot of towerdefence gets its files
			rules := filepath.Join(dir, c.game+".rules")
			require.NoError(t, os.WriteFile(rules, []byte(c.rules), 0o666))
			out := moonfarm(t, console.ExitOK, "match", c.game, "--rules", rules, "--player", "'"+bot+"'"+c.flags, "--player", c.other, "--games", "2", "--json")
			var r matchReport
			require.NoError(t, json.Unmarshal([]byte(out), &r))
			assert.Truef(t, len(r.Games) == 2 && r.Complete, "%s: %s", c.game, out)
			for _, g := range r.Games {
				for _, s := range g.Seats {
					if s.Crashed || len(s.Faults) > 0 {
						t.Errorf("%s, game %d, %s: crashed %v, faults %+v", c.game, g.Number, s.Player, s.Crashed, s.Faults)
					}
				}
			}
			p := r.Players[0]
			assert.Greaterf(t, p.Score, float64(0), "%s: the bot has score %v", c.game, p.Score)
		})
	}
}
