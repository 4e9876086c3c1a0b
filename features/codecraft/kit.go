package codecraft

import (
	"math"
	"strings"

	"moonfarm/features"
	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
)

// Kit returns the encoder, the actions and the measures for the rules of g.
func Kit(g *cc.Game) features.Kit[cc.State] {
	r := g.Rules()
	var fog *features.Fog
	if r.Fog {
		fog = &features.Fog{Visible: "visible", Remembered: remembered()}
	}
	e, a := NewEncoder(g), NewActions(g)
	return features.Kit[cc.State]{
		AppendText: func(dst []byte, s *cc.State) []byte { return cc.AppendText(dst, g, s) },
		Fog:        fog,
		Scene:      e.scene,
		Command:    describe,
		Frames:     (&sceneFrames{encoder: e}).play,
		Encoder:    e,
		Actions:    a,
		Default:    EntitiesForm,
		Forms: []features.Form[cc.State]{{
			Name: EntitiesForm, Doc: "lists of the entities and a map of codes, and the same actions",
			Encoder: NewEntityEncoder(g), Actions: a,
		}},
		Measures: []features.Measure[cc.State]{
			{Name: "score", Doc: "the game's own score",
				Of: func(_ sim.Game[cc.State], s *cc.State, p sim.Player) float64 { return float64(s.Score[p]) }},
			{Name: "resource", Doc: "resource to spend",
				Of: func(_ sim.Game[cc.State], s *cc.State, p sim.Player) float64 { return float64(s.Resource[p]) }},
			{Name: "population", Doc: "population that the player's entities use",
				Of: func(_ sim.Game[cc.State], s *cc.State, p sim.Player) float64 { return float64(s.PopUse[p]) }},
			{Name: "wealth", Doc: "resource to spend, and the initial cost of the player's entities as far as they are whole: times the part of the health left",
				Of: func(_ sim.Game[cc.State], s *cc.State, p sim.Player) float64 { return wealth(&r, s, p) }},
			{Name: "win", Doc: "1 once the game is over and the player alone is first, else 0",
				Of: func(_ sim.Game[cc.State], s *cc.State, p sim.Player) float64 { return win(g, int(r.Players), s, p) }},
		},
	}
}

// remembered returns the names of the planes of entities that do not move. A cell that was empty when
// it was last seen is remembered as empty.
func remembered() []string {
	list := []string{"resource", "owner", "inactive"}
	for t := range cc.Type(cc.Types) {
		switch t {
		case cc.Wall, cc.House, cc.BuilderBase, cc.MeleeBase, cc.RangedBase, cc.Turret:
			list = append(list, "enemy_"+snake(t))
		}
	}
	return list
}

// win returns 1 if the game is over and seat p alone is first, else 0.
func win(g *cc.Game, players int, s *cc.State, p sim.Player) float64 {
	if !g.Over(s) {
		return 0
	}
	for q := range players {
		if sim.Player(q) != p && s.Score[q] >= s.Score[p] {
			return 0
		}
	}
	return 1
}

// wealth returns the resource of seat p plus the value of its entities.
func wealth(r *cc.Rules, s *cc.State, p sim.Player) float64 {
	sum := float64(s.Resource[p])
	for i := range s.Units[:s.N] {
		if u := &s.Units[i]; u.Owner == p {
			t := &r.Types[u.Type]
			sum += float64(t.Cost) * float64(u.Health) / float64(t.MaxHealth)
		}
	}
	return sum
}

