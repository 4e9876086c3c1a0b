package datasets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"

	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/sim"
)

// Manifest says what a dataset is and how it was made. FORMAT.md documents the
// keys of its JSON. It is a function of the Job and the version of moonfarm.
type Manifest struct {
	Format      int         `json:"format"`
	Moonfarm    string      `json:"moonfarm"`
	Command     string      `json:"command"`
	Job         Job         `json:"job"`
	Game        Game        `json:"game"`
	Rules       []Rules     `json:"rules"`
	Observation Observation `json:"observation"`
	Action      Action      `json:"action"`
	Reward      Reward      `json:"reward"`
	Steps       Table       `json:"steps"`
	Episodes    Table       `json:"episodes"`
	Totals      Totals      `json:"totals"`
	Shards      []Shard     `json:"shards"`
	Checksum    string      `json:"checksum"` // sha256 of the file with this text empty
}

// Game describes the game.
type Game struct {
	Name      string `json:"name"`
	Players   int    `json:"players"`
	MaxTurns  int    `json:"max_turns"`  // no episode is longer
	MaxOrders int    `json:"max_orders"` // most orders of one seat in one turn
}

// Rules are one set of rules.
type Rules struct {
	Version string `json:"version"`
	SHA256  string `json:"sha256"` // of their canonical text in job.rules, with which the game can be played again
}

// Observation documents the observations of step rows.
type Observation struct {
	Form    Obs              `json:"form"`
	Planes  int              `json:"planes"`
	Height  int              `json:"height"`
	Width   int              `json:"width"`
	Scalars int              `json:"scalars"`
	Words   int              `json:"words"` // uint64 words of the packed form
	Fields  []features.Field `json:"plane_fields"`
	Numbers []features.Field `json:"scalar_fields"`
	Packed  string           `json:"packed"` // how the words relate to the planes
}

// Action documents the actions.
type Action struct {
	Heads     []int  `json:"heads"` // choices of each head
	MaskWords int    `json:"mask_words"`
	Doc       string `json:"doc"`
}

// Reward documents the rewards.
type Reward struct {
	Name  string  `json:"name"`
	Doc   string  `json:"doc"`
	Gamma float64 `json:"gamma"` // of the return column
}

// Table documents one kind of file.
type Table struct {
	BatchRows int      `json:"batch_rows"` // at most so many rows in one record batch
	Columns   []Column `json:"columns"`
}

// Totals sum up a dataset.
type Totals struct {
	Episodes uint64    `json:"episodes"`
	Turns    uint64    `json:"turns"`
	Rows     uint64    `json:"rows"`  // of steps
	Bytes    uint64    `json:"bytes"` // of all files but the manifest
	Over     uint64    `json:"over"`  // episodes that the rules ended
	Cut      uint64    `json:"cut"`   // episodes that a limit cut
	Pairings []Pairing `json:"pairings"`
}

// Pairing counts the episodes in which the same players sat at the same seats.
type Pairing struct {
	Policies []string `json:"policies"`
	Episodes uint64   `json:"episodes"`
	// Results counts the final results of each seat, such as {"-1":3,"1":7}.
	Results []map[string]uint64 `json:"results"`
}

// Shard is one pair of files.
type Shard struct {
	Steps    File `json:"steps"`
	Episodes File `json:"episodes"`
}

// File is one file of a dataset.
type File struct {
	Path   string `json:"path"` // relative, with slashes
	SHA256 string `json:"sha256"`
	Rows   uint64 `json:"rows"`
	Bytes  uint64 `json:"bytes"`
}

// Names of the files of a dataset.
const (
	manifestName = "manifest.json"
	runName      = "run.json"
	stepsDir     = "steps"
	episodesDir  = "episodes"
	shardsDir    = "shards"
)

