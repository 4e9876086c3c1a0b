package about

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/distinct"
	"moonfarm/datasets/internal/filter"
	"moonfarm/datasets/internal/jsontext"
	"moonfarm/datasets/internal/store"
	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// Manifest describes a dataset and how it was made. FORMAT.md documents the keys of its
// JSON. It is a function of the Job and the version of moonfarm.
type Manifest struct {
	Format      int         `json:"format"`
	Encoding    int         `json:"encoding"` // how files are compressed
	Moonfarm    string      `json:"moonfarm"`
	Command     string      `json:"command"`
	Job         Job         `json:"job"`
	Game        GameInfo    `json:"game"`
	Rules       []Rules     `json:"rules"`
	Observation Observation `json:"observation"`
	Action      Action      `json:"action"`
	Reward      Reward      `json:"reward"`
	Steps       TableInfo   `json:"steps"`
	Episodes    TableInfo   `json:"episodes"`
	Finals      TableInfo   `json:"finals,omitzero"` // observations after the last turn; no columns without observations
	Totals      Totals      `json:"totals"`
	Index       []IndexPart `json:"index"`               // files that list the shards
	Statistics  Attachment  `json:"statistics,omitzero"` // none without observations
	Card        Attachment  `json:"card,omitzero"`       // README.md
	Checksum    string      `json:"checksum"`            // sha256 of the file with "" here

	pairs pairings // of Totals, while they are counted
	games distinct.Set
}

// GameInfo describes the game.
type GameInfo struct {
	Name      string `json:"name"`
	Players   int    `json:"players"`
	MaxTurns  int    `json:"max_turns"`  // no episode is longer
	MaxOrders int    `json:"max_orders"` // most orders of one seat in one turn
}

// Rules is one set of rules.
type Rules struct {
	Version string `json:"version"`
	SHA256  string `json:"sha256"` // of their canonical text in job.rules, by which the game can be played again
}

// Observation documents the observations of step rows.
type Observation struct {
	Form         Obs              `json:"form"`
	Planes       int              `json:"planes"`
	Height       int              `json:"height"`
	Width        int              `json:"width"`
	Scalars      int              `json:"scalars"`
	Words        int              `json:"words"` // uint64 words of the packed form
	PlaneFields  []features.Field `json:"plane_fields"`
	ScalarFields []features.Field `json:"scalar_fields"`
	Packed       string           `json:"packed"` // how the words relate to the planes
	// PackedLayout describes the words for programs: features.NewUnpacker reads it.
	PackedLayout *features.Layout `json:"packed_layout,omitempty"`
	// Remembered names the planes that show, out of sight, what was last seen there;
	// empty without Job.Memory.
	Remembered []string `json:"remembered,omitempty"`
	// Tensors divide the planes of a form that has no planes of cells.
	Tensors []features.Tensor `json:"tensors,omitempty"`
}

// Action documents the actions.
type Action struct {
	Heads     []int  `json:"heads"`    // choices of each head
	Unmasked  int    `json:"unmasked"` // 0; up to version 0.3.0 the number of heads at the end that have no mask
	MaskWords int    `json:"mask_words"`
	Doc       string `json:"doc"`
}

// Reward documents the rewards.
type Reward struct {
	Name  string  `json:"name"`
	Doc   string  `json:"doc"`
	Gamma float64 `json:"gamma"` // discount of the return column
}

// TableInfo documents one kind of file.
type TableInfo struct {
	BatchRows int                `json:"batch_rows"` // most rows in one record batch
	Columns   []arrowfile.Column `json:"columns"`
}

// Totals sum up a dataset.
type Totals struct {
	Shards   uint64    `json:"shards"`
	Episodes uint64    `json:"episodes"`
	Turns    uint64    `json:"turns"`
	Rows     uint64    `json:"rows"`               // of steps
	Bytes    uint64    `json:"bytes"`              // of all files of steps, episodes and finals
	Over     uint64    `json:"over"`               // episodes that the rules ended
	Cut      uint64    `json:"cut"`                // episodes that a limit cut
	Distinct uint64    `json:"distinct,omitempty"` // number of different games, an estimate above 2²¹
	Pairings []Pairing `json:"pairings"`
	// Networks counts, for each seat, the evaluations of networks while the episodes
	// were played; empty if no policy has a network. The files do not hold these
	// counts: verify compares them if it makes all shards again.
	Networks []rollout.NetworkCounts `json:"networks,omitempty"`
}

