package codecraft_test

import (
	"fmt"
	"strings"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/simtest"
)

// playthroughRules returns rules of a short and lively game: round1 for two players with cheap
// houses and turrets, and the bonus.
func playthroughRules(r *codecraft.Rules) {
	r.MaxTurns, r.Bonus = 150, true
	r.Types[codecraft.House].Cost, r.Types[codecraft.Turret].Cost, r.Types[codecraft.Wall].Cost = 20, 30, 5
	r.Generator.MinShare, r.Generator.MaxShare = 150, 200
}

// TestPlaythrough compares one game with testdata/playthrough.txt, in whose diff reviewers see the
// effect of a change on play. After an intended change of play, go test -run Playthrough -update
// writes the file; RulesVersion must rise with it.
func TestPlaythrough(t *testing.T) {
	simtest.Golden(t, "testdata/playthrough.txt", playthrough(t))
}

// playthrough plays the golden game and returns its text: the whole position at the start and at
// the end, parts of it between, the orders, and the events of each tick.
func playthrough(t *testing.T) []byte {
	t.Helper()
	g := mustGame(t, "round1-2", playthroughRules)
	var s codecraft.State
	g.Reset(&s, 21)
	m := resume(t, g, s)
	info := g.Info()
	out := fmt.Appendf(nil, "# One game of CodeCraft, written by TestPlaythrough. The notation of positions is\n"+
		"# explained in text.go; \"legal\" counts the orders of AppendOrders; attacks are\n"+
		"# attacker>victim, in their order, by ids.\n\n"+
		"game %s rules %s players %d turns %d orders %d\n\n", info.Name, info.Rules, info.Players, info.MaxTurns, info.MaxOrders)
	out = codecraft.AppendText(out, g, &m.s)
	for m.status == sim.Running {
		out = fmt.Appendf(out, "\ntick %d\n", m.s.Tick)
		var given []orders
		for p := range sim.Player(2) {
			list := playthroughOrders(&m.s, p)
			given = append(given, orders{p, list})
			out = appendGiven(out, list, p)
		}
		before := m.s
		m.play(given...)
		out = appendEvents(out, m, &before)
		if m.s.Tick%50 == 25 {
			out = codecraft.AppendWindow(out, g, &m.s, 0, 0, 30, 30)
			out = appendLegal(out, g, &m.s)
		}
	}
	out = codecraft.AppendText(append(out, '\n'), g, &m.s)
	a, b := g.Outcome(&m.s, 0), g.Outcome(&m.s, 1)
	return fmt.Appendf(out, "%v: p1 result %v score %v, p2 result %v score %v\n", m.status, a.Result, a.Score, b.Result, b.Score)
}

// playthroughOrders returns the orders of the golden game: each unit gets one order, and the first
// builders of player 1 also build.
func playthroughOrders(s *codecraft.State, p sim.Player) (list []sim.Order) {
	farX, farY := codecraft.TurnBack(p, 74, 74, 1)
	builders := 0
	for i, u := range s.Units[:s.N] {
		if u.Owner != p {
			continue
		}
		if u.Type == codecraft.BuilderUnit {
			builders++
		}
		fresh := s.Acts[i].Parts == 0 && u.Active
		switch {
		case fresh && u.Type == codecraft.BuilderUnit:
			list = append(list, codecraft.Auto(u.ID, 60, 1<<codecraft.Resource))
		case fresh && (u.Type == codecraft.MeleeUnit || u.Type == codecraft.RangedUnit):
			list = append(list, codecraft.Move(u.ID, farX, farY, true, true), codecraft.And(codecraft.Auto(u.ID, 10, 0)))
		case fresh && u.Type == codecraft.Turret:
			list = append(list, codecraft.Auto(u.ID, 0, 0))
		case fresh:
			for kind, base := range map[codecraft.Type]codecraft.Type{
				codecraft.BuilderUnit: codecraft.BuilderBase, codecraft.MeleeUnit: codecraft.MeleeBase, codecraft.RangedUnit: codecraft.RangedBase,
			} {
				if u.Type == base {
					x, y := codecraft.Turn(p, int(u.X), int(u.Y), 5)
					x, y = codecraft.TurnBack(p, x+5, y+2, 1)
					list = append(list, codecraft.Build(u.ID, kind, x, y))
				}
			}
		}
	}
	if s.Tick%10 == 0 && builders > 1 {
		list = append(list, works(s, p)...)
	}
	return list
}

