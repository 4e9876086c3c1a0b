package stepper

import "fmt"

// Reset begins new episodes of the games whose entry in mask is true, of all if
// mask is nil, and writes what their rows see. With seeds, one for each game,
// they get new base seeds, and their episode 0 begins; without, their next
// episode, the first time episode 0. Rewards, Terminated and Truncated of these
// games are 0 and false. Blocks that are under way may not be concerned.
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
		return s.each((*part).reset)
	}
	for i, wanted := range mask {
		if b := i / s.BlockGames(); wanted && s.blocks[b].sent {
			return StateError(fmt.Sprintf("Reset of game %d, whose block %d is under way: receive it first", i, b))
		}
	}
	for _, k := range s.parts {
		if !s.blocks[k.block].sent {
			k.run((*part).reset)
		}
	}
	return s.faults(s.parts)
}

// reset does what Reset was asked for.
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
		k.goOn(i)
		if s.mask != nil {
			k.observeGame(i)
		}
	}
	if s.mask == nil {
		k.observe()
	}
}

// goOn notes that game i has begun, and that no turn of it was just played.
func (k *part) goOn(i int) {
	if !k.begun[i] {
		k.begun[i] = true
		k.fresh--
	}
	if k.slabs.Reward == nil {
		return
	}
	if k.seats != nil {
		k.slabs.Reward[i] = 0
		return
	}
	clear(k.slabs.Reward[i*k.players : (i+1)*k.players])
}
