package stepper

import (
	"fmt"

	"moonfarm/env"
)

// AppendText appends the board of a game as text, all that there is on it. See
// env.Texter; a Vector that is none is an error.
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
