package terminal

import (
	"moonfarm/features"
	"moonfarm/sim"
	tm "moonfarm/sim/terminal"
)

// Kit returns the encoder and the actions in the grid form, the form of single orders and the
// measures for the rules of g.
func Kit(g *tm.Game) features.Kit[tm.State] {
	r := g.Rules()
	return features.Kit[tm.State]{
		Encoder:    NewEncoder(g),
		Actions:    NewActions(g),
		Forms:      []features.Form[tm.State]{ordersForm(g)},
		Measures:   measures(r),
		AppendText: func(dst []byte, s *tm.State) []byte { return tm.AppendText(dst, g, s) },
		Scene:      func(dst *features.Scene, s *tm.State, _ int) { scene(dst, g, &r, s) },
		Command:    describe,
		Frames:     (&sceneFrames{rules: r}).play,
		Paths:      new(scenePaths).each,
	}
}

// measures returns the numbers from which rewards are made.
func measures(r tm.Rules) []features.Measure[tm.State] {
	return []features.Measure[tm.State]{
		{Name: "health", Doc: "health left",
			Of: func(_ sim.Game[tm.State], s *tm.State, p sim.Player) float64 { return float64(s.Health[p]) }},
		{Name: "points", Doc: "health taken from the enemy, the game's own score; a reward of it is that of health",
			Of: func(_ sim.Game[tm.State], s *tm.State, p sim.Player) float64 {
				return float64(r.StartHealth - s.Health[p^1])
			}},
		{Name: "invested", Doc: "cores paid for the structures that stand, as far as they are whole: price times the part of the health left",
			Of: func(_ sim.Game[tm.State], s *tm.State, p sim.Player) float64 { return invested(&r, s, p) }},
		{Name: "wealth", Doc: "cores in the purse and invested",
			Of: func(_ sim.Game[tm.State], s *tm.State, p sim.Player) float64 {
				return float64(s.Cores[p]) + invested(&r, s, p)
			}},
	}
}

// invested returns the sum of the prices of seat p's structures, each in proportion to its health.
func invested(r *tm.Rules, s *tm.State, p sim.Player) float64 {
	sum := 0.0
	for k := range s.Ages[p] {
		ages := &s.Ages[p][k]
		for _, i := range ages.Cell[:ages.N] {
			c := s.Cells[half[p][i].cell]
			paid, whole := r.Paid(tm.Kind(k), c.Upgraded()), r.Structure(tm.Kind(k), c.Upgraded()).Health
			sum += float64(paid) * float64(c.Health) / float64(whole)
		}
	}
	return sum
}

// Description documents the planes, the scalars and the packed words.
func (e *Encoder) Description() features.Description {
	t := features.Description{Packed: packedDoc, PackedLayout: layout()}
	plane := func(name, unit string, scale float32, doc string) {
		t.Planes = append(t.Planes, features.Field{Name: name, Unit: unit, Scale: scale, Doc: doc})
	}
	plane("arena", "flag", 1, "the cell belongs to the arena; the planes are 0 on all others")
	for _, owner := range []string{"own", "enemy"} {
		for k := range tm.Kind(tm.Structures) {
			most := e.most(int(k))
			unit := "health points"
			if most > 255 {
				unit = "health in steps of 1/255 of the most that one can have"
			}
			plane(owner+"_"+k.String(), unit, min(most, 255), "health of the "+k.String()+" here, parts of a unit rounded up, so never 0 while it stands")
		}
	}
	longest := int32(1)
	for k := range tm.Structures {
		longest = max(longest, e.rules.Units[k].RemoveTurns, e.rules.Upgraded[k].RemoveTurns)
	}
	plane("upgraded", "flag", 1, "the structure here is upgraded, whoever owns it")
	plane("removal", "turns", float32(longest), "restores until the structure here is removed, whoever owns it: 1 is before the next turn; 0 it is not marked")
	for _, owner := range []string{"own", "enemy"} {
		scalar := func(name, unit string, scale float32, doc string) {
			t.Scalars = append(t.Scalars, features.Field{Name: owner + "_" + name, Unit: unit, Scale: scale, Doc: doc})
		}
		scalar("health", "health points", e.rules.StartHealth, "health of the player")
		scalar("cores", "cores", 40, "cores to spend on structures")
		scalar("bits", "bits", 40, "bits to spend on mobile units")
		scalar("cores_income", "cores a turn", 10, "cores that come before the next turn, if no structure comes or falls; without refunds and breaches")
		scalar("bits_income", "bits a turn", 20, "bits that come before the next turn, if no structure comes or falls and the cap is not met")
		scalar("bits_kept", "bits", 40, "what decay leaves of the bits before the next turn, if none are spent")
		scalar("points", "health points", e.rules.StartHealth, "health that the other player has lost")
	}
	t.Scalars = append(t.Scalars,
		features.Field{Name: "turn", Unit: "turns", Scale: float32(e.rules.MaxTurns), Doc: "number of the turn to be played, from 0"},
		features.Field{Name: "turns_left", Unit: "turns", Scale: float32(e.rules.MaxTurns), Doc: "turns to be played, this one included"})
	return t
}

const packedDoc = "105 words: 16 bits for each of the 420 cells of the arena, four to a word, the first in the low bits " +
	"(so on a little-endian machine the words are an array of 420 uint16). " +
	"Cells come as in the planes, row by row from the own end, in each row from the left, without those outside the arena: " +
	"with numpy, board = zeros((28, 28)), board[arena] = cells. The first 210 are the own half, numbered as in the actions, the others the enemy's. " +
	"Bits 0–7 health, as in the planes, 0 where nothing stands; 8–9 kind: 0 wall, 1 support, 2 turret; 10 upgraded; 11–14 restores until removal; 15 is 0."