func stepsPath(i int) string    { return fmt.Sprintf("%s/%05d.arrow", stepsDir, i) }
func episodesPath(i int) string { return fmt.Sprintf("%s/%05d.arrow", episodesDir, i) }
func sidecarPath(i int) string  { return fmt.Sprintf("%s/%05d.json", shardsDir, i) }

// newManifest is the manifest of a Job but for its shards and totals.
func newManifest(l *layout, command string) *Manifest {
	s := l.specs[0]
	m := &Manifest{
		Format: Format, Moonfarm: Version, Command: command, Job: l.job,
		Game: Game{s.Info.Name, s.Info.Players, s.MaxTurns, l.maxOrders()},
		Observation: Observation{
			Form: l.job.Obs, Planes: s.Shape.Planes, Height: s.Shape.Height, Width: s.Shape.Width,
			Scalars: s.Shape.Scalars, Words: s.Shape.Words,
			Fields: append([]features.Field{}, s.Table.Planes...), Numbers: append([]features.Field{}, s.Table.Scalars...), Packed: s.Table.Packed,
		},
		Action:   Action{append([]int{}, s.Heads...), s.MaskWords, s.Actions},
		Reward:   Reward{Name: s.Reward, Gamma: 1},
		Steps:    Table{l.rows, l.steps.Columns},
		Episodes: Table{episodeBatchRows, l.episodes.Columns},
	}
	for _, r := range s.Rewards {
		if r.Name == s.Reward {
			m.Reward.Doc = r.Doc
		}
	}
	for i, text := range l.job.Rules {
		m.Rules = append(m.Rules, Rules{l.specs[i].Info.Rules, sum256([]byte(text))})
	}
	return m
}

// add adds a finished shard to the manifest.
func (m *Manifest) add(c sidecar) {
	m.Shards = append(m.Shards, Shard{c.Steps, c.Episodes})
	t := &m.Totals
	t.Episodes += c.Episodes.Rows
	t.Rows += c.Steps.Rows
	t.Bytes += c.Steps.Bytes + c.Episodes.Bytes
	t.Turns, t.Over, t.Cut = t.Turns+c.Turns, t.Over+c.Over, t.Cut+c.Cut
	for _, p := range c.Pairings {
		t.Pairings = addPairing(t.Pairings, p)
	}
}

// addPairing adds p to the one of the same policies.
func addPairing(to []Pairing, p Pairing) []Pairing {
	for i := range to {
		if !reflect.DeepEqual(to[i].Policies, p.Policies) {
			continue
		}
		to[i].Episodes += p.Episodes
		for seat, r := range p.Results {
			for k, n := range r {
				to[i].Results[seat][k] += n
			}
		}
		return to
	}
	return append(to, p)
}

// encode returns the canonical text: indented JSON and the checksum.
func (m *Manifest) encode() ([]byte, error) {
	c := *m
	c.Checksum = ""
	text, err := canonical(c)
	if err != nil {
		return nil, err
	}
	c.Checksum = sum256(text)
	return canonical(c)
}

// canonical is the JSON of v as files have it.
func canonical(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// maxJSON bounds the JSON files that are read.
const maxJSON = 1 << 30

// readManifest reads and checks the manifest of a dataset. Every changed byte
// is found.
func readManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, manifestName)
	text, err := readJSON(path)
	if err != nil {
		return nil, err
	}
	m, err := decodeManifest(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

func readJSON(path string) ([]byte, error) {
	if s, err := os.Stat(path); err != nil {
		return nil, err
	} else if s.Size() > maxJSON || !s.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %d bytes, not a file of moonfarm", path, s.Size())
	}
	return os.ReadFile(path)
}

func decodeManifest(text []byte) (*Manifest, error) {
	var v struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, fmt.Errorf("damaged: %w", err)
	}
	if v.Format != Format {
		return nil, fmt.Errorf("format %d; this moonfarm reads format %d", v.Format, Format)
	}
	m := new(Manifest)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(m); err != nil {
		return nil, fmt.Errorf("damaged: %w", err)
	}
	again, err := m.encode()
	if err != nil {
		return nil, fmt.Errorf("damaged: %w", err)
	}
	if !bytes.Equal(again, text) {
		return nil, fmt.Errorf("damaged: its checksum should be %s", quotedChecksum(again))
	}
	return m, m.check()
}

