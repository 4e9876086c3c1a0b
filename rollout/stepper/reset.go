package stepper

import "fmt"

// Reset begins new episodes of the games whose entry in mask is true, or of all
// games if mask is nil, and writes their observations. With seeds, one per
// game, these games get new base seeds and begin episode 0. Without seeds they
// begin their next episode; their first is episode 0. Their Reward, Terminated
// and Truncated become 0 and false. Reset fails if a block of these games is in
// progress.
func (s *Stepper) Reset(seeds []uint64, mask []bool) error {
	if s.fault != nil {
		return s.fault
	}
	n := s.spec.Games
	if seeds != nil && len(seeds) != n {
		return fmt.Errorf("%d seeds for %d games", len(seeds), n)
	}
	if mask != nil && len(mask) != n {
		return fmt.Errorf("a reset mask of length %d for %d games", len(mask), n)
	}
	if mask == nil {
		if err := s.idle("Reset"); err != nil {
			return err
		}
	}
	s.seeds, s.mask = seeds, mask
	defer func() { s.seeds, s.mask = nil, nil }()
	if s.sent == 0 {
		return s.each(s.resetting)
	}
	for i, wanted := range mask {
		if b := i / s.BlockGames(); wanted && s.blocks[b].sent {
			return StateError(fmt.Sprintf("Reset of game %d, whose block %d is under way: receive it first", i, b))
		}
	}
	for _, k := range s.parts {
		if !s.blocks[k.block].sent {
			k.run((*part).reset, nil)
		}
	}
	return s.faults(s.parts)
}

// reset begins the episodes of its games that Reset has selected.
func (k *part) reset() {
	s := k.stepper
	for i := range k.base {
		if s.mask != nil && !s.mask[k.first+i] {
			continue
		}
		episode := uint64(0)
		switch {
		case s.seeds != nil:
			k.base[i] = s.seeds[k.first+i]
		case k.begun[i]:
			episode = k.auto.Episode(i) + 1
		}
		k.auto.Begin(i, episode)
		k.markBegun(i)
		if s.mask != nil {
			k.observeGame(i)
		}
	}
	if s.mask == nil {
		k.observe()
	}
}

// markBegun notes that game i has begun, and sets its rewards to 0.
func (k *part) markBegun(i int) {
	if !k.begun[i] {
		k.begun[i] = true
		k.fresh--
	}
	if k.slabs.Reward == nil {
		return
	}
	if k.shown != nil {
		k.slabs.Reward[i] = 0
		return
	}
	clear(k.slabs.Reward[i*k.players : (i+1)*k.players])
}
