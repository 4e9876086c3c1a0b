package command

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/datasets"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/features"
)

// JobFlags are the flags for the content of a dataset, on one machine or many.
type JobFlags struct {
	gameFlags
	policies string
	job      datasets.Job
}

// Add adds the flags.
func (f *JobFlags) Add(c *cobra.Command) {
	j, flags := &f.job, c.Flags()
	j.Episodes = 1000
	flags.Var(console.Whole(&j.Episodes, 1, maxEpisodes), "episodes", "number of games to play")
	seedFlag(c, &j.Seed)
	flags.StringVar(&f.policies, "policy", "random", "`A,B`: the policy of each seat, or one for all (see policies GAME)")
	flags.StringVar(&j.Opening, "opening", "", "`random:K`: the first K turns of every seat are drawn at random, by the episode, so that games differ")
	flags.StringVar(&j.Ask, "ask", "", "`POLICY` that is asked in every row what it would choose: the column asked has its actions")
	datasetFlags(c, j)
	f.gameFlags.add(c)
}

// Job makes the job of a game from the flags.
func (f *JobFlags) Job(game string) (j datasets.Job, g catalog.Entry, err error) {
	t, err := f.open(game)
	if err != nil {
		return j, g, err
	}
	j = f.job
	if j.ShardEpisodes == 0 {
		j.ShardEpisodes = t.game.ShardEpisodes
	}
	if shards := Shards(&j); shards > MaxShards {
		return j, g, console.WrongUse("--shard-episodes %d: %d shards for %d episodes, expected at most %d", j.ShardEpisodes, shards, j.Episodes, MaxShards)
	}
	j.Game, j.Reward, j.MaxTurns = game, f.reward, f.maxTurns
	if t.rules != "" {
		j.Rules = []string{t.rules}
	}
	if _, err := datasets.OpeningTurns(j.Opening); err != nil {
		return j, g, console.WrongUse("--%w", err)
	}
	if err := errors.Join(chooseForm(&j, t.spec), checkMemory(t.game, &j, t.rules)); err != nil {
		return j, g, err
	}
	if j.Ask != "" {
		if _, _, err := t.policy("ask", j.Ask); err != nil {
			return j, g, err
		}
	}
	j.Policies, err = t.seats(f.policies)
	return j, t.game, err
}

// Shards returns the number of shards of a job.
func Shards(j *datasets.Job) uint64 {
	return (j.Episodes-1)/j.ShardEpisodes + 1
}

// seedFlag adds --seed.
func seedFlag(c *cobra.Command, to *uint64) {
	*to = 1
	c.Flags().Var(console.Whole(to, 0, math.MaxUint64), "seed", "master seed: all chance follows from it")
}

// datasetFlags adds the flags for the form of a dataset.
func datasetFlags(c *cobra.Command, j *datasets.Job) {
	j.Obs, j.Codec, j.TensorMetadata = datasets.ObsPlanes, datasets.Zstd, datasets.TensorsPlain
	flags := c.Flags()
	flags.Var(console.Choice(&j.Obs, datasets.ObsPlanes, datasets.ObsPacked, datasets.ObsNone), "obs",
		"observations as uint8 planes, as bits packed in uint64 words, or none (then no masks and actions either)")
	flags.StringVar(&j.Form, "form", "", "form of observations and actions (default: the first that games GAME lists); a sequential form is chosen when the dataset is read")
	flags.BoolVar(&j.Memory, "memory", false, "where there is fog of war, planes of entities that do not move show what was last seen there")
	flags.Var(console.Choice(&j.Codec, datasets.Zstd, datasets.LZ4, datasets.None), "codec", "compression")
	flags.Var(console.Choice(&j.TensorMetadata, datasets.TensorsPlain, datasets.TensorsExtension), "tensor-metadata",
		"shapes of tensors in keys of fields alone, or as the extension arrow.fixed_shape_tensor, too, which Hugging Face datasets and Polars refuse")
	j.Program = datasets.ProgramMoonfarm
	flags.StringVar(&j.License, "license", "", "`NAME` of the licence that the dataset's card names, such as cc-by-4.0")
	j.Discount = 1
	flags.Var(console.Number(&j.Discount, func(x float64) bool { return x > 0 && x <= 1 }, "a number above 0 and at most 1, such as 0.99"), "discount", "weight of the next turn's rewards in the return of this turn")
	flags.Var(console.Whole(&j.ShardEpisodes, 1, maxEpisodes), "shard-episodes", "episodes in one shard, which one worker makes; the bytes depend on it (default "+shardDefaults()+")")
	flags.Lookup("shard-episodes").DefValue = "" // said in words
}

// shardDefaults lists the default numbers of episodes in a shard: "500; codecraft: 10".
func shardDefaults() string {
	games := catalog.Games()
	text := fmt.Sprint(games[0].ShardEpisodes)
	for _, g := range games {
		if g.ShardEpisodes != games[0].ShardEpisodes {
			text += fmt.Sprintf("; %s: %d", g.Name, g.ShardEpisodes)
		}
	}
	return text
}

// maxEpisodes is the maximum number of episodes in a dataset.
const maxEpisodes = 1 << 40

// MaxShards is the maximum number of shards of a dataset.
const MaxShards = 1 << 20

// chooseForm sets the form of a job to the default of its game if none is given. It returns
// an error if the rows of a dataset cannot have the form.
func chooseForm(j *datasets.Job, s env.Spec) error {
	if j.Memory {
		j.Form = cmp.Or(j.Form, features.Cells)
	}
	j.Form = cmp.Or(j.Form, s.Form)
	in, ok := s.InForm(j.Form)
	if !ok {
		return console.WrongUse("--form %s: %s has the forms %s", j.Form, s.Info.Name, strings.Join(formNames(s), ", "))
	}
	if in.Sequential {
		return console.WrongUse("--form %s: a turn takes several rows in it; make the dataset without --form, and choose the form when it is read", j.Form)
	}
	return nil
}

// formNames lists the forms of a game.
func formNames(s env.Spec) (names []string) {
	for _, f := range s.Forms {
		names = append(names, f.Form)
	}
	return names
}

// checkMemory returns an error if --memory is given and the game does not support it by
// one of the sets of rules.
func checkMemory(g catalog.Entry, j *datasets.Job, rules ...string) error {
	if !j.Memory {
		return nil
	}
	if j.Obs != datasets.ObsPlanes {
		return console.WrongUse("--memory: it fills in planes, expected --obs planes, found %s", j.Obs)
	}
	for _, text := range rules {
		if _, err := g.New(text, env.Settings{N: 1, Memory: true, Form: j.Form}); err != nil {
			return console.WrongUse("--memory: %w", err)
		}
	}
	return nil
}

// seats parses --policy: one policy for all seats, or one for each.
func (g *gameSetup) seats(text string) ([]string, error) {
	specs, err := readSpecs("policy", text)
	if err != nil {
		return nil, err
	}
	players := g.spec.Info.Players
	if len(specs) == 1 {
		specs = slices.Repeat(specs, players)
	}
	if len(specs) != players {
		return nil, console.WrongUse("--policy %s: %d policies, expected one, or one for each of the %d seats of %s", text, len(specs), players, g.game.Name)
	}
	for _, spec := range specs {
		if _, _, err := g.policy("policy", spec); err != nil {
			return nil, err
		}
	}
	return specs, nil // as they were given: canonical names have no folders
}
