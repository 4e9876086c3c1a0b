package imports

import (
	"context"
	"time"

	"moonfarm/datasets"
	"moonfarm/rollout/recordings"
)

// Imported tells what an import made. The help of moonfarm import documents its JSON
// keys.
type Imported struct {
	Dir      string    `json:"dir"`
	Game     string    `json:"game"`
	RuleSets []RuleSet `json:"rule_sets"`
	datasets.Size
	Skipped []Remark `json:"skipped"`
	Inexact []Remark `json:"inexact"`
	Kept    []Kept   `json:"kept"`
	Seconds float64  `json:"seconds"`
}

// Run examines the files and writes the dataset of the games that can be imported. An
// import that was stopped continues if Run is called again.
//
// It fails with ErrNothing if no game can be imported, and with the errors of Examine,
// Options.Begin and datasets.Write. The result then has the remarks on the files.
func Run(ctx context.Context, e recordings.Engine, files []string, job datasets.Job, m datasets.Makers, o Options) (Imported, error) {
	begin := time.Now()
	r := Imported{Dir: o.Dir, Game: e.Info().Game, RuleSets: []RuleSet{}, Skipped: []Remark{}, Inexact: []Remark{}, Kept: []Kept{}}
	games, err := Examine(ctx, e, files, o)
	if err != nil {
		return r, err
	}
	defer games.Close()
	r.RuleSets, r.Skipped, r.Inexact, r.Kept = games.RuleSets, games.Skipped, games.Inexact, games.Kept
	r.Seconds = time.Since(begin).Seconds()
	job, err = games.Job(job)
	if err == nil && o.Begin != nil {
		err = o.Begin(games)
	}
	if err != nil {
		return r, err
	}
	written, err := datasets.Write(ctx, o.Dir, job, m, games, o.Dataset)
	r.Seconds = time.Since(begin).Seconds()
	if err != nil {
		return r, err
	}
	r.Size = written.Size()
	return r, nil
}
