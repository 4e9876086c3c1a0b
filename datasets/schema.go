package datasets

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"

	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/env"
	"moonfarm/rollout"
)

// Column describes one column of a file.
type Column = arrowfile.Column

// Names of columns.
const (
	ColEpisode    = "episode"
	ColTurn       = "turn"
	ColSeat       = "seat"
	ColPlanes     = "planes"
	ColPacked     = "packed"
	ColScalars    = "scalars"
	ColMask       = "mask"
	ColAction     = "action"
	ColOrders     = "orders"
	ColReward     = "reward"
	ColReturn     = "return"
	ColOutcome    = "outcome"
	ColTerminated = "terminated"
	ColTruncated  = "truncated"

	ColSeed     = "seed"
	ColRules    = "rules"
	ColPolicies = "policies"
	ColSource   = "source"
	ColTurns    = "turns"
	ColStatus   = "status"
	ColResults  = "results"
	ColScores   = "scores"
	ColEnds     = "ends"
)

// stepColumns are the columns of steps/*.arrow.
func stepColumns(s env.Spec, o Obs) []Column {
	c := []Column{
		{Name: ColEpisode, Type: arrowfile.Uint64, Doc: "number of the episode in the dataset, from 0"},
		{Name: ColTurn, Type: arrowfile.Int32, Doc: "turn of the episode, from 0"},
		{Name: ColSeat, Type: arrowfile.Uint8, Doc: "seat of the player, from 0"},
	}
	tensor := func(name string, t arrowfile.Type, doc string, dims []string, shape ...int) {
		for _, n := range shape {
			if n == 0 {
				return // the game has none of these
			}
		}
		c = append(c, Column{Name: name, Type: t, Shape: shape, Dims: dims, Tensor: true, Doc: doc})
	}
	h := s.Shape
	switch o {
	case ObsPlanes:
		tensor(ColPlanes, arrowfile.Uint8, "what the seat sees before the turn, from its own side; the manifest names the planes",
			[]string{"plane", "y", "x"}, h.Planes, h.Height, h.Width)
	case ObsPacked:
		tensor(ColPacked, arrowfile.Uint64, "the planes as bits; the manifest tells where each is", []string{"word"}, h.Words)
	}
	if o != ObsNone {
		tensor(ColScalars, arrowfile.Float32, "the numbers the seat sees before the turn; the manifest names them",
			[]string{"scalar"}, h.Scalars)
		tensor(ColMask, arrowfile.Uint64, "legal choices: choice c of head h is bit i%64 of word i/64, i = c + choices of the heads before h",
			[]string{"word"}, s.MaskWords)
		const doc = "the choice of each head that says the orders; -1 if none does"
		if len(s.Heads) == 1 {
			c = append(c, Column{Name: ColAction, Type: arrowfile.Int32, Doc: doc})
		} else {
			tensor(ColAction, arrowfile.Int32, doc, []string{"head"}, len(s.Heads))
		}
	}
	return append(c,
		Column{Name: ColOrders, Type: arrowfile.Uint64, List: true,
			Doc: "packed orders the seat gave in the turn, in order; none: it did nothing"},
		Column{Name: ColReward, Type: arrowfile.Float32, Doc: "reward of the turn"},
		Column{Name: ColReturn, Type: arrowfile.Float32, Doc: "sum of the rewards from this turn to the end, undiscounted"},
		Column{Name: ColOutcome, Type: arrowfile.Float32, Doc: "final result of the seat: +1 first place … -1 last"},
		Column{Name: ColTerminated, Type: arrowfile.Bool, Doc: "the rules ended the game with this turn"},
		Column{Name: ColTruncated, Type: arrowfile.Bool, Doc: "a limit cut the game after this turn"},
	)
}

// episodeColumns are the columns of episodes/*.arrow.
func episodeColumns(players int) []Column {
	seat := []string{"seat"}
	return []Column{
		{Name: ColEpisode, Type: arrowfile.Uint64, Doc: "number of the episode in the dataset, from 0"},
		{Name: ColSeed, Type: arrowfile.Uint64, Doc: "seed the game was reset with"},
		{Name: ColRules, Type: arrowfile.Int32, Doc: "number of its rules in the manifest, from 0"},
		{Name: ColPolicies, Type: arrowfile.Utf8, Shape: []int{players}, Dims: seat, Doc: "who played at each seat"},
		{Name: ColSource, Type: arrowfile.Utf8, Doc: "where an imported episode comes from; empty if generated"},
		{Name: ColTurns, Type: arrowfile.Int32, Doc: "turns played; the episode has turns × seats step rows"},
		{Name: ColStatus, Type: arrowfile.Uint8, Doc: "1: ended by the rules, 2: cut by a limit"},
		{Name: ColResults, Type: arrowfile.Float32, Shape: []int{players}, Dims: seat,
			Doc: "final result of each seat: +1 first place … -1 last; they sum to 0"},
		{Name: ColScores, Type: arrowfile.Float64, Shape: []int{players}, Dims: seat, Doc: "the game's own points of each seat"},
		{Name: ColOrders, Type: arrowfile.Uint64, List: true, Doc: "packed orders of all turns and seats, one after the other"},
		{Name: ColEnds, Type: arrowfile.Int32, List: true,
			Doc: "the orders of seat p in turn t are orders[ends[k-1]:ends[k]] with k = t × seats + p, ends[-1] = 0"},
	}
}

