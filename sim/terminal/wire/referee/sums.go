package referee

import (
	"cmp"
	"math"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/frame"
)

// addTimes adds the clocks and penalties among the orders to the totals. A penalty as great as
// that of a crash contains a crash; the rest is for thinking too long. A player who dies of a
// penalty after MaxTime never answered, which the original also calls a crash.
func (r *Referee) addTimes(p sim.Player, orders []sim.Order) {
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

// Recorded takes facts from the end of a recording that the orders do not contain. It is
// called before the end frame is made. The facts are who crashed and whose time ran out,
// which tell why players lost health before a turn, and, if the frames have no times, as in
// August 2018, how long the players thought. It is not known whether a player whose time ran
// out also pays for a crash, so the recording may say either.
func (r *Referee) Recorded(end *frame.EndStats) {
	untimed := r.untimed()
	crash := float64(r.rules.CrashPenalty())
	for p := range r.sums {
		sum, recorded := &r.sums[p], &end.Players[p]
		if ms, ok := frame.Milliseconds(recorded.Time); ok && untimed {
			sum.Time, r.state.Time[p] = recorded.Time, ms
		}
		if sum.Crashed && !sum.TimeoutDeath {
			sum.TimeDamage += crash // now all health lost by penalties
		}
		rest := sum.TimeDamage - crash
		if recorded.Crashed && rest >= 0 && (!recorded.TimeoutDeath || recorded.TimeDamage == rest) {
			sum.TimeDamage = rest
		}
		sum.Crashed, sum.TimeoutDeath = recorded.Crashed, recorded.TimeoutDeath
	}
}

// untimed reports whether the rules are those of old recordings, which may lack times, and
// no frame had a time so far.
func (r *Referee) untimed() bool {
	return r.rules.OldIDs && r.sums[0].Time == 0 && r.sums[1].Time == 0
}

// spent adds the prices of the units and upgrades just bought to the totals.
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

// lost adds the mobile units that died in this frame without a breach to the totals.
func (r *Referee) lost() {
	events := &r.frame.Events
	for _, d := range events.Deaths {
		if !d.Kind.Mobile() || d.Repeated || slices.ContainsFunc(events.Breaches, func(b terminal.BreachEvent) bool { return b.ID == d.ID }) {
			continue
		}
		r.sums[d.Player].MobileLost += r.rules.Units[d.Kind].Bits
	}
}

// spoil adds the bits of player p that decay in the restore to the totals. A match that is
// over has no restore. The original rounds the total to tenths each time.
func (r *Referee) spoil(p int) {
	if r.state.Health[0] <= 0 || r.state.Health[1] <= 0 {
		return
	}
	bits := r.state.Bits[p]
	left := float32(bits * (1 - r.rules.BitDecay))
	r.sums[p].MobileSpoiled = terminal.Tenths(r.sums[p].MobileSpoiled + (bits - terminal.Tenths(left)))
}

// endStats returns the totals of the match, to which it adds the units on the board. The
// duration is the players' thinking time. The winner is 0 if health and thinking times are
// equal, unless the rules have FirstWins.
func (r *Referee) endStats() frame.EndStats {
	end := frame.EndStats{Turns: r.frame.Turn, Frames: r.frames, Players: r.sums}
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

// upgraded reports whether the structure on the cell of u is upgraded.
func (r *Referee) upgraded(u frame.Unit) bool {
	piece, ok := r.state.At(int(u.At.X), int(u.At.Y))
	return ok && piece.Upgraded
}

// sortUnits sorts a list by id.
func sortUnits(list []frame.Unit) {
	slices.SortFunc(list, func(a, b frame.Unit) int { return cmp.Compare(a.ID, b.ID) })
}
