package wire

import (
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
		[]jsonPlayer{}, []jsonEntity{}, map[string]jsonProperties{},
	}
	for _, p := range v.Players {
		l.Players = append(l.Players, jsonPlayer(p))
	}
	for i := range v.Entities {
		e := &v.Entities[i]
		l.Entities = append(l.Entities, jsonEntity{e.ID, pointer(e.PlayerID), jsonType(e.Type), e.X, e.Y, e.Health, e.Active})
	}
	for i := range v.EntityProperties {
		p := &v.EntityProperties[i]
		l.Properties[p.Type.String()] = jsonPropertiesOf(&p.EntityProperties)
	}
	return append(appendJSON(dst, l), '\n')
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
