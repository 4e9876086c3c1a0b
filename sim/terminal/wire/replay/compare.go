package replay

import (
	"cmp"
	"fmt"
	"slices"

	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/frame"
)

// comparer compares frames. It reuses the memory of the lists that it sorts.
type comparer struct {
	old              bool // before 2020
	firstWins        bool // the match as played ended in a draw, but the original names a winner: player 1
	field, want, got string

	lists [2]struct {
		shields []terminal.ShieldEvent
		targets []terminal.Pos
		damages []terminal.DamageEvent
		deaths  []terminal.DeathEvent
	}
	hit, shot map[uint32]bool
}

// frame compares two frames of any phase. It stores the first difference in field, want and
// got; field is "" if the frames are equal.
func (c *comparer) frame(want, got *frame.Frame) {
	c.field = ""
	c.number("turnInfo[0]", want.Phase, got.Phase)
	c.number("turnInfo[1]", want.Turn, got.Turn)
	c.number("turnInfo[2]", want.Number, got.Number)
	if want.Index >= 0 {
		c.number("turnInfo[3]", want.Index, got.Index)
	}
	for p := range want.Stats {
		name := fmt.Sprintf("p%dStats", p+1)
		w, g := &want.Stats[p], &got.Stats[p]
		compareValues(c, name+"[0]", w.Health, g.Health)
		compareValues(c, name+"[1]", w.Cores, g.Cores)
		compareValues(c, name+"[2]", w.Bits, g.Bits)
		compareValues(c, name+"[3]", w.Time, g.Time)
	}
	c.events(&want.Events, &got.Events)
	for p := range want.Units {
		for k := range want.Units[p] {
			if c.field == "" && !slices.Equal(want.Units[p][k], got.Units[p][k]) {
				compareLists(c, fmt.Sprintf("p%dUnits[%d]", p+1, k), want.Units[p][k], got.Units[p][k])
			}
		}
	}
}

// number compares two whole numbers.
func (c *comparer) number(field string, want, got int) { compareValues(c, field, want, got) }

func compareValues[T comparable](c *comparer, field string, want, got T) {
	if c.field == "" && want != got {
		c.field, c.want, c.got = field, fmt.Sprint(want), fmt.Sprint(got)
	}
}

// compareLists compares two lists, entry by entry.
func compareLists[T comparable](c *comparer, field string, want, got []T) {
	if c.field != "" {
		return
	}
	for i := range max(len(want), len(got)) {
		at := fmt.Sprintf("%s[%d]", field, i)
		switch {
		case i >= len(want):
			c.field, c.want, c.got = at, "nothing", fmt.Sprintf("%+v", got[i])
		case i >= len(got):
			c.field, c.want, c.got = at, fmt.Sprintf("%+v", want[i]), "nothing"
		case want[i] != got[i]:
			c.field, c.want, c.got = at, fmt.Sprintf("%+v", want[i]), fmt.Sprintf("%+v", got[i])
		default:
			continue
		}
		return
	}
}

// events compares the lists of events. It sorts lists without a fixed order first.
func (c *comparer) events(want, got *frame.Events) {
	compareLists(c, "events.spawn", want.Spawns, got.Spawns)
	compareLists(c, "events.move", want.Moves, got.Moves)
	compareLists(c, "events.breach", want.Breaches, got.Breaches)
	for i, e := range [2]*frame.Events{want, got} {
		c.sort(i, e)
	}
	w, g := &c.lists[0], &c.lists[1]
	compareLists(c, "events.shield", w.shields, g.shields)
	c.explosions(want, got)
	compareLists(c, "events.damage", w.damages, g.damages)
	compareLists(c, "events.death", w.deaths, g.deaths)
	compareLists(c, "events.attack", want.Attacks, got.Attacks)
	if !c.old {
		compareLists(c, "events.melee", want.Melees, got.Melees)
	}
}

// explosions compares the selfDestruct lists with sorted targets.
func (c *comparer) explosions(want, got *frame.Events) {
	compareValues(c, "events.selfDestruct: entries", len(want.SelfDestructs), len(got.SelfDestructs))
	for i := range want.SelfDestructs {
		if c.field != "" {
			return
		}
		w, g := want.SelfDestructs[i], got.SelfDestructs[i]
		at := fmt.Sprintf("events.selfDestruct[%d]", i)
		targets := [2][]terminal.Pos{c.lists[0].targets[w.First:][:w.Count], c.lists[1].targets[g.First:][:g.Count]}
		w.First, w.Count, g.First, g.Count = 0, 0, 0, 0
		compareValues(c, at, w, g)
		compareLists(c, at+"[1]", targets[0], targets[1])
	}
}

