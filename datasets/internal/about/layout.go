package about

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/store"
	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/rollout"
)

// Unfinished matches the names of files that were not written to their end.
var Unfinished = regexp.MustCompile(`\.tmp$`)

// Names of files and folders of a dataset.
const (
	ManifestName   = "manifest.json"
	RunName        = "run.json"
	CardName       = "README.md"
	StatisticsName = "statistics.json"
	StepsDir       = "steps"
	EpisodesDir    = "episodes"
	FinalsDir      = "finals"
	IndexDir       = "index"
	ShardsDir      = "shards"
)

// Numbers of the tables: indices into lists of tables, of readers and of files of a
// shard.
const (
	StepsTable = iota
	EpisodesTable
	FinalsTable
	AllTables
)

// TableNames returns the names of the tables, which are also the names of their
// folders.
func TableNames(finals bool) []string {
	names := []string{StepsDir, EpisodesDir, FinalsDir}
	if !finals {
		names = names[:FinalsTable]
	}
	return names
}

// HasFinals reports whether a dataset has finals: all have but those without
// observations.
func HasFinals(o Obs) bool { return o != ObsNone }

// PathOf returns the path of file i of a folder, such as "steps/00012.arrow".
func PathOf(dir string, i int) string {
	ending := "arrow"
	if dir == ShardsDir {
		ending = "json"
	}
	return fmt.Sprintf("%s/%05d.%s", dir, i, ending)
}

// NumberOf returns the number of the file of that name in a folder; false if pathOf
// gives no file that name.
func NumberOf(dir, name string) (int, bool) {
	digits, _, _ := strings.Cut(name, ".")
	i, err := strconv.Atoi(digits)
	return i, err == nil && i >= 0 && PathOf(dir, i) == dir+"/"+name
}

// File is one file of a dataset.
type File struct {
	Path   string `json:"path"` // relative, with slashes
	SHA256 string `json:"sha256"`
	Rows   uint64 `json:"rows"`
	Bytes  uint64 `json:"bytes"`
}

// Files are the files of a shard, one of each table.
type Files struct {
	Steps    File `json:"steps"`
	Episodes File `json:"episodes"`
	Finals   File `json:"finals,omitzero"` // without a path: the dataset has none
}

// Of returns the file of a table.
func (f *Files) Of(table int) *File {
	return [AllTables]*File{&f.Steps, &f.Episodes, &f.Finals}[table]
}

// All returns the files that exist.
func (f *Files) All() (all []*File) {
	for table := range AllTables {
		if file := f.Of(table); file.Path != "" {
			all = append(all, file)
		}
	}
	return all
}

// named reports whether the files have the names of the files of a shard.
func (f *Files) named(shard int) bool {
	for table, name := range TableNames(f.Finals != File{}) {
		if f.Of(table).Path != PathOf(name, shard) {
			return false
		}
	}
	return true
}

// Bytes returns the size of all files together.
func (f *Files) Bytes() (sum uint64) {
	for _, file := range f.All() {
		sum += file.Bytes
	}
	return sum
}

// batchRows returns the number of rows in a full batch: the rows of all players for as
// many turns as fit into that number of bytes, but for at least that number of turns.
func batchRows(c []arrowfile.Column, players, bytes, least int) int {
	width := 0
	for _, c := range c {
		width += c.Width()
	}
	return max(min(bytes/width, mostBatchRows)/players, least) * players
}

// TableKind describes the files of one table.
type TableKind struct {
	Name   string
	Schema arrowfile.Schema
	Rows   int // in a full batch
}

// Has reports whether the table has a column of that name.
func (t TableKind) Has(column string) bool {
	return slices.ContainsFunc(t.Schema.Columns, func(c arrowfile.Column) bool { return c.Name == column })
}

// Layout is the layout of files that a Job and its rules determine.
type Layout struct {
	Job    Job
	Specs  []env.Spec  // one per rules
	Tables []TableKind // steps, episodes, and finals if there are any
	Lists  int         // bytes of lists after which a batch of steps or episodes is full
	Kept   int         // bytes of rows that a worker may keep while it plays
}

