package protocol

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

// RunnerConfig is the config file of the local runner: one JSON object,
//
//	{"seed": null, "game": {"Create": "Round1"}, "players": ["QuickStart", {"Empty": null}]}
type RunnerConfig struct {
	Seed    *uint64        `json:"seed"` // nil: any
	Game    GameConfig     `json:"game"`
	Players []PlayerConfig `json:"players"`

	// Unknown lists the fields of the file that ParseConfig does not know, such as
	// "players[0].Tcp.name", in order. They have no effect.
	Unknown []string `json:"-"`
}

// GameConfig is the start of a game: a new game or a saved state. One field is set.
type GameConfig struct {
	Create   string // Round1, Round2 or Finals
	LoadFrom string // a file with a state
}

// PlayerKind is a kind of player.
type PlayerKind string

const (
	PlayerTCP        PlayerKind = "Tcp"        // a client that connects
	PlayerEmpty      PlayerKind = "Empty"      // a player that gives no orders
	PlayerQuickStart PlayerKind = "QuickStart" // the strategy that contestants begin with
	PlayerKeyboard   PlayerKind = "Keyboard"   // a person at a window
)

// PlayerConfig describes a player.
type PlayerConfig struct {
	Kind PlayerKind
	TCP  TCPConfig // of PlayerTCP
}

// TCPConfig describes the connection of a client. The defaults for nil are any token, the own
// machine, and no limits of time.
type TCPConfig struct {
	Host          *string  `json:"host"`
	Port          int      `json:"port"`
	AcceptTimeout *float64 `json:"accept_timeout"` // seconds
	Timeout       *float64 `json:"timeout"`        // seconds for each operation
	Token         *string  `json:"token"`
}

// rounds has the original's names of the presets.
var rounds = [...]struct{ name, preset string }{{"Round1", "round1"}, {"Round2", "round2"}, {"Finals", "finals"}}

// Rules returns the rules of a created game with the players of the config. It fails if the
// config loads a saved game.
func (c *RunnerConfig) Rules() (codecraft.Rules, error) {
	for _, r := range rounds {
		if r.name == c.Game.Create {
			rules, _ := codecraft.Preset(r.preset)
			rules.Players = int32(len(c.Players))
			return rules, nil
		}
	}
	return codecraft.Rules{}, fmt.Errorf("config: game: found %q, want Round1, Round2 or Finals to be created", c.Game.Create)
}

// RoundOf returns the original's name of rules, and false if it has no name for them.
func RoundOf(rules codecraft.Rules) (name string, ok bool) {
	for _, r := range rounds {
		preset, _ := codecraft.Preset(r.preset)
		if preset.Players = rules.Players; preset == rules {
			return r.name, true
		}
	}
	return "", false
}

// ParseConfig reads a config file. It lists unknown fields in Unknown, so that misspelt fields
// are noticed.
func ParseConfig(text []byte) (*RunnerConfig, error) {
	c, text := new(RunnerConfig), texts.Unmarked(text)
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

// The known fields of config files.
var (
	configFields = []string{"seed", "game", "players"}
	gameFields   = []string{"Create", "LoadFrom"}
	playerFields = []string{string(PlayerTCP), string(PlayerEmpty), string(PlayerQuickStart), string(PlayerKeyboard)}
	tcpFields    = []string{"host", "port", "accept_timeout", "timeout", "token"}
)

// unknownFields returns the fields of a valid config that are not in the lists above.
func unknownFields(text []byte) []string {
	top, list := fieldsOf(text, "", configFields)
	_, more := fieldsOf(top["game"], "game.", gameFields)
	list = append(list, more...)
	var players []json.RawMessage
	json.Unmarshal(top["players"], &players) // it has been parsed before
	for i, p := range players {
		prefix := fmt.Sprintf("players[%d].", i)
		fields, more := fieldsOf(p, prefix, playerFields)
		list = append(list, more...)
		_, more = fieldsOf(fields[string(PlayerTCP)], prefix+string(PlayerTCP)+".", tcpFields)
		list = append(list, more...)
	}
	return list
}

// fieldsOf returns the fields of a JSON object that are in the list, by their names in the list,
// and the sorted names of all other fields. Names are compared without case. Any other JSON
// value has no fields.
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

// decodeOne reads a JSON value. It fails if anything follows the value.
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

// maxSeconds bounds the limits of time in a config: a longer limit is a mistake.
const maxSeconds = 1e9

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

// Append appends the config in the form of the file, without an end of line.
func (c *RunnerConfig) Append(dst []byte) []byte { return appendJSON(dst, c) }

// appendJSON appends the JSON of a value. The values of this package can all be encoded: their
// numbers are finite.
func appendJSON(dst []byte, v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return dst // does not happen
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

// MarshalJSON writes the form that UnmarshalJSON reads.
func (g GameConfig) MarshalJSON() ([]byte, error) {
	if g.LoadFrom != "" {
		return json.Marshal(map[string]string{"LoadFrom": g.LoadFrom})
	}
	return json.Marshal(map[string]string{"Create": g.Create})
}

// UnmarshalJSON reads "QuickStart", {"Empty": null} or {"Tcp": {…}}. Players without settings
// have either of the first two forms.
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

// MarshalJSON writes the player in the form that the original writes.
func (p PlayerConfig) MarshalJSON() ([]byte, error) {
	switch p.Kind {
	case PlayerTCP:
		return json.Marshal(map[string]TCPConfig{"Tcp": p.TCP})
	case PlayerEmpty:
		return []byte(`{"Empty":null}`), nil
	}
	return json.Marshal(string(p.Kind))
}

// single returns the field of an object that is in the list. It fails unless there is exactly
// one; fields that are not in the list do not matter.
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

// short returns the beginning of a text, for errors.
func short(text []byte) string {
	const most = 60
	if len(text) > most {
		return string(bytes.ToValidUTF8(text[:most], nil)) + "…"
	}
	return string(text)
}