// Pairing counts the episodes in which the same players sat at the same seats.
type Pairing struct {
	Policies []string `json:"policies"`
	Episodes uint64   `json:"episodes"`
	// Results counts the final results of each seat, such as {"-1":3,"1":7}.
	Results []map[string]uint64 `json:"results"`
}

// Attachment is a text beside the manifest.
type Attachment struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Bytes  uint64 `json:"bytes"`
}

// tables returns the descriptions of the tables.
func (m *Manifest) tables() [AllTables]*TableInfo {
	return [...]*TableInfo{&m.Steps, &m.Episodes, &m.Finals}
}

// NewManifest returns the manifest of a Job without its index and totals.
func NewManifest(l *Layout, command string) *Manifest {
	s := l.Specs[0]
	turns, orders := l.most()
	m := &Manifest{
		Format: Format, Encoding: Encoding, Moonfarm: Version, Command: command, Job: l.Job,
		Game: GameInfo{s.Info.Name, s.Info.Players, turns, orders},
		Observation: Observation{
			Form: l.Job.Obs, Planes: s.Shape.Planes, Height: s.Shape.Height, Width: s.Shape.Width,
			Scalars: s.Shape.Scalars, Words: s.Shape.Words,
			PlaneFields: append([]features.Field{}, s.Description.Planes...), ScalarFields: append([]features.Field{}, s.Description.Scalars...), Packed: s.Description.Packed, PackedLayout: s.Description.PackedLayout, Remembered: s.Remembered,
			Tensors: s.Description.Tensors,
		},
		Action: Action{append([]int{}, s.Heads...), 0, s.MaskWords, s.Actions},
		Reward: Reward{Name: s.Reward, Gamma: l.Job.Discount},
	}
	for i, t := range l.described() {
		*m.tables()[i] = t
	}
	for _, r := range s.Rewards {
		if r.Name == s.Reward {
			m.Reward.Doc = r.Doc
		}
	}
	for i, text := range l.Job.Rules {
		m.Rules = append(m.Rules, Rules{l.Specs[i].Info.Rules, store.SHA256([]byte(text))})
	}
	return m
}

// Add adds a finished shard to the totals.
func (m *Manifest) Add(c Sidecar) error {
	t := &m.Totals
	t.Shards++
	t.Episodes += c.Episodes.Rows
	t.Rows += c.Steps.Rows
	t.Bytes += c.Bytes()
	t.Turns, t.Over, t.Cut = t.Turns+c.Turns, t.Over+c.Over, t.Cut+c.Cut
	for _, p := range c.Pairings {
		m.pairs.add(p)
	}
	t.Pairings = m.pairs.List
	t.Networks = AddNetworks(t.Networks, c.Networks)
	return m.games.Merge(c.Games)
}

// Close completes the totals after the last shard was added.
func (m *Manifest) Close() { m.Totals.Distinct = min(m.games.Count(), m.Totals.Episodes) }

// Encode returns the canonical text: indented JSON and the checksum.
func (m *Manifest) Encode() ([]byte, error) {
	c := *m
	c.Checksum = ""
	return jsontext.EncodeSummed(c)
}

// ReadManifest reads and checks the manifest of a dataset. It finds every changed byte.
func ReadManifest(ctx context.Context, files store.Store) (m *Manifest, err error) {
	return m, store.Read(ctx, files, ManifestName, maxManifest, func(text []byte) (err error) {
		m, err = DecodeManifest(text)
		return err
	})
}

