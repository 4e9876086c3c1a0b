package wire

import (
	"cmp"
	"math"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/terminal"
)

// refereed takes clocks and penalties into account. A penalty of a crash's
// size is one, and the rest of the penalties is for thinking too long; a player
// who dies of that after MaxTime is one who never answered, which the original
// calls a crash too.
func (r *Referee) refereed(p sim.Player, orders []sim.Order) {
	clock, penalty := uint64(0), float32(0)
	for _, o := range orders {
		switch c := terminal.Decode(o); c.Op {
		case terminal.OpClock:
			clock = min(clock+uint64(c.Count), math.MaxUint32)
		case terminal.OpPenalty:
			if health := math.Float32frombits(c.Count); health > 0 && health <= math.MaxFloat32 {
				penalty += health
			}
		}
	}
	r.clock[p] = uint32(clock)
	sum := &r.sums[p]
	sum.Time += float64(clock)
	crash, limit := r.rules.CrashPenalty(), r.rules.MaxTime
	switch {
	case penalty > 0 && limit > 0 && clock >= uint64(limit) && r.state.Health[p]-penalty <= 0:
		sum.Crashed, sum.TimeoutDeath = true, true
	case penalty >= crash:
		sum.Crashed = true
		penalty -= crash
	}
	sum.TimeDamage += float64(penalty)
}

// told takes from the end of a recording what it alone can tell, before the end
// frame is made: who crashed and whose time ran out, and so for what a player
// lost health before a turn; and, where its frames hold no times, as those of
// August 2018, for how long the players thought. Whether one whose time ran out
// may also pay for a crash is not known: the recording may say either.
func (r *Referee) told(end *EndStats) {
	untimed := r.untimed()
	crash := float64(r.rules.CrashPenalty())
	for p := range r.sums {
		sum, told := &r.sums[p], &end.Players[p]
		if ms, ok := milliseconds(told.Time); ok && untimed {
			sum.Time, r.state.Time[p] = told.Time, ms
		}
		if sum.Crashed && !sum.TimeoutDeath {
			sum.TimeDamage += crash // now it is all that was lost
		}
		rest := sum.TimeDamage - crash
		if told.Crashed && rest >= 0 && (!told.TimeoutDeath || told.TimeDamage == rest) {
			sum.TimeDamage = rest
		}
		sum.Crashed, sum.TimeoutDeath = told.Crashed, told.TimeoutDeath
	}
}

// untimed reports whether no player has thought so far, and that the rules are those
// of old recordings, which may lack the times.
func (r *Referee) untimed() bool {
	return r.rules.OldIDs && r.sums[0].Time == 0 && r.sums[1].Time == 0
}

// milliseconds is a time as the state holds it, and whether it can.
func milliseconds(time float64) (uint32, bool) {
	if !(time >= 0 && time <= math.MaxUint32) || time != math.Trunc(time) {
		return 0, false
	}
	return uint32(time), true
}

// spent adds the prices of what was just bought to the sums.
func (r *Referee) spent() {
	for _, e := range r.record.Spawns {
		sum, x, y := &r.sums[e.Player], int(e.At.X), int(e.At.Y)
		switch {
		case e.Kind == terminal.Removal:
			cell, _ := bitboard.DiamondCell(x, y)
			r.removals[cell] = e.ID
		case e.Kind == terminal.Upgrade:
			if piece, ok := r.state.At(x, y); ok {
				sum.StructureSpent += r.rules.Upgraded[piece.Kind].Cores
			}
		case e.Kind.Structure():
			paid := r.rules.Units[e.Kind].Cores
			if piece, ok := r.state.At(x, y); ok && r.rules.UpgradeAsKind && piece.Upgraded && piece.ID == e.ID {
				paid = r.rules.Upgraded[e.Kind].Cores
			}
			sum.StructureSpent += paid
		default:
			sum.MobileSpent += r.rules.Units[e.Kind].Bits
		}
	}
}

// lost adds the mobile units that died in this frame without a breach.
func (r *Referee) lost() {
	events := &r.frame.Events
	for _, d := range events.Deaths {
		if !d.Kind.Mobile() || d.Repeated || slices.ContainsFunc(events.Breaches, func(b terminal.BreachEvent) bool { return b.ID == d.ID }) {
			continue
		}
		r.sums[d.Player].MobileLost += r.rules.Units[d.Kind].Bits
	}
}

// spoil adds the bits of player p that the restore lets decay; a match that is
// over has none. The original rounds the sum to tenths each time.
func (r *Referee) spoil(p int) {
	if r.state.Health[0] <= 0 || r.state.Health[1] <= 0 {
		return
	}
	bits := r.state.Bits[p]
	left := float32(bits * (1 - r.rules.BitDecay))
	r.sums[p].MobileSpoiled = terminal.Tenths(r.sums[p].MobileSpoiled + (bits - terminal.Tenths(left)))
}

// endStats sums up the match: what no sum so far holds is on the board. Its
// duration is the players' thinking time. The winner is 0 where the rules know
// none: all is equal, the thinking times too.
func (r *Referee) endStats() EndStats {
	end := EndStats{Turns: r.frame.Turn, Frames: r.frames, Players: r.sums}
	for p := range sim.Player(2) {
		sum, units := &end.Players[p], &r.frame.Units[p]
		sum.Name = r.names[p]
		sum.Points = r.rules.StartHealth - r.state.Health[p^1]
		end.Duration += sum.Time
		for k := range terminal.Kind(terminal.Kinds) {
			u := &r.rules.Units[k]
			for _, unit := range units[k] {
				if k.Mobile() {
					sum.MobileLost += u.Bits
				} else if !r.rules.UpgradeAsKind || !r.upgraded(unit) {
					sum.StructureLeft += u.Cores
				}
			}
		}
		for _, u := range units[terminal.Upgrade] {
			if piece, ok := r.state.At(int(u.At.X), int(u.At.Y)); ok {
				sum.StructureLeft += r.rules.Upgraded[piece.Kind].Cores
			}
		}
		if r.game.Outcome(&r.state, p).Result > 0 {
			end.Winner = int(p) + 1
		}
	}
	return end
}

// upgraded reports whether a structure on the board is.
func (r *Referee) upgraded(u Unit) bool {
	piece, ok := r.state.At(int(u.At.X), int(u.At.Y))
	return ok && piece.Upgraded
}

// sortUnits puts a list in the order of ids.
func sortUnits(list []Unit) {
	slices.SortFunc(list, func(a, b Unit) int { return cmp.Compare(a.ID, b.ID) })
}
