package recordings

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"moonfarm/rollout"
	"moonfarm/sim"
)

// ReadOptions configure the conversion of recordings to episodes.
type ReadOptions struct {
	Rules string // the text of the rules, for engines with Info.RulesMissing; "": the default
	// Keep keeps the turns before the first difference, or before the recording broke off, as a
	// truncated episode.
	Keep bool
}

// RecordedGame is a game of a recording as an episode without an ID.
type RecordedGame struct {
	Number  int    // in its file, from 1; 0 if a file has one game only
	Name    string // of the game in its file; "" if it has none
	Rules   string // canonical text
	RuleSet string // the name of these rules, "" if they have none
	Episode rollout.Episode
	Why     error  // why there is no episode; nil if there is one
	Inexact string // as in Report
}

// Source returns a description of the game's origin: the name of its file, and in a file of many
// games its number and its name.
func (r *RecordedGame) Source(file string) string {
	s := filepath.Base(file)
	if r.Number > 0 {
		s = strings.TrimRight(fmt.Sprintf("%s#%d %s", s, r.Number, r.Name), " ")
	}
	return s
}

// NameIn returns the name of the game in a text from Source, "" if it has none.
func NameIn(source string) string {
	_, number, _ := strings.Cut(source, "#")
	_, name, _ := strings.Cut(number, " ")
	return name
}

// play plays the turns of an episode from its seed until the game is over, and fills in its
// outcome. It returns the status and the number of turns played. each, if not nil, is called with
// the state after every turn; an error of each ends the game.
func play[S any](g sim.Game[S], e *rollout.Episode, each func(s *S) error) (status sim.Status, turns int) {
	s, t := new(S), sim.NewTurn(0)
	g.Reset(s, e.Seed)
	for turns < e.Turns && status == sim.Running {
		for p := range sim.Player(e.Players) {
			t.Set(p, e.OrdersOf(turns, p))
		}
		status = g.Step(s, t)
		turns++
		if each != nil && each(s) != nil {
			break
		}
	}
	for p := range sim.Player(e.Players) {
		e.Outcome[p] = g.Outcome(s, p)
	}
	return status, turns
}

// playAgain is play for an episode that has ended: it fails if the game does not end as recorded in
// the episode.
func playAgain[S any](g sim.Game[S], e *rollout.Episode, each func(s *S) error) error {
	played := *e
	status, turns := play(g, &played, each)
	if status == sim.Running {
		status = sim.Cut
	}
	if status != e.Status || turns != e.Turns || played.Outcome != e.Outcome {
		return errors.New("the episode does not end as recorded: other rules, or a damaged dataset")
	}
	return nil
}

// unnamed removes the file's name from the beginning of an error, since a dataset must not depend
// on the location of its sources.
func unnamed(err error, name string) error {
	return errors.New(strings.TrimPrefix(err.Error(), name+": "))
}

// named returns the name of a player, and a default for a player without one.
func named(name string) string {
	if name == "" {
		return "unnamed"
	}
	return name
}

// OneLine returns the text of an error in one line.
func OneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", " ") }

// settle plays the episode of a recorded game with play, and fills in how it ends. play plays the
// turns of an episode, fills in its outcome, and returns the status after them and the number of
// turns played. reason is the reason why only the first `good` turns are as recorded, nil if all
// are. With a reason, the episode is cut after these turns if keep is set; otherwise there is no
// episode.
func (r *RecordedGame) settle(keep bool, good int, reason error, play func(e *rollout.Episode) (sim.Status, int)) {
	e := &r.Episode
	if reason != nil && !keep {
		r.Why = reason
		return
	}
	if reason != nil {
		e.Stopped, e.Status = OneLine(reason), sim.Cut
		cutEpisode(e, good)
	}
	for {
		status, turns := play(e)
		switch over := status != sim.Running; {
		case e.Turns == 0 && reason != nil:
			r.Why = fmt.Errorf("%w (in the first turn: nothing to keep)", reason)
		case e.Turns == 0:
			r.Why = fmt.Errorf("it has no turns")
		case reason != nil && over: // a cut game must not be over after its last turn
			cutEpisode(e, turns-1)
			continue
		case turns < e.Turns:
			r.Why = fmt.Errorf("the game is over after turn %d, but %d turns are recorded", turns-1, e.Turns)
		case reason == nil && !over:
			r.Why = fmt.Errorf("the recorded game is over after turn %d, but not when it is played again", turns-1)
		case reason == nil:
			e.Status = status
		}
		return
	}
}

// cutEpisode cuts an episode after its first turns.
func cutEpisode(e *rollout.Episode, turns int) {
	e.Turns = min(e.Turns, max(turns, 0))
	e.Ends = e.Ends[:e.Turns*e.Players]
	n := int32(0)
	if len(e.Ends) > 0 {
		n = e.Ends[len(e.Ends)-1]
	}
	e.Orders = e.Orders[:n]
}
