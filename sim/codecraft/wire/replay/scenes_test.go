package replay

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/internal/wiretest"
	"moonfarm/sim/codecraft/wire/protocol"
	"moonfarm/sim/codecraft/wire/recording"
)

// scene is a recorded tick of a few units, without resources.
type scene struct {
	units   []protocol.Entity
	actions []protocol.EntityOrder
	tick    func(r *recording.Reader)
	want    string // of the difference; "" for none
}

func entity(id, player int32, k codecraft.Type, x, y, health int32, active bool) protocol.Entity {
	return protocol.Entity{ID: id, PlayerID: protocol.Some(player), Type: k, X: x, Y: y, Health: health, Active: active}
}

// unit returns a unit or building of player 1 or 2 with full health.
func unit(id, player int32, k codecraft.Type, x, y int32) protocol.Entity {
	rules := wiretest.Round1()
	return entity(id, player, k, x, y, rules.Types[k].MaxHealth, true)
}

func moveTo(id, x, y int32) protocol.EntityOrder {
	return protocol.EntityOrder{ID: id, EntityAction: protocol.EntityAction{Move: protocol.Some(protocol.MoveAction{X: x, Y: y})}}
}

func buildAt(id int32, k codecraft.Type, x, y int32) protocol.EntityOrder {
	return protocol.EntityOrder{ID: id, EntityAction: protocol.EntityAction{Build: protocol.Some(protocol.BuildAction{Type: k, X: x, Y: y})}}
}

// goes records a new place of an entity.
func goes(r *recording.Reader, id, x, y int32) {
	e, _ := recording.FindEntity(r.World.Entities, id)
	now := *e
	now.X, now.Y = x, y
	r.Delta.Entities.Changed = append(r.Delta.Entities.Changed, now)
}

// dies records that an entity is removed after an attack of another.
func dies(r *recording.Reader, id, by int32) {
	r.Delta.Entities.Removed = append(r.Delta.Entities.Removed, id)
	for _, a := range r.World.Actions {
		if a.ID == id {
			r.Delta.Actions.Removed = append(r.Delta.Actions.Removed, id)
		}
	}
	r.Events = append(r.Events, recording.Event{Attacker: by, Victim: id})
	k := &r.World.Players[1]
	r.Delta.Players.Changed = append(r.Delta.Players.Changed, recording.PlayerRecord{ID: k.ID, Index: k.Index, Score: k.Score + 100, Resource: k.Resource})
}

// builds records a new entity and its cost for player 1.
func builds(r *recording.Reader, e protocol.Entity, cost int32) {
	e.Active = e.Health == wiretest.Round1().Types[e.Type].MaxHealth
	r.Delta.Entities.New = append(r.Delta.Entities.New, e)
	r.Delta.NextID = max(r.Delta.NextID, e.ID+1)
	p := &r.World.Players[0]
	score := int32(0)
	if e.Active {
		score = wiretest.Round1().Types[e.Type].BuildScore
	}
	r.Delta.Players.Changed = append(r.Delta.Players.Changed, recording.PlayerRecord{ID: p.ID, Index: p.Index, Score: p.Score + score, Resource: p.Resource - cost})
}

const (
	worker = codecraft.BuilderUnit
	knight = codecraft.MeleeUnit
	base   = codecraft.BuilderBase
)

// attacks returns the action of a unit that attacks another.
func attacks(id, target int32) protocol.EntityOrder {
	a := protocol.EntityOrder{ID: id}
	a.Attack.Given = true
	a.Attack.Value.Target = protocol.Some(target)
	return a
}

// weak returns an entity with one health left.
func weak(e protocol.Entity) protocol.Entity {
	e.Health = 1
	return e
}

