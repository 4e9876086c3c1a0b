package codecraft

// Record keeps the events of one tick, if it is given to Game.Record. Step
// empties it first.
type Record struct {
	Attacks []Hit    // in the order of their processing, wasted ones too
	Died    []uint32 // ids of what was removed, units first, by id
}

// Hit is an attack.
type Hit struct{ Attacker, Victim uint32 }

// Record makes Step note the events of every tick in r, until Record(nil).
func (g *Game) Record(r *Record) { g.record = r }
