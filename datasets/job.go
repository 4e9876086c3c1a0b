package datasets

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/env"
	"moonfarm/rollout"
)

// Codec is how files are compressed.
type Codec = arrowfile.Codec

// The codecs.
const (
	Zstd = arrowfile.Zstd // the default
	LZ4  = arrowfile.LZ4
	None = arrowfile.None
)

// Obs is the form of the observations in step rows.
type Obs string

// The forms of observations.
const (
	ObsPlanes Obs = "planes" // uint8 planes [P,H,W] and float32 scalars [S]; the default
	ObsPacked Obs = "packed" // the planes as uint64 bits [Words] and the scalars
	ObsNone   Obs = "none"   // no observation, mask or action: orders only
)

// Tensors is how the shapes of tensor columns are told.
type Tensors string

// The ways to tell shapes.
const (
	TensorsExtension Tensors = "extension" // arrow.fixed_shape_tensor and moonfarm's keys; the default
	TensorsPlain     Tensors = "plain"     // moonfarm's keys only, for readers that refuse extensions they do not know
)

// Job is all that determines the bytes of a dataset, besides the versions of
// moonfarm and its format. Two runs of equal Jobs make equal folders.
type Job struct {
	Game          string   `json:"game"`
	Rules         []string `json:"rules"`       // canonical texts; a generated dataset has one, "" before Generate fills in the default
	Policies      []string `json:"policies"`    // one per seat; none if episodes were imported
	Source        string   `json:"source"`      // where imported episodes come from; "" if generated
	Seed          uint64   `json:"seed,string"` // of a generated dataset
	Episodes      uint64   `json:"episodes"`
	ShardEpisodes uint64   `json:"shard_episodes"` // episodes per shard; the last may have fewer
	Shards        []Part   `json:"shards"`         // the shards of imported episodes instead
	Reward        string   `json:"reward"`
	MaxTurns      int      `json:"max_turns"` // 0: as many as the rules allow
	Obs           Obs      `json:"obs"`
	Codec         Codec    `json:"codec"`
	Tensors       Tensors  `json:"tensor_metadata"`
}

// Part is one shard of imported episodes.
type Part struct {
	Episodes uint64 `json:"episodes"`
	Rules    int    `json:"rules"` // index into Job.Rules: all its episodes have these
}

// DefaultShardEpisodes is the size of shards if the Job does not say.
const DefaultShardEpisodes = 500

// Makers make what a Job names. They are called by several goroutines at once.
type Makers struct {
	// Vector makes games of the Job's game with the rules of that canonical
	// text, "" for its default rules.
	Vector func(rules string, c env.Config) (env.Vector, error)
	// Policy returns the maker of a policy of that name; nil if there are
	// none, as for imported episodes.
	Policy func(name string) (rollout.Maker, error)
}

// withDefaults fills in what is empty.
func (j Job) withDefaults() Job {
	if j.ShardEpisodes == 0 && len(j.Shards) == 0 {
		j.ShardEpisodes = DefaultShardEpisodes
	}
	if j.Obs == "" {
		j.Obs = ObsPlanes
	}
	if j.Codec == "" {
		j.Codec = Zstd
	}
	if j.Tensors == "" {
		j.Tensors = TensorsExtension
	}
	if len(j.Rules) == 0 {
		j.Rules = []string{""}
	}
	// Empty lists are null in no file.
	j.Policies, j.Shards = append([]string{}, j.Policies...), append([]Part{}, j.Shards...)
	if len(j.Shards) > 0 {
		j.Episodes = 0
	}
	for _, p := range j.Shards {
		j.Episodes += p.Episodes
	}
	return j
}

// Most there may be of things, so that numbers and names of files stay sane.
const (
	maxEpisodes = 1 << 40
	maxShards   = 1 << 20
)

