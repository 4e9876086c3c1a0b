package recordings

import (
	"bufio"
	"fmt"
	"io"

	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/recording"
	"moonfarm/sim/codecraft/wire/replay"
	"moonfarm/sim/texts"
)

// Read implements Engine: it reads a recorded game as an episode. If its seed is known
// and the game goes as recorded from that seed, the episode is that game; otherwise the
// episode is the recording itself.
func (codecraftEngine) Read(name string, in io.Reader, o ReadOptions, yield func(*RecordedGame) error) error {
	x := codecraftReader{name: name, o: o}
	var err error
	if x.replay, err = replay.Read(name, in); x.replay == nil || err != nil && !o.Keep {
		return err
	}
	if err != nil {
		x.broken = unnamed(err, "recording "+name)
	}
	if x.replay.Ticks() == 0 {
		return fmt.Errorf("recording %s: it has no ticks", name)
	}
	r, err := x.episode()
	if err != nil {
		return fmt.Errorf("recording %s: %w", name, err)
	}
	return yield(r)
}

// codecraftReader makes an episode of a replay.
type codecraftReader struct {
	name   string
	o      ReadOptions
	replay *replay.Replay
	broken error // why the rest of the file cannot be read; nil if it can
}

// candidates returns the rules by which the game may have been played: the rules in the recording,
// completed by the given rules, or by each preset if none are given.
func (x *codecraftReader) candidates() ([]codecraft.Rules, error) {
	names := codecraft.Presets()
	if x.o.Rules != "" {
		names = []string{x.o.Rules}
	}
	var all []codecraft.Rules
	for _, name := range names {
		rules, err := givenCodecraftRules(name)
		if err == nil {
			rules, err = x.replay.Start.Rules(rules)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, rules)
	}
	return all, nil
}

// seeds returns the seeds from which the game may have been played: the seed in the replay by these
// rules, and the seed in the results file beside it.
func (x *codecraftReader) seeds(g *codecraft.Game) (seeds []uint64) {
	if seed, ok := x.replay.Start.Seed(g); ok {
		seeds = append(seeds, seed)
	}
	if results, _ := readResults(x.name, "", x.replay.Scores()); results != nil {
		seeds = append(seeds, results.Seed)
	}
	return seeds
}

// episode makes the episode. A game that its results contradict has none, or ends before its last
// tick if ReadOptions.Keep is set.
func (x *codecraftReader) episode() (*RecordedGame, error) {
	r, err := x.found()
	if err != nil || r.Episode.Status != sim.Over {
		return r, err
	}
	file, other := contradiction(x.name, x.replay.Scores())
	if other == nil {
		return r, nil
	}
	x.broken = fmt.Errorf("the game ends with the scores %v, but %s has %v", x.replay.Scores(), file, other)
	if !x.o.Keep || x.replay.Ticks() == 1 {
		return nil, x.broken
	}
	x.replay.Cut(x.replay.Ticks() - 1)
	return x.found()
}

// found finds rules and a seed that reproduce the game. Without them the episode is the recording
// itself, whose ticks are checked by the rules.
func (x *codecraftReader) found() (*RecordedGame, error) {
	candidates, err := x.candidates()
	if err != nil {
		return nil, err
	}
	for i, rules := range candidates {
		g, err := codecraft.New(rules)
		if err != nil {
			return nil, err
		}
		seeds := x.seeds(g)
		for _, seed := range seeds {
			if status, same := x.replay.PlayAgain(g, seed); same {
				return x.playedFrom(seed, g, status), nil
			}
		}
		if len(seeds) > 0 { // check these rules first, which are the likeliest
			candidates[0], candidates[i] = candidates[i], candidates[0]
		}
	}
	return x.checked(candidates)
}

