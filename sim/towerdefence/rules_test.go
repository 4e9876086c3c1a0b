package towerdefence_test

import (
	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
)

// randomRules draws rules that Rules.Validate accepts. Small values come more
// often than large ones, and the values of release 3.0.2 most often, so that
// games last.
func randomRules(r *prng.Rand) towerdefence.Rules {
	rules := towerdefence.DefaultRules()
	draw := func(v *int, least, top int) {
		switch r.IntN(8) {
		case 0:
			*v = least + r.IntN(top-least+1)
		case 1, 2, 3:
			*v = least + r.IntN(min(top-least, 12)+1)
		}
	}
	draw(&rules.MaxRounds, 1, 510)
	draw(&rules.StartEnergy, 0, towerdefence.MaxEnergy)
	draw(&rules.RoundIncome, 0, 1000)
	draw(&rules.StartHealth, 1, towerdefence.MaxHealth)
	draw(&rules.HealthScoreMultiplier, 0, 1000)
	draw(&rules.EnergyScoreMultiplier, 0, 1000)
	draw(&rules.DeconstructionRefund, 0, 1000)
	draw(&rules.MaxDoNothings, 1, 250)
	draw(&rules.TeslaEnergyPerShot, 0, 1000)
	draw(&rules.CurtainPrice, 0, 1000)
	draw(&rules.CurtainActiveRounds, 1, 1000)
	draw(&rules.CurtainResetPeriod, 1, 1000)
	draw(&rules.CurtainConstructionScore, 0, 1000)
	attack, tesla := &rules.Buildings[towerdefence.Attack], &rules.Buildings[towerdefence.Tesla]
	draw(&attack.Damage, 1, towerdefence.MaxHealth)
	draw(&tesla.Damage, 1, towerdefence.MaxHealth)
	draw(&attack.Speed, 2, 2*towerdefence.Width)
	draw(&attack.Cooldown, 0, 1000)
	draw(&tesla.Cooldown, 0, 1000)
	draw(&tesla.Range, 0, 2*towerdefence.Width)
	draw(&rules.Buildings[towerdefence.Energy].EnergyPerTurn, 0, 1000)
	for _, k := range towerdefence.Kinds {
		b := &rules.Buildings[k]
		if r.IntN(2) == 0 || b.Health > min(4*attack.Damage, tesla.Damage) {
			b.Health = 1 + r.IntN(min(4*attack.Damage, tesla.Damage, towerdefence.MaxHealth))
		}
		draw(&b.ConstructionTime, 1, 1000)
		draw(&b.Price, 0, 1000)
		draw(&b.DestroyMultiplier, 0, 1000)
		draw(&b.ConstructionScore, 0, 1000)
	}
	if r.IntN(4) == 0 {
		energy, health := rules.Start(1)
		draw(&energy, 0, towerdefence.MaxEnergy)
		draw(&health, 1, towerdefence.MaxHealth)
		rules.SetStart([2]int{rules.StartEnergy, energy}, [2]int{rules.StartHealth, health})
	}
	return rules
}
