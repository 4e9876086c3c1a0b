package picture

// Role is what a colour is for. One table has the colours of all roles.
type Role uint8

// Roles besides those of owners.
const (
	Paper   Role = iota // what pictures are drawn on
	Ink                 // texts and signs
	Axis                // numbers of columns and rows
	Grid                // borders of cells
	Fog                 // cells that the seat does not see
	Strong              // events; no owner has its colour
	Chosen              // what a person points at or has chosen
	Waiting             // a thing that does not act yet, in terminals
	edges               // of owners, nobody first
	fills   = edges + owners
	areas   = fills + owners
	movers  = areas + owners

	Roles = int(movers + owners) // their number
)

// mostSeats is the number of seats with colours of their own; owners counts nobody, too.
const (
	mostSeats = 4
	owners    = mostSeats + 1
)

// owned returns the role of an owner in a group of roles.
func owned(first Role, owner int8) Role {
	if owner < 0 || owner >= mostSeats {
		return first
	}
	return first + 1 + Role(owner)
}

// Edge returns the role of an owner's outlines and lines.
func Edge(owner int8) Role { return owned(edges, owner) }

// Fill returns the role of the inside of an owner's things: dark letters can be read on it.
func Fill(owner int8) Role { return owned(fills, owner) }

// AreaOf returns the role of an owner's part of the board.
func AreaOf(owner int8) Role { return owned(areas, owner) }

// Mover returns the role of an owner's things that move, in terminals.
func Mover(owner int8) Role { return owned(movers, owner) }

// Colour has a colour for light and for dark paper, in the notation of CSS, and its number in the palette of 256 colours of terminals.
type Colour struct {
	Light, Dark string
	Terminal    uint8
}

// colours has the colours of the roles. Those of edges are from the palette of Okabe and Ito, which is safe for the colour-blind; on
// light paper fills are the same over white.
var colours = [Roles]Colour{
	Paper: {"#fff", "#12161c", 16}, Ink: {"#222", "#f2f4f7", 15}, Axis: {"#666", "#a0abb8", 0}, Grid: {"#ddd", "#2d3540", 0},
	Fog: {"#c9c9c9", "#46505d", 238}, Strong: {"#b3003c", "#ff6b8f", 0}, Chosen: {"#1559b3", "#7db4ff", 0}, Waiting: {"", "", 244},
	edges: {"#777", "#9aa4b0", 250}, {"#0072b2", "#5eb8ec", 39}, {"#d55e00", "#ff9450", 208}, {"#009e73", "#35c99c", 42}, {"#cc79a7", "#e79cc6", 176},
	fills: {"#d0d0d0", "#444d58", 58}, {"#73b1d5", "#1b4f72", 32}, {"#e8a673", "#733d14", 202}, {"#73cab2", "#175c49", 35}, {"#e3b6cf", "#6c3a56", 170},
	areas: {"#fff", "#171c23", 234}, {"#eff5fa", "#152431", 17}, {"#fcf4ee", "#2a1e15", 52}, {"#eef8f5", "#132822", 22}, {"#fbf4f8", "#281c25", 53},
	movers: {"", "", 58}, {"", "", 117}, {"", "", 223}, {"", "", 157}, {"", "", 225},
}

// Colour returns the colours of a role.
func (r Role) Colour() Colour { return colours[r] }

// dashes tell lines and ranges of a kind from those of other kinds, in points: dashes and gaps in turn. The first is a whole line.
var dashes = [...][]float32{nil, {5, 3}, {1.5, 2.5}, {7, 2, 1.5, 2}, {3, 2}}

// Kinds is the number of kinds of lines that dashes tell apart.
const Kinds = len(dashes)

// Dashes returns the dashes for the kind of that number.
func Dashes(kind int) []float32 { return dashes[kind] }

// Unfinished has the dashes of the outline of an unfinished thing, in points.
var Unfinished = []float32{2, 1.5}
