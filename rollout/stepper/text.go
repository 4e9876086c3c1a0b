package stepper

import (
	"fmt"

	"moonfarm/env"
)

// AppendText appends the whole board of a game as text. It fails if the Vector
// is not an env.Texter.
func (s *Stepper) AppendText(dst []byte, game int) ([]byte, error) {
	k, i, err := s.at("AppendText", game)
	if err != nil {
		return dst, err
	}
	v, ok := env.Unwrap(k.auto).(env.Texter)
	if !ok {
		return dst, fmt.Errorf("games of %s have no text here", s.spec.Info.Name)
	}
	return v.AppendText(dst, i), nil
}
