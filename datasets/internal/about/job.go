package about

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/jsontext"
	"moonfarm/datasets/internal/store"
	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/texts"
)

// Obs is the form of the observations in step rows.
type Obs string

// The forms of observations.
const (
	ObsPlanes Obs = "planes" // uint8 planes [P,H,W] and float32 scalars [S]; the default
	ObsPacked Obs = "packed" // the planes as uint64 bits [Words] and the scalars
	ObsNone   Obs = "none"   // no observation, mask or action: orders only
)

// Tensors is the way in which files give the shapes of tensor columns.
type Tensors string

// The ways to give shapes.
const (
	TensorsPlain     Tensors = "plain"     // moonfarm's keys only, which every reader of Arrow files takes; the default
	TensorsExtension Tensors = "extension" // arrow.fixed_shape_tensor, too: pyarrow yields tensors, but Hugging Face datasets and Polars fail
)

// Job determines the bytes of a dataset, together with the versions of moonfarm and of
// the format. Two runs of equal Jobs make equal folders.
type Job struct {
	// Program is the program whose command line makes the dataset: "moonfarm", or "" if
	// a Go program made it through this package, perhaps with policies or episodes that
	// no command knows.
	Program string `json:"program"`
	// License is the licence that the dataset's card names, such as "cc-by-4.0"; "" if
	// none is given.
	License  string   `json:"license"`
	Game     string   `json:"game"`
	Rules    []string `json:"rules"`    // canonical texts; a generated dataset has one, "" before Generate fills in the default
	Policies []string `json:"policies"` // one per seat; none if episodes were imported
	// Members has a list for each seat: the members of its policy if that is a
	// rollout.Mixture, and an empty one otherwise. If no seat has a Mixture, there are
	// no lists. Generate fills it in.
	Members [][]string `json:"members"`
	// Models are the files of policies (rollout.WithFiles), by sha256. Generate fills
	// it in, and keeps the files with the dataset.
	Models []Attachment `json:"models,omitempty"`
	// Search reports whether the policy of any seat searches (rollout.Searcher): rows
	// then have the results. Generate fills it in.
	Search bool   `json:"search,omitempty"`
	Source string `json:"source"`      // where imported episodes come from; "" if generated
	Seed   uint64 `json:"seed,string"` // of a generated dataset
	// Opening names the policy that plays the first turns of every seat, and their
	// number, as in "random:4": 4 turns of the policy random with the episode's seed.
	// "": the seat's policy plays from the first turn.
	Opening string `json:"opening,omitempty"`
	// Ask is the policy that is asked, in every row, what it would choose; "": none.
	Ask           string `json:"ask,omitempty"`
	Episodes      uint64 `json:"episodes"`
	ShardEpisodes uint64 `json:"shard_episodes"` // episodes per shard; the last may have fewer
	Shards        []Part `json:"-"`              // the shards of imported episodes; a dataset has them in its index
	ShardsSHA256  string `json:"shards_sha256"`  // of the list Shards, made by Write; "" if generated
	Reward        string `json:"reward"`
	// Discount is the weight of the next turn's return in the return of this turn,
	// above 0 and at most 1; 0 means 1.
	Discount float64 `json:"discount"`
	MaxTurns int     `json:"max_turns"` // 0: as many as the rules allow
	// Form is the form of the game: its observations and actions. "" is features.Cells.
	Form           string          `json:"form,omitempty"`
	Obs            Obs             `json:"obs"`
	Memory         bool            `json:"memory,omitempty"` // planes show what was last seen out of sight: env.Settings.Memory
	Codec          arrowfile.Codec `json:"codec"`
	TensorMetadata Tensors         `json:"tensor_metadata"`
}

// ProgramMoonfarm is the Program of jobs that the command moonfarm makes.
const ProgramMoonfarm = "moonfarm"

// Part is one shard of imported episodes.
type Part struct {
	Episodes uint64 `json:"episodes"`
	Rules    int    `json:"rules"` // index into Job.Rules: all its episodes have these
}

// DefaultShardEpisodes is the number of episodes in a shard if the Job gives none. One
// worker makes a shard, so long games need smaller shards: catalog.Entry has the number
// that the command moonfarm takes.
const DefaultShardEpisodes = 500

