package codecraft_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/internal/plain"
	"moonfarm/sim/simtest"
)

// match is a position played by the fast game and by the plain twin side by
// side: what clause tests are written with.
type match struct {
	t      testing.TB
	g      *codecraft.Game
	s      codecraft.State
	rec    codecraft.Record
	twin   *plain.Game
	turn   *sim.Turn
	status sim.Status
}

// begin sets up the position of a text under the rules of round1 (four players,
// no fog), changed by change where that is not nil.
func begin(t testing.TB, text string, change func(r *codecraft.Rules)) *match {
	t.Helper()
	g := mustGame(t, "round1", change)
	s, err := codecraft.ParseText(g, text)
	if err != nil {
		t.Fatal(err)
	}
	return resume(t, g, s)
}

// resume goes on from a state.
func resume(t testing.TB, g *codecraft.Game, s codecraft.State) *match {
	t.Helper()
	m := &match{t: t, g: g, s: s, twin: plain.New(g.Rules()), turn: sim.NewTurn(64)}
	m.g.Record(&m.rec)
	m.twin.Load(&s)
	m.compare("at the beginning")
	return m
}

// fog makes rules with fog.
func fog(r *codecraft.Rules) { r.Fog = true }

// tick plays ticks without orders.
func (m *match) tick(n int) *match {
	m.t.Helper()
	for range n {
		m.play()
	}
	return m
}

// orders are what a player gives in a tick.
type orders struct {
	player sim.Player
	list   []sim.Order
}

// by are orders of a player, from 1.
func by(player int, list ...sim.Order) orders { return orders{sim.Player(player - 1), list} }

// play plays a tick with orders.
func (m *match) play(given ...orders) *match {
	m.t.Helper()
	m.turn.Clear()
	for _, o := range given {
		m.turn.Set(o.player, o.list)
		m.twin.Command(int(o.player), o.list)
	}
	m.status = m.g.Step(&m.s, m.turn)
	if status := m.twin.Play(); status != m.status {
		m.t.Fatalf("status %v, of the plain twin %v\n%s", m.status, status, m.text())
	}
	m.compare("after the tick")
	if !slices.Equal(m.rec.Attacks, m.twin.Attacks) || !slices.Equal(m.rec.Died, m.twin.Died) {
		m.t.Fatalf("attacks and deaths: the fast game has %v and %v, the plain twin %v and %v", m.rec.Attacks, m.rec.Died, m.twin.Attacks, m.twin.Died)
	}
	return m
}

// compare compares the two games.
func (m *match) compare(when string) {
	m.t.Helper()
	var s codecraft.State
	m.twin.Store(&s)
	if s != m.s {
		m.t.Fatalf("%s the games differ: %s\nfast\n%splain\n%s", when, simtest.Diff(&m.s, &s), m.text(), codecraft.AppendText(nil, m.g, &s))
	}
}

// text is the position as text.
func (m *match) text() string { return string(codecraft.AppendText(nil, m.g, &m.s)) }

// want compares the position with lines of the notation of AppendText: cells
// that are written (all but ?), pairs that are written, of units all but their
// action; and lines like "no 5 6": there are no entities with these ids.
func (m *match) want(text string) *match {
	m.t.Helper()
	from := 0
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 0 && f[0][0] == 'x' {
			from, _ = strconv.Atoi(f[0][1:])
		}
	}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 || f[0][0] == 'x' {
			continue
		}
		if d := m.unlike(f, from); d != "" {
			m.t.Fatalf("%s; the position is\n%s", d, m.text())
		}
	}
	return m
}

// unlike tells what of a line of want is not so.
func (m *match) unlike(f []string, from int) string {
	switch f[0] {
	case "no":
		for _, word := range f[1:] {
			if m.exists(word) {
				return fmt.Sprintf("there is an entity %s", word)
			}
		}
	case "unit":
		id, _ := strconv.Atoi(f[1])
		i := m.s.Find(uint32(id))
		if i < 0 {
			return fmt.Sprintf("there is no entity %s", f[1])
		}
		u := m.s.Units[i]
		got := fmt.Sprintf("unit %d %c%d %d,%d", u.ID, "WHBbMmRr*T"[u.Type], u.Owner+1, u.X, u.Y)
		if m.g.Rules().Types[u.Type].MaxHealth != int32(u.Health) {
			got += fmt.Sprintf(" health %d", u.Health)
		}
		if !u.Active {
			got += " inactive"
		}
		if want := strings.Join(f, " "); got != want {
			return fmt.Sprintf("want %q, found %q", want, got)
		}
	case "health":
		for _, word := range f[1:] {
			var x, y, h int
			if _, err := fmt.Sscanf(word, "%d,%d=%d", &x, &y, &h); err != nil {
				m.t.Fatalf("%q: %v", word, err)
			}
			if got := int(m.s.Health[codecraft.CellOf(x, y)]); got != h {
				return fmt.Sprintf("want health %s, found %d", word, got)
			}
		}
	default:
		if y, err := strconv.Atoi(f[0]); err == nil {
			return m.unlikeRow(y, from, strings.Join(f[1:], ""))
		}
		return m.unlikePairs(f)
	}
	return ""
}

// exists tells whether there is an entity with that id.
func (m *match) exists(id string) bool {
	n, err := strconv.ParseUint(id, 10, 32)
	if err != nil {
		m.t.Fatalf("%q is no id", id)
	}
	x, y, ok := m.s.ResourceAt(uint32(n))
	return m.s.Find(uint32(n)) >= 0 || ok && m.s.Resources.Has(x, y)
}

