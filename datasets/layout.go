package datasets

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/store"
	"moonfarm/env"
	"moonfarm/rollout"
)

// Names of files and folders of a dataset.
const (
	manifestName   = "manifest.json"
	runName        = "run.json"
	cardName       = "README.md"
	statisticsName = "statistics.json"
	stepsDir       = "steps"
	episodesDir    = "episodes"
	finalsDir      = "finals"
	indexDir       = "index"
	shardsDir      = "shards"
)

// Places of the tables in lists of tables, of readers and of files of a shard.
const (
	stepsTable = iota
	episodesTable
	finalsTable
	allTables
)

// tableNames are the names of the tables, which are those of the folders of
// their files.
func tableNames(finals bool) []string {
	names := []string{stepsDir, episodesDir, finalsDir}
	if !finals {
		names = names[:finalsTable]
	}
	return names
}

// hasFinals reports whether a dataset has finals: format 1 has none, nor has a
// dataset without observations.
func hasFinals(format int, o Obs) bool { return format > 1 && o != ObsNone }

// pathOf is the path of file i of a folder, such as "steps/00012.arrow".
func pathOf(dir string, i int) string {
	ending := "arrow"
	if dir == shardsDir {
		ending = "json"
	}
	return fmt.Sprintf("%s/%05d.%s", dir, i, ending)
}

// numberOf is the number of the file of that name in a folder; false if pathOf
// gives no file that name.
func numberOf(dir, name string) (int, bool) {
	digits, _, _ := strings.Cut(name, ".")
	i, err := strconv.Atoi(digits)
	return i, err == nil && i >= 0 && pathOf(dir, i) == dir+"/"+name
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

// of returns the file of a table.
func (f *Files) of(table int) *File {
	return [allTables]*File{&f.Steps, &f.Episodes, &f.Finals}[table]
}

// all returns the files that there are.
func (f *Files) all() (all []*File) {
	for table := range allTables {
		if file := f.of(table); file.Path != "" {
			all = append(all, file)
		}
	}
	return all
}

// named reports whether the files have the names of those of a shard.
func (f *Files) named(shard int) bool {
	for table, name := range tableNames(f.Finals != File{}) {
		if f.of(table).Path != pathOf(name, shard) {
			return false
		}
	}
	return true
}

// bytes is the size of all files together.
func (f *Files) bytes() (sum uint64) {
	for _, file := range f.all() {
		sum += file.Bytes
	}
	return sum
}

// batchRows is the number of rows in a full batch of steps (finals): the rows of
// all players for as many turns (episodes) as fit into so many bytes, but at least
// for the given number of them.
func batchRows(c []Column, players, bytes, least int) int {
	width := 0
	for _, c := range c {
		width += c.Width()
	}
	return max(min(bytes/width, mostBatchRows)/players, least) * players
}

// tableKind is what the files of one table have in common.
type tableKind struct {
	name   string
	schema arrowfile.Schema
	rows   int // of a full batch
}

// has reports whether the table has a column of that name.
func (t tableKind) has(column string) bool {
	return slices.ContainsFunc(t.schema.Columns, func(c Column) bool { return c.Name == column })
}

// layout is what the Job and its rules determine of the files.
type layout struct {
	format int
	job    Job
	specs  []env.Spec  // one per rules
	tables []tableKind // steps, episodes, and finals if there are any
	lists  int         // bytes of orders after which a batch of steps or episodes is full
	kept   int         // bytes of rows that a worker may keep while it plays
}

func newLayout(format int, j Job, specs []env.Spec) *layout {
	s := specs[0]
	players := s.Info.Players
	l := &layout{format: format, job: j, specs: specs, lists: listBytes, kept: keptBytes}
	add := func(name string, c []Column, stride, rows int) {
		l.tables = append(l.tables, tableKind{name, fileSchema(format, j, s.Info.Rules, name, c, stride), rows})
	}
	steps := stepColumns(format, s, j.Obs, j.mixed())
	add(stepsDir, steps, players, batchRows(steps, players, stepBatchBytes, stepBatchTurns))
	add(episodesDir, episodeColumns(format, players, j.mixed(), j.imported()), 1, episodeBatchRows)
	if hasFinals(format, j.Obs) {
		finals := finalColumns(s.Shape, j.Obs)
		add(finalsDir, finals, players, batchRows(finals, players, finalBatchBytes, 1))
	}
	return l
}

// described are the tables as the manifest has them.
func (l *layout) described() (all [allTables]Table) {
	for i, t := range l.tables {
		all[i] = Table{t.rows, t.schema.Columns}
	}
	return all
}

// keep is which slabs of step rows a worker with so many games keeps while it
// plays: all, or the rewards alone where all would take more memory than it may.
// Then every episode is played again for them.
func (l *layout) keep(games int) (want env.Want) {
	switch l.job.Obs {
	case ObsPlanes:
		want = env.WantPlanes | env.WantScalars | env.WantMask | env.WantAction
	case ObsPacked:
		want = env.WantPacked | env.WantScalars | env.WantMask | env.WantAction
	}
	want |= env.WantReward
	if rollout.MostRowBytes(l.specs[0], games, want) > l.kept {
		return env.WantReward
	}
	return want
}

// maxTurns is the most turns of an episode, over all rules.
func (l *layout) maxTurns() (most int) {
	for _, s := range l.specs {
		most = max(most, s.MaxTurns)
	}
	return most
}

// maxOrders is the most orders of one seat in one turn, over all rules.
func (l *layout) maxOrders() (most int) {
	for _, s := range l.specs {
		most = max(most, s.Info.MaxOrders)
	}
	return most
}

// schemaKeys are the keys of the metadata of every file.
var schemaKeys = []string{"moonfarm.format", "moonfarm.table", "moonfarm.game", "moonfarm.rules_version", "moonfarm.rules_sha256",
	"moonfarm.policies", "moonfarm.seed", "moonfarm.reward", "moonfarm.obs"}

// fileSchema is the schema of the files of one table, or of the index.
func fileSchema(format int, j Job, rules, table string, c []Column, stride int) arrowfile.Schema {
	policies, _ := json.Marshal(j.Policies) // strings: cannot fail
	return arrowfile.Schema{
		Columns: c, Stride: stride, Tensors: j.TensorMetadata == TensorsExtension, Keys: schemaKeys,
		Texts: []string{strconv.Itoa(format), table, j.Game, rules, rulesSHA256(j.Rules),
			string(policies), strconv.FormatUint(j.Seed, 10), j.Reward, string(j.Obs)},
	}
}

// rulesSHA256 is the sum of one rules text, or of the sums of several.
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