// snake returns the name of a type as in the names of fields.
func snake(t cc.Type) string {
	var b strings.Builder
	for i, c := range t.String() {
		if c >= 'A' && c <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}

// Description returns the documentation of the planes, the scalars and the packed words.
func (e *Encoder) Description() features.Description {
	return features.Description{Planes: e.planeFields(), Scalars: e.scalarFields(), Packed: packedDoc, PackedLayout: e.layout()}
}

func (e *Encoder) planeFields() (list []features.Field) {
	plane := func(name, unit string, scale float32, doc string) {
		list = append(list, features.Field{Name: name, Unit: unit, Scale: scale, Doc: doc})
	}
	for _, owner := range []struct{ name, doc string }{{"own", "the own "}, {"enemy", "any other player's "}} {
		for t := range cc.Type(cc.Types) {
			if t == cc.Resource {
				continue
			}
			name, most, unit := snake(t), e.rules.Types[t].MaxHealth, "health points"
			if e.most[t] != 0 {
				unit = "health in steps of 1/255 of the most that one can have"
			}
			doc := "health of " + owner.doc + strings.ReplaceAll(name, "_", " ") + " here, on all cells that it covers"
			plane(owner.name+"_"+name, unit, float32(min(most, math.MaxUint8)), doc)
		}
	}
	plane("resource", "health points", float32(e.rules.Types[cc.Resource].MaxHealth), "health of the resource here")
	plane("visible", "flag", 1, "the cell is in sight of an own entity; without fog of war all are")
	plane("owner", "number", 3, "which other player the entity here belongs to, by its start as seen: 1 opposite, 2 lower right, 3 upper left; 0 own or none")
	plane("inactive", "flag", 1, "the entity here is not active yet")
	plane("own_action", "code", 7, "stored action of the own entity here, "+actionCodes)
	plane("own_goal", "number", regions, "region of the map to which the stored action of the own entity here moves it: "+
		"1 + x/20 + 4·(y/20), rounded down, of the target; 0 it has no move")
	plane("own_corner", "flag", 1, "the lowest corner of an own entity is here: in the order of the cells, row by row, the first is that of slot 0, "+
		"the next of slot 1, and so on: see Actions")
	return list
}

func (e *Encoder) scalarFields() (list []features.Field) {
	scalar := func(name, unit string, scale float32, doc string) {
		list = append(list, features.Field{Name: name, Unit: unit, Scale: scale, Doc: doc})
	}
	scalar("own_score", "points", 100_000, "score")
	scalar("own_resource", "resource", 1000, "resource to spend")
	scalar("own_population", "population", 100, "population that the own entities use")
	scalar("own_population_limit", "population", 100, "population that the own active entities provide")
	for t := range cc.Type(cc.Types) {
		if t != cc.Resource {
			scalar("own_"+snake(t)+"s", "entities", 20, "own entities of this type, active or not")
		}
	}
	for _, other := range []struct{ name, doc string }{{"opposite", "opposite"}, {"right", "at the lower right"}, {"left", "at the upper left"}} {
		scalar(other.name+"_score", "points", 100_000, "score of the player who starts "+other.doc+"; 0 if there is none")
		scalar(other.name+"_resource", "resource", 1000, "resource to spend of the player who starts "+other.doc+"; 0 if there is none")
	}
	turns := float32(e.rules.MaxTurns)
	scalar("turn", "ticks", turns, "number of the tick to be played, from 0")
	scalar("turns_left", "ticks", turns, "ticks to be played, this one included")
	scalar("players", "players", sim.MaxPlayers, "players from the start")
	scalar("fog", "flag", 1, "there is fog of war")
	return list
}

const actionCodes = "of several parts the first to be tried: 7 auto attack of resources only, " +
	"6 other auto attack, 5 attack of one target, 4 build, 3 repair, 2 move, 1 none of these (stop), 0 never told"

const packedDoc = "1600 words: 16 bits for each of the 6400 cells, four to a word, the first in the low bits " +
	"(so on a little-endian machine the words are an array of 80 × 80 uint16, as a plane is). " +
	"Bits 0–7 health, as in the planes, 0 where nothing is seen; 8–11 type of the entity here, 0 none, else 1 + its number: " +
	"0 wall, 1 house, 2 builder base, 3 builder unit, 4 melee base, 5 melee unit, 6 ranged base, 7 ranged unit, 8 resource, 9 turret; " +
	"12–13 owner, as in the plane of that name (0 own or nobody's); 14 inactive; 15 visible. " +
	"Then 800 words: 8 bits for each cell, eight to a word: bits 0–2 own_action, 3–7 own_goal. " +
	"Then 100 words: a bit for each cell, own_corner."