// unlikeRow compares the cells of a row.
func (m *match) unlikeRow(y, from int, cells string) string {
	all := strings.Fields(string(codecraft.AppendWindow(nil, m.g, &m.s, from, y, codecraft.Side, 1)))
	got := ""
	for _, f := range all[1:] {
		if f[0] == 'x' {
			break
		}
		got += f
	}
	x := from
	for len(cells) > 0 {
		n := 1
		if !strings.Contains(".:*?", cells[:1]) {
			n = 2
		}
		k := 1
		if !strings.Contains(".:*", got[:1]) {
			k = 2
		}
		if cells[0] != '?' && cells[:n] != got[:k] {
			return fmt.Sprintf("on %d,%d is %s, want %s", x, y, got[:k], cells[:n])
		}
		cells, got = cells[n:], got[k:]
		x++
	}
	return ""
}

// unlikePairs compares a line of names and values.
func (m *match) unlikePairs(f []string) string {
	for line := range strings.Lines(m.text()) {
		have := strings.Fields(line)
		if have[0] != f[0] {
			continue
		}
		if f[0][0] == 'p' {
			f = f[1:]
		}
		for i := 0; i+1 < len(f); i += 2 {
			if at := slices.Index(have, f[i]); at < 0 || have[at+1] != f[i+1] {
				return fmt.Sprintf("want %s %s, found %q", f[i], f[i+1], have)
			}
		}
		return ""
	}
	return fmt.Sprintf("no line %q", f[0])
}

// attacks checks the attacks of the last tick, by attacker: "5>7 6>7".
func (m *match) attacks(want string) *match {
	m.t.Helper()
	hits := slices.Clone(m.rec.Attacks)
	slices.SortFunc(hits, func(a, b codecraft.Hit) int { return int(a.Attacker) - int(b.Attacker) })
	var got []string
	for _, h := range hits {
		got = append(got, fmt.Sprintf("%d>%d", h.Attacker, h.Victim))
	}
	if !slices.Equal(got, strings.Fields(want)) {
		m.t.Fatalf("attacks %v, want %s\n%s", got, want, m.text())
	}
	return m
}

// may checks what entity id may do: its first steps, as a set of directions
// like "+x-y", and whom it may attack by its action, as ids.
func (m *match) may(id uint32, steps string, victims ...uint32) *match {
	m.t.Helper()
	m.g.Plan(&m.s)
	m.twin.Plan()
	i := m.s.Find(id)
	if i < 0 {
		m.t.Fatalf("no unit %d\n%s", id, m.text())
	}
	set := ""
	for d, name := range []string{"+x", "-x", "+y", "-y"} {
		if m.g.Steps(i)>>d&1 != 0 {
			set += name
		}
	}
	got := m.g.AppendVictims(nil, &m.s, i)
	e := m.twin.Find(id)
	if m.g.Steps(i) != e.Steps() || !slices.Equal(got, e.Victims()) {
		m.t.Fatalf("%d: steps %04b, victims %v; of the plain twin %04b, %v\n%s", id, m.g.Steps(i), got, e.Steps(), e.Victims(), m.text())
	}
	if set != steps || !slices.Equal(got, victims) {
		m.t.Fatalf("%d: steps %q and victims %v, want %q and %v\n%s", id, set, got, steps, victims, m.text())
	}
	return m
}

// ended checks how the game stands.
func (m *match) ended(want sim.Status) *match {
	m.t.Helper()
	if m.status != want {
		m.t.Fatalf("the game is %v, want %v\n%s", m.status, want, m.text())
	}
	return m
}

// even plays the next tick under many seeds, counts what outcome says of them,
// and demands that all of want come about equally often, and nothing else.
func (m *match) even(outcome func(m *match) string, want ...string) *match {
	m.t.Helper()
	each := 60
	seen := map[string]int{}
	for seed := range uint64(each * len(want)) {
		s := m.s
		s.Seed = seed*0x9e3779b97f4a7c15 + 1
		if seed < 10 {
			seen[outcome(resume(m.t, m.g, s).tick(1))]++
			continue
		}
		alone := &match{t: m.t, g: m.g, s: s} // the twin is slow
		m.g.Record(&alone.rec)
		alone.status = m.g.Tick(&alone.s)
		seen[outcome(alone)]++
	}
	for _, w := range want {
		// Five standard deviations, and more.
		if n := seen[w]; n < each-35 || n > each+35 {
			m.t.Fatalf("%q came about %d times, want about %d; all: %v", w, n, each, seen)
		}
		delete(seen, w)
	}
	if len(seen) > 0 {
		m.t.Fatalf("not wanted: %v", seen)
	}
	m.g.Record(&m.rec)
	return m
}

// where is where a unit is, as "x,y".
func where(id uint32) func(m *match) string {
	return func(m *match) string {
		u := m.s.Units[m.s.Find(id)]
		return fmt.Sprintf("%d,%d", u.X, u.Y)
	}
}

// refused checks that rules are not valid, and why.
func refused(t testing.TB, r codecraft.Rules, why string) {
	t.Helper()
	if g, err := codecraft.New(r); err == nil || !strings.Contains(err.Error(), why) || g != nil {
		t.Errorf("rules: %v, want %q", err, why)
	}
}
