package plain_test

import (
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// recordedEvents are the rows of a list of the current frame: the numbers of
// each entry from left to right.
func (r *recording) recordedEvents(name string) (rows [][]float32) {
	for _, e := range r.frame.events[name].list {
		rows = append(rows, e.flat())
	}
	return rows
}

var eventLists = []string{"spawn", "move", "breach", "shield", "selfDestruct", "damage", "death", "attack"}

// compareFrame compares the current frame with what the game has just played.
func (r *recording) compareFrame() string {
	want, have := map[string][][]float32{}, gameRows(&r.game.Events)
	for _, name := range eventLists {
		want[name] = r.recordedEvents(name)
	}
	if r.old { // blows of units close to each other, which do nothing
		want["damage"] = slices.DeleteFunc(want["damage"], func(e []float32) bool { return e[2] == 0 })
	}
	for _, rows := range []map[string][][]float32{want, have} {
		settle(rows)
		if r.old { // the events of several supports are mixed up
			sortRows(rows["shield"])
		}
	}
	for _, name := range eventLists {
		if d := compareRows(name, want[name], have[name]); d != "" {
			return d
		}
	}
	return r.compareBoard()
}

// settle sorts what the original does not put into an order that it would
// repeat: the units shielded by one support, the targets of an explosion, and
// the damage and the deaths that explosions do.
func settle(rows map[string][][]float32) {
	shields := rows["shield"]
	for from := 0; from < len(shields); {
		to := from
		for to < len(shields) && shields[to][6] == shields[from][6] { // the support's id
			to++
		}
		sortRows(shields[from:to])
		from = to
	}
	hit := 0
	for _, e := range rows["selfDestruct"] {
		var targets [][]float32
		for cells := e[2 : len(e)-4]; len(cells) > 0; cells = cells[2:] {
			targets = append(targets, slices.Clone(cells[:2]))
		}
		sortRows(targets)
		copy(e[2:], slices.Concat(targets...))
		hit += len(targets)
	}
	sortRows(rows["damage"][:min(hit, len(rows["damage"]))])
	// Deaths: those who breach, then those of explosions, then those who are
	// shot, and nobody shoots at the dead.
	shot := map[float32]bool{}
	for _, e := range rows["attack"] {
		shot[e[7]] = true // the target's id, behind two cells, damage, kind and id
	}
	deaths := rows["death"]
	deaths = deaths[min(len(rows["breach"]), len(deaths)):]
	n := 0
	for n < len(deaths) && !shot[deaths[n][3]] {
		n++
	}
	sortRows(deaths[:n])
}

func cells(all ...terminal.Pos) (row []float32) {
	for _, c := range all {
		row = append(row, float32(c.X), float32(c.Y))
	}
	return row
}

// unit is the end of most rows.
func unit(k terminal.Kind, id uint32, p sim.Player) []float32 {
	return []float32{float32(k), float32(id), float32(p + 1)}
}

// gameRows are the events of a frame in the layout of the recordings.
func gameRows(f *terminal.Frame) map[string][][]float32 {
	rows := map[string][][]float32{}
	add := func(name string, parts ...[]float32) { rows[name] = append(rows[name], slices.Concat(parts...)) }
	for _, e := range f.Spawns {
		add("spawn", cells(e.At), unit(e.Kind, e.ID, e.Player))
	}
	for _, e := range f.Moves {
		add("move", cells(e.From, e.To), []float32{0, 0}, unit(e.Kind, e.ID, e.Player))
	}
	for _, e := range f.Breaches {
		add("breach", cells(e.At), []float32{e.Damage}, unit(e.Kind, e.ID, e.Player))
	}
	for _, e := range f.Shields {
		add("shield", cells(e.From, e.To), []float32{e.Amount, float32(e.Kind), float32(e.ID), float32(e.Unit), float32(e.Player + 1)})
	}
	for _, e := range f.SelfDestructs {
		add("selfDestruct", cells(e.At), cells(f.TargetsOf(e)...), []float32{e.Damage}, unit(e.Kind, e.ID, e.Player))
	}
	for _, e := range f.Damages {
		add("damage", cells(e.At), []float32{e.Damage}, unit(e.Kind, e.ID, e.Player))
	}
	rows["death"] = deathRows(f.Deaths)
	for _, e := range f.Attacks {
		add("attack", cells(e.From, e.To), []float32{e.Damage, float32(e.Kind), float32(e.ID), float32(e.Target), float32(e.Player + 1)})
	}
	return rows
}

func deathRows(deaths []terminal.DeathEvent) (rows [][]float32) {
	for _, e := range deaths {
		removed := float32(0)
		if e.Removed {
			removed = 1
		}
		rows = append(rows, append(append(cells(e.At), unit(e.Kind, e.ID, e.Player)...), removed))
	}
	return rows
}
