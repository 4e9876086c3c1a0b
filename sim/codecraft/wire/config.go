package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/texts"
)

// Config is the config file of the local runner: one JSON object,
//
//	{"seed": null, "game": {"Create": "Round1"}, "players": ["QuickStart", {"Empty": null}]}
type Config struct {
	Seed    *uint64        `json:"seed"` // nil: any
	Game    GameConfig     `json:"game"`
	Players []PlayerConfig `json:"players"`

	// Unknown are the fields of a file that ParseConfig does not know, such as
	// "players[0].Tcp.name", in order. They have no effect.
	Unknown []string `json:"-"`
}

// GameConfig says how a game begins; one of the two is set.
type GameConfig struct {
	Create   string // Round1, Round2 or Finals
	LoadFrom string // a file with a state
}

// PlayerKind is a kind of players.
type PlayerKind string

const (
	PlayerTCP        PlayerKind = "Tcp"        // a client that connects
	PlayerEmpty      PlayerKind = "Empty"      // gives no orders
	PlayerQuickStart PlayerKind = "QuickStart" // the strategy that contestants begin with
	PlayerKeyboard   PlayerKind = "Keyboard"   // a person at a window
)

// PlayerConfig says who plays.
type PlayerConfig struct {
	Kind PlayerKind
	TCP  TCPConfig // of PlayerTCP
}

// TCPConfig says how a client connects. What is nil is left to the runner: any
// token, the own machine, no limits of time.
type TCPConfig struct {
	Host          *string  `json:"host"`
	Port          int      `json:"port"`
	AcceptTimeout *float64 `json:"accept_timeout"` // seconds
	Timeout       *float64 `json:"timeout"`        // seconds for each operation
	Token         *string  `json:"token"`
}

// rounds are the original's names of the presets.
var rounds = [...]struct{ name, preset string }{{"Round1", "round1"}, {"Round2", "round2"}, {"Finals", "finals"}}

// Rules are those of a created game with as many players as are in the config.
func (c *Config) Rules() (codecraft.Rules, error) {
	for _, r := range rounds {
		if r.name == c.Game.Create {
			rules, _ := codecraft.Preset(r.preset)
			rules.Players = int32(len(c.Players))
			return rules, nil
		}
	}
	return codecraft.Rules{}, fmt.Errorf("config: game: found %q, want Round1, Round2 or Finals to be created", c.Game.Create)
}

// RoundOf is the original's name of rules; false if it has none.
func RoundOf(rules codecraft.Rules) (name string, ok bool) {
	for _, r := range rounds {
		preset, _ := codecraft.Preset(r.preset)
		if preset.Players = rules.Players; preset == rules {
			return r.name, true
		}
	}
	return "", false
}

// ParseConfig reads a config file. Fields that it does not know are listed in
// Unknown, so that misspelt ones are not overlooked.
func ParseConfig(text []byte) (*Config, error) {
	c, text := new(Config), texts.Unmarked(text)
	if err := decodeOne(text, c); err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	if c.Game == (GameConfig{}) {
		return nil, fmt.Errorf(`config: game is missing, want {"Create": "Round1"} or {"LoadFrom": "FILE"}`)
	}
	if n := len(c.Players); n < 1 || n > sim.MaxPlayers {
		return nil, fmt.Errorf("config: players: found %d, want 1 to %d", n, sim.MaxPlayers)
	}
	for i, p := range c.Players {
		if p.Kind == PlayerTCP {
			if err := p.TCP.validate(); err != nil {
				return nil, fmt.Errorf("config: players[%d]: %w", i, err)
			}
		}
	}
	c.Unknown = unknownFields(text)
	return c, nil
}

// The fields of config files.
var (
	configFields = []string{"seed", "game", "players"}
	gameFields   = []string{"Create", "LoadFrom"}
	playerFields = []string{string(PlayerTCP), string(PlayerEmpty), string(PlayerQuickStart), string(PlayerKeyboard)}
	tcpFields    = []string{"host", "port", "accept_timeout", "timeout", "token"}
)

// unknownFields lists the fields of a config that was read which none of the lists
// above has.
func unknownFields(text []byte) []string {
	top, list := fieldsOf(text, "", configFields)
	_, more := fieldsOf(top["game"], "game.", gameFields)
	list = append(list, more...)
	var players []json.RawMessage
	json.Unmarshal(top["players"], &players) // it was read before
	for i, p := range players {
		prefix := fmt.Sprintf("players[%d].", i)
		fields, more := fieldsOf(p, prefix, playerFields)
		list = append(list, more...)
		_, more = fieldsOf(fields[string(PlayerTCP)], prefix+string(PlayerTCP)+".", tcpFields)
		list = append(list, more...)
	}
	return list
}

// fieldsOf takes an object apart: the fields that are in a list, by the names of
// the list, whose case counts for nothing; and the names of the others, sorted. What
// is no object has no fields.
func fieldsOf(text []byte, prefix string, list []string) (known map[string]json.RawMessage, unknown []string) {
	var all map[string]json.RawMessage
	json.Unmarshal(text, &all)
	known = map[string]json.RawMessage{}
	for name, value := range all {
		i := slices.IndexFunc(list, func(k string) bool { return strings.EqualFold(k, name) })
		if i >= 0 {
			known[list[i]] = value
		} else {
			unknown = append(unknown, prefix+short([]byte(name)))
		}
	}
	slices.Sort(unknown)
	return known, unknown
}

