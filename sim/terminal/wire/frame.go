// Package wire reads and writes the formats of C1 Terminal's official engine:
// its config file, the frames it shows to bots, its replay files, and the
// bots' answers.
package wire

import "moonfarm/sim/terminal"

// Phases of a Frame.
const (
	PhaseDeploy = 0 // the state before the players submit
	PhaseAction = 1
	PhaseEnd    = 2
)

// Frame is one frame as the official engine writes it. A Frame that is read
// into keeps the memory of its lists.
type Frame struct {
	Phase, Turn, Number int // of turnInfo; Number is −1 in a deploy frame
	Index               int // running number of the recorded frame; −1 where the file has none (before 2020)

	Stats  [2]Stats
	Units  [2]Units
	Events Events
	End    *EndStats // nil but in the last frame of a match that was recorded to its end
}

// Stats are the numbers of one player.
type Stats struct {
	Health, Cores, Bits float32
	Time                float64 // milliseconds of the latest answer
}

// Units are the lists of one player's units: by terminal.Kind, then the
// structures marked for removal (terminal.Removal) and the upgraded ones
// (terminal.Upgrade). Files before upgrades existed do not have the last list:
// it is nil then, and otherwise not, though it may be empty: see Frame.Clear.
type Units [8][]Unit

// Unit is one entry: Value is the health of a unit, or the restores until a
// marked structure is removed.
type Unit struct {
	At    terminal.Pos
	Value float32
	ID    uint32
}

// Events are the nine lists of events, in the order of terminal.Record.
type Events struct {
	Spawns        []terminal.SpawnEvent
	Moves         []terminal.MoveEvent
	Breaches      []terminal.BreachEvent
	Shields       []terminal.ShieldEvent
	SelfDestructs []terminal.SelfDestructEvent // First counts from Targets[0]
	Targets       []terminal.Pos
	Damages       []terminal.DamageEvent
	Deaths        []terminal.DeathEvent
	Attacks       []terminal.AttackEvent
	Melees        []terminal.AttackEvent // only in files before 2020; they name no target

	// Planned are the cells to which the units of Moves will go next, as the
	// betas of 2018 tell. It is empty in later files, which write [0,0].
	Planned []terminal.Pos
	// Unflagged: the deaths do not say whether they are removals, as in the
	// betas of 2018.
	Unflagged bool
}

// EndStats is what the last frame tells of the whole match.
type EndStats struct {
	Duration      float64 // milliseconds
	Winner        int     // 1 or 2; 0: all is equal, which only recordings made here say
	Turns, Frames int
	Players       [2]PlayerEnd
}

// PlayerEnd are one player's sums over a match.
type PlayerEnd struct {
	Name           string
	Crashed        bool
	TimeoutDeath   bool
	Time           float64 // total_computation_time, milliseconds
	TimeDamage     float64 // time_damage_taken
	Points         float32 // points_scored: health the opponent lost
	MobileSpent    float32 // dynamic_resource_spent
	MobileLost     float32 // dynamic_resource_destroyed
	MobileSpoiled  float32 // dynamic_resource_spoiled
	StructureSpent float32 // stationary_resource_spent
	StructureLeft  float32 // stationary_resource_left_on_board

	absent uint16 // by the number of the key, for files of 2018, which have fewer
}

// Clear makes f the frame of turn 0 before which nothing happened: all lists are
// empty, all eight lists of units are there, all numbers are 0. It keeps the
// memory of the lists.
func (f *Frame) Clear() {
	e := &f.Events
	*f = Frame{Units: f.Units, Events: Events{
		e.Spawns[:0], e.Moves[:0], e.Breaches[:0], e.Shields[:0], e.SelfDestructs[:0], e.Targets[:0],
		e.Damages[:0], e.Deaths[:0], e.Attacks[:0], e.Melees[:0], e.Planned[:0], false,
	}}
	for p := range f.Units {
		for k := range f.Units[p] {
			f.Units[p][k] = f.Units[p][k][:0]
		}
		if f.Units[p][terminal.Upgrade] == nil {
			f.Units[p][terminal.Upgrade] = []Unit{}
		}
	}
}
