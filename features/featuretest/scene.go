package featuretest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"moonfarm/features"
)

// testScene checks the scenes of all seats and of a spectator.
func (c *suite[S]) testScene(t *testing.T) {
	all, used := &features.Scene{}, &features.Scene{}
	c.each(t, func(v view[S]) {
		seats := []int{int(v.p)}
		if v.p == 0 {
			seats = []int{features.Spectator, 0}
		}
		for _, seat := range seats {
			before := c.game.Hash(v.s)
			fresh := &features.Scene{}
			c.kit.Scene(fresh, v.s, seat)
			c.kit.Scene(used, v.s, seat)
			fault := sceneFault(fresh, c.info.Players)
			switch {
			case fault != "":
			case len(fresh.Events) > 0:
				fault = "a state has no events"
			case !sameScene(fresh, used):
				fault = "a scene in used memory differs from one in fresh memory"
			case c.game.Hash(v.s) != before:
				fault = "the state has changed"
			case seat != features.Spectator:
				fault = hiddenFault(fresh, all)
			}
			if fault != "" {
				t.Errorf("seed %d turn %d seat %d: %s", v.seed, v.turn, seat, fault)
			}
			if seat == features.Spectator {
				all, used = fresh, all
			}
		}
	})
}

// sceneFault returns what is wrong with a scene of a game with that many seats,
// or "".
func sceneFault(s *features.Scene, players int) string {
	known := func(owner int8) bool { return owner >= features.Nobody && int(owner) < players }
	inside := func(x, y float32) bool { return x >= 0 && x <= s.Width && y >= 0 && y <= s.Height } // false for NaN
	square := func(x, y, width, height float32) bool {
		return width > 0 && height > 0 && inside(x, y) && inside(x+width, y+height)
	}
	if !(s.Width > 0 && s.Height > 0) || math.IsInf(float64(s.Width+s.Height), 0) || s.Title == "" {
		return fmt.Sprintf("the board has %v × %v cells, the title is %q", s.Width, s.Height, s.Title)
	}
	for i, a := range s.Areas {
		if !known(a.Owner) || !square(a.X, a.Y, a.Width, a.Height) {
			return fmt.Sprintf("area %d: %+v", i, a)
		}
	}
	seen := map[uint32]bool{}
	for i, e := range s.Entities {
		if seen[e.ID] {
			return fmt.Sprintf("entity %d has the number of another one: %+v", i, e)
		}
		seen[e.ID] = e.ID != 0
		if !known(e.Owner) || !square(e.X, e.Y, e.Width, e.Height) || e.Kind == "" || len(e.Letter) > 2 || !(e.Health >= 0 && e.Health <= 1) || e.Number < 0 {
			return fmt.Sprintf("entity %d: %+v", i, e)
		}
	}
	for i, r := range s.Ranges { // a range may leave the board, its centre may not
		if !known(r.Owner) || !inside(r.X, r.Y) || r.Kind == "" || !(r.Radius > 0 && r.Radius <= s.Width+s.Height) {
			return fmt.Sprintf("range %d: %+v", i, r)
		}
	}
	for i, l := range s.Lines {
		if !known(l.Owner) || !inside(l.X1, l.Y1) || !inside(l.X2, l.Y2) || l.Kind == "" {
			return fmt.Sprintf("line %d: %+v", i, l)
		}
	}
	for i, e := range s.Events {
		if !known(e.Owner) || !inside(e.X1, e.Y1) || !inside(e.X2, e.Y2) || e.Kind == "" || e.Amount-e.Amount != 0 {
			return fmt.Sprintf("event %d: %+v", i, e)
		}
	}
	for i, n := range s.Stats {
		twice := slices.ContainsFunc(s.Stats[:i], func(o features.Stat) bool { return o.Name == n.Name && o.Seat == n.Seat })
		if twice || !fieldName.MatchString(n.Name) || n.Unit == "" || n.Seat < 0 || !known(n.Seat) || n.Value-n.Value != 0 {
			return fmt.Sprintf("stat %d: %+v", i, n)
		}
	}
	return ""
}

// hiddenFault returns an error if a seat sees an entity, a range, a line, an event
// or a stat that a spectator does not see, or an entity with another number. The
// seat's lists must have the order of the spectator's.
func hiddenFault(seat, all *features.Scene) string {
	if e, ok := extra(seat.Entities, all.Entities); ok {
		return fmt.Sprintf("only the seat sees %+v", e)
	}
	if r, ok := extra(seat.Ranges, all.Ranges); ok {
		return fmt.Sprintf("only the seat sees %+v", r)
	}
	if l, ok := extra(seat.Lines, all.Lines); ok {
		return fmt.Sprintf("only the seat sees %+v", l)
	}
	if e, ok := extra(seat.Events, all.Events); ok {
		return fmt.Sprintf("only the seat sees %+v", e)
	}
	if n, ok := extra(seat.Stats, all.Stats); ok {
		return fmt.Sprintf("only the seat sees %+v", n)
	}
	return ""
}

// extra returns the first element of part that breaks its being all with some
// elements left out.
func extra[E comparable](part, all []E) (e E, found bool) {
	for _, e := range part {
		at := slices.Index(all, e)
		if at < 0 {
			return e, true
		}
		all = all[at+1:]
	}
	return e, false
}

// sameScene reports whether two scenes are equal.
func sameScene(a, b *features.Scene) bool {
	return a.Width == b.Width && a.Height == b.Height && a.Up == b.Up && a.Title == b.Title && slices.Equal(a.Areas, b.Areas) &&
		slices.Equal(a.Ranges, b.Ranges) && slices.Equal(a.Entities, b.Entities) && slices.Equal(a.Lines, b.Lines) &&
		slices.Equal(a.Events, b.Events) && slices.Equal(a.Stats, b.Stats)
}

// CountEntities returns the numbers of the entities of a scene by owner and
// kind, such as {0, "wall"}. A missile or unit with a Number counts that often
// if counted has its kind.
func CountEntities(s *features.Scene, counted ...string) map[OwnedKind]int {
	n := map[OwnedKind]int{}
	for _, e := range s.Entities {
		times := 1
		if slices.Contains(counted, e.Kind) {
			times = max(1, e.Number)
		}
		n[OwnedKind{int(e.Owner), e.Kind}] += times
	}
	return n
}

// OwnedKind is a kind of entities of one owner.
type OwnedKind struct {
	Owner int
	Kind  string
}
