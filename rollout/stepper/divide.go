package stepper

import "moonfarm/env"

// rounds is the number of rounds of sizesOf. In the last, the parts of each worker are a 64th of
// its games.
const rounds = 6

// sizesOf divides games into parts for some workers: the numbers of games, the largest first. In
// each round every worker gets a part of half its share of the games that are left, or of all of
// them if the parts would have fewer than least games. Games take different times and workers begin
// at different times, but all end at nearly the same time, because the last parts are small.
func sizesOf(games, workers, least int) (sizes []int) {
	for round := 1; games > 0; round++ {
		size := games / (2 * workers)
		if size < least || round == rounds {
			for n := min(games, workers); n > 0; n-- {
				size := (games + n - 1) / n
				sizes, games = append(sizes, size), games-size
			}
			return sizes
		}
		for range workers {
			sizes, games = append(sizes, size), games-size
		}
	}
	return sizes
}

// leastBytes is the size of the smallest parts, in bytes that their games write in a step. Games that
// another worker takes move from one cache to another, for this step and the next. With two workers and
// parts down to 64 KiB instead, Tower Defence (1,024 games) made 0.87 of the rows a second, CodeCraft
// (16 games) 0.97.
const leastBytes = 512 << 10

// leastGames returns the number of games of the smallest parts.
func leastGames(s *env.Spec) int {
	row := s.Shape.PlaneBytes() + 4*s.Shape.Scalars + 8*s.MaskWords + 4*len(s.Heads)
	return max(1, leastBytes/(row*s.Info.Players))
}

// build makes the blocks and their parts.
func (s *Stepper) build() error {
	if err := s.c.check(); err != nil {
		return err
	}
	games := s.c.Env.N
	if s.c.Batch > 0 {
		games = s.c.Batch
	}
	s.blocks = make([]block, s.c.Env.N/games)
	sizes := []int{games}
	if games > 1 && s.c.Workers > 1 || len(s.blocks) > 1 {
		if err := s.makeTools(); err != nil {
			return err
		}
		if s.c.Workers > 1 {
			spec := s.tools[0].Spec()
			sizes = sizesOf(games, (s.c.Workers+len(s.blocks)-1)/len(s.blocks), leastGames(&spec))
		}
	}
	s.ready = make(chan int, len(s.blocks))
	for b := range s.blocks {
		first, from := b*games, len(s.parts)
		for _, n := range sizes {
			p, err := newPart(s, b, first, n)
			if err != nil {
				return err
			}
			s.parts = append(s.parts, p)
			first += n
		}
		s.blocks[b].task = s.newTask((*part).step, s.parts[from:], s.ready, b)
	}
	return nil
}

// makeTools makes the Vectors from which parts borrow. The caller of each uses the first one. Send
// leaves the caller's goroutine free, so that there is one more worker; it goes without if there is
// one block, because Send is of no use then.
func (s *Stepper) makeTools() error {
	n := s.c.Workers
	if len(s.blocks) > 1 {
		n++
	}
	for range n {
		c := s.c.Env
		c.N = 1
		v, err := s.c.Vector(c)
		if err != nil {
			return err
		}
		s.tools = append(s.tools, v)
	}
	return nil
}