// NewLayout returns the layout of the files of a job, given the spec of each of its rules.
func NewLayout(j Job, specs []env.Spec) *Layout {
	s := specs[0]
	players := s.Info.Players
	l := &Layout{Job: j, Specs: specs, Lists: ListBytes, Kept: KeptBytes}
	add := func(name string, c []arrowfile.Column, stride, rows int) {
		l.Tables = append(l.Tables, TableKind{name, FileSchema(j, s.Info.Rules, name, c, stride), rows})
	}
	steps := StepColumns(s, j.Obs, j.Extras())
	add(StepsDir, steps, players, batchRows(steps, players, stepBatchBytes, stepBatchTurns))
	add(EpisodesDir, EpisodeColumns(s, j.Extras()), 1, episodeBatchRows)
	if HasFinals(j.Obs) {
		finals := FinalColumns(s.Shape, j.Obs)
		add(FinalsDir, finals, players, batchRows(finals, players, finalBatchBytes, 1))
	}
	return l
}

// described returns the tables as the manifest describes them.
func (l *Layout) described() (all [AllTables]TableInfo) {
	for i, t := range l.Tables {
		all[i] = TableInfo{t.Rows, t.Schema.Columns}
	}
	return all
}

// Keep returns which slabs of step rows a worker with that number of games keeps while
// it plays: all, or the rewards alone where all would take more memory than it may use.
// Then every episode is played again for the other slabs.
func (l *Layout) Keep(games int) (want env.Want) {
	switch l.Job.Obs {
	case ObsPlanes:
		want = env.WantPlanes | env.WantScalars | env.WantMask | env.WantAction
	case ObsPacked:
		want = env.WantPacked | env.WantScalars | env.WantMask | env.WantAction
	}
	if l.Job.Ask != "" {
		return env.WantReward // the rows of the policy that is asked are made by playing again
	}
	want |= env.WantReward
	if rollout.MostRowBytes(l.Specs[0], games, want) > l.Kept {
		return env.WantReward
	}
	return want
}

// most returns the most turns of an episode, and orders of one seat in one turn, over all rules.
func (l *Layout) most() (turns, orders int) {
	for _, s := range l.Specs {
		turns, orders = max(turns, s.MaxTurns), max(orders, s.Info.MaxOrders)
	}
	return turns, orders
}

// SchemaKeys lists the keys of the metadata of every file.
var SchemaKeys = []string{"moonfarm.format", "moonfarm.table", "moonfarm.game", "moonfarm.rules_version", "moonfarm.rules_sha256",
	"moonfarm.policies", "moonfarm.seed", "moonfarm.reward", "moonfarm.obs"}

// FileSchema returns the schema of the files of one table, or of the index.
func FileSchema(j Job, rules, table string, c []arrowfile.Column, stride int) arrowfile.Schema {
	policies, _ := json.Marshal(j.Policies) // strings: cannot fail
	return arrowfile.Schema{
		Columns: c, Stride: stride, Anywhere: []string{ColMask}, Tensors: j.TensorMetadata == TensorsExtension, Keys: SchemaKeys,
		Texts: []string{strconv.Itoa(Format), table, j.Game, rules, rulesSHA256(j.Rules),
			string(policies), strconv.FormatUint(j.Seed, 10), j.Reward, string(j.Obs)},
	}
}

// rulesSHA256 returns the sum of a text of rules, or the sum of the sums of several.
func rulesSHA256(texts []string) string {
	if len(texts) == 1 {
		return store.SHA256([]byte(texts[0]))
	}
	var all []byte
	for _, t := range texts {
		all = append(all, store.SHA256([]byte(t))+"\n"...)
	}
	return store.SHA256(all)
}

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
	ColAsked      = "asked"
	ColOrders     = "orders"
	ColReward     = "reward"
	ColReturn     = "return"
	ColOutcome    = "outcome"
	ColTerminated = "terminated"
	ColTruncated  = "truncated"
	ColChosen     = "chosen"

	ColSeed     = "seed"
	ColGame     = "game"
	ColRules    = "rules"
	ColPolicies = "policies"
	ColSource   = "source"
	ColTurns    = "turns"
	ColStatus   = "status"
	ColResults  = "results"
	ColScores   = "scores"
	ColEnds     = "ends"

	ColAskedOrders = "asked_orders"
	ColAskedEnds   = "asked_ends"

	ColSearchValue   = "search_value"
	ColSearchPolicy  = "search_policy"
	ColSearchChoices = "search_choices"
	ColSearchCounts  = "search_counts"
	ColSearchEnds    = "search_ends"

	ColStopped   = "stopped"
	ColRecording = "recording"
)