// quotedChecksum is the checksum in the last line but one of a manifest.
func quotedChecksum(text []byte) string {
	lines := bytes.Split(text, []byte("\n"))
	if len(lines) < 3 {
		return ""
	}
	return string(bytes.TrimPrefix(bytes.TrimSpace(lines[len(lines)-3]), []byte(`"checksum": `)))
}

// spec is the part of an env.Spec that the manifest holds.
func (m *Manifest) spec() env.Spec {
	o := m.Observation
	s := env.Spec{
		Info: sim.Info{Name: m.Game.Name, Players: m.Game.Players, MaxOrders: m.Game.MaxOrders},
		Shape: features.Shape{
			Planes: o.Planes, Height: o.Height, Width: o.Width, Scalars: o.Scalars, Words: o.Words,
		},
		Heads: m.Action.Heads, MaskWords: m.Action.MaskWords, Reward: m.Reward.Name, MaxTurns: m.Game.MaxTurns,
	}
	if len(m.Rules) > 0 {
		s.Info.Rules = m.Rules[0].Version
	}
	return s
}

// check tells whether the parts of a manifest agree, so that whoever reads the
// files can rely on it.
func (m *Manifest) check() error {
	if err := m.Job.check(); err != nil {
		return err
	}
	players := m.Game.Players
	if players < 1 || players > sim.MaxPlayers || len(m.Rules) != len(m.Job.Rules) || uint64(len(m.Shards)) != m.Job.shards() {
		return fmt.Errorf("%d seats, %d rules, %d shards do not fit the job", players, len(m.Rules), len(m.Shards))
	}
	for i, r := range m.Rules {
		if r.SHA256 != sum256([]byte(m.Job.Rules[i])) {
			return fmt.Errorf("rules number %d are not those of the job", i)
		}
	}
	spec := m.spec()
	if err := fileSchema(m.Job, "", stepsDir, stepColumns(spec, m.Job.Obs), players).Check(); err != nil {
		return err
	}
	l := newLayout(m.Job, []env.Spec{spec})
	if !reflect.DeepEqual(m.Steps, Table{l.rows, l.steps.Columns}) {
		return fmt.Errorf("columns of the steps are not those of format %d", Format)
	}
	if !reflect.DeepEqual(m.Episodes, Table{episodeBatchRows, l.episodes.Columns}) {
		return fmt.Errorf("columns of the episodes are not those of format %d", Format)
	}
	var sum Totals
	for i, s := range m.Shards {
		if s.Steps.Path != stepsPath(i) || s.Episodes.Path != episodesPath(i) {
			return fmt.Errorf("shard %d is in %s and %s", i, s.Steps.Path, s.Episodes.Path)
		}
		if _, n, _ := m.Job.shard(i); s.Episodes.Rows != n {
			return fmt.Errorf("shard %d has %d episodes, expected %d", i, s.Episodes.Rows, n)
		}
		sum.Episodes += s.Episodes.Rows
		sum.Rows += s.Steps.Rows
		sum.Bytes += s.Steps.Bytes + s.Episodes.Bytes
	}
	t := m.Totals
	if sum.Episodes != t.Episodes || sum.Rows != t.Rows || sum.Bytes != t.Bytes ||
		t.Turns*uint64(players) != t.Rows || t.Over+t.Cut != t.Episodes {
		return fmt.Errorf("totals are not the sums of the shards")
	}
	return nil
}

// resultKey is the text of a result in Pairing.Results.
func resultKey(r float32) string { return strconv.FormatFloat(float64(r), 'g', -1, 32) }