// sort fills lists[i] with the sorted lists of a frame.
func (c *comparer) sort(i int, e *frame.Events) {
	s := &c.lists[i]
	s.shields = append(s.shields[:0], e.Shields...)
	for list := s.shields; len(list) > 0; { // one support after the other
		n := 1
		for ; n < len(list) && (c.old || list[n].ID == list[0].ID); n++ {
		}
		slices.SortFunc(list[:n], func(a, b terminal.ShieldEvent) int {
			return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Unit, b.Unit))
		})
		list = list[n:]
	}
	hits := 0 // damage entries of explosions, which come first
	s.targets = append(s.targets[:0], e.Targets...)
	for _, x := range e.SelfDestructs {
		hits += int(x.Count)
		slices.SortFunc(s.targets[x.First:][:x.Count], func(a, b terminal.Pos) int {
			return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X))
		})
	}
	s.damages = append(s.damages[:0], e.Damages...)
	if c.old {
		s.damages = slices.DeleteFunc(s.damages, func(d terminal.DamageEvent) bool { return d.Damage == 0 })
	}
	hits = min(hits, len(s.damages))
	slices.SortFunc(s.damages[:hits], func(a, b terminal.DamageEvent) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Damage, b.Damage))
	})
	s.deaths = append(s.deaths[:0], e.Deaths...)
	for i := range s.deaths {
		s.deaths[i].Repeated = false // files do not have it
	}
	switch {
	case c.old && len(s.deaths) > 0:
		// Removals are in the order of the commands. Units that self-destruct die when
		// they explode; in September 2019 they die after their shots.
		from := 0
		if !s.deaths[0].Removed {
			from = min(len(e.Breaches), len(s.deaths))
		}
		slices.SortFunc(s.deaths[from:], func(a, b terminal.DeathEvent) int { return cmp.Compare(a.ID, b.ID) })
	case hits > 0:
		c.sortDeaths(s.deaths, e, s.damages[:hits])
	}
}

// sortDeaths sorts the deaths that explosions caused. They come after the deaths of the
// breaches and before the first death that only a shot can have caused.
func (c *comparer) sortDeaths(deaths []terminal.DeathEvent, e *frame.Events, hits []terminal.DamageEvent) {
	if c.hit == nil {
		c.hit, c.shot = map[uint32]bool{}, map[uint32]bool{}
	}
	clear(c.hit)
	clear(c.shot)
	for _, d := range hits {
		c.hit[d.ID] = true
	}
	for _, x := range e.SelfDestructs {
		c.hit[x.ID] = true
	}
	for _, a := range e.Attacks {
		c.shot[a.Target] = true
	}
	from := min(len(e.Breaches), len(deaths))
	list := deaths[from:]
	if to := slices.IndexFunc(list, func(d terminal.DeathEvent) bool { return c.shot[d.ID] && !c.hit[d.ID] }); to >= 0 {
		list = list[:to]
	}
	slices.SortFunc(list, func(a, b terminal.DeathEvent) int { return cmp.Compare(a.ID, b.ID) })
}

// end compares the end frames; sums says that their totals cover all turns.
func (c *comparer) end(want, got *frame.Frame, sums bool) {
	c.frame(want, got)
	if c.field != "" || want.End == nil {
		return
	}
	if got.End == nil {
		c.field, c.want, c.got = "endStats", "the end of the match", "no end"
		return
	}
	w, g := want.End, got.End
	winner := g.Winner
	if winner == 0 && (w.Winner != 0 || g.Players[0].Time > 0) { // only matches without clocks, which were made here, end in a draw
		winner, c.firstWins = 1, true
	}
	c.number("endStats.winner", w.Winner, winner)
	c.number("endStats.turns", w.Turns, g.Turns)
	if !sums {
		return
	}
	c.number("endStats.frames", w.Frames, g.Frames)
	for p := range w.Players {
		at := fmt.Sprintf("endStats.player%d.", p+1)
		w, g := &w.Players[p], &g.Players[p]
		compareValues(c, at+"crashed", w.Crashed, g.Crashed)
		compareValues(c, at+"timeout_death", w.TimeoutDeath, g.TimeoutDeath)
		compareValues(c, at+"total_computation_time", w.Time, g.Time)
		compareValues(c, at+"time_damage_taken", w.TimeDamage, g.TimeDamage)
		compareValues(c, at+"points_scored", w.Points, g.Points)
		compareValues(c, at+"dynamic_resource_spent", w.MobileSpent, g.MobileSpent)
		compareValues(c, at+"dynamic_resource_destroyed", w.MobileLost, g.MobileLost)
		compareValues(c, at+"dynamic_resource_spoiled", w.MobileSpoiled, g.MobileSpoiled)
		compareValues(c, at+"stationary_resource_spent", w.StructureSpent, g.StructureSpent)
		compareValues(c, at+"stationary_resource_left_on_board", w.StructureLeft, g.StructureLeft)
	}
}
