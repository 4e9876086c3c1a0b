package stepper

import (
	"errors"
	"fmt"

	"moonfarm/rollout"
)

// appendStates appends what the opponents remember of game i, by seat.
func (k *part) appendStates(dst []byte, i int) []byte {
	for p := range k.players {
		if row := i*k.players + p; k.seats != nil && p != int(k.seats[i]) {
			for _, s := range rollout.StatesOf(k.opponents[k.drawn[row]]) {
				dst = s.Append(dst, int32(row), k.all.Turn[i])
			}
		}
	}
	return dst
}

// checkStates returns an error if the states in a snapshot that checkSnapshot accepted are not those of
// its opponents here.
func (k *part) checkStates(snapshot, states []byte) error {
	if k.seats == nil {
		return nil
	}
	if !k.fitsSeat(snapshot) {
		for _, o := range k.opponents {
			if len(rollout.StatesOf(o)) > 0 {
				return fmt.Errorf("snapshot for another seat, or for all: it lacks what the opponent %s remembers of the game", o.Name())
			}
		}
		return nil
	}
	remember := false
	for p := range k.players {
		if p == int(snapshot[6]) {
			continue
		}
		for _, s := range rollout.StatesOf(k.opponents[snapshot[24+p]]) {
			var err error
			if states, err = s.Check(states); err != nil {
				return fmt.Errorf("snapshot without what the opponent at seat %d remembers of the game: %w", p, err)
			}
			remember = true
		}
	}
	if remember && len(states) > 0 {
		return errors.New("snapshot with what more opponents remember of the game than play here")
	}
	return nil
}

// restoreStates makes the opponents of game i, as they are drawn, remember it by states that checkStates
// accepted.
func (k *part) restoreStates(i int, states []byte) {
	for p := range k.players {
		if row := i*k.players + p; k.seats != nil && p != int(k.seats[i]) {
			for _, s := range rollout.StatesOf(k.opponents[k.drawn[row]]) {
				states = s.Restore(int32(row), states)
			}
		}
	}
}