// scenes returns the scenes by name.
func scenes() map[string]scene {
	pair := []protocol.Entity{unit(3, 1, worker, 5, 5), unit(4, 1, worker, 6, 5)}
	house := unit(9, 1, codecraft.House, 10, 4)
	house.Health = 5
	school := []protocol.Entity{unit(3, 1, base, 5, 5), unit(4, 1, worker, 9, 4), unit(5, 1, worker, 13, 4)}
	dying := []protocol.Entity{weak(unit(3, 1, worker, 9, 4)), unit(4, 2, knight, 8, 4), unit(5, 1, base, 30, 30)}
	strike := []protocol.EntityOrder{attacks(4, 3)}
	return map[string]scene{
		"follows into a free cell": {pair, []protocol.EntityOrder{moveTo(3, 6, 5), moveTo(4, 7, 5)}, func(r *recording.Reader) {
			goes(r, 3, 6, 5)
			goes(r, 4, 7, 5)
		}, ""},
		"waits for one who stays": {pair, []protocol.EntityOrder{moveTo(3, 6, 5)}, nil, ""},
		"has no reason to stay":   {pair, []protocol.EntityOrder{moveTo(4, 7, 5)}, nil, "entity 4: move: recorded none, by the rules to one of (7, 5)"},
		"enters an occupied cell": {pair, []protocol.EntityOrder{moveTo(3, 6, 5)}, func(r *recording.Reader) { goes(r, 3, 6, 5) },
			"entity 3: move: recorded to (6, 5), by the rules none: the cell is occupied"},
		"two change places": {pair, []protocol.EntityOrder{moveTo(3, 6, 5), moveTo(4, 5, 5)}, func(r *recording.Reader) {
			goes(r, 3, 6, 5)
			goes(r, 4, 5, 5)
		}, "move: recorded to (6, 5), by the rules none: all in the circle would have had to wait"},
		"moves without a reason": {pair, nil, func(r *recording.Reader) { goes(r, 4, 7, 5) },
			"entity 4: move: recorded to (7, 5), by the rules to one of none"},
		"a building moves": {[]protocol.Entity{house}, nil, func(r *recording.Reader) { goes(r, 9, 10, 5) },
			"entity 9: move: recorded to (10, 5), by the rules none: it cannot"},
		"builds and moves": {
			[]protocol.Entity{unit(3, 1, worker, 9, 4), unit(4, 1, worker, 13, 4)},
			[]protocol.EntityOrder{buildAt(3, codecraft.House, 10, 3), {ID: 4, EntityAction: protocol.EntityAction{
				Build: protocol.Some(protocol.BuildAction{Type: codecraft.House, X: 10, Y: 3}), Move: protocol.Some(protocol.MoveAction{X: 14, Y: 4}),
			}}},
			func(r *recording.Reader) {
				builds(r, entity(20, 1, codecraft.House, 10, 3, 5, false), 50)
				goes(r, 4, 14, 4)
				r.Delta.NextID++
			}, ""},
		"attacks and moves": {
			[]protocol.Entity{unit(3, 1, knight, 5, 5), unit(4, 2, base, 6, 5)},
			[]protocol.EntityOrder{{ID: 3, EntityAction: protocol.EntityAction{Move: protocol.Some(protocol.MoveAction{X: 6, Y: 5})}}},
			func(r *recording.Reader) {
				r.Events = append(r.Events, recording.Event{Attacker: 3, Victim: 4})
				goes(r, 3, 5, 6)
			}, "entity 3: move: recorded to (5, 6), by the rules none: it has done something else"},
		"builds with the greater purse": {school, []protocol.EntityOrder{buildAt(3, worker, 10, 5)}, func(r *recording.Reader) {
			builds(r, entity(20, 1, worker, 10, 5, 10, true), 10+2)
		}, ""},
		"builds too cheap": {school, []protocol.EntityOrder{buildAt(3, worker, 10, 5)}, func(r *recording.Reader) {
			builds(r, entity(20, 1, worker, 10, 5, 10, true), 10)
		}, "resource of player 1: recorded 490, by the rules 488"},
		"builds what it cannot": {school, []protocol.EntityOrder{buildAt(3, knight, 10, 5)}, func(r *recording.Reader) {
			builds(r, unit(20, 1, knight, 10, 5), 20)
		}, "nothing: it is no option of the builder's"},
		"builds afar": {school, []protocol.EntityOrder{buildAt(3, worker, 12, 5)}, func(r *recording.Reader) {
			builds(r, unit(20, 1, worker, 12, 5), 12)
		}, "nothing: it is not adjacent"},
		"builds on another": {school, []protocol.EntityOrder{buildAt(3, worker, 9, 4)}, func(r *recording.Reader) {
			builds(r, unit(20, 1, worker, 9, 4), 12)
		}, "nothing: the place is occupied"},
		"builds what it cannot pay": {[]protocol.Entity{unit(4, 1, worker, 9, 4)}, []protocol.EntityOrder{buildAt(4, base, 10, 4)}, func(r *recording.Reader) {
			r.World.Players[0].Resource = 499
			builds(r, entity(20, 1, base, 10, 4, 5, false), 499)
		}, "nothing: it costs 500 of 499"},
		"builds for too many": {
			append(school[:1:1], unit(4, 1, worker, 20, 1), unit(5, 1, worker, 21, 1), unit(6, 1, worker, 22, 1), unit(7, 1, worker, 23, 1), unit(8, 1, worker, 24, 1)),
			[]protocol.EntityOrder{buildAt(3, worker, 10, 5)},
			func(r *recording.Reader) { builds(r, unit(20, 1, worker, 10, 5), 15) },
			"nothing: it makes a population of 6 of 5"},
		"builds off the map": {[]protocol.Entity{unit(3, 1, worker, 78, 5)}, []protocol.EntityOrder{buildAt(3, codecraft.House, 79, 5)}, func(r *recording.Reader) {
			r.Delta.NextID++
		}, ""},
		"an id from elsewhere": {school, []protocol.EntityOrder{buildAt(3, worker, 10, 5)}, func(r *recording.Reader) {
			builds(r, unit(19, 1, worker, 10, 5), 12)
			r.Delta.NextID = 21
		}, "entity 19: id: recorded 19, by the rules 20 to 20"},
		"built by one who died": {dying, strike, func(r *recording.Reader) {
			dies(r, 3, 4)
			builds(r, entity(20, 1, codecraft.Wall, 10, 4, 5, false), 10)
		}, ""},
		"built by one who died elsewhere": {dying, strike, func(r *recording.Reader) {
			dies(r, 3, 4)
			builds(r, entity(20, 1, codecraft.Wall, 12, 4, 5, false), 10)
		}, "entity 20: build: recorded Wall, by the rules nothing: no unit builds there"},
		"repaired by one who died": {append(dying[:3:3], house), strike, func(r *recording.Reader) {
			dies(r, 3, 4)
			house := house
			house.Health++
			r.Delta.Entities.Changed = append(r.Delta.Entities.Changed, house)
		}, ""},
		"repaired by nobody": {append(pair[:2:2], house), nil, func(r *recording.Reader) {
			house := house
			house.Health++
			r.Delta.Entities.Changed = append(r.Delta.Entities.Changed, house)
		}, "entity 9: health: recorded 6, by the rules 5"},
		"attacked by one who died": {
			[]protocol.Entity{weak(unit(3, 1, worker, 9, 4)), unit(4, 2, knight, 8, 4), unit(5, 1, base, 30, 30)}, strike,
			func(r *recording.Reader) {
				dies(r, 3, 4)
				r.Events = append(r.Events, recording.Event{Attacker: 3, Victim: 4})
				hurt := unit(4, 2, knight, 8, 4)
				hurt.Health--
				r.Delta.Entities.Changed = append(r.Delta.Entities.Changed, hurt)
			}, ""},
		"attacked from afar by one who died": {dying, strike, func(r *recording.Reader) {
			dies(r, 3, 4)
			r.Events = append(r.Events, recording.Event{Attacker: 3, Victim: 5})
		}, "entity 3: attack: recorded on 5, by the rules none"},
		"another type": {pair, nil, func(r *recording.Reader) {
			r.Delta.Entities.Changed = []protocol.Entity{entity(3, 1, knight, 5, 5, 10, true)}
		},
			"entity 3: type: recorded MeleeUnit, by the rules BuilderUnit"},
		"another owner": {pair, nil, func(r *recording.Reader) {
			r.Delta.Entities.Changed = []protocol.Entity{entity(3, 2, worker, 5, 5, 10, true)}
		},
			"entity 3: player: recorded 2, by the rules 1"},
		"an entity more": {pair, nil, func(r *recording.Reader) {
			r.Delta.Entities.New = []protocol.Entity{unit(7, 1, worker, 9, 9)}
		}, "entity 7: id: recorded 7"},
	}
}

