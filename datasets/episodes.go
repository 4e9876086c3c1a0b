package datasets

import (
	"fmt"
	"iter"

	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// Episode is one row of the episodes: all that is needed to play it again with
// rollout.Replay.
type Episode struct {
	rollout.Episode
	Rules  int    // number of its rules in Manifest.Job.Rules
	Source string // of an imported episode
}

// Episodes reads all episodes in order. An Episode is valid until the next one
// is asked for. The iteration ends after the first error, which names the file.
func (d *Dataset) Episodes() iter.Seq2[*Episode, error] {
	return func(yield func(*Episode, error) bool) {
		r, err := d.episodeReader()
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.close()
		for _, s := range d.manifest.Shards {
			err := d.shardEpisodes(r, s.Episodes, func(e *Episode) error {
				if !yield(e, nil) {
					return errStop
				}
				return nil
			})
			if err == errStop {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// shardEpisodes calls each with the episodes of one file.
func (d *Dataset) shardEpisodes(r *tableReader, f File, each func(*Episode) error) error {
	var e Episode
	return r.read(f, func(first uint64) error {
		for i := range r.table.Rows {
			if err := e.set(r.table, i, d.manifest); err != nil {
				return fmt.Errorf("%s: row %d: %w", f.Path, first+uint64(i), err)
			}
			if err := each(&e); err != nil {
				return err
			}
		}
		return nil
	})
}

// set makes e row i of the table and checks that it is consistent in itself.
func (e *Episode) set(t *arrowfile.Table, i int, m *Manifest) error {
	players := m.Game.Players
	e.ID = arrowfile.View[uint64](t.Col(ColEpisode).Fixed)[i]
	e.Seed = arrowfile.View[uint64](t.Col(ColSeed).Fixed)[i]
	e.Rules = int(arrowfile.View[int32](t.Col(ColRules).Fixed)[i])
	e.Turns = int(arrowfile.View[int32](t.Col(ColTurns).Fixed)[i])
	e.Status = sim.Status(t.Col(ColStatus).Fixed[i])
	e.Players, e.Source, e.Policies = players, t.Col(ColSource).Text(i), e.Policies[:0]
	e.Outcome = [sim.MaxPlayers]sim.Outcome{}
	for p := range players {
		e.Policies = append(e.Policies, t.Col(ColPolicies).Text(i*players+p))
		e.Outcome[p] = sim.Outcome{
			Result: arrowfile.View[float32](t.Col(ColResults).Fixed)[i*players+p],
			Score:  arrowfile.View[float64](t.Col(ColScores).Fixed)[i*players+p],
		}
	}
	e.Orders = arrowfile.View[sim.Order](t.Col(ColOrders).List(i))
	e.Ends = arrowfile.View[int32](t.Col(ColEnds).List(i))
	return e.check(m)
}

// check tells what is wrong with the numbers of an episode.
func (e *Episode) check(m *Manifest) error {
	switch {
	case e.Rules < 0 || e.Rules >= len(m.Rules):
		return fmt.Errorf("rules number %d of %d", e.Rules, len(m.Rules))
	case e.Turns < 0 || e.Turns > m.Game.MaxTurns:
		return fmt.Errorf("%d turns, the game has at most %d", e.Turns, m.Game.MaxTurns)
	case e.Status != sim.Over && e.Status != sim.Cut:
		return fmt.Errorf("status %d, expected 1 or 2", e.Status)
	case len(e.Ends) != e.Turns*e.Players:
		return fmt.Errorf("%d ends of orders for %d turns of %d seats", len(e.Ends), e.Turns, e.Players)
	}
	from := int32(0)
	for k, to := range e.Ends {
		if to < from || int(to) > len(e.Orders) {
			return fmt.Errorf("ends of orders go from %d to %d of %d at %d", from, to, len(e.Orders), k)
		}
		from = to
	}
	if int(from) != len(e.Orders) {
		return fmt.Errorf("%d orders, of which %d belong to a turn", len(e.Orders), from)
	}
	return nil
}