// DecodeManifest reads the text of a manifest, and fails if a byte of it has changed.
func DecodeManifest(text []byte) (*Manifest, error) {
	var v struct {
		Format   int    `json:"format"`
		Encoding int    `json:"encoding"`
		Command  string `json:"command"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, fmt.Errorf("damaged: %w", err)
	}
	if err := jsontext.CheckValues(text); err != nil {
		return nil, err
	}
	if v.Encoding = max(v.Encoding, 1); v.Format != Format || v.Encoding != Encoding {
		return nil, fmt.Errorf("format %d, encoding %d; expected format %d, encoding %d: its command in the manifest, %q, makes the episodes again",
			v.Format, v.Encoding, Format, Encoding, v.Command)
	}
	m := new(Manifest)
	if err := jsontext.Decode(text, m, m.Encode); err != nil {
		return nil, err
	}
	return m, m.Check()
}

// Unpacker returns the function that writes the planes of a packed observation.
// It fails if the game has no packed form.
func (m *Manifest) Unpacker() (*features.Unpacker, error) {
	if m.Observation.PackedLayout == nil {
		return nil, fmt.Errorf("the manifest has no observation.packed_layout")
	}
	return features.NewUnpacker(m.Spec().Shape, m.Observation.PackedLayout)
}

// Spec returns the env.Spec as far as the manifest holds it.
func (m *Manifest) Spec() env.Spec {
	o := m.Observation
	s := env.Spec{
		Info: sim.Info{Name: m.Game.Name, Players: m.Game.Players, MaxOrders: m.Game.MaxOrders},
		FormSpec: env.FormSpec{
			Shape: features.Shape{
				Planes: o.Planes, Height: o.Height, Width: o.Width, Scalars: o.Scalars, Words: o.Words,
			},
			Heads: m.Action.Heads, MaskWords: m.Action.MaskWords,
		},
		Reward: m.Reward.Name, MaxTurns: m.Game.MaxTurns,
	}
	if len(m.Rules) > 0 {
		s.Info.Rules = m.Rules[0].Version
	}
	return s
}

// Check fails if the parts of a manifest do not agree. All readers of files rely on
// them.
func (m *Manifest) Check() error {
	if err := m.Job.Check(); err != nil {
		return err
	}
	players := m.Game.Players
	t := m.Totals
	if players < 1 || players > sim.MaxPlayers || len(m.Rules) != len(m.Job.Rules) || t.Shards > MaxShards ||
		!m.Job.Imported() && t.Shards != m.Job.ShardCount() || t.Episodes != m.Job.Episodes {
		return fmt.Errorf("%d seats, %d rules, %d shards, %d episodes do not fit the job", players, len(m.Rules), t.Shards, t.Episodes)
	}
	if j := &m.Job; j.Imported() && len(j.Members) != 0 || !j.Imported() && len(j.Policies) != players { // Job.check has compared members with policies
		return fmt.Errorf("%d policies, members of %d do not fit %d seats", len(j.Policies), len(j.Members), players)
	}
	for i, r := range m.Rules {
		if r.SHA256 != store.SHA256([]byte(m.Job.Rules[i])) {
			return fmt.Errorf("rules number %d are not those of the job", i)
		}
	}
	spec := m.Spec()
	if err := FileSchema(m.Job, "", StepsDir, StepColumns(spec, m.Job.Obs, m.Job.Extras()), players).Check(); err != nil {
		return err
	}
	l := NewLayout(m.Job, []env.Spec{spec})
	if err := l.CheckSizes(); err != nil {
		return err
	}
	for i, want := range l.described() {
		if !reflect.DeepEqual(*m.tables()[i], want) {
			return fmt.Errorf("the columns of the %s differ from those of format %d", TableNames(true)[i], Format)
		}
	}
	if m.Reward.Gamma != m.Job.Discount {
		return fmt.Errorf("the discount of the returns is %v, that of the job %v", m.Reward.Gamma, m.Job.Discount)
	}
	if t.Turns*uint64(players) != t.Rows || t.Over+t.Cut != t.Episodes || t.Distinct > t.Episodes || t.Distinct == 0 {
		return fmt.Errorf("totals do not agree with each other")
	}
	statistics := ""
	if m.HasFinals() {
		statistics = StatisticsName
	}
	if m.Statistics.Path != statistics || m.Card.Path != CardName {
		return fmt.Errorf("statistics in %q and a card in %q, expected %q and %q", m.Statistics.Path, m.Card.Path, statistics, CardName)
	}
	return m.checkIndex()
}

// checkIndex checks the list of the parts of the index.
func (m *Manifest) checkIndex() error {
	var sum Totals
	for k, p := range m.Index {
		want := min(m.Totals.Shards-sum.Shards, IndexShards)
		if p.Path != PathOf(IndexDir, k) || p.Shards != want || p.Shards == 0 || p.Bytes > MaxIndexPart || len(p.SHA256) != 64 ||
			p.Episodes > m.Totals.Episodes || p.Rows > m.Totals.Rows {
			return fmt.Errorf("part %d of the index is %s of %d shards, %d episodes and %d bytes, expected %s of %d shards",
				k, p.Path, p.Shards, p.Episodes, p.Bytes, PathOf(IndexDir, k), want)
		}
		sum.Shards += p.Shards
		sum.Episodes += p.Episodes
		sum.Rows += p.Rows
	}
	if t := m.Totals; sum.Shards != t.Shards || sum.Episodes != t.Episodes || sum.Rows != t.Rows {
		return fmt.Errorf("totals are not the sums of the index")
	}
	return nil
}

// SameActions fails if the actions of the dataset are not those of its form in this
// moonfarm. Orders hold; rows can be made anew from them.
func (m *Manifest) SameActions(s env.Spec) error {
	has := m.Action.Heads
	if slices.Equal(has, s.Heads) {
		return nil
	}
	var forms []string
	for _, f := range s.Forms {
		forms = append(forms, f.Form)
	}
	return fmt.Errorf("its actions have %d heads of up to %d choices, expected %d of up to %d as in the form %s of this moonfarm; choose a form when reading, and its orders make new rows: %s",
		len(has), slices.Max(has), len(s.Heads), slices.Max(s.Heads), s.Form, strings.Join(forms, ", "))
}

// HasFinals reports whether there is a table of finals.
func (m *Manifest) HasFinals() bool { return len(m.Finals.Columns) > 0 }

// CheckShard checks a shard's entry in the index without reading its files.
func (m *Manifest) CheckShard(s *Shard) error {
	if m.Job.Imported() {
		if s.Episodes.Rows == 0 || s.Rules < 0 || s.Rules >= len(m.Rules) {
			return fmt.Errorf("shard %d has %d episodes of rules number %d of %d", s.Number, s.Episodes.Rows, s.Rules, len(m.Rules))
		}
	} else if p := m.Job.Place(s.Number); p != s.Place() {
		return fmt.Errorf("shard %d has %d episodes, expected %d of rules number %d", s.Number, s.Episodes.Rows, p.N, p.Rules)
	}
	players := uint64(m.Game.Players)
	if rows := s.Finals.Rows; m.HasFinals() && (rows%players != 0 || rows/players != s.Episodes.Rows) || !m.HasFinals() && rows != 0 {
		return fmt.Errorf("shard %d has %d rows of finals for %d episodes of %d seats", s.Number, rows, s.Episodes.Rows, players)
	}
	most := uint64(m.Game.MaxTurns) * players // rows of an episode
	if s.Steps.Rows > math.MaxUint64-most || (s.Steps.Rows+most-1)/most > s.Episodes.Rows {
		return fmt.Errorf("shard %d has %d step rows for %d episodes of at most %d turns", s.Number, s.Steps.Rows, s.Episodes.Rows, m.Game.MaxTurns)
	}
	return nil
}

// resultKey returns the key of a result in Pairing.Results.
func resultKey(r float32) string { return strconv.FormatFloat(float64(r), 'g', -1, 32) }

// Players returns the seats and policies, for a Filter.
func (m *Manifest) Players() *filter.Players {
	p := &filter.Players{Seats: m.Game.Players, Members: m.Job.Members}
	p.Opening, _ = OpeningTurns(m.Job.Opening) // of a job that was checked
	names := slices.Concat(m.Job.Policies, slices.Concat(m.Job.Members...))
	for _, pairing := range m.Totals.Pairings {
		if len(pairing.Policies) == 0 {
			return p // not all names are listed
		}
		names = append(names, pairing.Policies...)
	}
	slices.Sort(names)
	p.Names = append([]string{}, slices.Compact(names)...)
	return p
}
