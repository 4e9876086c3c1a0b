package terminal

import (
	"moonfarm/sim"
	tm "moonfarm/sim/terminal"
)

// Indices of the event counts in Frames.Events. An event counts for the player in the original's
// event: the owner of the acting unit or, for damages and deaths, of the unit that suffered.
const (
	EventSpawns     = iota // units, upgrades and marks for removal; in the first frame only
	EventMoves             // steps of mobile units
	EventBreaches          // mobile units that breached
	EventShields           // mobile units shielded by a support
	EventExplosions        // self-destructs that explode; one with different damage to mobile units and structures counts twice
	EventDamages           // hits taken
	EventDeaths            // units lost, including units that breached
	EventAttacks           // shots
	FrameEvents
)

// FramePlanes is the number of planes of mobile units in one frame: own scouts, demolishers and
// interceptors, then the enemy's.
const FramePlanes = 2 * mobileKinds

// Frames writes the frames of the action phase of a turn as a seat sees them: its own half at the
// bottom, and its own values first. The caller provides the slabs; either may be nil. Frames is not
// safe for concurrent use, and allocates only while its lists grow.
type Frames struct {
	// Events receives the numbers of events, int32 [frames, 2, FrameEvents]: own, then the
	// enemy's.
	Events []int32
	// Units receives the mobile units at the end of each frame, uint8 [frames, FramePlanes,
	// 28, 28]: their number on each cell, at most 255.
	Units []uint8

	record tm.Record
	mobile []tm.Piece
}

// Play plays the turn on s, as g.Step does, and returns the number of its frames. If the slabs are
// too small for all frames, it writes only the first ones; it writes nothing after the last frame.
// If Events is not nil, it replaces the game's Record, which is nil afterwards.
func (f *Frames) Play(g *tm.Game, s *tm.State, t *sim.Turn, seat sim.Player) (frames int, status sim.Status) {
	f.record.Clear()
	if f.Events != nil {
		g.Record(&f.record)
		defer g.Record(nil)
	}
	g.Deploy(s, t)
	for more := true; more; frames++ {
		more = g.Frame(s)
		if at := frames * 2 * FrameEvents; at+2*FrameEvents <= len(f.Events) {
			f.events((*[2 * FrameEvents]int32)(f.Events[at:]), frames, seat)
		}
		if at := frames * FramePlanes * planeBytes; at+FramePlanes*planeBytes <= len(f.Units) {
			f.units((*[FramePlanes * planeBytes]uint8)(f.Units[at:]), g, seat)
		}
	}
	return frames, g.Restore(s)
}

// events counts the events of a frame.
func (f *Frames) events(dst *[2 * FrameEvents]int32, frame int, seat sim.Player) {
	*dst = [2 * FrameEvents]int32{}
	count := func(event int, p sim.Player) { dst[int(p^seat)*FrameEvents+event]++ }
	r := f.record.Frame(frame)
	for i := range r.Spawns {
		count(EventSpawns, r.Spawns[i].Player)
	}
	for i := range r.Moves {
		count(EventMoves, r.Moves[i].Player)
	}
	for i := range r.Breaches {
		count(EventBreaches, r.Breaches[i].Player)
	}
	for i := range r.Shields {
		count(EventShields, r.Shields[i].Player)
	}
	for i := range r.SelfDestructs {
		count(EventExplosions, r.SelfDestructs[i].Player)
	}
	for i := range r.Damages {
		count(EventDamages, r.Damages[i].Player)
	}
	for i := range r.Deaths {
		if !r.Deaths[i].Repeated {
			count(EventDeaths, r.Deaths[i].Player)
		}
	}
	for i := range r.Attacks {
		count(EventAttacks, r.Attacks[i].Player)
	}
}

// units writes the planes of the mobile units on the board.
func (f *Frames) units(dst *[FramePlanes * planeBytes]uint8, g *tm.Game, seat sim.Player) {
	clear(dst[:])
	for p := range sim.Player(2) {
		f.mobile = g.AppendMobile(f.mobile[:0], p)
		first := int(p^seat) * mobileKinds * planeBytes
		for _, u := range f.mobile {
			at := int(u.At.Y)*side + int(u.At.X)
			if seat == 1 {
				at = planeBytes - 1 - at
			}
			if n := &dst[first+int(u.Kind-tm.Scout)*planeBytes+at]; *n < 255 {
				*n++
			}
		}
	}
}
