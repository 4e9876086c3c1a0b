package protocol

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/codecraft"
	"moonfarm/sim/simtest"
	"moonfarm/sim/texts"
)

// recordedFile is a line of the recorded config and result files.
type recordedFile struct {
	Kind, Origin string
	Data         json.RawMessage
}

func TestRecordedConfigsAndResults(t *testing.T) {
	count := map[string]int{}
	for _, f := range lines[recordedFile](t, "runner-configs-and-results.jsonl.gz") {
		count[f.Kind]++
		var got []byte
		switch f.Kind {
		case "config":
			c, err := ParseConfig(f.Data)
			if err != nil {
				t.Errorf("%s: %v", f.Origin, err)
				continue
			}
			r, err := c.Rules()
			require.NoErrorf(t, err, "%s: rules of %d players", f.Origin, r.Players)
			assert.Truef(t, int(r.Players) == len(c.Players) && r.Validate() == nil, "%s: rules of %d players", f.Origin, r.Players)
			got = c.Append(nil)
		case "result":
			r, err := ParseResults(f.Data)
			if err != nil {
				t.Errorf("%s: %v", f.Origin, err)
				continue
			}
			got = r.Append(nil)
		}
		assert.Truef(t, bytes.Equal(got, f.Data), "%s: written again it is\n%s, was\n%s", f.Origin, got, f.Data)
	}
	assert.Truef(t, count["config"] == 8 && count["result"] == 7, "%v files, want 8 configs and 7 results", count)
}

func TestConfigRules(t *testing.T) {
	for name, preset := range map[string]string{"Round1": "round1-3", "Round2": "round2-3", "Finals": "finals-3"} {
		t.Run(name, func(t *testing.T) {
			c, err := ParseConfig([]byte(`{"seed": 7, "game": {"Create": "` + name + `"}, "players": ["QuickStart", "Empty", {"Keyboard": null}]}`))
			require.NoError(t, err)
			got, err := c.Rules()
			want, _ := codecraft.Preset(preset)
			require.NoErrorf(t, err, "%s", name)
			assert.Truef(t, got == want, "%s, not the rules of %s", name, preset)
			if *c.Seed != 7 {
				t.Errorf("%s: seed %d, want 7", name, *c.Seed)
			}
		})
	}
	c, err := ParseConfig([]byte(`{"seed": null, "game": {"LoadFrom": "a file"}, "players": ["QuickStart"]}`))
	require.NoErrorf(t, err, "%v", c)
	require.Equalf(t, "a file", c.Game.LoadFrom, "%v", c)
	assert.Equal(t, `{"seed":null,"game":{"LoadFrom":"a file"},"players":["QuickStart"]}`, string(c.Append(nil)))
	_, err = c.Rules()
	assert.Error(t, err, "a loaded game has rules of its own")
}

