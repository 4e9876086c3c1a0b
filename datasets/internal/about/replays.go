package about

import (
	"fmt"
	"slices"

	"moonfarm/rollout"
)

// replays has a Replayer for each set of rules. It is not safe for concurrent use.
type replays struct {
	job    Job
	makers Makers
	made   []*rollout.Replayer // one for each set of rules, made when needed
}

// NewReplays returns the Replayers of a job.
func NewReplays(j Job, m Makers) *replays {
	return &replays{j, m, make([]*rollout.Replayer, len(j.Rules))}
}

// Of returns a Replayer for an episode: with the rules of that number, or through the
// states of the episode's recording.
func (r *replays) Of(rules int, e *rollout.Episode) (*rollout.Replayer, error) {
	if len(e.Recording) > 0 {
		return r.recorded(rules, e)
	}
	if made := r.made[rules]; made != nil {
		return made, nil
	}
	v, err := r.makers.Vector(r.job.Rules[rules], r.job.Config(1))
	if err != nil {
		return nil, err
	}
	r.made[rules], err = rollout.NewReplayer(v)
	return r.made[rules], err
}

// recorded returns a Replayer that goes through the states of the episode's
// recording. It fails if the episode has other turns or orders.
func (r *replays) recorded(rules int, e *rollout.Episode) (*rollout.Replayer, error) {
	if r.makers.Recorded == nil {
		return nil, fmt.Errorf("episode %d: a recording, and %s has none that can be checked", e.ID, r.job.Game)
	}
	v, orders, ends, err := r.makers.Recorded(r.job.Rules[rules], r.job.Config(1), e.Recording)
	if err != nil {
		return nil, fmt.Errorf("episode %d: %w", e.ID, err)
	}
	if !slices.Equal(ends, e.Ends) || !slices.Equal(orders, e.Orders) {
		return nil, fmt.Errorf("episode %d: its %d turns and %d orders are not those of its recording, which has %d and %d",
			e.ID, e.Turns, len(e.Orders), len(ends)/e.Players, len(orders))
	}
	return rollout.NewReplayer(v)
}
