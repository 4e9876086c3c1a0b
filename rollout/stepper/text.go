package stepper

import (
	"moonfarm/env"
)

// AppendText appends the board of a game as text, all that there is on it.
func (s *Stepper) AppendText(dst []byte, game int) ([]byte, error) {
	k, i, err := s.at("AppendText", game)
	if err != nil {
		return dst, err
	}
	return env.Unwrap(k.auto).(env.Texter).AppendText(dst, i), nil
}
