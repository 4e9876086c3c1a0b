package recording

import (
	"fmt"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/display"
)

// fromState fills in players, buildings and missiles after the last round of
// the fast game.
func (r *Round) fromState(g *towerdefence.Game, s *towerdefence.State) {
	r.Number = int(s.Round) - 1
	r.Buildings, r.Missiles = r.Buildings[:0], r.Missiles[:0]
	for p := range sim.Player(2) {
		h := &s.Half[p]
		r.Players[p] = display.Player{Energy: int(h.Energy), Health: h.Health(), HitsTaken: h.Hits(), Score: g.Score(s, p),
			CurtainAvailable: h.Available, CurtainTime: s.CurtainTime(p), FailCount: int(h.Failures)}
	}
	for y := range display.Rows {
		for x := range display.Columns {
			owner, cell := display.SeatA, y*towerdefence.Width+x
			if x >= towerdefence.Width {
				owner, cell = display.SeatB, y*towerdefence.Width+display.Columns-1-x
			}
			if kind, ok := s.Half[owner].Kind(cell); ok {
				r.Buildings = append(r.Buildings, display.Building{X: x, Y: y, Owner: owner, Kind: kind,
					Health: g.HealthOf(s, owner, cell), BuildTime: g.BuildTime(s, owner, cell), Cooldown: g.Cooldown(s, owner, cell)})
			}
			for p := range sim.Player(2) {
				n := s.Half[p].MissilesFar(cell)
				if p == owner {
					n = s.Half[p].MissilesOwn(cell)
				}
				if n > 0 {
					r.Missiles = append(r.Missiles, Stack{x, y, p, n})
				}
			}
		}
	}
}

// differs returns the first field in which a round as played differs from the recorded one;
// field is "" if they are equal.
func (r *Round) differs(played *Round) (field string, want, got any) {
	if r.Number != played.Number {
		return "r", r.Number, played.Number
	}
	for i := range r.Players {
		if field, want, got := playersDiffer(&r.Players[i], &played.Players[i]); field != "" {
			return fmt.Sprintf("p[%d].%s", i, field), want, got
		}
	}
	if w, g := firstDifference(r.Buildings, played.Buildings, placeOf); w != nil || g != nil {
		return buildingsDiffer(w, g)
	}
	if w, g := firstDifference(r.Missiles, played.Missiles, placeOfStack); w != nil || g != nil {
		return missilesDiffer(w, g)
	}
	if !slices.EqualFunc(r.TeslaHits, played.TeslaHits, slices.Equal[[]display.Cell]) {
		return "th", r.TeslaHits, played.TeslaHits
	}
	if !slices.Equal(r.CurtainHits, played.CurtainHits) {
		return "ih", r.CurtainHits, played.CurtainHits
	}
	return "", nil, nil
}

// playersDiffer returns the first field in which two players differ.
func playersDiffer(p, played *display.Player) (field string, want, got any) {
	for _, f := range []struct {
		name      string
		want, got int
	}{
		{"energy", p.Energy, played.Energy},
		{"health", p.Health, played.Health},
		{"hitsTaken", p.HitsTaken, played.HitsTaken},
		{"score", p.Score, played.Score},
		{"curtainTime", p.CurtainTime, played.CurtainTime},
		{"failCount", p.FailCount, played.FailCount},
	} {
		if f.want != f.got {
			return f.name, f.want, f.got
		}
	}
	if p.CurtainAvailable != played.CurtainAvailable {
		return "curtainAvailable", p.CurtainAvailable, played.CurtainAvailable
	}
	return "", nil, nil
}

// firstDifference returns the entries of the first place where two lists, sorted by place,
// differ; nil stands for no entry. Both are nil if the lists are equal.
func firstDifference[T comparable](want, got []T, place func(T) int) (w, g *T) {
	for i := 0; ; i++ {
		switch {
		case i == len(want) && i == len(got):
			return nil, nil
		case i == len(want) || i < len(got) && place(want[i]) > place(got[i]):
			return nil, &got[i]
		case i == len(got) || place(want[i]) < place(got[i]):
			return &want[i], nil
		case want[i] != got[i]:
			return &want[i], &got[i]
		}
	}
}

// buildingsDiffer returns the first field in which two buildings differ; nil stands for no
// building.
func buildingsDiffer(w, g *display.Building) (string, any, any) {
	at := func(b *display.Building) string { return fmt.Sprintf("b[%d,%d]", b.X, b.Y) }
	switch {
	case w == nil:
		return at(g), "nothing", g.Kind
	case g == nil:
		return at(w), w.Kind, "nothing"
	case w.Kind != g.Kind:
		return at(w) + ".type", w.Kind, g.Kind
	case w.Health != g.Health:
		return at(w) + ".health", w.Health, g.Health
	case w.BuildTime != g.BuildTime:
		return at(w) + ".buildTime", w.BuildTime, g.BuildTime
	}
	return at(w) + ".cooldown", w.Cooldown, g.Cooldown
}

// missilesDiffer describes how the missiles on a cell differ; nil stands for no missiles.
func missilesDiffer(w, g *Stack) (string, any, any) {
	var want, got Stack
	if w != nil {
		want = *w
	}
	if g != nil {
		got = *g
	}
	at := want
	if w == nil {
		at = got
	}
	return fmt.Sprintf("m[%d,%d,%d]", at.X, at.Y, at.Owner), want.Count, got.Count
}
