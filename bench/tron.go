package bench

import "moonfarm/sim/tron"

// tronFigures lists the figures of the light cycles.
func tronFigures() []measure {
	g, _ := tron.New(tron.DefaultRules()) // never refuses the default rules
	return anyGame(g)
}
