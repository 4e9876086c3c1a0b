package stepper

import (
	"fmt"

	"moonfarm/features"
)

// AppendText appends the whole board of a game as text.
func (s *Stepper) AppendText(dst []byte, game int) ([]byte, error) {
	k, i, err := s.at("AppendText", game)
	if err != nil {
		return dst, err
	}
	return k.auto.AppendText(dst, i), nil
}

// Scene sets dst to what a person at a seat, or features.Spectator, sees of a game. It
// fails if the games have no scenes.
func (s *Stepper) Scene(dst *features.Scene, game, seat int) error {
	k, i, err := s.at("Scene", game)
	if err != nil {
		return err
	}
	if seat < features.Spectator || seat >= s.spec.Info.Players {
		return fmt.Errorf("seat %d: expected %d to %d", seat, features.Spectator, s.spec.Info.Players-1)
	}
	if !k.auto.Scene(dst, i, seat) {
		return fmt.Errorf("games of %s have no pictures here", s.spec.Info.Name)
	}
	return nil
}