// Makers make the games and policies that a Job names. Several goroutines call them at
// once.
type Makers struct {
	// Vector makes games with the rules of that canonical text, or with the default
	// rules for "".
	Vector func(rules string, c env.Settings) (env.Vector, error)
	// Policy returns the maker of the policy of that name. It is nil if there are no
	// policies, as for imported episodes. files finds the files that the dataset holds.
	Policy func(name string, files rollout.Files) (rollout.Maker, error)
	// Recorded makes one game that goes through the states of a recording
	// (rollout.Episode.Recording) and checks every transition. It also returns the
	// recording's orders and ends, as in an Episode. It is nil if the game has no such
	// recordings.
	Recorded func(rules string, c env.Settings, recording []byte) (v env.Vector, orders []sim.Order, ends []int32, err error)
}

// WithDefaults fills in the defaults of empty fields.
func (j Job) WithDefaults() Job {
	if j.ShardEpisodes == 0 && !j.Imported() {
		j.ShardEpisodes = DefaultShardEpisodes
	}
	j.Discount, j.Obs = cmp.Or(j.Discount, 1), cmp.Or(j.Obs, ObsPlanes)
	j.Codec, j.TensorMetadata = cmp.Or(j.Codec, arrowfile.Zstd), cmp.Or(j.TensorMetadata, TensorsPlain)
	if j.Form == features.Cells {
		j.Form = ""
	}
	if len(j.Rules) == 0 {
		j.Rules = []string{""}
	}
	// Files have [] for empty lists, never null.
	j.Policies, j.Members = append([]string{}, j.Policies...), append([][]string{}, j.Members...)
	if len(j.Shards) > 0 {
		j.Episodes = 0
	}
	for _, p := range j.Shards {
		j.Episodes += p.Episodes
	}
	j.ShardsSHA256 = shardsSHA256(j.Shards)
	return j
}

// Mixed reports whether rows have the column chosen.
func (j *Job) Mixed() bool { return len(j.Members) > 0 }

// AskedRows returns for how many rows of an episode a policy is asked.
func (j *Job) AskedRows(e *rollout.Episode) int {
	if j.Ask == "" {
		return 0
	}
	return e.Turns * e.Players
}

// Imported reports whether the episodes come from elsewhere.
func (j *Job) Imported() bool { return j.Source != "" || len(j.Shards) > 0 }

// shardsSHA256 returns the sum of a list of shards, which has a line for each shard
// with its episodes and the number of its rules; "" for an empty list.
func shardsSHA256(list []Part) string {
	if len(list) == 0 {
		return ""
	}
	sum := NewPartsSum()
	for _, p := range list {
		sum.Add(p.Episodes, p.Rules)
	}
	return sum.SHA256()
}

// PartsSum sums a list of shards one by one.
type PartsSum struct {
	store.Sum
	line []byte
}

// NewPartsSum returns the sum of no shards.
func NewPartsSum() *PartsSum { return &PartsSum{Sum: store.NewSum()} }

// Add adds the next shard.
func (p *PartsSum) Add(episodes uint64, rules int) {
	p.line = append(strconv.AppendUint(p.line[:0], episodes, 10), ' ')
	p.line = append(strconv.AppendInt(p.line, int64(rules), 10), '\n')
	_, _ = p.Write(p.line) // a sum: cannot fail
}