func TestRefusedConfigs(t *testing.T) {
	const game = `"game":{"Create":"Round1"}`
	simtest.Refuses(t, strings.Contains, func(text string) error { _, err := ParseConfig([]byte(text)); return err }, map[string]string{
		``:                              "config: the text ends, want a JSON object",
		`{`:                             "the text ends",
		`[]`:                            "cannot unmarshal array",
		`{"seed":-1}`:                   "cannot unmarshal number -1",
		`{"seed":18446744073709551616}`: "cannot unmarshal number",
		`{"players":[]}`:                "game is missing",
		`{` + game + `}`:                "players: found 0, want 1 to 4",
		`{` + game + `,"players":["Empty","Empty","Empty","Empty","Empty"]}`: "players: found 5, want 1 to 4",
		`{` + game + `,"players":["Empty"]} x`:                               "something follows",
		`{"game":{"Create":"Round9"},"players":["Empty"]}`:                   `game: Create: found "Round9", want Round1, Round2 or Finals`,
		`{"game":{"Create":7},"players":["Empty"]}`:                          "game: Create: found 7, want a text",
		`{"game":{"Begin":"Round1"},"players":["Empty"]}`:                    `game: found {"Begin":"Round1"}, want an object with one of: Create, LoadFrom`,
		`{"game":"Round1","players":["Empty"]}`:                              `game: found "Round1", want an object with one of: Create, LoadFrom`,
		`{"game":{"LoadFrom":""},"players":["Empty"]}`:                       `LoadFrom: found "", want a text`,
		`{` + game + `,"players":["Robot"]}`:                                 `players: found "Robot", want Tcp, Empty, QuickStart or Keyboard`,
		`{` + game + `,"players":[7]}`:                                       "players: found 7, want an object with one of: Tcp",
		`{` + game + `,"players":["Tcp"]}`:                                   "Tcp: want an object with a port",
		`{` + game + `,"players":[{"Tcp":{}}]}`:                              "Tcp: port is missing",
		`{` + game + `,"players":[{"Tcp":{"port":70000}}]}`:                  "players[0]: port is 70000, want 0 to 65535",
		`{` + game + `,"players":[{"Tcp":{"port":1,"timeout":0}}]}`:          "timeout is 0, want null or more than 0",
		`{` + game + `,"players":[{"Tcp":{"port":1,"accept_timeout":-2}}]}`:  "accept_timeout is -2",
		`{` + game + `,"players":[{"Empty":1}]}`:                             "Empty: found 1, want null",
	})
	simtest.Refuses(t, strings.Contains, func(text string) error { _, err := ParseResults([]byte(text)); return err }, map[string]string{
		`{"players":[{"crashed":false,"comment":null}],"results":[],"seed":1}`: "1 players, but 0 scores",
		`{"players":[{"crashed":0}],"results":[1],"seed":1}`:                   "cannot unmarshal number",
		`7`: "cannot unmarshal number",
	})
}

// TestUnknownFields reads configs and results with unknown fields, and lists the unknown fields of
// configs.
func TestUnknownFields(t *testing.T) {
	c, err := ParseConfig([]byte(`{"version":2,"seed":5,"game":{"Create":"Round2","map":"x"},"players":[
		{"Tcp":{"port":31001,"ip":"x","Token":"a"},"name":"one"},"QuickStart",{"Empty":null,"name":"three"}],"comment":{"a":1}}`))
	require.NoError(t, err)
	want := []string{"comment", "version", "game.map", "players[0].name", "players[0].Tcp.ip", "players[2].name"}
	assert.True(t, slices.Equal(c.Unknown, want), "unknown fields")
	p := c.Players[0]
	assert.Truef(t, p.Kind == PlayerTCP && p.TCP.Port == 31001 && *p.TCP.Token == "a" && *c.Seed == 5 && c.Game.Create == "Round2", "the known fields are %+v", c)
	if c, err := ParseConfig([]byte(`{"seed":null,"game":{"Create":"Round1"},"players":["Empty"]}`)); err != nil || c.Unknown != nil {
		t.Error(err, c.Unknown)
	}
	r, err := ParseResults([]byte(`{"players":[{"crashed":false,"comment":null,"time":3}],"results":[7],"seed":1,"ticks":1000}`))
	require.NoError(t, err)
	assert.Truef(t, r.Results[0] == 7 && r.Seed == 1, "%v", r)
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte(`{"seed":10,"game":{"Create":"Round1"},"players":["QuickStart",{"Empty":null}]}`))
	f.Add([]byte(`{"seed":null,"game":{"LoadFrom":"x"},"players":[{"Tcp":{"host":null,"port":31001,"accept_timeout":1.5,"timeout":null,"token":"a"}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ParseConfig(text)
		if err != nil {
			return
		}
		first := c.Append(nil)
		again, err := ParseConfig(first)
		if err != nil {
			t.Fatalf("%s: %v", first, err)
		}
		if second := again.Append(nil); !bytes.Equal(first, second) {
			t.Errorf("written as\n%s, then as\n%s", first, second)
		}
	})
}

// TestMarkedConfig: a config may begin with a byte order mark.
func TestMarkedConfig(t *testing.T) {
	c, err := ParseConfig([]byte(texts.Mark + `{"game":{"Create":"Round1"},"players":["Empty"]}` + "\r\n"))
	require.NoErrorf(t, err, "config %+v", c)
	assert.Equalf(t, "Round1", c.Game.Create, "config %+v", c)
}
