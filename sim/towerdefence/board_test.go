package towerdefence_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/internal/plain"
	"moonfarm/sim/towerdefence/wire"
)

// match is a position played by the fast game and by the plain twin side by
// side: what clause tests are written with.
type match struct {
	t      testing.TB
	g      *towerdefence.Game
	s      towerdefence.State
	twin   *plain.Game
	status sim.Status
	end    plain.End
}

// begin sets up the position of a text board under the default rules, changed
// by change where that is not nil.
func begin(t testing.TB, board string, change func(r *towerdefence.Rules)) *match {
	t.Helper()
	rules := towerdefence.DefaultRules()
	if change != nil {
		change(&rules)
	}
	g, err := towerdefence.New(rules)
	if err != nil {
		t.Fatal(err)
	}
	s, err := towerdefence.ParseText(g, board)
	if err != nil {
		t.Fatal(err)
	}
	m := &match{t: t, g: g, s: s, twin: twinOf(g, &s)}
	m.check()
	return m
}

// play plays one round with the command texts of A and B.
func (m *match) play(a, b string) *match {
	m.t.Helper()
	m.status = m.g.Play(&m.s, wire.ParseCommand(a), wire.ParseCommand(b))
	m.end = m.twin.Play(a, b)
	m.check()
	if (m.status == sim.Running) != (m.end == plain.Running) {
		m.t.Fatalf("status %v, of the plain twin %q", m.status, m.end)
	}
	return m
}

// idle plays n rounds without commands.
func (m *match) idle(n int) *match {
	m.t.Helper()
	for range n {
		m.play("", "")
	}
	return m
}

// check compares the two games.
func (m *match) check() {
	m.t.Helper()
	if d := compare(m.g, &m.s, m.twin); d != "" {
		m.t.Fatalf("%s\n%s", d, boards(m.g, &m.s, m.twin))
	}
}

// want compares the position with a text board: the lines that are written,
// and of the players' lines the pairs that are written.
func (m *match) want(board string) *match {
	m.t.Helper()
	if d := unlike(board, fastText(m.g, &m.s)); d != "" {
		m.t.Fatalf("%s; the board is\n%s", d, fastText(m.g, &m.s))
	}
	return m
}

// ended checks how the match stands.
func (m *match) ended(want sim.Status) *match {
	m.t.Helper()
	if m.status != want {
		m.t.Fatalf("the match is %v, want %v; the board is\n%s", m.status, want, fastText(m.g, &m.s))
	}
	return m
}

// unlike names the first thing written in want that differs in got.
func unlike(want, got string) string {
	lines := map[string][]string{}
	for line := range strings.Lines(got) {
		if f := strings.Fields(line); len(f) > 0 {
			lines[f[0]] = f[1:]
		}
	}
	for line := range strings.Lines(want) {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		have := lines[f[0]]
		if f[0] == "A" || f[0] == "B" {
			for i := 1; i+1 < len(f); i += 2 {
				if at := slices.Index(have, f[i]); at < 0 || have[at+1] != f[i+1] {
					return fmt.Sprintf("%s: want %s %s", f[0], f[i], f[i+1])
				}
			}
			continue
		}
		if !slices.Equal(f[1:], have) {
			return fmt.Sprintf("want line %s", strings.Join(f, " "))
		}
	}
	return ""
}

// fastText is the text of a position.
func fastText(g *towerdefence.Game, s *towerdefence.State) string {
	return string(towerdefence.AppendText(nil, g, s))
}

// boards are both positions as text, for failure messages.
func boards(g *towerdefence.Game, s *towerdefence.State, twin *plain.Game) string {
	return "fast\n" + fastText(g, s) + "plain\n" + plainText(twin)
}

