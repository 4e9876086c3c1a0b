package protocol

import "moonfarm/sim/codecraft"

// Bounds of a client's messages.
//
// An action is a map by entity. Every entity covers a cell, so a client can name no more
// entities than the map has cells, which is also more than a player can own, without naming
// one that does not exist. The longest entry in which no type is named twice has an id, four
// bools for the parts that follow, a move with two coordinates and two bools, a build with a
// type and two coordinates, an attack with two bools, a target, a range and a list of all
// types, and a repair with a target. Entries for dead or repeated entities count too.
//
// A debug message may draw a picture: two triangles on every cell take less than half of its
// limit.
const (
	maxActions = codecraft.Cells
	maxItem    = 4 + 4 + (4 + 4 + 1 + 1) + (4 + 4 + 4) + (1 + 4 + 1 + 4 + 4 + 4*codecraft.Types) + 4
	// MaxAction is the limit of an ActionMessage in bytes, without its tag.
	MaxAction = 4 + maxActions*maxItem

	vertexSize = 1 + 2*4 + 2*4 + 4*4
	// MaxDebug is the limit of a DebugMessage in bytes, without its tag.
	MaxDebug = 1 << 22
)

// A debug message has room for two triangles on every cell twice.
const _ = uint(MaxDebug - 2*codecraft.Cells*6*vertexSize)
