package summary

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/datasets"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/view/overview"
)

// generate makes a dataset of a game of the catalog.
func generate(t *testing.T, j datasets.Job) (dir string) {
	t.Helper()
	g, err := catalog.Find(j.Game)
	require.NoError(t, err)
	j.ShardEpisodes, j.Reward = 2, env.ResultReward
	dir = filepath.Join(t.TempDir(), "data")
	_, err = datasets.Generate(t.Context(), dir, j, datasets.Makers{Vector: g.New, Policy: func(name string, files rollout.Files) (rollout.Maker, error) {
		return policy.NewReproducible(j.Game, name, files)
	}}, datasets.Options{Workers: 1})
	require.NoError(t, err)
	return dir
}

// row returns the texts of a row.
func row(cells []overview.Cell) string {
	var words []string
	for _, c := range cells {
		words = append(words, c.Text)
	}
	return strings.Join(words, " | ")
}

// TestDocument: the page of a dataset of each game has its sections, with the figures of inspect, which reads all rows
// in another way.
func TestDocument(t *testing.T) {
	for _, c := range []struct {
		job      datasets.Job
		kind     string // of orders
		sections string // besides those of every page
	}{
		{datasets.Job{Game: "towerdefence", Policies: []string{"planner", "random"}, Episodes: 5, Seed: 3, Opening: "random:4"}, "energy", "Actions,What the choices mean,Rows,Labels"},
		{datasets.Job{Game: "terminal", Policies: []string{"maze", "planner"}, Episodes: 3, Obs: datasets.ObsPacked}, "wall", "Actions,What the choices mean,Rows,Labels"},
		{datasets.Job{Game: "tron", Policies: []string{"random", "random"}, Episodes: 4}, "0x1", "Actions,What the choices mean,Rows,Labels"},
		{datasets.Job{Game: "towerdefence", Policies: []string{"econ", "mix(1*random,1*econ)"}, Episodes: 1, Obs: datasets.ObsNone}, "energy", "Rows,Members of mixtures"},
		{datasets.Job{Game: "towerdefence", Policies: []string{"mcts(sims=4)", "random"}, Ask: "econ", Episodes: 2, MaxTurns: 20}, "energy",
			"Actions,What the choices mean,Rows,Searches,Rows in which econ would act alike,Labels"},
	} {
		t.Run(c.job.Game+" "+strings.Join(c.job.Policies, " "), func(t *testing.T) {
			dir := generate(t, c.job)
			o, about, err := Inspect(t.Context(), dir, 0)
			require.NoError(t, err)
			_, again, err := Inspect(t.Context(), dir, 0)
			require.NoError(t, err)
			assert.Equal(t, about, again, "the same dataset made two pages")
			s := map[string]overview.Section{}
			var titles []string
			for _, x := range about.Sections {
				titles, s[x.Title] = append(titles, x.Title), x
				for _, table := range x.Tables {
					for _, cells := range table.Rows {
						require.Len(t, cells, len(table.Columns), "%s: %s", x.Title, row(cells))
						shares := 0.0
						for _, part := range cells[len(cells)-1].Bar {
							shares += part.Share
						}
						assert.Contains(t, []string{"0.000", "1.000"}, fmt.Sprintf("%.3f", shares))
					}
				}
			}
			want := append(strings.Split(c.sections, ","), "Dataset", "Outcomes", "Lengths of games", "Orders", "Statistics", "Columns")
			assert.ElementsMatch(t, want, titles)

			full, err := datasets.Inspect(t.Context(), dir, datasets.InspectOptions{Workers: 2})
			require.NoError(t, err)
			// Of a packed dataset the page has statistics of the planes as well.
			assert.Subset(t, s["Statistics"].Tables[0].Rows, overview.TableOf("", Statistics(full)).Rows)
			require.Len(t, s["Outcomes"].Tables[0].Rows, len(Outcomes(full))-1)
			assert.True(t, slices.ContainsFunc(s["Orders"].Tables[1].Rows, func(cells []overview.Cell) bool { return cells[0].Text == c.kind }), c.kind)
			turns := s["Orders"].Charts[len(s["Orders"].Charts)-1].Lines[0].Points
			assert.InDelta(t, full.Turns.Max, turns[len(turns)-1][0], float64(o.Details.TurnWidth), "the plot goes on to the last turn")
			if actions, ok := s["Actions"]; ok {
				for i, x := range o.Details.Actions.Choices {
					assert.Contains(t, row(actions.Tables[0].Rows[i]), fmt.Sprintf("%d | %d | ", x.Head, x.Choice))
				}
				assert.Equal(t, strings.Split(full.Manifest.Action.Doc, "\n"), s["What the choices mean"].Text)
			}
			text, err := json.Marshal(about)
			require.NoError(t, err)
			assert.Less(t, len(text), 200_000)
		})
	}
}

// TestBars: the bar of an outcome has the shares of results above, at and below 0.
func TestBars(t *testing.T) {
	o := &datasets.Overview{Manifest: &datasets.Manifest{}}
	for i := range mostListed + 5 {
		o.Manifest.Totals.Pairings = append(o.Manifest.Totals.Pairings, datasets.Pairing{Policies: []string{fmt.Sprint("p", i)}, Episodes: 4,
			Results: []map[string]uint64{{"-1": 1, "0": 1, "0.5": 2}}})
	}
	s := outcomeSection(o)
	require.Len(t, s.Tables[0].Rows, mostListed)
	assert.Contains(t, s.Text, "The first 200 of 205 are listed.")
	assert.Equal(t, "A | p0 |  | 4 | +0.5: 50.0 %, 0: 25.0 %, −1: 25.0 %", row(s.Tables[0].Rows[0]))
	assert.Equal(t, []overview.Part{{Share: 0.5, Look: overview.Ahead}, {Share: 0.25, Look: overview.Even}, {Share: 0.25, Look: overview.Behind}}, s.Tables[0].Rows[0][2].Bar)
	o.Labels = []datasets.Labels{{Seat: 1, Heads: datasets.Share{All: 9, Share: 0.5}, Rows: datasets.Share{All: 8, Share: 0.25}, Told: datasets.Share{All: 7, Share: 1}}}
	assert.Equal(t, []string{"seat B", "9", "50.00 %", "8", "25.00 %", "7", "100.00 %"}, Labels(o)[1])
}