// checked makes the episode of a game that cannot be reproduced, by the first rules that allow all
// of its ticks. If no rules do and ReadOptions.Keep is set, the episode ends before the first tick
// that the rules forbid.
func (x *codecraftReader) checked(candidates []codecraft.Rules) (*RecordedGame, error) {
	var reason error
	good, rules := 0, candidates[0] // the largest number of ticks that some rules allow
	for _, c := range candidates {
		g, n, err := x.replay.Check(c)
		if err == nil {
			return x.recording(g, x.stopped(g.Status)), nil
		}
		if reason == nil || n > good {
			good, rules, reason = n, c, fmt.Errorf("differs when played here: %w", err)
		}
	}
	if !x.o.Keep {
		return nil, reason
	}
	for good > 0 { // a cut game must not be over after its last tick
		x.replay.Cut(good)
		g, n, err := x.replay.Check(rules)
		if err == nil && g.Status == sim.Running {
			return x.recording(g, OneLine(reason)), nil
		}
		if good--; err != nil && n > 0 { // the game is over before
			good = min(good, n)
		}
	}
	return nil, fmt.Errorf("%w (in the first tick: nothing to keep)", reason)
}

// stopped returns the reason why the recording ends before the game is over, or "" if the game is
// over.
func (x *codecraftReader) stopped(status sim.Status) string {
	switch {
	case status != sim.Running:
		return ""
	case x.broken != nil:
		return OneLine(x.broken)
	}
	return fmt.Sprintf("the recording ends after %s", texts.Plural(x.replay.Ticks(), "tick"))
}

// playedFrom makes the episode of a game that its seed reproduces.
func (x *codecraftReader) playedFrom(seed uint64, g *codecraft.Game, status sim.Status) *RecordedGame {
	r := x.common(g, status, x.stopped(status))
	r.Episode.Seed = seed
	play(g, &r.Episode, nil)
	return r
}

// recording makes the episode of a game from its recorded states.
func (x *codecraftReader) recording(g *replay.RecordedGame, stopped string) *RecordedGame {
	r := x.common(g.Game, g.Status, stopped)
	r.Episode.Recording = x.replay.File
	for p := range sim.Player(r.Episode.Players) {
		r.Episode.Outcome[p] = g.Outcome(&g.Last, p)
	}
	return r
}

// common makes the part of an episode that both kinds take from the replay.
func (x *codecraftReader) common(g *codecraft.Game, status sim.Status, stopped string) *RecordedGame {
	rules := g.Rules()
	r := &RecordedGame{Rules: string(rules.AppendText(nil)), RuleSet: codecraftSet(rules)}
	r.Episode = rollout.Episode{
		Players: int(rules.Players), Turns: x.replay.Ticks(), Status: status, Stopped: stopped,
		Orders: x.replay.Orders, Ends: x.replay.OrderEnds,
	}
	if status == sim.Running {
		r.Episode.Status = sim.Cut
	}
	for range r.Episode.Players {
		r.Episode.Policies = append(r.Episode.Policies, named(""))
	}
	return r
}

// codecraftSet returns the name of the preset with these rules, "" if no preset has them.
func codecraftSet(rules codecraft.Rules) string {
	for _, name := range codecraftRuleSets() {
		if r, err := codecraft.ParseRules([]byte(name)); err == nil && r == rules {
			return name
		}
	}
	return ""
}

// writeCodecraft writes an episode as a replay file.
func writeCodecraft(out io.Writer, recorded *RecordedGame) error {
	e := &recorded.Episode
	if len(e.Recording) > 0 {
		_, err := out.Write(e.Recording)
		return err
	}
	r, err := codecraft.ParseRules([]byte(recorded.Rules))
	if err != nil {
		return err
	}
	g, err := codecraft.New(r)
	if err != nil {
		return err
	}
	start := new(codecraft.State)
	g.Reset(start, e.Seed)
	buffered := bufio.NewWriterSize(out, 1<<16)
	rec := recording.NewRecorder(buffered, g, start)
	same := playAgain(g, e, rec.Tick)
	if err := rec.Close(); err != nil {
		return err
	}
	if same != nil {
		return same
	}
	return buffered.Flush()
}
