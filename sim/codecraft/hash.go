package codecraft

// Hash digests all that influences play.
func (g *Game) Hash(s *State) uint64 {
	h := s.Seed ^ uint64(s.Tick)<<32 ^ uint64(s.NextID)
	mix := func(x uint64) {
		h = (h ^ x) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	for p := range int(g.rules.Players) {
		mix(uint64(s.Score[p])<<32 | uint64(uint32(s.Resource[p])))
	}
	for i := range s.Units[:s.N] {
		u, a := &s.Units[i], &s.Acts[i]
		active := uint64(0)
		if u.Active {
			active = 1
		}
		mix(uint64(u.ID)<<32 | uint64(uint16(u.Health))<<16 | uint64(u.X)<<8 | uint64(u.Y))
		mix(uint64(u.Type)<<56 | uint64(u.Owner)<<52 | active<<48 | uint64(a.Parts)<<32 | uint64(a.Target))
		mix(uint64(a.Repair)<<32 | uint64(a.Valid)<<16 | uint64(a.Range))
		mix(uint64(a.MoveX)<<32 | uint64(a.MoveY)<<24 | uint64(a.BuildType)<<16 | uint64(a.BuildX)<<8 | uint64(a.BuildY))
	}
	for i := 0; i < Cells; i += 8 {
		w := uint64(0)
		for k := range 8 {
			w |= uint64(s.Health[i+k]) << (8 * k)
		}
		if w != 0 {
			mix(w ^ uint64(i)<<48)
		}
	}
	return h ^ h>>32
}
