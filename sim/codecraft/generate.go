package codecraft

// generate puts the resources of a new map on the board.
func (g *Game) generate(s *State) {
	for y := range Side {
		for x := range Side {
			if !s.Occupied.Has(x, y) && (x*7+y*13)%31 == 0 {
				g.vein(s, x, y)
			}
		}
	}
}
