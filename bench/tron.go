package bench

import "moonfarm/sim/tron"

// tronFigures lists the figures of the light cycles.
func tronFigures() []measure {
	g, _ := tron.New(tron.DefaultRules()) // which it never refuses
	return anyGame(g)
}
