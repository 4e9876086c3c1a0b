package datasets

import (
	"fmt"

	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/features"
)

// The types of this file have the keys of a manifest of format 1. They must stay
// as they are, whatever later formats add: a manifest that is read is encoded
// again, and must have the same text.

type manifest1 struct {
	Format      int          `json:"format"`
	Moonfarm    string       `json:"moonfarm"`
	Command     string       `json:"command"`
	Job         job1         `json:"job"`
	Game        game1        `json:"game"`
	Rules       []rules1     `json:"rules"`
	Observation observation1 `json:"observation"`
	Action      action1      `json:"action"`
	Reward      reward1      `json:"reward"`
	Steps       table1       `json:"steps"`
	Episodes    table1       `json:"episodes"`
	Totals      totals1      `json:"totals"`
	Shards      []shard1     `json:"shards"`
	Checksum    string       `json:"checksum"`
}

type job1 struct {
	Game          string   `json:"game"`
	Rules         []string `json:"rules"`
	Policies      []string `json:"policies"`
	Source        string   `json:"source"`
	Seed          uint64   `json:"seed,string"`
	Episodes      uint64   `json:"episodes"`
	ShardEpisodes uint64   `json:"shard_episodes"`
	Shards        []part1  `json:"shards"`
	Reward        string   `json:"reward"`
	MaxTurns      int      `json:"max_turns"`
	Obs           Obs      `json:"obs"`
	Codec         Codec    `json:"codec"`
	Tensors       Tensors  `json:"tensor_metadata"`
}

type part1 struct {
	Episodes uint64 `json:"episodes"`
	Rules    int    `json:"rules"`
}

type game1 struct {
	Name      string `json:"name"`
	Players   int    `json:"players"`
	MaxTurns  int    `json:"max_turns"`
	MaxOrders int    `json:"max_orders"`
}

type rules1 struct {
	Version string `json:"version"`
	SHA256  string `json:"sha256"`
}

type observation1 struct {
	Form    Obs      `json:"form"`
	Planes  int      `json:"planes"`
	Height  int      `json:"height"`
	Width   int      `json:"width"`
	Scalars int      `json:"scalars"`
	Words   int      `json:"words"`
	Fields  []field1 `json:"plane_fields"`
	Numbers []field1 `json:"scalar_fields"`
	Packed  string   `json:"packed"`
}

type field1 struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Scale float32 `json:"scale"`
	Doc   string  `json:"doc"`
}

type action1 struct {
	Heads     []int  `json:"heads"`
	MaskWords int    `json:"mask_words"`
	Doc       string `json:"doc"`
}

type reward1 struct {
	Name  string  `json:"name"`
	Doc   string  `json:"doc"`
	Gamma float64 `json:"gamma"`
}

type table1 struct {
	BatchRows int       `json:"batch_rows"`
	Columns   []column1 `json:"columns"`
}

type column1 struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	List   bool     `json:"list,omitempty"`
	Shape  []int    `json:"shape,omitempty"`
	Dims   []string `json:"dims,omitempty"`
	Tensor bool     `json:"tensor,omitempty"`
	Doc    string   `json:"doc"`
}

type totals1 struct {
	Episodes uint64     `json:"episodes"`
	Turns    uint64     `json:"turns"`
	Rows     uint64     `json:"rows"`
	Bytes    uint64     `json:"bytes"`
	Over     uint64     `json:"over"`
	Cut      uint64     `json:"cut"`
	Pairings []pairing1 `json:"pairings"`
}

type pairing1 struct {
	Policies []string            `json:"policies"`
	Episodes uint64              `json:"episodes"`
	Results  []map[string]uint64 `json:"results"`
}

type shard1 struct {
	Steps    file1 `json:"steps"`
	Episodes file1 `json:"episodes"`
}

type file1 struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Rows   uint64 `json:"rows"`
	Bytes  uint64 `json:"bytes"`
}

// decodeManifest1 reads and checks a manifest of format 1.
func decodeManifest1(text []byte) (*Manifest, error) {
	var old manifest1
	if err := decodeExact(text, &old); err != nil {
		return nil, err
	}
	m, err := old.manifest()
	if err != nil {
		return nil, err
	}
	return m, m.check()
}

