package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/datasets"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/features/featuretest"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/recordings"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/texts"
)

// generate makes a dataset of a game of the catalog, and returns the options of its page.
func generate(t *testing.T, j datasets.Job) (dir string, o Options) {
	t.Helper()
	g, err := catalog.Find(j.Game)
	require.NoError(t, err)
	m := datasets.Makers{Vector: g.New, Policy: func(name string, files rollout.Files) (rollout.Maker, error) {
		return policy.NewReproducible(j.Game, name, files)
	}}
	if j.ShardEpisodes == 0 {
		j.ShardEpisodes = 2
	}
	if j.Reward == "" {
		j.Reward = env.ResultReward
	}
	dir = filepath.Join(t.TempDir(), "data")
	_, err = datasets.Generate(t.Context(), dir, j, m, datasets.Options{Workers: 1})
	require.NoError(t, err)
	return dir, Options{
		Game:   func(rules string, c env.Settings, _ []byte) (env.Vector, error) { return g.New(rules, c) },
		Orders: func(orders []sim.Order) []string { return recordings.OrderTexts(g.Name, orders) },
	}
}

// TestGames writes the pages of datasets of all games.
func TestGames(t *testing.T) {
	for _, c := range []struct {
		job      datasets.Job
		boards   int
		choice   string // orders that a common choice stands for
		kind     string // of orders
		sections string // besides those of every page
	}{
		{datasets.Job{Game: "towerdefence", Policies: []string{"planner", "random"}, Episodes: 5, Seed: 3, Opening: "random:4", License: "cc-by-4.0"}, 6, "energy ", "energy", "planes scalars masks actions labels"},
		{datasets.Job{Game: "terminal", Policies: []string{"maze", "planner"}, Episodes: 3, Obs: datasets.ObsPacked}, 6, "wall ", "wall", "planes scalars masks actions labels"},
		{datasets.Job{Game: "codecraft", Policies: []string{"squads", "econ"}, Episodes: 1, MaxTurns: 60, Obs: datasets.ObsPacked}, 3, "build BuilderUnit ", "move closest", "planes scalars masks actions labels"},
		{datasets.Job{Game: "tron", Policies: []string{"random", "random"}, Episodes: 4}, 6, "0x1", "0x1", "planes scalars masks actions labels"},
		{datasets.Job{Game: "towerdefence", Policies: []string{"econ", "mix(1*random,1*econ)"}, Episodes: 1, Obs: datasets.ObsNone}, 3, "", "energy", "members"},
		{datasets.Job{Game: "terminal", Policies: []string{"maze", "maze"}, Episodes: 1, MaxTurns: 5, Obs: datasets.ObsNone}, 3, "", "wall", ""},
		{datasets.Job{Game: "towerdefence", Policies: []string{"mcts(sims=4)", "random"}, Ask: "econ", Episodes: 1, MaxTurns: 20}, 3, "", "", "searches asked planes scalars masks actions labels"},
	} {
		t.Run(c.job.Game+" "+strings.Join(c.job.Policies, " "), func(t *testing.T) {
			dir, o := generate(t, c.job)
			page, text := write(t, dir, o)
			got := map[string]bool{}
			for _, s := range page.all("section") {
				got[s.attrs["aria-labelledby"]] = true
			}
			want := map[string]bool{}
			for _, id := range strings.Fields("totals outcomes boards lengths orders rewards columns made " + c.sections) {
				want[id] = true
			}
			assert.Equal(t, want, got, "sections")
			boards := page.section("boards").all("figure")
			assert.Len(t, boards, c.boards)
			for _, f := range boards {
				assert.Regexp(t, `^moonfarm view data/set --episodes \d$`, f.all("code")[0].text)
				assert.Contains(t, f.all("desc")[0].text, "The board of episode ")
			}
			assert.Contains(t, page.section("made").row(t, "format")[1], fmt.Sprint(datasets.Format))
			if c.choice != "" {
				assert.Contains(t, page.section("actions").text, c.choice)
			}
			if c.kind != "" {
				assert.NotEmpty(t, page.section("orders").row(t, c.kind))
			}
			assert.Less(t, len(text), 3<<20)
		})
	}
}

