package towerdefence_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/internal/plain"
	"moonfarm/sim/towerdefence/wire/command"
)

// match is a position played by the fast game and the plain twin side by side.
// Clause tests use it.
type match struct {
	t      testing.TB
	title  string // for failures
	g      *towerdefence.Game
	s      towerdefence.State
	twin   *plain.Game
	status sim.Status
	end    plain.End
}

// begin sets up the position of a text board under the default rules, as
// modified by change if it is not nil.
func begin(t testing.TB, board string, change func(r *towerdefence.Rules)) *match {
	t.Helper()
	rules := towerdefence.DefaultRules()
	if change != nil {
		change(&rules)
	}
	g, err := towerdefence.New(rules)
	require.NoError(t, err)
	s, err := towerdefence.ParseText(g, board)
	require.NoError(t, err)
	return &match{t: t, g: g, s: s, twin: twinOf(g, &s)}
}

// start begins a match of g. given holds the energies and the healths of A and
// B, if they differ from the rules'.
func start(t testing.TB, g *towerdefence.Game, given ...[2]int) *match {
	t.Helper()
	m := &match{t: t, g: g, twin: plain.New(g.Rules())}
	g.Reset(&m.s, 0)
	for p, v := range given {
		g.SetStart(&m.s, sim.Player(p), v[0], v[1])
		m.twin.Players[p].Energy, m.twin.Players[p].Health = v[0], v[1]
	}
	require.Equal(t, "", compare(g, &m.s, m.twin), "the start")
	return m
}

// play plays one round with the command texts of A and B.
func (m *match) play(a, b string) *match {
	m.t.Helper()
	return m.round([2]sim.Order{command.Parse(a), command.Parse(b)}, [2]string{a, b})
}

// round plays one round with orders on the fast game and the equivalent texts
// on the plain twin, and compares the two.
func (m *match) round(orders [2]sim.Order, texts [2]string) *match {
	m.t.Helper()
	before := m.s
	m.status = m.g.Play(&m.s, orders[0], orders[1])
	m.end = m.twin.Play(texts[0], texts[1])
	d := compare(m.g, &m.s, m.twin)
	switch aborted := m.end == plain.Aborted; {
	case d != "":
	case (m.status == sim.Running) != (m.end == plain.Running), (m.status == sim.Cut) != aborted:
		d = fmt.Sprintf("status %v, of the plain twin %q", m.status, m.end)
	case aborted && m.s != before:
		d = "an aborted match goes on"
	}
	if d != "" {
		m.t.Fatalf("%s\norders %#x, commands %q: %s\nbefore\n%safter\n%s", m.title, orders, texts, d, fastText(m.g, &before), fastText(m.g, &m.s))
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

// want compares the position with the lines of a text board, and in lines of
// players with the pairs that they contain.
func (m *match) want(board string) *match {
	m.t.Helper()
	if d := firstDifference(board, fastText(m.g, &m.s)); d != "" {
		m.t.Fatalf("%s; the board is\n%s", d, fastText(m.g, &m.s))
	}
	return m
}

// ended checks the status of the match.
func (m *match) ended(want sim.Status) *match {
	m.t.Helper()
	if m.status != want {
		m.t.Fatalf("the match is %v, want %v; the board is\n%s", m.status, want, fastText(m.g, &m.s))
	}
	return m
}

// firstDifference returns the first thing in want that differs in got.
func firstDifference(want, got string) string {
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

// fastText returns the text of a position.
func fastText(g *towerdefence.Game, s *towerdefence.State) string {
	return string(towerdefence.AppendText(nil, g, s))
}

// twinOf returns the position of s on the plain twin.
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

// placed returns the round in which a building was placed.
func placed(twin *plain.Game, b plain.Building) int {
	return twin.Round + b.BuildTime - twin.Rules.Buildings[b.Kind].ConstructionTime
}

// commandText returns the command text of an order.
func commandText(o sim.Order) string { return string(command.Append(nil, o)) }