// Extras tells which of the optional columns a job has.
type Extras struct{ Mixed, Search, Imported, Asked bool }

// Extras returns which optional columns the job has.
func (j *Job) Extras() Extras { return Extras{j.Mixed(), j.Search, j.Imported(), j.Ask != ""} }

// StepColumns returns the columns of steps/*.arrow. Reading compares every name,
// shape and text with them.
func StepColumns(s env.Spec, o Obs, x Extras) []arrowfile.Column {
	c := append(rowColumns("turn of the episode, from 0"), observationColumns(s.Shape, o, "before the turn")...)
	tensor := func(name string, t arrowfile.Type, doc string, dims []string, shape ...int) {
		c = AppendTensor(c, name, t, doc, dims, shape...)
	}
	choice := func(name, doc string) {
		if len(s.Heads) == 1 {
			c = append(c, arrowfile.Column{Name: name, Type: arrowfile.Int32, Doc: doc})
		} else {
			tensor(name, arrowfile.Int32, doc, []string{"head"}, len(s.Heads))
		}
	}
	if o != ObsNone {
		legal := "legal choices: choice c of head h is bit i%64 of word i/64, i = c + choices of the heads before h; the last heads may have none: see action.unmasked"
		tensor(ColMask, arrowfile.Uint64, legal, []string{"word"}, s.MaskWords)
		choice(ColAction, "the choice of each head that says the orders that belong to it; -1 if none of its choices does, and the other heads stand; of several heads 0: no orders")
	}
	c = append(c,
		arrowfile.Column{Name: ColOrders, Type: arrowfile.Uint64, List: true,
			Doc: "packed orders the seat gave in the turn, in order; none: it did nothing"},
		arrowfile.Column{Name: ColReward, Type: arrowfile.Float32, Doc: "reward of the turn"},
		arrowfile.Column{Name: ColReturn, Type: arrowfile.Float32, Doc: "sum of the rewards from this turn to the end, that of k turns later times reward.gamma to the power of k"},
		arrowfile.Column{Name: ColOutcome, Type: arrowfile.Float32, Doc: "final result of the seat: +1 first place … -1 last"},
		arrowfile.Column{Name: ColTerminated, Type: arrowfile.Bool, Doc: "the rules ended the game with this turn"},
		arrowfile.Column{Name: ColTruncated, Type: arrowfile.Bool, Doc: "a limit cut the game after this turn"},
	)
	if x.Mixed {
		c = append(c, arrowfile.Column{Name: ColChosen, Type: arrowfile.Uint8,
			Doc: "number of the member of the seat's policy that chose, from 0, as job.members lists them; 0 if the policy has none"})
	}
	if x.Asked && o != ObsNone {
		choice(ColAsked, "the choice of each head that the policy of `job.ask` would make, as in `action`; -1 if no choice says it")
	}
	if x.Search {
		c = append(c, arrowfile.Column{Name: ColSearchValue, Type: arrowfile.Float32,
			Doc: "result that the seat can expect, −1 … 1, as its policy's search found; NaN if the policy did not search"})
		c = append(c, searchColumns(s)...)
	}
	return c
}

// searchColumns returns the columns of lists of the moves that a search weighed.
func searchColumns(s env.Spec) []arrowfile.Column {
	c := []arrowfile.Column{
		{Name: ColSearchPolicy, Type: arrowfile.Float32, List: true,
			Doc: "share of the search for each move that it weighed; they sum to 1; none: the policy did not search"},
		{Name: ColSearchChoices, Type: arrowfile.Int32, List: true,
			Doc: "choices of these moves, one after the other: choice c of head h is c + choices of the heads before h, -1 - h a head h none of whose choices says the orders"},
	}
	if len(s.Heads) > 1 {
		c = append(c, arrowfile.Column{Name: ColSearchCounts, Type: arrowfile.Int32, List: true,
			Doc: "how many choices each move has: those of the heads that are not 0; only in games of several heads, as of one head a move has one"})
	}
	return c
}