// toyMakers makes toy games and policies of any name.
func toyMakers() datasets.Makers {
	return datasets.Makers{
		Vector: func(rules string, c env.Settings) (env.Vector, error) {
			g := simtest.Toy{Seats: 2, Orders: 2}
			return env.New(g, featuretest.ToyKit(g), c)
		},
		Policy: func(name string, _ rollout.Files) (rollout.Maker, error) {
			m, err := policy.New("toy", "random")
			return func(s env.Spec) (rollout.Policy, error) {
				p, err := m(s)
				return renamed{p, name}, err
			}, err
		},
	}
}

// renamed is a policy with another name.
type renamed struct {
	rollout.Policy
	name string
}

func (n renamed) Name() string { return n.name }

// toys makes a dataset of toy games.
func toys(t *testing.T, j datasets.Job) string {
	t.Helper()
	j.Game, j.Reward, j.ShardEpisodes, j.Seed = "toy", "stones", 15, 7
	if j.Episodes == 0 {
		j.Episodes = 40
	}
	dir := filepath.Join(t.TempDir(), "data")
	_, err := datasets.Generate(t.Context(), dir, j, toyMakers(), datasets.Options{Workers: 1})
	require.NoError(t, err)
	return dir
}

// TestFigures compares the figures of a page with those of Inspect, which reads all rows in another
// way, and with plain counts.
func TestFigures(t *testing.T) {
	dir := toys(t, datasets.Job{Policies: []string{"anna", "bert"}, Discount: 0.9})
	card, err := datasets.Inspect(t.Context(), dir, datasets.InspectOptions{Workers: 1})
	require.NoError(t, err)
	page, _ := write(t, dir, Options{})
	m := card.Manifest
	assert.Contains(t, page.section("orders").text, fmt.Sprintf("These figures are of all %s.", texts.Plural(m.Totals.Rows, "row")))
	assert.Equal(t, []string{"different games, by their start and all orders", texts.Group(card.Distinct)}, page.section("totals").row(t, "different games, by their start and all orders"))
	for _, s := range []datasets.Summary{card.Reward, card.Return} {
		assert.Equal(t, []string{s.Name, figure(s.Mean), figure(s.Min), figure(s.Max), share(1 - s.Nonzero)}, page.section("rewards").row(t, s.Name))
	}
	for id, list := range map[string][]datasets.Summary{"planes": card.Planes, "scalars": card.Scalars} {
		for _, s := range list {
			assert.Equal(t, []string{s.Name, s.Unit, figure(s.Mean), figure(s.Min), figure(s.Max), share(1 - s.Nonzero)}, page.section(id).row(t, s.Name)[:6], id)
		}
	}
	for seat, l := range card.Labels {
		name := []string{"A: anna", "B: bert"}[seat]
		assert.Equal(t, []string{name, texts.Group(l.Rows.All), texts.Group(l.Rows.All - l.Rows.Said), percent(l.Rows.All-l.Rows.Said, l.Rows.All)}, page.section("labels").row(t, name)[:4])
	}
	assert.Contains(t, page.section("masks").text, fmt.Sprintf("allow %s of 18 choices on average", figure(card.Choices.Mean)))
	assert.Contains(t, page.section("lengths").text, figure(card.Turns.Mean))
	assert.Contains(t, page.section("boards").text, "does not know the game")

	d, err := datasets.Open(dir)
	require.NoError(t, err)
	taken, orders, rows := map[[2]int]uint64{}, uint64(0), uint64(0)
	for b, err := range d.Batches(datasets.ReadOptions{}) {
		require.NoError(t, err)
		for i := range b.Rows {
			for h, c := range b.Action[2*i : 2*i+2] {
				taken[[2]int{h, int(c)}]++
			}
			for _, o := range b.Orders[b.OrderEnds[i]:b.OrderEnds[i+1]] {
				if o != 0 && b.Seat[i] == 0 {
					orders++
				}
			}
			rows += uint64(1 - b.Seat[i])
		}
	}
	assert.Equal(t, figure(float64(orders)/float64(rows)), page.section("orders").row(t, "A: anna")[1], "orders a turn")
	choices := page.section("actions").all("table")[0].rows()
	require.NotEmpty(t, choices)
	for _, row := range choices {
		var h, c int
		_, err := fmt.Sscan(row[0]+" "+row[1], &h, &c)
		require.NoError(t, err)
		assert.Equal(t, texts.Group(taken[[2]int{h, c}]), row[3], "head %d, choice %d", h, c)
		assert.NotZero(t, c)
	}
}

