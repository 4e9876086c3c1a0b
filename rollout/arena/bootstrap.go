package arena

import "moonfarm/rollout/arena/rating"

// Interval is the interval and the error of a rating by the bootstrap.
type Interval struct {
	Low   float64 `json:"low"` // 95 % confidence
	High  float64 `json:"high"`
	Error float64 `json:"error"` // standard error
}

// AddBootstrap adds to a report on games the intervals from a bootstrap over seeds with the given
// number of replicates, as a check of the intervals that the report has. It fails as
// rating.Bootstrap does.
func (r *Report) AddBootstrap(games []Played, replicates int) error {
	var names []string
	anchor := -1
	for i := range r.Players {
		if names = append(names, r.Players[i].Player); r.Anchor != "" && names[i] == r.Anchor {
			anchor = i
		}
	}
	e := newEvaluation(names, games)
	for i := range games {
		e.count(&games[i])
	}
	all, err := rating.Bootstrap(len(names), e.results, anchor, replicates, r.Seed)
	if err != nil {
		return err
	}
	for i, b := range all {
		r.Players[i].Bootstrap = &Interval{b.Low, b.High, b.Error}
	}
	return nil
}