// plainText writes the twin's position in the notation of AppendText, all but
// the part of the score that is damage, which the twin does not keep.
func plainText(twin *plain.Game) string {
	var out strings.Builder
	fmt.Fprintf(&out, "round %d\n", twin.Round)
	for p, l := range twin.Players {
		ready := map[bool]string{true: "yes", false: "no"}[l.CurtainAvailable]
		fmt.Fprintf(&out, "%c energy %d health %d hits %d score %d curtain %d ready %s fails %d\n",
			'A'+p, l.Energy, l.Health, l.HitsTaken, l.Score, l.CurtainTime, ready, l.FailCount)
	}
	var cells [8][16]string
	widest := 1
	for y := range 8 {
		for x := range 16 {
			cells[y][x] = plainCell(twin, x, y)
			widest = max(widest, len(cells[y][x]))
		}
	}
	row := func(name string, cell func(x int) string) {
		line := name + " "
		for x := range 16 {
			if x == 8 {
				line += "| "
			}
			line += fmt.Sprintf("%-*s ", widest, cell(x))
		}
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	row("x", func(x int) string { return fmt.Sprint(min(x, 15-x)) })
	for y := range 8 {
		row(fmt.Sprint(y), func(x int) string { return cells[y][x] })
	}
	return out.String()
}

// plainCell writes one cell of the twin's position.
func plainCell(twin *plain.Game, x, y int) string {
	text := "."
	for _, b := range twin.Buildings {
		if b.X != x || b.Y != y {
			continue
		}
		rule := twin.Rules.Buildings[b.Kind]
		letter := b.Kind.String()[:1]
		if b.BuildTime > 0 { // it is a round on before it acts
			text = fmt.Sprintf("%s%d", strings.ToLower(letter), b.BuildTime)
			continue
		}
		text = letter
		if b.Kind == towerdefence.Tesla && olderOfTwo(twin, b) {
			text += "*"
		}
		for h := rule.Health; h > b.Health; h -= twin.Rules.Buildings[towerdefence.Attack].Damage {
			text += "'"
		}
		if b.Cooldown > 0 {
			text += fmt.Sprint(b.Cooldown)
		}
	}
	for p, mark := range []string{">", "<"} {
		for _, m := range twin.Missiles {
			if m.X == x && m.Y == y && m.Owner == sim.Player(p) {
				text += mark
			}
		}
	}
	return text
}

// olderOfTwo tells whether another, younger tower of the same owner is finished too.
func olderOfTwo(twin *plain.Game, tower plain.Building) bool {
	return slices.ContainsFunc(twin.Buildings, func(b plain.Building) bool {
		return b.Kind == towerdefence.Tesla && b.Owner == tower.Owner && b.BuildTime <= 0 && b.BuildTime > tower.BuildTime
	})
}

// twinOf is the position of s on the plain twin.
func twinOf(g *towerdefence.Game, s *towerdefence.State) *plain.Game {
	twin := plain.New(g.Rules())
	twin.Round = int(s.Round)
	for p := range sim.Player(2) {
		h := &s.Half[p]
		twin.Players[p] = plain.Player{
			Energy: int(h.Energy), Health: h.Health(), HitsTaken: h.Hits(), Score: g.Score(s, p),
			CurtainAvailable: h.Available, CurtainTime: s.CurtainTime(p), FailCount: int(h.Failures),
		}
		for cell := range towerdefence.Cells {
			y := cell / towerdefence.Width
			if kind, ok := h.Kind(cell); ok {
				twin.Buildings = append(twin.Buildings, plain.Building{
					X: plain.Absolute(p, cell%towerdefence.Width), Y: y, Owner: p, Kind: kind,
					Health: g.HealthOf(s, p, cell), BuildTime: g.BuildTime(s, p, cell), Cooldown: g.Cooldown(s, p, cell),
				})
			}
			for range h.MissilesOwn(cell) {
				twin.Missiles = append(twin.Missiles, plain.Missile{X: plain.Absolute(p, cell%towerdefence.Width), Y: y, Owner: p})
			}
			for range h.MissilesFar(cell) {
				twin.Missiles = append(twin.Missiles, plain.Missile{X: plain.Absolute(p^1, cell%towerdefence.Width), Y: y, Owner: p})
			}
		}
	}
	slices.SortStableFunc(twin.Buildings, func(a, b plain.Building) int {
		return cmp.Compare(placed(twin, a), placed(twin, b))
	})
	return twin
}

// placed is the round in which a building was placed.
func placed(twin *plain.Game, b plain.Building) int {
	return twin.Round + b.BuildTime - twin.Rules.Buildings[b.Kind].ConstructionTime
}

// commandText is the command text of an order.
func commandText(o sim.Order) string { return string(wire.AppendCommand(nil, o)) }