// hostile are texts that must not become markup.
var hostile = []string{
	`<script>alert(1)</script>`,
	`"><img src=x onerror=alert(1)>`,
	`</style></title></svg><svg onload=alert(1)>`,
	`--><!-- ]]> {{.Title}} &lt;b&gt; &amp;`,
	"\x1b[31mred\u202etxt.exe\ufffe",
	`'$(rm -rf "$HOME")' 😀 名前 ` + strings.Repeat("x", 300),
}

// TestEscapes: names of policies and sources are shown, and do not become markup.
func TestEscapes(t *testing.T) {
	for i, name := range hostile {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			dir := toys(t, datasets.Job{Policies: []string{name, hostile[(i+1)%len(hostile)]}, Episodes: 3})
			o := Options{Orders: func([]sim.Order) []string { return []string{name} },
				Game: func(string, env.Settings, []byte) (env.Vector, error) { return nil, errors.New(name) }}
			page, text := write(t, dir, o)
			plain, _ := write(t, toys(t, datasets.Job{Policies: []string{"anna", "bert"}, Episodes: 3}), o)
			for _, name := range []string{"script", "img", "svg", "title", "style", "section", "table"} {
				assert.Len(t, page.all(name), len(plain.all(name)), "elements %s", name)
			}
			shown := strings.Map(texts.Printable, name)
			assert.Contains(t, page.section("outcomes").text, shown)
			assert.Contains(t, page.all("h1")[0].text, shown)
			assert.Contains(t, page.section("boards").text, "cannot be drawn: "+shown)
			for _, bad := range []string{"<script", "<img", "\x1b", "\u202e", "\ufffe"} {
				assert.NotContains(t, text, bad)
			}
		})
	}
}

// games is a datasets.Source of toy games.
type games struct{ name string }

func (g games) Shard(ctx context.Context, shard int, yield func(*rollout.Episode, string) error) error {
	v, err := toyMakers().Vector("", env.Settings{N: 2})
	if err != nil {
		return err
	}
	m, err := policy.New("toy", "random")
	if err != nil {
		return err
	}
	a, err1 := m(v.Spec())
	b, err2 := m(v.Spec())
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	return rollout.Shard(ctx, v, []rollout.Policy{a, b}, 9, uint64(3*shard), 3, sinkFunc(func(e *rollout.Episode) error {
		e.Policies = []string{fmt.Sprint("player ", e.ID), g.name}
		return yield(e, g.name)
	}))
}

type sinkFunc func(e *rollout.Episode) error

func (f sinkFunc) Episode(e *rollout.Episode) error { return f(e) }

// TestImported writes the page of imported episodes.
func TestImported(t *testing.T) {
	m := toyMakers()
	dir := filepath.Join(t.TempDir(), "data")
	j := datasets.Job{Game: "toy", Rules: []string{"seats=2 orders=2"}, Source: hostile[0], Shards: []datasets.Part{{Episodes: 3}, {Episodes: 3}}, Reward: "stones"}
	_, err := datasets.Write(t.Context(), dir, j, datasets.Makers{Vector: m.Vector}, games{hostile[1]}, datasets.Options{Workers: 1})
	require.NoError(t, err)
	page, text := write(t, dir, Options{Game: func(rules string, c env.Settings, _ []byte) (env.Vector, error) { return m.Vector(rules, c) }})
	assert.Equal(t, "toy: recorded games", page.all("h1")[0].text)
	assert.Contains(t, page.all("dl")[0].text, "Imported from"+hostile[0])
	assert.Len(t, page.section("boards").all("figure"), 6)
	assert.Len(t, page.section("outcomes").rows(), 12)
	assert.NotContains(t, text, "<script")
}

