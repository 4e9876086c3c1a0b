package protocol

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"moonfarm/sim/codecraft"
)

// AppendLine appends the view as a line of JSON, the form of recorded views.
func (v *PlayerView) AppendLine(dst []byte) []byte {
	l := struct {
		Kind string `json:"kind"`
		MyID int32  `json:"my_id"`
		Header
		Players    []Standing  `json:"players"`
		Entities   []Entity    `json:"entities"`
		Properties PropertyMap `json:"properties"`
	}{"view", v.MyID, v.Header, notNil(v.Players), notNil(v.Entities), v.EntityProperties}
	return append(appendJSON(dst, l), '\n')
}

// AppendActions appends actions in the JSON form of recorded games: one object with the ids as
// keys.
func AppendActions(dst []byte, list []EntityOrder) []byte {
	dst = append(dst, '{')
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(append(dst, '"'), int64(list[i].ID), 10)
		dst = appendJSON(append(dst, `":`...), &list[i].EntityAction)
	}
	return append(dst, '}')
}

// notNil returns list, or an empty list for nil, which JSON would write as null.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// MarshalJSON writes an object whose keys are the names of the types.
func (m PropertyMap) MarshalJSON() ([]byte, error) {
	named := map[codecraft.Type]EntityProperties{}
	for i := range m {
		named[m[i].Type] = m[i].EntityProperties
	}
	return json.Marshal(named)
}

// UnmarshalJSON reads the object that MarshalJSON writes and sorts it by type.
func (m *PropertyMap) UnmarshalJSON(text []byte) error {
	var named map[string]EntityProperties
	if err := json.Unmarshal(text, &named); err != nil || named == nil {
		return err
	}
	*m = PropertyMap{}
	for name, p := range named {
		var t codecraft.Type
		if err := t.UnmarshalText([]byte(name)); err != nil {
			return fmt.Errorf("properties: %w", err)
		}
		*m = append(*m, TypeProperties{t, p})
	}
	slices.SortFunc(*m, func(a, b TypeProperties) int { return int(a.Type) - int(b.Type) })
	return nil
}

// UnmarshalJSON also reads the range under its name in the original, which one recording has.
func (a *AttackProperties) UnmarshalJSON(text []byte) error {
	type plain AttackProperties
	var both struct {
		plain
		Reach int32 `json:"attack_range"`
	}
	err := json.Unmarshal(text, &both)
	*a = AttackProperties(both.plain)
	a.AttackRange = max(a.AttackRange, both.Reach)
	return err
}

// jsonMove and jsonBuild are the JSON forms of actions: a place is one value.
type (
	jsonMove struct {
		Target  [2]int32 `json:"target"`
		Closest bool     `json:"find_closest"`
		Break   bool     `json:"break_through"`
	}
	jsonBuild struct {
		Type     codecraft.Type `json:"type"`
		Position [2]int32       `json:"position"`
	}
)

// MarshalJSON writes the target as a pair.
func (m MoveAction) MarshalJSON() ([]byte, error) {
	return json.Marshal(jsonMove{[2]int32{m.X, m.Y}, m.FindClosestPosition, m.BreakThrough})
}

// UnmarshalJSON reads the form that MarshalJSON writes.
func (m *MoveAction) UnmarshalJSON(text []byte) error {
	var j jsonMove
	err := json.Unmarshal(text, &j)
	*m = MoveAction{j.Target[0], j.Target[1], j.Closest, j.Break}
	return err
}

// MarshalJSON writes the place as a pair.
func (b BuildAction) MarshalJSON() ([]byte, error) {
	return json.Marshal(jsonBuild{b.Type, [2]int32{b.X, b.Y}})
}

// UnmarshalJSON reads the form that MarshalJSON writes.
func (b *BuildAction) UnmarshalJSON(text []byte) error {
	var j jsonBuild
	err := json.Unmarshal(text, &j)
	*b = BuildAction{j.Type, j.Position[0], j.Position[1]}
	return err
}

// MarshalJSON writes the target alone.
func (r RepairAction) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, int64(r.Target), 10), nil
}

// UnmarshalJSON reads the form that MarshalJSON writes.
func (r *RepairAction) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &r.Target) }
