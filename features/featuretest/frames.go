package featuretest

import (
	"fmt"
	"slices"
	"testing"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
)

// frameEvery is the number of turns of which one is drawn. A turn may have a hundred scenes.
const frameEvery = 3

// testFrames checks the scenes of the moments of turns, for all seats and a spectator.
func (c *suite[S]) testFrames(t *testing.T) {
	for seed := range uint64(c.Games) {
		g := &filmed[S]{Game: c.game, suite: c, t: t, seed: seed}
		simtest.Play(g, seed, func(turn int, _ *S, _ sim.Status) bool {
			g.turn = turn
			return !t.Failed() && (c.Turns == 0 || turn < c.Turns)
		})
	}
}

// filmed is a game that checks the scenes of every turn that it plays.
type filmed[S any] struct {
	sim.Game[S]
	suite *suite[S]
	t     *testing.T
	seed  uint64
	turn  int // to be played next
}

// Step plays a turn.
func (f *filmed[S]) Step(s *S, t *sim.Turn) sim.Status {
	before := *s
	status := f.Game.Step(s, t)
	if f.turn%(frameEvery*f.suite.Every) == 0 || status != sim.Running {
		var all []features.Scene
		for seat := features.Spectator; seat < f.suite.info.Players; seat++ {
			scenes, fault := f.suite.framesFault(&before, t, s, seat, all)
			if fault != "" {
				f.t.Errorf("seed %d turn %d seat %d: %s", f.seed, f.turn, seat, fault)
			}
			if seat == features.Spectator {
				all = scenes
			}
		}
	}
	return status
}

// framesFault returns the scenes of a turn, and what is wrong with them, or "". all
// has the scenes of the spectator.
func (c *suite[S]) framesFault(before *S, t *sim.Turn, after *S, seat int, all []features.Scene) (scenes []features.Scene, fault string) {
	scenes = c.frames(before, t, seat)
	again := c.frames(before, t, seat)
	if len(scenes) == 0 {
		return nil, "the turn has no scene"
	}
	for i := range scenes {
		if fault := sceneFault(&scenes[i], c.info.Players); fault != "" {
			return scenes, fmt.Sprintf("scene %d: %s", i, fault)
		}
	}
	if !slices.EqualFunc(scenes, again, func(a, b features.Scene) bool { return sameScene(&a, &b) }) {
		return scenes, "a second call has other scenes"
	}
	var want features.Scene
	c.kit.Scene(&want, after, seat)
	last := scenes[len(scenes)-1]
	if last.Events = nil; !sameScene(&last, &want) {
		return scenes, "the last scene is not that of the state after the turn"
	}
	if seat == features.Spectator {
		return scenes, c.numberFault(before, scenes)
	}
	if len(scenes) != len(all) {
		return scenes, fmt.Sprintf("%d scenes, a spectator has %d", len(scenes), len(all))
	}
	for i := range scenes {
		if fault := hiddenFault(&scenes[i], &all[i]); fault != "" {
			return scenes, fmt.Sprintf("scene %d: %s", i, fault)
		}
	}
	return scenes, ""
}

// frames returns copies of the scenes of a turn.
func (c *suite[S]) frames(before *S, t *sim.Turn, seat int) (scenes []features.Scene) {
	s := *before
	c.kit.Frames(&s, t, seat, func(f *features.Scene) { scenes = append(scenes, f.Clone()) })
	return scenes
}

// numberFault returns an error if a number has entities of different kinds or owners
// in a turn.
func (c *suite[S]) numberFault(before *S, scenes []features.Scene) string {
	var first features.Scene
	c.kit.Scene(&first, before, features.Spectator)
	has := map[uint32]OwnedKind{}
	for _, s := range append([]features.Scene{first}, scenes...) {
		for _, e := range s.Entities {
			is := OwnedKind{int(e.Owner), e.Kind}
			if had, ok := has[e.ID]; ok && e.ID != 0 && had != is {
				return fmt.Sprintf("the thing with the number %d was %+v and is %+v", e.ID, had, is)
			}
			has[e.ID] = is
		}
	}
	return ""
}

// testPaths checks the ways of units.
func (c *suite[S]) testPaths(t *testing.T) {
	c.each(t, func(v view[S]) {
		if v.p != 0 {
			return
		}
		var board features.Scene
		c.kit.Scene(&board, v.s, features.Spectator)
		before := c.game.Hash(v.s)
		paths, again := c.paths(v.s), c.paths(v.s)
		fault := ""
		for i := range paths {
			if f := pathFault(&paths[i], &board, c.info.Players); f != "" {
				fault = fmt.Sprintf("way %d: %s", i, f)
			}
		}
		switch {
		case fault != "":
		case !slices.EqualFunc(paths, again, func(a, b features.Path) bool {
			return a.Owner == b.Owner && a.Stops == b.Stops && a.Note == b.Note && slices.Equal(a.Cells, b.Cells)
		}):
			fault = "a second call has other ways"
		case c.game.Hash(v.s) != before:
			fault = "the state has changed"
		}
		if fault != "" {
			t.Errorf("seed %d turn %d: %s", v.seed, v.turn, fault)
		}
	})
}

// paths returns copies of the ways in a state.
func (c *suite[S]) paths(s *S) (all []features.Path) {
	c.kit.Paths(s, func(p *features.Path) {
		own := *p
		own.Cells = slices.Clone(p.Cells)
		all = append(all, own)
	})
	return all
}

// pathFault returns what is wrong with a way, or "".
func pathFault(p *features.Path, board *features.Scene, players int) string {
	if p.Owner < 0 || int(p.Owner) >= players || len(p.Cells) == 0 {
		return fmt.Sprintf("%d cells of owner %d", len(p.Cells), p.Owner)
	}
	for i, at := range p.Cells {
		if float32(at.X) >= board.Width || float32(at.Y) >= board.Height {
			return fmt.Sprintf("%+v is outside of the board", at)
		}
		if i == 0 {
			continue
		}
		dx, dy := int(at.X)-int(p.Cells[i-1].X), int(at.Y)-int(p.Cells[i-1].Y)
		if dx*dx+dy*dy != 1 {
			return fmt.Sprintf("%+v is not beside %+v", at, p.Cells[i-1])
		}
	}
	return ""
}