// TestVerifyScenes checks scenes that follow the rules and scenes that break them.
func TestVerifyScenes(t *testing.T) {
	for name, c := range scenes() {
		t.Run(name, func(t *testing.T) {
			rules, _ := codecraft.Preset("round1-2")
			g := wiretest.NewGame(t, rules)
			var r recording.Reader
			r.World = recording.World{
				NextID: 20, Header: protocol.Header{MapSize: 80, MaxTickCount: rules.MaxTurns, MaxPathfindNodes: rules.MaxNodes, CurrentTick: 7},
				EntityProperties: protocol.PropertiesOf(&rules), Players: []recording.PlayerRecord{{ID: 1, Resource: 500}, {ID: 2, Index: 1, Resource: 500}},
				Entities: c.units, Actions: c.actions,
			}
			r.Delta = recording.Delta{NextID: 20, Header: protocol.Header{MapSize: 80, MaxTickCount: rules.MaxTurns, MaxPathfindNodes: rules.MaxNodes, CurrentTick: 8}}
			if c.tick != nil {
				c.tick(&r)
			}
			v := tick{game: g, rules: rules}
			if err := v.begin(&r); err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			got := ""
			if d := v.check(); d != nil {
				got = fmt.Sprint(d)
			}
			assert.Truef(t, (c.want != "" || got == "") && strings.Contains(got, c.want), "%s: %q, want %q", name, got, c.want)
		})
	}
}

