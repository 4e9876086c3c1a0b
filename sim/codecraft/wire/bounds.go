package wire

import "moonfarm/sim/codecraft"

// Bounds of what is read: a small or damaged file must not take much memory or
// time.
const (
	maxItems  = 1 << 15 // entities, actions or events in a state or a tick: more than the cells of the map could hold
	maxBytes  = 1 << 24 // of a state or a tick of a replay file; a full map has a tenth
	maxReplay = 1 << 28 // bytes of the replay files that are held in memory
	maxLine   = 1 << 22 // bytes of a line of JSON; the longest of the recordings has 180 KB, and a full map with an action for every cell 1.5 MB
	maxBlank  = 1 << 16 // bytes of blank lines in a row: a small file can hold gigabytes of them

	maxSeconds = 1e9  // limits of time in a config: what is longer is a mistake
	maxTries   = 2000 // ways to give last orders that are tried in a tick
)

// Bounds of what a client sends.
//
// An action is a map by entity. Every entity that is there covers a cell, so a
// client can name no more entities than there are cells, and more than any player
// can own, without naming one that is not there. The longest item of a client that
// names no type twice has an id, four bools that say which parts there are, a move
// with two coordinates and two bools, a build with a type and two coordinates, an
// attack with two bools, a target, a range and a list of all types, and a repair with
// a target. What is in the action of an entity that is named twice, or of one
// that has died, counts like any other.
//
// A debug message may draw a picture: two triangles on every cell have less
// than half of what it may have.
const (
	maxActions = codecraft.Cells
	maxItem    = 4 + 4 + (4 + 4 + 1 + 1) + (4 + 4 + 4) + (1 + 4 + 1 + 4 + 4 + 4*codecraft.Types) + 4
	// MaxAction is how many bytes an ActionMessage may have behind its tag.
	MaxAction = 4 + maxActions*maxItem

	vertexSize = 1 + 2*4 + 2*4 + 4*4
	// MaxDebug is how many bytes a DebugMessage may have behind its tag.
	MaxDebug = 1 << 22
)

// Two triangles on every cell fit a debug message twice.
const _ = uint(MaxDebug - 2*codecraft.Cells*6*vertexSize)
