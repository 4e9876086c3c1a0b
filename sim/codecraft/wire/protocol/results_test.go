package protocol

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/simtest"
)

// recordedFile is a line of the recorded config and result files; configs are not read.
type recordedFile struct {
	Kind, Origin string
	Data         json.RawMessage
}

func TestRecordedResults(t *testing.T) {
	count := 0
	for _, f := range lines[recordedFile](t, "runner-configs-and-results.jsonl.gz") {
		if f.Kind != "result" {
			continue
		}
		count++
		r, err := ParseResults(f.Data)
		require.NoError(t, err, f.Origin)
		assert.Equal(t, string(f.Data), string(r.Append(nil)), "%s, written again", f.Origin)
	}
	assert.Equal(t, 7, count)
}

func TestRefusedResults(t *testing.T) {
	simtest.Refuses(t, strings.Contains, func(text string) error { _, err := ParseResults([]byte(text)); return err }, map[string]string{
		`{"players":[{"crashed":false,"comment":null}],"results":[],"seed":1}`: "1 players, but 0 scores",
		`{"players":[{"crashed":0}],"results":[1],"seed":1}`:                   "cannot unmarshal number",
		`7`: "cannot unmarshal number",
	})
}

// TestUnknownFields reads results with an unknown field.
func TestUnknownFields(t *testing.T) {
	r, err := ParseResults([]byte(`{"players":[{"crashed":false,"comment":null,"time":3}],"results":[7],"seed":1,"ticks":1000}`))
	require.NoError(t, err)
	assert.Truef(t, r.Results[0] == 7 && r.Seed == 1, "%v", r)
}