// works returns a builder's orders to build where it stands: a house, a wall, a turret, one after
// the other. All builders repair their neighbours.
func works(s *codecraft.State, p sim.Player) (list []sim.Order) {
	kind := [3]codecraft.Type{codecraft.House, codecraft.Wall, codecraft.Turret}[s.Tick/10%3]
	for _, u := range s.Units[:s.N] {
		if u.Owner == p && u.Type == codecraft.BuilderUnit {
			list = append(list, codecraft.Build(u.ID, kind, int(u.X)+1, int(u.Y)), codecraft.And(codecraft.Auto(u.ID, 60, 1<<codecraft.Resource)))
			break
		}
	}
	for _, v := range s.Units[:s.N] {
		if v.Owner != p || v.Active {
			continue
		}
		for _, u := range s.Units[:s.N] {
			if dx, dy := int(u.X)-int(v.X), int(u.Y)-int(v.Y); u.Owner == p && u.Type == codecraft.BuilderUnit && dx*dx+dy*dy < 100 {
				list = append(list, codecraft.Repair(u.ID, v.ID), codecraft.And(codecraft.Move(u.ID, int(v.X), int(v.Y), true, false)))
			}
		}
	}
	return list
}

// appendGiven appends the orders of player p, in hexadecimal and in words.
func appendGiven(out []byte, list []sim.Order, p sim.Player) []byte {
	for _, o := range list {
		c := codecraft.Decode(o)
		more := ""
		if c.And {
			more = " and"
		}
		out = fmt.Appendf(out, "p%d%s %d ", p+1, more, c.ID)
		switch c.Op {
		case codecraft.OpMove:
			out = fmt.Appendf(out, "move %d,%d closest %v break %v\n", c.X, c.Y, c.Closest, c.Break)
		case codecraft.OpBuild:
			out = fmt.Appendf(out, "build %v %d,%d\n", c.Type, c.X, c.Y)
		case codecraft.OpAuto:
			out = fmt.Appendf(out, "auto %d of types %b\n", c.Range, c.Valid)
		case codecraft.OpRepair:
			out = fmt.Appendf(out, "repair %d\n", c.Target)
		}
	}
	return out
}

// appendEvents appends the events of the last tick.
func appendEvents(out []byte, m *match, before *codecraft.State) []byte {
	moved, built := 0, ""
	for _, u := range m.s.Units[:m.s.N] {
		switch i := before.Find(u.ID); {
		case i < 0:
			built += fmt.Sprintf(" %d %v %d,%d", u.ID, u.Type, u.X, u.Y)
		case before.Units[i].X != u.X || before.Units[i].Y != u.Y:
			moved++
		}
	}
	out = fmt.Appendf(out, "%d moved", moved)
	if len(m.rec.Attacks) > 0 {
		var hits []string
		for _, h := range m.rec.Attacks {
			hits = append(hits, fmt.Sprintf("%d>%d", h.Attacker, h.Victim))
		}
		out = fmt.Appendf(out, ", attacks %s", strings.Join(hits, " "))
	}
	if built != "" {
		out = fmt.Appendf(out, ", built%s", built)
	}
	if len(m.rec.Died) > 0 {
		out = fmt.Appendf(out, ", died %v", m.rec.Died)
	}
	for p := range 2 {
		if m.s.Score[p] != before.Score[p] || m.s.Resource[p] != before.Resource[p] {
			out = fmt.Appendf(out, ", p%d score %d resource %d", p+1, m.s.Score[p], m.s.Resource[p])
		}
	}
	return append(out, '\n')
}

// appendLegal appends the number of legal orders of both players by op.
func appendLegal(out []byte, g *codecraft.Game, s *codecraft.State) []byte {
	for p := range sim.Player(2) {
		var count [7]int
		list := g.AppendOrders(nil, s, p)
		for _, o := range list {
			count[codecraft.Decode(o).Op]++
		}
		out = fmt.Appendf(out, "legal p%d %d: stop %d move %d build %d attack %d auto %d repair %d\n", p+1, len(list),
			count[codecraft.OpStop], count[codecraft.OpMove], count[codecraft.OpBuild], count[codecraft.OpAttack], count[codecraft.OpAuto], count[codecraft.OpRepair])
	}
	return out
}
