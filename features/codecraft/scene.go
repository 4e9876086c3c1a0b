package codecraft

import (
	"fmt"
	"math/bits"
	"strings"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	cc "moonfarm/sim/codecraft"
)

// outlineOf has the outlines of the types: squares for buildings, other outlines
// for the rest. letterOf has the letters of the text of a state.
var (
	outlineOf = [cc.Types]features.Outline{cc.BuilderUnit: features.Round, cc.MeleeUnit: features.Diamond, cc.RangedUnit: features.ToGreaterY, cc.Resource: features.Round}
	letterOf  = [cc.Types]string{
		cc.Wall: "W", cc.House: "H", cc.BuilderBase: "B", cc.BuilderUnit: "b", cc.MeleeBase: "M", cc.MeleeUnit: "m",
		cc.RangedBase: "R", cc.RangedUnit: "r", cc.Turret: "T",
	}
)

// scenery writes one scene.
type scenery struct {
	*Encoder
	dst  *features.Scene
	s    *cc.State
	seat int
	seen bitboard.Square
}

// scene draws the map in the frame of the recordings, y upwards. A seat sees
// the entities that its observation has, the cells in its sight, and the stored
// actions of its own units; a spectator sees everything.
func (e *Encoder) scene(dst *features.Scene, s *cc.State, seat int) {
	dst.Begin(side, side)
	dst.Up = true
	dst.Title = fmt.Sprintf("tick %d", s.Tick)
	if seat >= 0 {
		dst.Title += fmt.Sprintf(", seen by player %d", seat+1)
	}
	d := e.look(dst, s, seat)
	d.areas()
	d.resources()
	for i := range s.Units[:s.N] {
		if d.sees(&s.Units[i]) {
			d.unit(&s.Units[i])
			if d.own(&s.Units[i]) {
				d.action(&s.Units[i], &s.Acts[i])
			}
		}
	}
	for p := range int(e.rules.Players) {
		dst.AddStat("score", "points", p, float64(s.Score[p]))
		dst.AddStat("resource", "resource", p, float64(s.Resource[p]))
		if seat < 0 || p == seat {
			dst.AddStat("population", "population", p, float64(s.PopUse[p]))
			dst.AddStat("population_limit", "population", p, float64(s.PopProvide[p]))
		}
	}
}

// look returns a scenery with the sight of the seat.
func (e *Encoder) look(dst *features.Scene, s *cc.State, seat int) scenery {
	d := scenery{Encoder: e, dst: dst, s: s, seat: seat, seen: everywhere}
	if seat >= 0 {
		e.sight(&d.seen, s, sim.Player(seat))
	}
	return d
}

// own reports whether the seat may know the stored action of a unit.
func (s *scenery) own(u *cc.Unit) bool { return s.seat < 0 || int(u.Owner) == s.seat }

// sees reports whether the seat sees a unit, as in Encoder.planes.
func (s *scenery) sees(u *cc.Unit) bool {
	return s.own(u) || s.seen.MeetsSquare(int(u.X), int(u.Y), s.size[u.Type])
}

// areas adds the map, and the cells out of sight as runs of each row.
func (s *scenery) areas() {
	s.dst.Areas = append(s.dst.Areas, features.Area{Owner: features.Nobody, Width: side, Height: side})
	for y := range side {
		for x := 0; x < side; x++ {
			first := x
			for x < side && !s.seen.Has(x, y) {
				x++
			}
			if x > first {
				s.dst.Areas = append(s.dst.Areas, features.Area{
					Hidden: true, Owner: features.Nobody, X: float32(first), Y: float32(y), Width: float32(x - first), Height: 1,
				})
			}
		}
	}
}

// resources adds the resources in sight.
func (s *scenery) resources() {
	full := float32(s.rules.Types[cc.Resource].MaxHealth)
	for y := range side {
		low, high := s.s.Resources.Row(y)
		seenLow, seenHigh := s.seen.Row(y)
		for i, w := range [2]uint64{low & seenLow, high & seenHigh} {
			for ; w != 0; w &= w - 1 {
				x := 64*i + bits.TrailingZeros64(w)
				s.dst.Entities = append(s.dst.Entities, features.Entity{
					Kind: "resource", Outline: features.Round, Owner: features.Nobody, ID: s.s.ResourceID(x, y), X: float32(x), Y: float32(y), Width: 1, Height: 1,
					Health: features.HealthShare(float32(s.s.Health[cc.CellOf(x, y)]), full),
				})
			}
		}
	}
}

// unit adds an entity that is no resource.
func (s *scenery) unit(u *cc.Unit) {
	size := float32(s.size[u.Type])
	s.dst.Entities = append(s.dst.Entities, features.Entity{
		Kind: kindName(u.Type), Outline: outlineOf[u.Type], Letter: letterOf[u.Type], Owner: int8(u.Owner), ID: u.ID,
		X: float32(u.X), Y: float32(u.Y), Width: size, Height: size,
		Health:     features.HealthShare(float32(u.Health), float32(s.rules.Types[u.Type].MaxHealth)),
		Unfinished: !u.Active,
	})
}

// kindName returns the name of a type in words: "builder base".
func kindName(t cc.Type) string { return strings.ReplaceAll(snake(t), "_", " ") }

// action adds the parts of a stored action that have a place. A target out of
// sight has no arrow, as its place is not known.
func (s *scenery) action(u *cc.Unit, a *cc.Action) {
	from := s.half(u.Type)
	arrow := func(kind string, x, y, half float32) { // to the middle of a square, on the map
		s.dst.Lines = append(s.dst.Lines, features.Line{
			Kind: kind, Owner: int8(u.Owner), X1: float32(u.X) + from, Y1: float32(u.Y) + from,
			X2: min(x+half, side), Y2: min(y+half, side), Arrow: true,
		})
	}
	if a.Parts&cc.HasMove != 0 {
		arrow("move", float32(a.MoveX), float32(a.MoveY), 0.5)
	}
	if a.Parts&cc.HasBuild != 0 && a.BuildType < cc.Types && a.BuildX < side && a.BuildY < side {
		arrow("build", float32(a.BuildX), float32(a.BuildY), s.half(a.BuildType))
	}
	if a.Parts&cc.HasTarget != 0 {
		if x, y, half, ok := s.target(a.Target); ok {
			arrow("attack", x, y, half)
		}
	}
	if a.Parts&cc.HasRepair != 0 {
		if x, y, half, ok := s.target(a.Repair); ok {
			arrow("repair", x, y, half)
		}
	}
}

// half returns half of the size of a type. The conversion keeps the compiler from fusing the
// division with a sum.
func (s *scenery) half(t cc.Type) float32 { return float32(float32(s.size[t]) / 2) }

// target returns the lowest corner and half of the size of an entity. ok is
// false if it is gone or the seat does not see it.
func (s *scenery) target(id uint32) (x, y, half float32, ok bool) {
	if i := s.s.Find(id); i >= 0 {
		u := &s.s.Units[i]
		return float32(u.X), float32(u.Y), s.half(u.Type), s.sees(u)
	}
	if cx, cy, had := s.s.ResourceAt(id); had {
		return float32(cx), float32(cy), 0.5, s.s.Health[cc.CellOf(cx, cy)] != 0 && s.seen.Has(cx, cy)
	}
	return 0, 0, 0, false
}
