package catalog

import (
	"fmt"

	"moonfarm/env"
	tdfeatures "moonfarm/features/towerdefence"
	"moonfarm/sim/towerdefence"
)

var games = []Game{
	{"towerdefence", "Entelect Challenge 2018 Tower Defence, release 3.0.2", newTowerDefence},
}

func newTowerDefence(rules string, c env.Config) (env.Vector, error) {
	r := towerdefence.DefaultRules()
	if rules != "" {
		var err error
		if r, err = towerdefence.ParseRules([]byte(rules)); err != nil {
			return nil, err
		}
	}
	g, err := towerdefence.New(r)
	if err != nil {
		return nil, fmt.Errorf("rules of towerdefence: %w", err)
	}
	return env.New(g, tdfeatures.Kit(g), c)
}
