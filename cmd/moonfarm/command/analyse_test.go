package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/recordings"
	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
)

// blundered writes a recording of a game between two searches. In the turn of the blunder
// player A deconstructs one of its own attack towers.
func blundered(t *testing.T, file, spec string, blunder int) {
	t.Helper()
	g, err := catalog.Find("towerdefence")
	require.NoError(t, err)
	v, err := g.New("", env.Settings{N: 1}) // with seed 0, like all recordings of this game
	require.NoError(t, err)
	maker, err := policy.New(g.Name, spec)
	require.NoError(t, err)
	search, err := maker(v.Spec())
	require.NoError(t, err)
	e := &rollout.Episode{Players: 2, Policies: []string{"careless", "careful"}}
	b := env.NewBatch(v.Spec(), 1, search.Wants())
	for ; e.Status == sim.Running; e.Status = b.Status[0] {
		v.Observe(b)
		search.Act(v, b, []int32{0, 1})
		if e.Turns == blunder {
			b.Orders[0] = takeTower(t, v)
		}
		for p := range b.Rows {
			e.Orders = append(e.Orders, b.Orders[p:][:b.OrderLen[p]]...)
			e.Ends = append(e.Ends, int32(len(e.Orders)))
		}
		v.Step(b)
		e.Turns++
	}
	for p := range sim.Player(2) {
		e.Outcome[p] = v.Outcome(0, p)
	}
	var text bytes.Buffer
	form := recordings.InfoOf(g.Name).Forms[0]
	require.NoError(t, form.Write(&text, &recordings.RecordedGame{Rules: v.Spec().Info.Config, Episode: *e}))
	require.NoError(t, os.WriteFile(file, text.Bytes(), 0o666))
}

// takeTower returns the order of A to deconstruct its first attack tower.
func takeTower(t *testing.T, v env.Vector) sim.Order {
	t.Helper()
	states, _ := env.States[towerdefence.State](v)
	towers := states[0].Half[0].Standing(towerdefence.Attack)
	require.NotEqual(t, uint64(0), towers, "there is no attack tower")
	return towerdefence.OrderAt(towerdefence.OpDeconstruct, bits.TrailingZeros64(towers))
}

// TestAnalyseBlunder analyses with the policy that played: the player loses value in the
// turn of its blunder alone.
func TestAnalyseBlunder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "game.jsonl")
	const spec, blunder = "mcts(sims=12)", 45
	blundered(t, file, spec, blunder)
	text := moonfarm(t, console.ExitOK, "analyse", file, "--policy", spec, "--workers", "1")
	assert.Equal(t, text, moonfarm(t, console.ExitOK, "analyse", file, "--policy", spec, "--workers", "3"), "with more workers")
	var d analysed
	err := json.Unmarshal([]byte(moonfarm(t, console.ExitOK, "analyse", file, "--policy", spec, "--json")), &d)
	require.NoError(t, err)
	assert.Truef(t, !d.Partial && d.Asked == d.Length && len(d.Turns) == d.Length && d.Seats[0].Player == "careless" && d.Seats[1].Player == "careful", "%+v", d)
	for _, turn := range d.Turns {
		for p, m := range turn.Seats {
			if p == 0 && turn.Turn == blunder {
				if m.Lost < 0.1 || m.Played.Orders[0][:12] != "deconstruct " || m.Played.Share != nil || m.Played.Value >= m.Best.Value {
					t.Errorf("the blunder: %+v", m)
				}
			} else if m.Lost != 0 || !slices.Equal(m.Played.Orders, m.Best.Orders) || *m.Played.Share != *m.Best.Share {
				t.Errorf("turn %d, seat %d: %+v", turn.Turn, p, m)
			}
		}
	}
	// Another search finds a loss in the turn of the blunder, too: only turns with a loss are listed.
	commandtest.Wants(t, moonfarm(t, console.ExitOK, "analyse", file, "--policy", "mcts(sims=400,rollout=turtle)", "--turns", "45-45"), "  deconstruct ")
	got := d.Seats
	assert.Truef(t, slices.Equal(got[0].Worst, []int{blunder}) && len(got[1].Worst) == 0 && got[0].BestPlayed == d.Length-1 && got[1].BestPlayed == d.Length, "%+v", got)
}

// TestAnalyseInterrupt stops analyse, which prints the turns searched so far.
func TestAnalyseInterrupt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "game.jsonl")
	blundered(t, file, "mcts(sims=12)", 45)
	for wait := 300 * time.Millisecond; ; wait *= 2 { // until some turns are searched
		c := start(t, "analyse", file, "--policy", "mcts(sims=2000)", "--json")
		c.WaitForWork(t, wait)
		c.Process.Signal(os.Interrupt)
		c.Wait()
		code := c.ProcessState.ExitCode() // −1: the signal killed it before it was handled
		require.Truef(t, (code == console.ExitInterrupted || code == -1) && wait <= 30*time.Second, "after %v: %v; %s", wait, c.ProcessState, &c.Errs)
		if c.Out.Len() == 0 {
			continue
		}
		var d analysed
		err := json.Unmarshal(c.Out.Bytes(), &d)
		require.NoError(t, err)
		assert.Truef(t, d.Partial && d.Asked == d.Length && len(d.Turns) != 0 && len(d.Turns) < d.Asked, "error, %d of %d turns, partial: %v", len(d.Turns), d.Asked, d.Partial)
		next := 0
		for next < len(d.Turns) && d.Turns[next].Turn == next {
			next++
		}
		on := ""
		if next > 0 {
			on = fmt.Sprintf("; --turns %d-%d continues", next, d.Length-1)
		}
		want := fmt.Sprintf(`{"error":"interrupted: %d of %d turns are searched%s","usage":false,"exit_status":130}`+"\n", len(d.Turns), d.Asked, on)
		assert.Equalf(t, want, c.Errs.String(), "said %s", &c.Errs)
		return
	}
}

// TestSearchInterrupt stops commands in the middle of a search that takes hours: they end
// by themselves and print what is kept of the work.
func TestSearchInterrupt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	finish(t, strings.Fields("generate terminal --episodes 1 --max-turns 3 --obs none --out "+dir+"/short")...)
	var all sync.WaitGroup
	for line, want := range map[string]string{
		"analyse DIR/short --policy SEARCH":                                            "0 of 3 turns are searched",
		"generate terminal --policy SEARCH --episodes 3 --out DIR/long":                "finished shards are kept in DIR/long; the same command continues",
		"generate terminal --policy mix(1*random,1*SEARCH) --obs none --out DIR/mixed": "finished shards are kept in DIR/mixed; the same command continues",
		"eval terminal --players SEARCH,random --games 2":                              "no game was played to its end",
		"match terminal --player SEARCH --player random --games 2 --concurrency 2":     "0 of 2 games played to the end",
	} {
		fill := strings.NewReplacer("SEARCH", "mcts(sims=1000000)", "DIR", dir)
		all.Go(func() {
			want := "moonfarm: interrupted: " + fill.Replace(want) + "\n"
			for wait := time.Second; ; wait *= 2 { // until it searches
				c := start(t, strings.Fields(fill.Replace(line))...)
				c.WaitForWork(t, wait)
				c.Process.Signal(os.Interrupt)
				c.Wait()
				if c.ProcessState.ExitCode() == console.ExitInterrupted && c.Errs.String() == want && c.Out.Len() == 0 {
					return
				}
				if wait > 10*time.Second {
					t.Errorf("%s: %v, printed %q and %q, want %q", line, c.ProcessState, &c.Out, &c.Errs, want)
					return
				}
			}
		})
	}
	all.Wait()
}
