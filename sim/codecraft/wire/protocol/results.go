package protocol

import (
	"fmt"
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
