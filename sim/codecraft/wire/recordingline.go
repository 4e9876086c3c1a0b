package wire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"moonfarm/sim/codecraft"
)

// AppendLine appends the view as a line of JSON, as recordings of views have
// it.
func (v *PlayerView) AppendLine(dst []byte) []byte {
	l := struct {
		Kind string `json:"kind"`
		MyID int32  `json:"my_id"`
		Header
		Players    []Player    `json:"players"`
		Entities   []Entity    `json:"entities"`
		Properties PropertyMap `json:"properties"`
	}{"view", v.MyID, v.Header, notNil(v.Players), notNil(v.Entities), v.EntityProperties}
	return append(appendJSON(dst, l), '\n')
}

// AppendLine appends the world as a line of JSON, as recordings of games begin
// with it: a state file that people can read and change.
func (w *World) AppendLine(dst []byte) []byte {
	l := struct {
		Kind   string `json:"kind"`
		NextID int32  `json:"next_id"`
		Header
		Players    []Seat          `json:"players"`
		Entities   []Entity        `json:"entities"`
		Properties PropertyMap     `json:"properties"`
		Actions    json.RawMessage `json:"actions"`
	}{"initial", w.NextID, w.Header, notNil(w.Players), notNil(w.Entities), w.EntityProperties, AppendActions(nil, w.Actions)}
	return append(appendJSON(dst, l), '\n')
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
		dst = appendJSON(append(dst, `":`...), &list[i].EntityAction)
	}
	return append(dst, '}')
}

// notNil is a list that JSON writes as [] if it is empty.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// MarshalJSON writes an object with the names of the types as keys.
func (m PropertyMap) MarshalJSON() ([]byte, error) {
	named := map[codecraft.Type]EntityProperties{}
	for i := range m {
		named[m[i].Type] = m[i].EntityProperties
	}
	return json.Marshal(named)
}

// UnmarshalJSON reads what MarshalJSON writes, in the order of the types.
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

// UnmarshalJSON reads the range under the original's name, too: one file has it.
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

// jsonMove and jsonBuild are actions with a place as one value.
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

// UnmarshalJSON reads what MarshalJSON writes.
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

// UnmarshalJSON reads what MarshalJSON writes.
func (b *BuildAction) UnmarshalJSON(text []byte) error {
	var j jsonBuild
	err := json.Unmarshal(text, &j)
	*b = BuildAction{j.Type, j.Position[0], j.Position[1]}
	return err
}

// MarshalJSON writes the target alone.
func (a RepairAction) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, int64(a.Target), 10), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (a *RepairAction) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &a.Target) }