// TestDamaged: a damaged file is an error, and nothing is written.
func TestDamaged(t *testing.T) {
	for _, name := range []string{"steps/00001.arrow", "episodes/00000.arrow", "index/00000.arrow", "statistics.json"} {
		t.Run(name, func(t *testing.T) {
			dir := toys(t, datasets.Job{Policies: []string{"anna", "bert"}})
			d, err := datasets.Open(dir)
			require.NoError(t, err)
			require.NoError(t, os.Truncate(filepath.Join(dir, filepath.FromSlash(name)), 100))
			var page bytes.Buffer
			err = Write(t.Context(), &page, d, dir, Options{Workers: 1})
			assert.ErrorContains(t, err, name)
			assert.Zero(t, page.Len())
		})
	}
	dir := toys(t, datasets.Job{Policies: []string{"anna", "bert"}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d, err := datasets.Open(dir)
	require.NoError(t, err)
	require.ErrorIs(t, Write(ctx, &bytes.Buffer{}, d, dir, Options{Workers: 2}), context.Canceled)
	require.EqualError(t, Write(t.Context(), failing{}, d, dir, Options{Workers: 2}), "no space")
}

// failing is a writer that fails.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no space") }

// TestSampled: the page of a part of the shards says so.
func TestSampled(t *testing.T) {
	dir := toys(t, datasets.Job{Policies: []string{"anna", "bert"}, Episodes: 100})
	page, _ := write(t, dir, Options{Shards: 2})
	assert.Regexp(t, `These figures are of a sample of [\d,]+ of [\d,]+ rows: all in 2 of 7 shards, spread evenly\.`, page.section("orders").text)
}

// TestManyShards: in a dataset of many shards the lengths are those of a sample.
func TestManyShards(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a thousand shards")
	}
	j := datasets.Job{Game: "toy", Policies: []string{"anna", "bert"}, Reward: "stones", Episodes: mostLengths + 1, ShardEpisodes: 1, Obs: datasets.ObsNone}
	dir := filepath.Join(t.TempDir(), "data")
	_, err := datasets.Generate(t.Context(), dir, j, toyMakers(), datasets.Options{Workers: 2})
	require.NoError(t, err)
	page, _ := write(t, dir, Options{})
	assert.Contains(t, page.section("lengths").text, "Of the 64 of 1,001 episodes whose last row is in the sample of the rows.")
	assert.Contains(t, page.section("orders").text, "all in 64 of 1,001 shards, spread evenly.")
}

// TestPlan: passes over large datasets are bounded.
func TestPlan(t *testing.T) {
	for _, c := range []struct {
		rows, shards uint64
		batch        int
		columns      string
		keep         uint64
		want         sampled
	}{
		{1000, 2, 100, "action", 500, sampled{shards: 2, every: 1, stride: 2}},
		{1000, 2, 100, "action", 5000, sampled{shards: 2, every: 1, stride: 1}},
		{10_000_000, 100, 1000, "action", 5000, sampled{shards: 64, every: 32, stride: 40}},
		{10_000_000, 1, 1000, "planes", 5000, sampled{shards: 1, every: 50, stride: 40}},
		{1 << 40, 1 << 20, 4096, "planes", 4000, sampled{shards: 64, every: 342, stride: 50}},
		{0, 0, 0, "", 0, sampled{shards: 0, every: 1, stride: 1}},
	} {
		b := &builder{m: &datasets.Manifest{}}
		b.m.Totals.Rows, b.m.Totals.Shards, b.m.Steps.BatchRows = c.rows, c.shards, c.batch
		b.m.Steps.Columns = []datasets.Column{{Name: "action", Type: "int32", Shape: []int{1}}, {Name: "planes", Type: "uint8", Shape: []int{1000}}}
		assert.Equal(t, c.want, b.plan([]string{c.columns}, c.keep), "%+v", c)
	}
}

// TestSpread compares the figures of counts with those of a sorted list.
func TestSpread(t *testing.T) {
	for _, list := range [][]int{{}, {4}, {1, 1, 2, 9}, {0, 3, 3, 3, 5, 8, 8, 100}} {
		c := counts{}
		sum := 0
		for _, n := range list {
			c[n]++
			sum += n
		}
		want := spread{n: uint64(len(list))}
		if n := len(list); n > 0 {
			want = spread{uint64(n), list[0], list[n-1], list[n/4], list[n/2], list[(3*n-1)/4], float64(sum) / float64(n)}
		}
		assert.Equal(t, want, c.spread(), "%v", list)
		bars, width := c.bars()
		all := 0.0
		for _, bar := range bars {
			all += bar.Height
			assert.EqualValues(t, width, bar.To-bar.From)
		}
		assert.EqualValues(t, len(list), all)
		assert.LessOrEqual(t, len(bars), mostBars)
	}
}

// FuzzBins: every finite number is in its bin.
func FuzzBins(f *testing.F) {
	f.Add(float32(0), float32(1), float32(2.5), uint8(3))
	f.Add(float32(-1e30), float32(1e30), float32(7), uint8(20))
	f.Add(float32(16777217), float32(16777216), float32(0), uint8(1))
	f.Fuzz(func(t *testing.T, a, b, c float32, n uint8) {
		list := []float32{a, b, c, a, a / 2}
		most := max(1, int(n%40))
		heights, low, width := bins(list, most)
		require.LessOrEqual(t, len(heights), most)
		finite, all := 0, uint64(0)
		for _, v := range list {
			if v-v == 0 {
				finite++
				require.GreaterOrEqual(t, float64(v), low)
			}
		}
		for _, h := range heights {
			all += h
		}
		require.EqualValues(t, finite, all)
		require.Greater(t, width, 0.0)
	})
}

func TestSpark(t *testing.T) {
	assert.Equal(t, "", spark(nil))
	assert.Equal(t, "", spark([]uint64{3}))
	assert.Equal(t, "", spark([]uint64{0, 0}))
	assert.Equal(t, "M0 20V0H50V19H100V20Z", spark([]uint64{1000, 1}))
	assert.Equal(t, "M0 20V20H33V0H66V10H100V20Z", spark([]uint64{0, 4, 2}))
}

func TestKindOf(t *testing.T) {
	for text, want := range map[string]string{
		"3 scout 13,0": "scout", "upgrade 1,2": "upgrade", "unreadable (2 failures)": "unreadable", "0x1f": "0x1f", "": "order",
		"and 7 auto attack within 10: Wall, House": "auto attack", "12 move 3,4 closest": "move closest",
	} {
		assert.Equal(t, want, kindOf(text), text)
	}
}

func TestShares(t *testing.T) {
	assert.Equal(t, []bar{{"a", 0, 2500}, {"c", 2500, 10000}}, shares([]uint64{1, 0, 3}, []string{"a", "b", "c"}))
	assert.Empty(t, shares([]uint64{0, 0}, []string{"a", "b"}))
	for v, want := range map[float64]string{0: "0.0 %", 1: "100.0 %", 1e-9: "<0.1 %", 1 - 1e-9: ">99.9 %", 0.25: "25.0 %"} {
		assert.Equal(t, want, share(v))
	}
	assert.Equal(t, "–", percent(0, 0))
	assert.Equal(t, []string{"b", "a", "c"}, byCount(map[string]uint64{"a": 1, "b": 2, "c": 1}))
	assert.Equal(t, `'it'\''s'`, quote("it's"))
	assert.True(t, slices.Equal([]sim.Order{2, 3}, without([]sim.Order{1, 2, 2, 3}, []sim.Order{1, 2})))
}