// decodeOne reads one JSON value, behind which nothing follows.
func decodeOne(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(v); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return fmt.Errorf("the text ends, want a JSON object")
		}
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("byte %d: something follows the JSON object", d.InputOffset())
	}
	return nil
}

func (c *TCPConfig) validate() error {
	if c.Port < 0 || c.Port > math.MaxUint16 {
		return fmt.Errorf("port is %d, want 0 to %d", c.Port, math.MaxUint16)
	}
	for what, seconds := range map[string]*float64{"accept_timeout": c.AcceptTimeout, "timeout": c.Timeout} {
		if seconds != nil && !(*seconds > 0 && *seconds <= maxSeconds) {
			return fmt.Errorf("%s is %v, want null or more than 0 to %d seconds", what, *seconds, int64(maxSeconds))
		}
	}
	return nil
}

// Append appends the config as the file has it, without an end of line.
func (c *Config) Append(dst []byte) []byte { return appendJSON(dst, c) }

// appendJSON appends a value whose types are all of this file and can be
// written.
func appendJSON(dst []byte, v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return dst // never: the values are checked to be finite
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

// UnmarshalJSON reads {"Create": "…"} or {"LoadFrom": "…"}.
func (g *GameConfig) UnmarshalJSON(text []byte) error {
	key, value, err := single(text, gameFields)
	if err != nil {
		return fmt.Errorf("game: %w", err)
	}
	to := &g.Create
	if key == "LoadFrom" {
		to = &g.LoadFrom
	}
	if json.Unmarshal(value, to) != nil || *to == "" {
		return fmt.Errorf("game: %s: found %s, want a text", key, short(value))
	}
	for _, r := range rounds {
		if r.name == g.Create {
			return nil
		}
	}
	if key == "Create" {
		return fmt.Errorf("game: Create: found %q, want Round1, Round2 or Finals", *to)
	}
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (g GameConfig) MarshalJSON() ([]byte, error) {
	if g.LoadFrom != "" {
		return json.Marshal(map[string]string{"LoadFrom": g.LoadFrom})
	}
	return json.Marshal(map[string]string{"Create": g.Create})
}

// UnmarshalJSON reads "QuickStart", {"Empty": null}, {"Tcp": {…}}: players
// without settings come in both forms.
func (p *PlayerConfig) UnmarshalJSON(text []byte) error {
	var name string
	value := json.RawMessage("null")
	if json.Unmarshal(text, &name) != nil {
		var err error
		if name, value, err = single(text, playerFields); err != nil {
			return fmt.Errorf("players: %w", err)
		}
	}
	p.Kind = PlayerKind(name)
	switch p.Kind {
	case PlayerTCP:
		if bytes.Equal(value, []byte("null")) {
			return fmt.Errorf("players: Tcp: want an object with a port")
		}
		p.TCP.Port = -1
		if err := decodeOne(value, &p.TCP); err != nil {
			return fmt.Errorf("players: Tcp: %w", err)
		}
		if p.TCP.Port == -1 {
			return fmt.Errorf("players: Tcp: port is missing")
		}
	case PlayerEmpty, PlayerQuickStart, PlayerKeyboard:
		if !bytes.Equal(value, []byte("null")) {
			return fmt.Errorf("players: %s: found %s, want null", name, short(value))
		}
	default:
		return fmt.Errorf("players: found %q, want Tcp, Empty, QuickStart or Keyboard", name)
	}
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads, in the forms of the original.
func (p PlayerConfig) MarshalJSON() ([]byte, error) {
	switch p.Kind {
	case PlayerTCP:
		return json.Marshal(map[string]TCPConfig{"Tcp": p.TCP})
	case PlayerEmpty:
		return []byte(`{"Empty":null}`), nil
	}
	return json.Marshal(string(p.Kind))
}

// single finds the one field of an object that is in the list; others are left.
func single(text []byte, list []string) (string, json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil || all == nil {
		return "", nil, fmt.Errorf("found %s, want an object with one of: %s", short(text), strings.Join(list, ", "))
	}
	found, value := "", json.RawMessage(nil)
	for _, name := range list {
		if v, ok := all[name]; ok {
			if found != "" {
				return "", nil, fmt.Errorf("found %s and %s, want one of them", found, name)
			}
			found, value = name, v
		}
	}
	if found == "" {
		return "", nil, fmt.Errorf("found %s, want an object with one of: %s", short(text), strings.Join(list, ", "))
	}
	return found, value, nil
}

// short is the beginning of a text, for errors.
func short(text []byte) string {
	const most = 60
	if len(text) > most {
		return string(bytes.ToValidUTF8(text[:most], nil)) + "…"
	}
	return string(text)
}

// Results is the results file of the local runner.
type Results struct {
	Players []PlayerResult `json:"players"`
	Results []int64        `json:"results"` // scores
	Seed    uint64         `json:"seed"`
}

// PlayerResult tells how a player fared besides its score.
type PlayerResult struct {
	Crashed bool    `json:"crashed"`
	Comment *string `json:"comment"` // of a crash: "Player crashed: …"
}

// CrashComment begins the comment on a player that crashed.
const CrashComment = "Player crashed: "

// ParseResults reads a results file. Fields that it does not know have no effect.
func ParseResults(text []byte) (*Results, error) {
	r := new(Results)
	if err := decodeOne(text, r); err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	if len(r.Players) != len(r.Results) {
		return nil, fmt.Errorf("results: %d players, but %d scores", len(r.Players), len(r.Results))
	}
	return r, nil
}

// Append appends the results as the file has them, without an end of line.
func (r *Results) Append(dst []byte) []byte { return appendJSON(dst, r) }
