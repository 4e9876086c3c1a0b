package wire

import (
	"encoding/json"
	"strconv"

	"moonfarm/sim/codecraft"
)

// AppendLine appends the view as a line of JSON, as recordings of views have
// it.
func (v *PlayerView) AppendLine(dst []byte) []byte {
	l := struct {
		Kind             string                    `json:"kind"`
		MyID             int32                     `json:"my_id"`
		MapSize          int32                     `json:"map_size"`
		FogOfWar         bool                      `json:"fog_of_war"`
		MaxTickCount     int32                     `json:"max_tick_count"`
		MaxPathfindNodes int32                     `json:"max_pathfind_nodes"`
		Tick             int32                     `json:"tick"`
		Players          []jsonPlayer              `json:"players"`
		Entities         []jsonEntity              `json:"entities"`
		Properties       map[string]jsonProperties `json:"properties"`
	}{
		"view", v.MyID, v.MapSize, v.FogOfWar, v.MaxTickCount, v.MaxPathfindNodes, v.CurrentTick,
		[]jsonPlayer{}, jsonEntities(v.Entities), jsonTypes(v.EntityProperties),
	}
	for _, p := range v.Players {
		l.Players = append(l.Players, jsonPlayer(p))
	}
	return append(appendJSON(dst, l), '\n')
}

// AppendLine appends the world as a line of JSON, as recordings of games begin
// with it: a state file that people can read and change.
func (w *World) AppendLine(dst []byte) []byte {
	l := struct {
		Kind             string                    `json:"kind"`
		NextID           int32                     `json:"next_id"`
		MapSize          int32                     `json:"map_size"`
		FogOfWar         bool                      `json:"fog_of_war"`
		MaxTickCount     int32                     `json:"max_tick_count"`
		MaxPathfindNodes int32                     `json:"max_pathfind_nodes"`
		Tick             int32                     `json:"tick"`
		Players          []jsonSeat                `json:"players"`
		Entities         []jsonEntity              `json:"entities"`
		Properties       map[string]jsonProperties `json:"properties"`
		Actions          json.RawMessage           `json:"actions"`
	}{
		"initial", w.NextID, w.MapSize, w.FogOfWar, w.MaxTickCount, w.MaxPathfindNodes, w.CurrentTick,
		[]jsonSeat{}, jsonEntities(w.Entities), jsonTypes(w.EntityProperties), AppendActions(nil, w.Actions),
	}
	for _, p := range w.Players {
		l.Players = append(l.Players, jsonSeat(p))
	}
	return append(appendJSON(dst, l), '\n')
}

func jsonEntities(list []Entity) []jsonEntity {
	entities := []jsonEntity{}
	for i := range list {
		e := &list[i]
		entities = append(entities, jsonEntity{e.ID, pointer(e.PlayerID), jsonType(e.Type), e.X, e.Y, e.Health, e.Active})
	}
	return entities
}

func jsonTypes(list []TypeProperties) map[string]jsonProperties {
	types := map[string]jsonProperties{}
	for i := range list {
		types[list[i].Type.String()] = jsonPropertiesOf(&list[i].EntityProperties)
	}
	return types
}

// jsonPlayer is a player as a view has it.
type jsonPlayer struct {
	ID       int32 `json:"id"`
	Score    int32 `json:"score"`
	Resource int32 `json:"resource"`
}

// MarshalJSON writes the name of the type.
func (t jsonType) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, codecraft.Type(t).String()), nil
}

func namesOf(kinds []codecraft.Type) []jsonType {
	list := []jsonType{}
	for _, t := range kinds {
		list = append(list, jsonType(t))
	}
	return list
}

func pointer(n Optional[int32]) *int32 {
	if !n.Given {
		return nil
	}
	return &n.Value
}

func jsonPropertiesOf(q *EntityProperties) jsonProperties {
	p := jsonProperties{
		Size: q.Size, BuildScore: q.BuildScore, DestroyScore: q.DestroyScore, CanMove: q.CanMove,
		PopulationProvide: q.PopulationProvide, PopulationUse: q.PopulationUse, MaxHealth: q.MaxHealth,
		InitialCost: q.InitialCost, SightRange: q.SightRange, ResourcePerHealth: q.ResourcePerHealth,
	}
	if b := &q.Build.Value; q.Build.Given {
		p.Build = &jsonBuilds{namesOf(b.Options), pointer(b.InitHealth)}
	}
	if a := &q.Attack.Value; q.Attack.Given {
		p.Attack = &jsonAttack{Range: a.AttackRange, Damage: a.Damage, Collect: a.CollectResource}
	}
	if r := &q.Repair.Value; q.Repair.Given {
		p.Repair = &jsonRepairs{namesOf(r.ValidTargets), r.Power}
	}
	return p
}

// AppendActions appends actions as JSON, as recordings of games have them: one
// object with the ids as keys.
func AppendActions(dst []byte, list []EntityOrder) []byte {
	dst = append(dst, '{')
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(append(dst, '"'), int64(list[i].ID), 10)
		dst = appendJSON(append(dst, `":`...), jsonActionOf(&list[i].EntityAction))
	}
	return append(dst, '}')
}

func jsonActionOf(b *EntityAction) (a jsonAction) {
	if m := &b.Move.Value; b.Move.Given {
		a.Move = &jsonMove{[2]int32{m.X, m.Y}, m.FindClosestPosition, m.BreakThrough}
	}
	if c := &b.Build.Value; b.Build.Given {
		a.Build = &jsonBuild{jsonType(c.Type), [2]int32{c.X, c.Y}}
	}
	if c := &b.Attack.Value; b.Attack.Given {
		a.Attack = &jsonAttackAction{Target: pointer(c.Target)}
		if auto := &c.Auto.Value; c.Auto.Given {
			a.Attack.Auto = &jsonAuto{auto.PathfindRange, namesOf(auto.ValidTargets)}
		}
	}
	if b.Repair.Given {
		a.Repair = &b.Repair.Value.Target
	}
	return a
}
