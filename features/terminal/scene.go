package terminal

import (
	"fmt"

	"moonfarm/features"
	"moonfarm/sim"
	tm "moonfarm/sim/terminal"
	"moonfarm/sim/texts"
)

// outlineOf has the outlines of the kinds of player 1, whose mobile units go
// upwards, and letters the letters.
var (
	outlineOf = [tm.Kinds]features.Outline{
		tm.Wall: features.Square, tm.Support: features.Round, tm.Turret: features.Diamond,
		tm.Scout: features.ToGreaterY, tm.Demolisher: features.ToGreaterY, tm.Interceptor: features.ToGreaterY,
	}
	letters = [tm.Kinds]string{tm.Wall: "W", tm.Support: "S", tm.Turret: "T", tm.Scout: "s", tm.Demolisher: "d", tm.Interceptor: "i"}
)

// scene draws the arena as player 1 sees it, y upwards. Both players see
// everything. The ids are those of the game, in which an upgrade gives a
// structure a new id. The numbers of the next
// turn are those if nothing is spent or destroyed, without refunds and the maximum of
// bits. r are
// the rules of g.
func scene(dst *features.Scene, g *tm.Game, r *tm.Rules, s *tm.State) {
	dst.Begin(tm.Side, tm.Side)
	dst.Up = true
	dst.Title = fmt.Sprintf("turn %d", s.Turn)
	for y := range tm.Side {
		rows := min(y, tm.Side-1-y) // to the nearer end
		dst.Areas = append(dst.Areas, features.Area{
			Owner: int8(tm.Owner(y)), X: float32(tm.Side/2 - 1 - rows), Y: float32(y), Width: float32(2 * (rows + 1)), Height: 1,
		})
	}
	for y := range tm.Side { // by place, not by age: two states that look alike have the same scene but for the ids
		for x := range tm.Side {
			if piece, ok := s.At(x, y); ok {
				addPiece(dst, r, &piece)
			}
		}
	}
	for p := range s.Health {
		dst.AddStat("health", "health points", p, float64(s.Health[p]))
		dst.AddStat("cores", "cores", p, float64(s.Cores[p]))
		dst.AddStat("bits", "bits", p, float64(s.Bits[p]))
		cores, bits := g.Income(s, sim.Player(p))
		dst.AddStat("cores_next_turn", "cores", p, float64(s.Cores[p]+cores))
		dst.AddStat("bits_next_turn", "bits", p, float64(g.BitsKept(s, sim.Player(p))+bits))
	}
}

// addPiece adds a structure or a mobile unit with the ranges of its attack and
// of its shield.
func addPiece(dst *features.Scene, r *tm.Rules, c *tm.Piece) {
	unit := &r.Units[c.Kind]
	if c.Upgraded {
		unit = &r.Upgraded[c.Kind]
	}
	e := features.Entity{
		Kind: c.Kind.String(), Outline: outlineOf[c.Kind], Letter: letters[c.Kind], Owner: int8(c.Player), ID: c.ID,
		X: float32(c.At.X), Y: float32(c.At.Y), Width: 1, Height: 1,
		Health: features.HealthShare(c.Health, unit.Health), Upgraded: c.Upgraded,
	}
	if c.Kind.Mobile() && c.Player == 1 {
		e.Outline = features.ToLessY
	}
	if n := int(c.RemoveIn); n > 0 {
		e.Leaving, e.Number, e.Note = true, n, "removed in "+texts.Plural(n, "turn")
	}
	dst.Entities = append(dst.Entities, e)
	reach := features.Range{Owner: int8(c.Player), X: e.X + 0.5, Y: e.Y + 0.5}
	if unit.AttackRange > 0 && c.Kind.Structure() {
		reach.Kind, reach.Radius = "attack", unit.AttackRange
		dst.Ranges = append(dst.Ranges, reach)
	}
	if unit.ShieldRange > 0 && (unit.Shield > 0 || unit.ShieldPerY > 0) {
		reach.Kind, reach.Radius = "shield", unit.ShieldRange
		dst.Ranges = append(dst.Ranges, reach)
	}
}

// AddMobile adds the mobile units of a frame of the action phase to the scene of
// the structures and numbers. Units of a player and a kind on one cell are one
// entity with their number, and with the health and the id of the first.
func AddMobile(dst *features.Scene, r *tm.Rules, mobile []tm.Piece) {
	type stack struct {
		at   tm.Pos
		kind tm.Kind
		p    sim.Player
	}
	entities := map[stack]int{} // the index of the entity of a stack
	for i := range mobile {
		c := &mobile[i]
		key := stack{c.At, c.Kind, c.Player}
		if at, ok := entities[key]; ok {
			e := &dst.Entities[at]
			e.Number = max(e.Number, 1) + 1
			e.Note = texts.Plural(e.Number, "unit")
			continue
		}
		entities[key] = len(dst.Entities)
		addPiece(dst, r, c)
	}
}