// checkListed checks the shards that a manifest of format 1 lists.
func (m *Manifest) checkListed() error {
	var rows, bytes, first uint64
	for i, s := range m.listed {
		if !s.named(i) {
			return fmt.Errorf("shard %d is in %s and %s", i, s.Steps.Path, s.Episodes.Path)
		}
		if err := m.checkShard(&s); err != nil {
			return err
		}
		first += s.Episodes.Rows
		rows += s.Steps.Rows
		bytes += s.bytes()
	}
	if t := m.Totals; first != t.Episodes || rows != t.Rows || bytes != t.Bytes {
		return fmt.Errorf("totals are not the sums of the shards")
	}
	return nil
}

// encode returns the canonical text: indented JSON and the checksum.
func (o *manifest1) encode() ([]byte, error) {
	c := *o
	c.Checksum = ""
	return withChecksum(c)
}

// manifest converts to the Manifest of today. Keys that format 1 does not have get
// the values that were fixed then.
func (o *manifest1) manifest() (*Manifest, error) {
	if len(o.Job.Shards) > 0 && len(o.Job.Shards) != len(o.Shards) {
		return nil, fmt.Errorf("%d shards do not fit the job, which has %d", len(o.Shards), len(o.Job.Shards))
	}
	m := &Manifest{
		Format: o.Format, Moonfarm: o.Moonfarm, Command: o.Command, Job: o.Job.job(),
		Game: Game(o.Game),
		Observation: Observation{
			Form: o.Observation.Form, Planes: o.Observation.Planes, Height: o.Observation.Height, Width: o.Observation.Width,
			Scalars: o.Observation.Scalars, Words: o.Observation.Words,
			PlaneFields: fields1(o.Observation.Fields), ScalarFields: fields1(o.Observation.Numbers), Packed: o.Observation.Packed,
		},
		Action:   Action{Heads: o.Action.Heads, MaskWords: o.Action.MaskWords, Doc: o.Action.Doc},
		Reward:   Reward(o.Reward),
		Steps:    o.Steps.table(),
		Episodes: o.Episodes.table(),
		Totals: Totals{
			Episodes: o.Totals.Episodes, Turns: o.Totals.Turns, Rows: o.Totals.Rows, Bytes: o.Totals.Bytes,
			Over: o.Totals.Over, Cut: o.Totals.Cut,
		},
		Checksum: o.Checksum,
	}
	for _, r := range o.Rules {
		m.Rules = append(m.Rules, Rules(r))
	}
	for _, p := range o.Totals.Pairings {
		m.Totals.Pairings = append(m.Totals.Pairings, Pairing(p))
	}
	first := uint64(0)
	for i, s := range o.Shards {
		shard := Shard{Number: i, First: first, Files: Files{Steps: File(s.Steps), Episodes: File(s.Episodes)}}
		n := shard.Episodes.Rows
		if len(o.Job.Shards) > 0 {
			shard.Rules, n = o.Job.Shards[i].Rules, o.Job.Shards[i].Episodes
		}
		if shard.Episodes.Rows != n {
			return nil, fmt.Errorf("shard %d has %d episodes, expected %d", i, shard.Episodes.Rows, n)
		}
		m.listed = append(m.listed, shard)
		first += n
	}
	m.Totals.Shards = uint64(len(m.listed))
	return m, nil
}

func (o *job1) job() Job {
	j := Job{
		Program: ProgramMoonfarm, // format 1 does not say
		Game:    o.Game, Rules: o.Rules, Policies: o.Policies, Members: [][]string{}, Source: o.Source, Seed: o.Seed, Episodes: o.Episodes,
		ShardEpisodes: o.ShardEpisodes, Reward: o.Reward, Discount: 1, MaxTurns: o.MaxTurns,
		Obs: o.Obs, Codec: o.Codec, TensorMetadata: o.Tensors,
	}
	var parts []Part
	for _, p := range o.Shards {
		parts = append(parts, Part(p))
	}
	j.ShardsSHA256 = shardsSHA256(parts)
	return j
}

func (o *table1) table() Table {
	t := Table{BatchRows: o.BatchRows}
	for _, c := range o.Columns {
		t.Columns = append(t.Columns, Column{Name: c.Name, Type: arrowfile.Type(c.Type), List: c.List, Shape: c.Shape, Dims: c.Dims, Tensor: c.Tensor, Doc: c.Doc})
	}
	return t
}

func fields1(list []field1) []features.Field {
	fields := []features.Field{}
	for _, f := range list {
		fields = append(fields, features.Field(f))
	}
	return fields
}
