package tron

import "moonfarm/sim"

// The orders, which turn a cycle before it moves. Any other number is Straight.
const (
	Straight  sim.Order = 0
	TurnLeft  sim.Order = 1
	TurnRight sim.Order = 2
)

// Orders is the number of different orders.
const Orders = 3

// Heading is the direction in which a cycle goes.
type Heading uint8

// The headings, clockwise.
const (
	Right Heading = iota // x grows
	Down                 // y grows
	Left
	Up
)

// headingNames holds the names of the headings in texts.
var headingNames = [4]string{"right", "down", "left", "up"}

// String returns "right", "down", "left" or "up".
func (h Heading) String() string { return headingNames[h&3] }

// Turned returns the heading after an order.
func (h Heading) Turned(o sim.Order) Heading {
	switch o {
	case TurnLeft:
		return (h + 3) & 3
	case TurnRight:
		return (h + 1) & 3
	}
	return h
}
