package towerdefence_test

import (
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/towerdefence"
)

func newGame() sim.Game[towerdefence.State] {
	g, err := towerdefence.New(towerdefence.DefaultRules())
	if err != nil {
		panic(err)
	}
	return g
}

func TestConformance(t *testing.T) {
	simtest.Run(t, newGame, simtest.Options[towerdefence.State]{
		Mirror: func(dst, src *towerdefence.State) {
			*dst = *src
			dst.Half[0], dst.Half[1] = src.Half[1], src.Half[0]
		},
	})
}
