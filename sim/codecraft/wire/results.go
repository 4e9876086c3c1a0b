package wire

import "fmt"

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

// ParseResults reads a results file.
func ParseResults(text []byte) (*Results, error) {
	r := new(Results)
	if err := decodeStrictly(text, r); err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	if len(r.Players) != len(r.Results) {
		return nil, fmt.Errorf("results: %d players, but %d scores", len(r.Players), len(r.Results))
	}
	return r, nil
}

// Append appends the results as the file has them, without an end of line.
func (r *Results) Append(dst []byte) []byte { return appendJSON(dst, r) }