// TestVerifyBonus checks that the score of the last player left may have the bonus or not, but no
// other value.
func TestVerifyBonus(t *testing.T) {
	rules, _ := codecraft.Preset("finals")
	g := wiretest.NewGame(t, rules)
	for score, ok := range map[int32]bool{100: true, 101: false, 301: true, 300: false} {
		t.Run(fmt.Sprintf("score %d", score), func(t *testing.T) {
			var r recording.Reader
			r.World = recording.World{
				NextID: 20, Header: protocol.Header{MapSize: 80, FogOfWar: true, MaxTickCount: rules.MaxTurns, MaxPathfindNodes: rules.MaxNodes},
				EntityProperties: protocol.PropertiesOf(&rules), Players: []recording.PlayerRecord{{ID: 1, Score: 300}, {ID: 2, Index: 1}},
				Entities: []protocol.Entity{weak(unit(3, 1, worker, 9, 4)), unit(4, 2, knight, 8, 4)}, Actions: []protocol.EntityOrder{attacks(4, 3)},
			}
			r.Delta = recording.Delta{NextID: 20, Header: protocol.Header{MapSize: 80, FogOfWar: true, MaxTickCount: rules.MaxTurns, MaxPathfindNodes: rules.MaxNodes, CurrentTick: 1}}
			dies(&r, 3, 4)
			r.Delta.Players.Changed[0].Score = score
			v := tick{game: g, rules: rules}
			require.NoError(t, v.begin(&r))
			d := v.check()
			assert.Equalf(t, ok, d == nil, "score %d: difference %v, want it right", score, d)
		})
	}
}

// TestViewsDiffer changes views and checks that viewsDiffer finds each change.
func TestViewsDiffer(t *testing.T) {
	rules, _ := codecraft.Preset("finals")
	g, s := wiretest.Battle(t, rules, 3)
	for want, change := range map[string]func(v *protocol.PlayerView){
		"":                              func(*protocol.PlayerView) {},
		"in sight: recorded yes":        func(v *protocol.PlayerView) { v.Entities = append(v.Entities, protocol.Entity{ID: 9999}) },
		"entity: recorded {ID:":         func(v *protocol.PlayerView) { v.Entities[5].Health++ },
		"entities: recorded ":           func(v *protocol.PlayerView) { v.Entities = v.Entities[1:] },
		"view: recorded {MyID:1 Header": func(v *protocol.PlayerView) { v.Players[1].Score++ },
	} {
		t.Run(want, func(t *testing.T) {
			var v, seen protocol.PlayerView
			protocol.View(&v, g, s, 0)
			protocol.View(&seen, g, s, 0)
			change(&v)
			got := ""
			if d := viewsDiffer(&v, &seen); d != nil {
				got = d.Error()
			}
			assert.Truef(t, strings.Contains(got, want) && (want != "" || got == ""), "%.90q, want %q", got, want)
		})
	}
}