// Check fails if the Job is not valid. Policies and rules are checked by their
// makers.
func (j Job) Check() error {
	imported := j.Imported()
	switch {
	case j.Game == "":
		return fmt.Errorf("no game")
	case j.Episodes == 0:
		return fmt.Errorf("0 episodes: there must be at least 1")
	case j.Episodes > maxEpisodes:
		return fmt.Errorf("%d episodes: there may be %d", j.Episodes, uint64(maxEpisodes))
	case imported != (j.Source != "") || imported != (j.ShardsSHA256 != "") || imported && j.ShardEpisodes != 0:
		return fmt.Errorf("a dataset is either generated or imported from a source in given shards")
	case !imported && j.ShardEpisodes == 0:
		return fmt.Errorf("0 episodes per shard: there must be at least 1")
	case j.ShardCount() > MaxShards:
		return fmt.Errorf("%d shards: there may be %d; raise the episodes per shard", j.ShardCount(), MaxShards)
	case j.MaxTurns < 0:
		return fmt.Errorf("a limit of %d turns: it may not be negative", j.MaxTurns)
	case strings.ContainsFunc(j.License+j.Program, unicode.IsControl):
		return fmt.Errorf("program %q, license %q: a line of text is expected", j.Program, j.License)
	case j.Search && imported:
		return fmt.Errorf("imported episodes have no search results")
	case len(j.Models) > 0 && imported:
		return fmt.Errorf("imported episodes have no models")
	case len(j.Members) != 0 && len(j.Members) != len(j.Policies):
		return fmt.Errorf("members of %d policies, there are %d", len(j.Members), len(j.Policies))
	case !(j.Discount > 0 && j.Discount <= 1):
		return fmt.Errorf("a discount of %v: it must be above 0 and at most 1", j.Discount)
	case imported && j.Ask != "":
		return fmt.Errorf("in imported episodes no policy %q is asked", j.Ask)
	case imported && j.Opening != "":
		return fmt.Errorf("imported episodes have no opening %q", j.Opening)
	case !imported && len(j.Rules) != 1:
		return fmt.Errorf("%d rules for one game", len(j.Rules))
	}
	for i, p := range j.Shards {
		if p.Episodes == 0 || p.Rules < 0 || p.Rules >= len(j.Rules) {
			return fmt.Errorf("shard %d: %d episodes, rules number %d of %d", i, p.Episodes, p.Rules, len(j.Rules))
		}
	}
	if err := j.checkModels(); err != nil {
		return err
	}
	if _, err := OpeningTurns(j.Opening); err != nil {
		return err
	}
	if err := oneOf("observations", j.Obs, ObsPlanes, ObsPacked, ObsNone); err != nil {
		return err
	}
	if j.Memory && j.Obs != ObsPlanes {
		return fmt.Errorf("memory fills in planes, and the observations are %s", j.Obs)
	}
	if err := oneOf("codec", j.Codec, arrowfile.Zstd, arrowfile.LZ4, arrowfile.None); err != nil {
		return err
	}
	return oneOf("tensor metadata", j.TensorMetadata, TensorsPlain, TensorsExtension)
}

func oneOf[T ~string](what string, got T, all ...T) error {
	var names []string
	for _, t := range all {
		if got == t {
			return nil
		}
		names = append(names, string(t))
	}
	return fmt.Errorf("no %s %q; there are: %s", what, got, strings.Join(names, ", "))
}

// ShardCount returns the number of shards. It is 0 for an imported Job that was read from a
// file, which does not hold Shards.
func (j *Job) ShardCount() uint64 {
	if j.Imported() {
		return uint64(len(j.Shards))
	}
	return j.Episodes/j.ShardEpisodes + min(j.Episodes%j.ShardEpisodes, 1)
}

// Place returns the episodes of a shard of a generated dataset.
func (j *Job) Place(i int) Place {
	first := uint64(i) * j.ShardEpisodes
	return Place{i, first, min(j.ShardEpisodes, j.Episodes-first), 0}
}

// Places returns the function that gives the episodes of each shard.
func (j *Job) Places() func(i int) Place {
	if !j.Imported() {
		return j.Place
	}
	firsts, first := make([]uint64, len(j.Shards)), uint64(0)
	for i, p := range j.Shards {
		firsts[i] = first
		first += p.Episodes
	}
	return func(i int) Place { return Place{i, firsts[i], j.Shards[i].Episodes, j.Shards[i].Rules} }
}

// Config returns the configuration of vectors of n games.
func (j Job) Config(n int) env.Settings {
	return env.Settings{N: n, Reward: j.Reward, MaxTurns: j.MaxTurns, Memory: j.Memory, Form: FormOf(j.Form)}
}

// FormOf returns the name of a form of which "" is the default.
func FormOf(name string) string {
	return cmp.Or(name, features.Cells)
}

// Storable fails if the job's form is sequential. Episodes are stored as whole turns, and
// the rows of a sequential form are made when a dataset is read.
func (j *Job) Storable(s env.Spec) error {
	if !s.Sequential {
		return nil
	}
	return fmt.Errorf("a turn takes several rows in the form %s, which are made when a dataset of the form %s is read", s.Form, features.Cells)
}

