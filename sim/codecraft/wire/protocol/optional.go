package protocol

import (
	"encoding/json"

	"moonfarm/sim/codecraft"
)

// Optional is a value that may be absent.
type Optional[T any] struct {
	Given bool
	Value T
}

// Some returns an Optional with a value.
func Some[T any](v T) Optional[T] { return Optional[T]{true, v} }

// MarshalJSON writes the value, or null if it is absent.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if !o.Given {
		return []byte("null"), nil
	}
	return json.Marshal(o.Value)
}

// UnmarshalJSON reads the value; null means absent.
func (o *Optional[T]) UnmarshalJSON(text []byte) error {
	*o = Optional[T]{Given: string(text) != "null"}
	if !o.Given {
		return nil
	}
	return json.Unmarshal(text, &o.Value)
}

// Kinds is a list of entity types.
type Kinds []codecraft.Type

// MarshalJSON writes the names of the types; a nil list becomes an empty one.
func (k Kinds) MarshalJSON() ([]byte, error) { return json.Marshal(append([]codecraft.Type{}, k...)) }