// check tells what is wrong with the Job. Policies and rules are seen to by
// their makers.
func (j Job) check() error {
	imported := len(j.Shards) > 0
	switch {
	case j.Game == "":
		return fmt.Errorf("no game")
	case j.Episodes == 0:
		return fmt.Errorf("0 episodes: there must be at least 1")
	case j.Episodes > maxEpisodes:
		return fmt.Errorf("%d episodes: there may be %d", j.Episodes, uint64(maxEpisodes))
	case imported != (j.Source != "") || imported && j.ShardEpisodes != 0:
		return fmt.Errorf("a dataset is either generated or imported from a source in given shards")
	case !imported && j.ShardEpisodes == 0:
		return fmt.Errorf("0 episodes per shard: there must be at least 1")
	case j.shards() > maxShards:
		return fmt.Errorf("%d shards: there may be %d; raise the episodes per shard", j.shards(), maxShards)
	case j.MaxTurns < 0:
		return fmt.Errorf("a limit of %d turns: it may not be negative", j.MaxTurns)
	case !imported && len(j.Rules) != 1:
		return fmt.Errorf("%d rules for one game", len(j.Rules))
	}
	for i, p := range j.Shards {
		if p.Episodes == 0 || p.Rules < 0 || p.Rules >= len(j.Rules) {
			return fmt.Errorf("shard %d: %d episodes, rules number %d of %d", i, p.Episodes, p.Rules, len(j.Rules))
		}
	}
	if err := oneOf("observations", j.Obs, ObsPlanes, ObsPacked, ObsNone); err != nil {
		return err
	}
	if err := oneOf("codec", j.Codec, Zstd, LZ4, None); err != nil {
		return err
	}
	return oneOf("tensor metadata", j.Tensors, TensorsExtension, TensorsPlain)
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

// shards is the number of shards.
func (j Job) shards() uint64 {
	if len(j.Shards) > 0 {
		return uint64(len(j.Shards))
	}
	n := j.Episodes / j.ShardEpisodes
	if j.Episodes%j.ShardEpisodes != 0 {
		n++
	}
	return n
}

// shard tells the first episode of a shard, how many it has and their rules.
func (j Job) shard(i int) (first, n uint64, rules int) {
	if len(j.Shards) == 0 {
		first = uint64(i) * j.ShardEpisodes
		return first, min(j.ShardEpisodes, j.Episodes-first), 0
	}
	for _, p := range j.Shards[:i] {
		first += p.Episodes
	}
	return first, j.Shards[i].Episodes, j.Shards[i].Rules
}

// config is how vectors of n games are made.
func (j Job) config(n int) env.Config {
	return env.Config{N: n, Reward: j.Reward, MaxTurns: j.MaxTurns}
}

// complete makes a game of every rules text, writes their canonical texts and
// the name of the reward into the Job, and returns the spec of each. The specs
// must agree in all sizes.
func (j *Job) complete(m Makers) ([]env.Spec, error) {
	specs := make([]env.Spec, len(j.Rules))
	j.Rules = append([]string{}, j.Rules...)
	for i, text := range j.Rules {
		v, err := m.Vector(text, j.config(1))
		if err != nil {
			return nil, err
		}
		s := v.Spec()
		specs[i], j.Rules[i] = s, s.Info.Config
		if s.Info.Name != j.Game {
			return nil, fmt.Errorf("the game is %q, expected %q", s.Info.Name, j.Game)
		}
		if a, b := sizesOf(s), sizesOf(specs[0]); a != b {
			return nil, fmt.Errorf("rules number %d have other shapes than number 0: %s, %s", i, a, b)
		}
	}
	j.Reward = specs[0].Reward
	if len(j.Shards) == 0 && len(j.Policies) != specs[0].Info.Players {
		return nil, fmt.Errorf("%d policies for the %d seats of %s", len(j.Policies), specs[0].Info.Players, j.Game)
	}
	return specs, nil
}

// sizesOf is the text of all that shapes of columns depend on.
func sizesOf(s env.Spec) string {
	return fmt.Sprintf("%d players, observation %+v, heads %v", s.Info.Players, s.Shape, s.Heads)
}

// Command is the canonical command that makes the dataset of a generated Job.
// usual are the canonical rules that the game has by default.
func (j Job) command(usual string) string {
	if len(j.Shards) > 0 {
		return fmt.Sprintf("moonfarm import %s %s", j.Game, j.Source)
	}
	w := []string{"moonfarm", "generate", j.Game}
	add := func(flag, value string) { w = append(w, "--"+flag, quote(value)) }
	add("episodes", strconv.FormatUint(j.Episodes, 10))
	add("seed", strconv.FormatUint(j.Seed, 10))
	add("policy", strings.Join(j.Policies, ","))
	add("shard-episodes", strconv.FormatUint(j.ShardEpisodes, 10))
	if j.Rules[0] != usual {
		add("rules", "FILE") // its text is in the manifest
	}
	add("reward", j.Reward)
	add("max-turns", strconv.Itoa(j.MaxTurns))
	add("obs", string(j.Obs))
	add("codec", string(j.Codec))
	add("tensor-metadata", string(j.Tensors))
	return strings.Join(w, " ")
}

// quote quotes a word for a shell if need be.
func quote(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n'\"\\$`*?()[]{}<>|&;#~!") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// differ tells the first field in which two Jobs differ, "" if they are equal.
func (j Job) differ(other Job) string {
	var a, b map[string]json.RawMessage
	for _, p := range []struct {
		job Job
		to  *map[string]json.RawMessage
	}{{j, &a}, {other, &b}} {
		text, _ := json.Marshal(p.job) // numbers and strings: cannot fail
		_ = json.Unmarshal(text, p.to)
	}
	for _, key := range []string{"game", "rules", "policies", "source", "seed", "episodes", "shard_episodes", "shards",
		"reward", "max_turns", "obs", "codec", "tensor_metadata"} {
		if string(a[key]) != string(b[key]) {
			from := apart(a[key], b[key])
			return fmt.Sprintf("%s: it has %s, this run %s", key, short(a[key], from), short(b[key], from))
		}
	}
	return ""
}

// apart is a place a little before two texts differ: 0, or the start of a
// character.
func apart(a, b []byte) int {
	const before = 40
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	for i = max(i-before, 0); i > 0 && !utf8.RuneStart(a[i]); i-- {
	}
	return i
}

// short cuts long texts to what follows a place.
func short(b []byte, from int) string {
	const most = 80
	if len(b) <= most {
		return string(b)
	}
	text := strings.ToValidUTF8(string(b[from:min(len(b), from+most)]), "")
	if from > 0 {
		text = "…" + text
	}
	if len(b) > from+most {
		text += "…"
	}
	return text
}