// Sizes of batches. Rows are compressed while they are in the processor's
// cache, so a batch of step rows aims at stepBatchBytes; but it holds some
// turns at least, as rows compress by their likeness to those before.
const (
	stepBatchBytes = 4 << 20
	stepBatchMost  = 4096
	stepBatchTurns = 16

	episodeBatchRows  = 1024
	listBytes         = 8 << 20 // of orders in one batch of either table
	maxEpisodeOrders  = 1 << 26 // orders of one episode: 512 MiB
	maxEpisodePlayers = 4

	keptBytes = 64 << 20 // of rows in hand, per worker, at most
)

// stepBatchRows is the number of rows in a full batch: whole turns.
func stepBatchRows(c []Column, players int) int {
	width := 0
	for _, c := range c {
		width += c.Width()
	}
	n := min(stepBatchBytes/width, stepBatchMost) / players
	return max(n, stepBatchTurns) * players
}

// layout is all that Job and rules say of the files.
type layout struct {
	job      Job
	specs    []env.Spec // one per rules
	steps    arrowfile.Schema
	episodes arrowfile.Schema
	rows     int // of a full batch of steps
	lists    int // bytes of orders after which a batch of either table is full
}

func newLayout(j Job, specs []env.Spec) *layout {
	s := specs[0]
	players := s.Info.Players
	l := &layout{job: j, specs: specs, lists: listBytes}
	l.steps = fileSchema(j, s.Info.Rules, "steps", stepColumns(s, j.Obs), players)
	l.episodes = fileSchema(j, s.Info.Rules, "episodes", episodeColumns(players), 1)
	l.rows = stepBatchRows(l.steps.Columns, players)
	return l
}

// keep tells which slabs of step rows a worker with so many games keeps from
// play: all, or none but the rewards where it has not the memory. Then every
// episode is played again for its rows.
func (l *layout) keep(games int) (want env.Want) {
	switch l.job.Obs {
	case ObsPlanes:
		want = env.WantPlanes | env.WantScalars | env.WantMask | env.WantAction
	case ObsPacked:
		want = env.WantPacked | env.WantScalars | env.WantMask | env.WantAction
	}
	s := l.specs[0]
	size := rollout.RowBytes(s, want) * s.Info.Players * s.MaxTurns * rollout.EpisodesInHand(games)
	if size > keptBytes {
		return 0
	}
	return want
}

// maxOrders is the most orders of one seat in one turn, over all rules.
func (l *layout) maxOrders() int {
	most := 0
	for _, s := range l.specs {
		most = max(most, s.Info.MaxOrders)
	}
	return most
}

// schemaKeys are the keys of the metadata of every file.
var schemaKeys = []string{"moonfarm.format", "moonfarm.table", "moonfarm.game", "moonfarm.rules_version", "moonfarm.rules_sha256",
	"moonfarm.policies", "moonfarm.seed", "moonfarm.reward", "moonfarm.obs"}

// fileSchema is the schema of the files of one table.
func fileSchema(j Job, rules, table string, c []Column, stride int) arrowfile.Schema {
	policies, _ := json.Marshal(j.Policies) // strings: cannot fail
	return arrowfile.Schema{
		Columns: c, Stride: stride, Tensors: j.Tensors == TensorsExtension, Keys: schemaKeys,
		Texts: []string{strconv.Itoa(Format), table, j.Game, rules, rulesSHA256(j.Rules),
			string(policies), strconv.FormatUint(j.Seed, 10), j.Reward, string(j.Obs)},
	}
}

// rulesSHA256 is the sum of one rules text, or of the sums of several.
func rulesSHA256(texts []string) string {
	if len(texts) == 1 {
		return sum256([]byte(texts[0]))
	}
	var all []byte
	for _, t := range texts {
		all = append(all, sum256([]byte(t))+"\n"...)
	}
	return sum256(all)
}

// sum256 is the sha256 in hexadecimal.
func sum256(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