// Complete makes a game of each text of rules, writes the canonical texts and the name
// of the reward into the Job, and returns the specs. The specs must agree in all sizes.
func (j *Job) Complete(m Makers) ([]env.Spec, error) {
	specs := make([]env.Spec, len(j.Rules))
	j.Rules = append([]string{}, j.Rules...)
	for i, text := range j.Rules {
		v, err := m.Vector(text, j.Config(1))
		if err != nil {
			return nil, err
		}
		s := v.Spec()
		specs[i], j.Rules[i] = s, s.Info.Config
		if s.Info.Name != j.Game {
			return nil, fmt.Errorf("the game is %q, expected %q", s.Info.Name, j.Game)
		}
		if a, b := sizesOf(s), sizesOf(specs[0]); a != b {
			found, want := jsontext.AtDifference(a, b)
			return nil, fmt.Errorf("rules number %d have other shapes than number 0: %s, %s", i, found, want)
		}
	}
	j.Reward = specs[0].Reward
	if !j.Imported() && len(j.Policies) != specs[0].Info.Players {
		return nil, fmt.Errorf("%d policies for the %d seats of %s", len(j.Policies), specs[0].Info.Players, j.Game)
	}
	return specs, nil
}

// openingPolicy is the name of the policy that plays openings.
const openingPolicy = "random"

// OpeningTurns returns the number of turns of an opening.
func OpeningTurns(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	who, turns, _ := strings.Cut(text, ":")
	n, err := strconv.Atoi(turns)
	if who != openingPolicy || err != nil || n < 1 || n > maxOpening || strconv.Itoa(n) != turns {
		return 0, fmt.Errorf("opening %q: expected %s:K, with K from 1 to %d turns", text, openingPolicy, maxOpening)
	}
	return n, nil
}

// OpeningOf returns the opening of the job's episodes; j has been checked.
func (j *Job) OpeningOf(m Makers) (o rollout.Opening, err error) {
	if o.Turns, err = OpeningTurns(j.Opening); err != nil || o.Turns == 0 {
		return o, err
	}
	o.Policy, err = m.Policy(openingPolicy, nil)
	return o, err
}

// sizesOf returns a text of all sizes on which the shapes of columns depend.
func sizesOf(s env.Spec) string {
	return fmt.Sprintf("%d players, observation %+v, heads %v", s.Info.Players, s.Shape, s.Heads)
}

// Command returns the canonical command that makes the dataset, "" if no command does.
// usual is the canonical text of the game's default rules.
func (j Job) Command(usual string) string {
	if j.Program == "" {
		return ""
	}
	w := []string{j.Program, "generate", j.Game}
	add := func(flag, value string) { w = append(w, "--"+flag, texts.Quote(value)) }
	if j.Imported() {
		w[1] = "import"
	} else {
		add("episodes", strconv.FormatUint(j.Episodes, 10))
		add("seed", strconv.FormatUint(j.Seed, 10))
		add("policy", strings.Join(j.Policies, ","))
		if j.Opening != "" {
			add("opening", j.Opening)
		}
		if j.Ask != "" {
			add("ask", j.Ask)
		}
		add("shard-episodes", strconv.FormatUint(j.ShardEpisodes, 10))
		if j.Rules[0] != usual {
			add("rules", "FILE") // its text is in the manifest
		}
	}
	add("reward", j.Reward)
	add("discount", strconv.FormatFloat(j.Discount, 'g', -1, 64))
	if !j.Imported() {
		add("max-turns", strconv.Itoa(j.MaxTurns))
	}
	if j.Form != "" {
		add("form", j.Form)
	}
	add("obs", string(j.Obs))
	if j.Memory {
		w = append(w, "--memory")
	}
	add("codec", string(j.Codec))
	add("tensor-metadata", string(j.TensorMetadata))
	if j.License != "" {
		add("license", j.License)
	}
	if j.Imported() {
		w = append(w, j.Source) // the files, and their sum
	}
	return strings.Join(w, " ")
}

// Differ returns the first key in which two Jobs differ, with both values; "" if they
// are equal.
func (j Job) Differ(other Job) string {
	a, b := reflect.ValueOf(j), reflect.ValueOf(other)
	for i := range a.NumField() {
		key, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("json"), ",")
		x, _ := json.Marshal(a.Field(i).Interface()) // numbers and strings: cannot fail
		y, _ := json.Marshal(b.Field(i).Interface())
		if key != "-" && !bytes.Equal(x, y) {
			has, this := jsontext.AtDifference(string(x), string(y))
			return fmt.Sprintf("%s: it has %s, this run %s", key, has, this)
		}
	}
	return ""
}
