package towerdefence

import (
	"moonfarm/features"
	"moonfarm/sim"
	td "moonfarm/sim/towerdefence"
)

// Kit returns the encoder, the actions and the measures for the rules of g.
func Kit(g *td.Game) features.Kit[td.State] {
	return features.Kit[td.State]{
		Encoder:    NewEncoder(g),
		Actions:    NewActions(g),
		AppendText: func(dst []byte, s *td.State) []byte { return td.AppendText(dst, g, s) },
		Scene:      func(dst *features.Scene, s *td.State, _ int) { scene(dst, g, s) },
		Command:    describe,
		Frames:     (&sceneFrames{game: g}).play,
		Paths:      func(s *td.State, path func(*features.Path)) { paths(g, s, path) },
		Measures: []features.Measure[td.State]{
			{Name: "health", Doc: "health of the base",
				Of: func(_ sim.Game[td.State], s *td.State, p sim.Player) float64 { return float64(s.Half[p].Health()) }},
			{Name: "score", Doc: "the game's own score",
				Of: func(_ sim.Game[td.State], s *td.State, p sim.Player) float64 { return float64(g.Score(s, p)) }},
		},
	}
}

// Description documents the planes, the scalars and the packed words.
func (e *Encoder) Description() features.Description {
	t := features.Description{
		Planes: []features.Field{
			planeDefense:  {Name: "defense", Unit: "flag", Scale: 1, Doc: "a defense stands here, finished or not"},
			planeAttack:   {Name: "attack", Unit: "flag", Scale: 1, Doc: "an attack building stands here, finished or not"},
			planeEnergy:   {Name: "energy", Unit: "flag", Scale: 1, Doc: "an energy building stands here, finished or not"},
			planeTesla:    {Name: "tesla", Unit: "order", Scale: 2, Doc: "a tesla tower stands here, finished or not: 1 shoots first on its side, 2 second"},
			planeBuilding: {Name: "building", Unit: "rounds", Scale: 10, Doc: "rounds the building sits out before it acts and can be hit; 0 once finished"},
			planeHits:     {Name: "hits", Unit: "missiles", Scale: 4, Doc: "missiles that destroy the building here"},
			planeIdle:     {Name: "idle", Unit: "rounds", Scale: 10, Doc: "rounds a finished attack building or tesla tower idles before its next shot (a tesla then needs the energy too)"},
			planeOwn:      {Name: "own_missiles", Unit: "missiles", Scale: 4, Doc: "own missiles here, flying right"},
			planeEnemy:    {Name: "enemy_missiles", Unit: "missiles", Scale: 4, Doc: "enemy missiles here, flying left"},
		},
		Packed:       packedDoc,
		PackedLayout: layout(),
	}
	for _, side := range []string{"own", "enemy"} {
		t.Scalars = append(t.Scalars,
			features.Field{Name: side + "_energy", Unit: "energy", Scale: 1000, Doc: "energy to spend"},
			features.Field{Name: side + "_income", Unit: "energy a round", Scale: 50, Doc: "energy the next round would bring, if no energy building fell or came"},
			features.Field{Name: side + "_health", Unit: "health points", Scale: float32(e.rules.StartHealth), Doc: "health of the base"},
			features.Field{Name: side + "_hits", Unit: "hits", Scale: 100, Doc: "times the base was hit"},
			features.Field{Name: side + "_score", Unit: "points", Scale: 10000, Doc: "score"},
			features.Field{Name: side + "_curtain_available", Unit: "flag", Scale: 1, Doc: "the iron curtain may be raised, energy and a curtain still up allowing"},
			features.Field{Name: side + "_curtain_left", Unit: "rounds", Scale: float32(e.rules.CurtainActiveRounds), Doc: "rounds, from the next on, in which the curtain still protects"},
			features.Field{Name: side + "_teslas", Unit: "towers", Scale: td.MaxTeslas, Doc: "tesla towers on the map, finished or not"},
		)
	}
	t.Scalars = append(t.Scalars,
		features.Field{Name: "round", Unit: "rounds", Scale: float32(e.rules.MaxRounds), Doc: "number of the round to be played, from 0"},
		features.Field{Name: "rounds_left", Unit: "rounds", Scale: float32(e.rules.MaxRounds), Doc: "rounds to be played, this one included"},
		features.Field{Name: "curtain_reset", Unit: "rounds", Scale: float32(e.rules.CurtainResetPeriod), Doc: "rounds before the one at whose end both curtains become available"},
	)
	return t
}

const packedDoc = "38 words: 19 of the own half, then 19 of the enemy's. " +
	"Words 0–17 are boards, bit y*8+x, each half in its owner's coordinates: x = 0 at the owner's base, x = 7 at its front " +
	"(so mirror the columns of the enemy's to see it as in the planes). " +
	"0 defense, 1 attack, 2 energy, 3 tesla; two-bit numbers, low bit first, at most 3: 4–5 rounds until finished (0 for tesla, see 18), " +
	"6–7 hits withstood beyond the first, 8–9 rounds an attack building idles before its next shot; " +
	"10–13 at least 1, 2, 3, 4 missiles of the half's owner, 14–17 the same of the other player. " +
	"18 the tesla towers, four bytes each, the one that shoots first in the low bytes: cell, rounds until finished, rounds idle, 0; " +
	"four bytes 255 where there is no tower."
