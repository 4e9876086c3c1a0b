package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// RunnerResults is the results file of the local runner.
type RunnerResults struct {
	Players []PlayerResult `json:"players"`
	Results []int64        `json:"results"` // scores
	Seed    uint64         `json:"seed"`
}

// PlayerResult tells whether a player crashed.
type PlayerResult struct {
	Crashed bool    `json:"crashed"`
	Comment *string `json:"comment"` // of a crash: "Player crashed: …"
}

// CrashComment is the beginning of the comment on a player that crashed.
const CrashComment = "Player crashed: "

// ParseResults reads a results file. Unknown fields have no effect.
func ParseResults(text []byte) (*RunnerResults, error) {
	r := new(RunnerResults)
	if err := decodeOne(text, r); err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	if len(r.Players) != len(r.Results) {
		return nil, fmt.Errorf("results: %d players, but %d scores", len(r.Players), len(r.Results))
	}
	return r, nil
}

// Append appends the results in the form of the file, without an end of line.
func (r *RunnerResults) Append(dst []byte) []byte { return appendJSON(dst, r) }

// decodeOne reads a JSON value. It fails if anything follows the value.
func decodeOne(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(v); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return fmt.Errorf("the text ends, expected a JSON object")
		}
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("byte %d: something follows the JSON object", d.InputOffset())
	}
	return nil
}

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