// observationColumns returns the columns of observations; when is their time, as in
// "before the turn".
func observationColumns(h features.Shape, o Obs, when string) (c []arrowfile.Column) {
	switch o {
	case ObsPlanes:
		c = AppendTensor(c, ColPlanes, arrowfile.Uint8, "what the seat sees "+when+", from its own side; the manifest names the planes",
			[]string{"plane", "y", "x"}, h.Planes, h.Height, h.Width)
	case ObsPacked:
		c = AppendTensor(c, ColPacked, arrowfile.Uint64, "the planes as bits; the manifest tells where each is", []string{"word"}, h.Words)
	case ObsNone:
		return nil
	}
	return AppendTensor(c, ColScalars, arrowfile.Float32, "the numbers the seat sees "+when+"; the manifest names them",
		[]string{"scalar"}, h.Scalars)
}

// AppendTensor appends a tensor column, unless a dimension is 0.
func AppendTensor(c []arrowfile.Column, name string, t arrowfile.Type, doc string, dims []string, shape ...int) []arrowfile.Column {
	if slices.Contains(shape, 0) {
		return c
	}
	return append(c, arrowfile.Column{Name: name, Type: t, Shape: shape, Dims: dims, Tensor: true, Doc: doc})
}

// EpisodeColumns returns the columns of episodes/*.arrow.
// The columns that only imported episodes have come last.
func EpisodeColumns(s env.Spec, x Extras) []arrowfile.Column {
	seat, players := []string{"seat"}, s.Info.Players
	c := []arrowfile.Column{
		{Name: ColEpisode, Type: arrowfile.Uint64, Doc: "number of the episode in the dataset, from 0"},
		{Name: ColSeed, Type: arrowfile.Uint64, Doc: "seed the game was reset with"},
		{Name: ColGame, Type: arrowfile.Uint64, Doc: "number of the game that it is: equal if the rules, the start and all orders are"},
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
	if x.Mixed {
		c = append(c, arrowfile.Column{Name: ColChosen, Type: arrowfile.Uint8, List: true,
			Doc: "number of the member of the policy of seat p that chose in turn t, at t × seats + p; 0 if the policy has none"})
	}
	if x.Asked {
		c = append(c,
			arrowfile.Column{Name: ColAskedOrders, Type: arrowfile.Uint64, List: true, Doc: "packed orders that the policy of `job.ask` would give, of all turns and seats, one after the other"},
			arrowfile.Column{Name: ColAskedEnds, Type: arrowfile.Int32, List: true, Doc: "where these orders of each turn and seat end, like ends"})
	}
	if x.Search {
		c = append(c,
			arrowfile.Column{Name: ColSearchValue, Type: arrowfile.Float32, List: true,
				Doc: "what the search of the policy of seat p in turn t found, at t × seats + p, as in the step rows"},
			arrowfile.Column{Name: ColSearchEnds, Type: arrowfile.Int32, List: true,
				Doc: "the moves that it weighed are those from search_ends[k-1] up to search_ends[k] with k = t × seats + p, search_ends[-1] = 0"})
		for _, list := range searchColumns(s) {
			list.Doc = "as in the step rows, those of all turns and seats one after the other"
			c = append(c, list)
		}
	}
	if !x.Imported {
		return c
	}
	return append(c,
		arrowfile.Column{Name: ColStopped, Type: arrowfile.Utf8,
			Doc: "why a recording stops though its game would go on: where it broke off or what first differed from how it plays here; else empty"},
		arrowfile.Column{Name: ColRecording, Type: arrowfile.Uint8, List: true,
			Doc: "the game in the original's own form if its chance is not known and it cannot be played again; else empty"},
	)
}

// FinalColumns returns the columns of finals/*.arrow.
func FinalColumns(s features.Shape, o Obs) []arrowfile.Column {
	return append(rowColumns("turns played: the number of the turn that would come"), observationColumns(s, o, "after the last turn")...)
}

// rowColumns returns the columns by which a row is found.
func rowColumns(turn string) []arrowfile.Column {
	return []arrowfile.Column{
		{Name: ColEpisode, Type: arrowfile.Uint64, Doc: "number of the episode in the dataset, from 0"},
		{Name: ColTurn, Type: arrowfile.Int32, Doc: turn},
		{Name: ColSeat, Type: arrowfile.Uint8, Doc: "seat of the player, from 0"},
	}
}
