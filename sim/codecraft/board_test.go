package codecraft_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/internal/plain"
)

// Helpers of the clause tests.

// begin begins a match at the position of a text, under the rules of round1 (four players, no fog)
// after change, unless change is nil.
func begin(t testing.TB, text string, change func(r *codecraft.Rules)) *match {
	t.Helper()
	g := mustGame(t, "round1", change)
	s, err := codecraft.ParseText(g, text)
	require.NoError(t, err)
	return resume(t, g, s)
}

// resume begins a match at a state.
func resume(t testing.TB, g *codecraft.Game, s codecraft.State) *match {
	t.Helper()
	m := &match{t: t, g: g, twin: plain.New(g.Rules()), n: new(tally)}
	m.begin(&s)
	return m
}

// fog turns on the fog of war.
func fog(r *codecraft.Rules) { r.Fog = true }

// tick plays ticks without orders.
func (m *match) tick(n int) *match {
	m.t.Helper()
	for range n {
		m.play()
	}
	return m
}

// orders has the orders of a player in a tick.
type orders struct {
	player sim.Player
	list   []sim.Order
}

// by returns orders of a player, counted from 1.
func by(player int, list ...sim.Order) orders { return orders{sim.Player(player - 1), list} }

// play plays a tick with orders.
func (m *match) play(given ...orders) *match {
	m.t.Helper()
	m.orders = [sim.MaxPlayers][]sim.Order{}
	for _, o := range given {
		m.orders[o.player] = o.list
	}
	m.step()
	return m
}

// text returns the position as text.
func (m *match) text() string { return string(codecraft.AppendText(nil, m.g, &m.s)) }

// want compares the position with lines in the notation of AppendText: the marks of cells, except
// ?; pairs of names and values; and the lines of units without their actions. A line "no 5 6" means
// that no entities have these ids.
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

// unlike returns the first difference of the position from a line of want, "" if there is none.
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

// exists reports whether there is an entity with that id.
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

// attacks compares the attacks of the last tick, ordered by attacker, with a text like "5>7 6>7".
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

// may checks the possible steps of entity id, as a set of directions like "+x-y", and the possible
// targets of its attack action, as ids.
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

// ended checks the status and the scores.
func (m *match) ended(want sim.Status) *match {
	m.t.Helper()
	if m.status != want {
		m.t.Fatalf("the game is %v, want %v\n%s", m.status, want, m.text())
	}
	return m
}

// even plays the next tick many times, first under many seeds, then in many ticks of a game, and
// counts the outcomes. All of want must come about equally often and nothing else may come, and no
// outcome may follow another more often than by chance.
func (m *match) even(outcome func(m *match) string, want ...string) *match {
	m.t.Helper()
	const plays = 4000
	changes, last := 0, ""
	seen := map[string]int{}
	for n := range plays {
		s := m.s
		if s.Tick = int32(n); n < plays/2 {
			s.Tick, s.Seed = m.s.Tick, uint64(n)*0x9e3779b97f4a7c15+1
		}
		now := &match{t: m.t, g: m.g, s: s}
		if n < 10 {
			now = resume(m.t, m.g, s).tick(1)
		} else { // the twin is slow
			m.g.Record(&now.rec)
			m.g.Tick(&now.s)
		}
		result := outcome(now)
		if seen[result]++; result != last {
			changes++
		}
		last = result
	}
	m.g.Record(&m.rec)
	share := 1 / float64(len(want))
	for _, w := range want {
		m.nearShare(fmt.Sprintf("%q", w), seen[w], plays, share)
		delete(seen, w)
	}
	if len(seen) > 0 {
		m.t.Fatalf("not wanted: %v", seen)
	}
	m.nearShare("changes from play to play", changes-1, plays-1, 1-share)
	return m
}

// nearShare fails if the share of hits in trials differs from a share by more than five standard
// deviations. The draws are fixed, so a failure is reproducible.
func (m *match) nearShare(what string, hits, trials int, share float64) {
	m.t.Helper()
	if d := float64(hits)/float64(trials) - share; d*d*float64(trials) > 25*share*(1-share)+1e-9 {
		m.t.Fatalf("%s: %d of %d, want %.1f %%\n%s", what, hits, trials, 100*share, m.text())
	}
}

// where returns the place of a unit as "x,y".
func where(id uint32) func(m *match) string {
	return func(m *match) string {
		u := m.s.Units[m.s.Find(id)]
		return fmt.Sprintf("%d,%d", u.X, u.Y)
	}
}

// refused checks that rules are not valid, and the reason.
func refused(t testing.TB, r codecraft.Rules, why string) {
	t.Helper()
	g, err := codecraft.New(r)
	assert.Truef(t, err != nil && strings.Contains(err.Error(), why) && g == nil, "rules: %v, want %q", err, why)
}
