package codecraft_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/internal/plain"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
)

// tally counts what the matches had in them.
type tally struct {
	ticks, units, most     int // units: summed over ticks; most: at once
	attacks, blockers      int // blockers: attacks at what stands in the way
	dead, dug              int // units and resources that went
	built, finished, moved int
	mended                 int // units with more health than before
	victims, ties, full    int // choices: of a victim, of two steps, of three or four
	waited, over           int
	crammed                int // ticks that ended with as many units as there can be
	plain.Tally
}

func (a *tally) add(b tally) {
	a.ticks += b.ticks
	a.units += b.units
	a.most = max(a.most, b.most)
	a.attacks += b.attacks
	a.blockers += b.blockers
	a.dead += b.dead
	a.dug += b.dug
	a.built += b.built
	a.finished += b.finished
	a.moved += b.moved
	a.mended += b.mended
	a.victims += b.victims
	a.ties += b.ties
	a.full += b.full
	a.waited += b.waited
	a.over += b.over
	a.crammed += b.crammed
	a.addSearches(b.Tally)
}

func (a *tally) addSearches(b plain.Tally) {
	a.Searches += b.Searches
	a.Limited += b.Limited
	a.Weighted += b.Weighted
	a.Blocked += b.Blocked
	a.Beyond += b.Beyond
	a.Chases += b.Chases
	a.Lost += b.Lost
}

// demand fails if the matches did not have in them what they are for.
func (a *tally) demand(t *testing.T) {
	t.Helper()
	for _, c := range []struct {
		what        string
		have, least int
	}{
		{"units", a.units, 20 * a.ticks}, {"units at once", a.most, 150}, {"attacks", a.attacks, a.ticks},
		{"attacks at what stands in the way", a.blockers, a.ticks / 20}, {"dead units", a.dead, a.ticks / 10},
		{"emptied resources", a.dug, a.ticks / 50}, {"built", a.built, a.ticks / 20}, {"finished", a.finished, a.ticks / 100},
		{"repaired", a.mended, a.ticks / 10}, {"times without room for units", a.crammed, a.ticks / 1000},
		{"moves", a.moved, 3 * a.ticks}, {"choices of a victim", a.victims, a.ticks / 4}, {"choices of two steps", a.ties, a.ticks},
		{"choices of more steps", a.full, a.ticks / 50}, {"waits", a.waited, a.ticks / 4}, {"games that ended", a.over, a.ticks / 400},
		{"searches", a.Searches, 3 * a.ticks}, {"searches at the limit", a.Limited, a.ticks / 4}, {"searches through others", a.Weighted, a.ticks / 2},
		{"searches without a way", a.Blocked, a.ticks / 4}, {"searches out of the map", a.Beyond, a.ticks / 20},
		{"chases", a.Chases, a.ticks / 2}, {"chases at the limit", a.Lost, a.ticks / 100},
	} {
		if c.have < c.least {
			t.Errorf("%s: %d, expected at least %d in %d ticks", c.what, c.have, c.least, a.ticks)
		}
	}
}

// twins are the fast game and the plain one at the same point of a match.
type twins struct {
	t     testing.TB
	title string // scenario and seed
	g     *codecraft.Game
	bare  *codecraft.Game // another one, that plays a tick now and then
	rec   codecraft.Record
	s     codecraft.State
	twin  *plain.Game
	tally

	turn    sim.Turn
	orders  [sim.MaxPlayers][]sim.Order
	before  codecraft.State // with the orders of the tick
	planned bool            // before has its plan
	ids     []uint32
}

func newTwins(t testing.TB, title string, rules codecraft.Rules) *twins {
	t.Helper()
	m := &twins{t: t, title: title, twin: plain.New(rules)}
	for _, g := range []**codecraft.Game{&m.g, &m.bare} {
		var err error
		if *g, err = codecraft.New(rules); err != nil {
			t.Fatalf("%s: %v", title, err)
		}
	}
	m.g.Record(&m.rec)
	return m
}

// begin begins a match in a state.
func (m *twins) begin(s *codecraft.State) {
	m.t.Helper()
	m.s, m.planned = *s, false
	m.twin.Load(s)
	var again codecraft.State
	m.twin.Store(&again)
	if d := simtest.Diff(s, &again); d != "" {
		m.t.Fatalf("%s: the first state is no state: given and stored again by the plain twin: %s", m.title, d)
	}
}

// tick plays one tick with m.orders on both and compares what may happen with
// what happens.
func (m *twins) tick() sim.Status {
	m.t.Helper()
	m.turn.Clear()
	for p := range sim.Player(m.g.Info().Players) {
		m.orders[p] = m.orders[p][:min(len(m.orders[p]), m.g.Info().MaxOrders)]
		m.turn.Set(p, m.orders[p])
		m.twin.Command(int(p), m.orders[p])
	}
	m.twin.Store(&m.before)
	m.planned = true
	m.twin.Plan()
	m.g.Plan(&m.before)
	m.compareplans()

	status := m.g.Step(&m.s, &m.turn)
	want := m.play()
	m.count(want)
	m.check(differ("attacks", m.rec.Attacks, m.twin.Attacks))
	m.check(differ("died", m.rec.Died, m.twin.Died))
	var s codecraft.State
	m.twin.Store(&s)
	m.compare(&s)
	if status != want {
		m.fail(fmt.Sprintf("status: fast %v, plain %v", status, want))
	}
	for p := range sim.Player(m.g.Info().Players) {
		if a, b := m.g.Outcome(&m.s, p), m.twin.Outcome(int(p)); a != b {
			m.fail(fmt.Sprintf("outcome of %d: fast %+v, plain %+v", p, a, b))
		}
	}
	if m.ticks%8 == 0 {
		bare := m.before // has the orders already
		if m.bare.Tick(&bare); bare != m.s {
			m.fail("Tick without a record, by another game: " + simtest.Diff(&bare, &m.s))
		}
	}
	return want
}

// play plays the tick on the plain game, phase by phase.
func (m *twins) play() sim.Status {
	m.twin.Attack()
	m.twin.Build()
	m.twin.Repair()
	m.twin.Move()
	return m.twin.CleanUp()
}

// compareplans compares what the units may do.
func (m *twins) compareplans() {
	m.t.Helper()
	for i := range m.before.Units[:m.before.N] {
		e := m.twin.Find(m.before.Units[i].ID)
		if a, b := m.g.Steps(i), e.Steps(); a != b {
			m.fail(fmt.Sprintf("steps of %d (+x 1, −x 2, +y 4, −y 8): fast %04b, plain %04b", e.ID, a, b), i)
		}
		m.ids = m.g.AppendVictims(m.ids[:0], &m.before, i)
		if !slices.Equal(m.ids, e.Victims()) {
			m.fail(fmt.Sprintf("victims of %d: fast %v, plain %v", e.ID, m.ids, e.Victims()), i)
		}
		if len(m.ids) > 1 {
			m.victims++
		}
		switch s := e.Steps(); {
		case s&(s-1) == 0:
		case s&(s-1)&(s-2)&(s&(s-1)-1) == 0:
			m.ties++
		default:
			m.full++
		}
	}
}

// compare compares the states after a tick.
func (m *twins) compare(s *codecraft.State) {
	m.t.Helper()
	if m.s == *s {
		return
	}
	var units []int
	for i := range max(m.s.N, s.N) {
		if a, b := m.s.Units[i], s.Units[i]; a != b || m.s.Acts[i] != s.Acts[i] {
			units = append(units, m.before.Find(a.ID), m.before.Find(b.ID))
			m.fail(fmt.Sprintf("unit %d of the list: fast %+v %+v, plain %+v %+v", i, a, m.s.Acts[i], b, s.Acts[i]), units...)
		}
	}
	m.fail("fast and plain: "+simtest.Diff(&m.s, s), units...)
}

func (m *twins) check(difference string) {
	m.t.Helper()
	if difference != "" {
		m.fail(difference)
	}
}

// fail ends the test with everything there is to know about a difference in
// what units of the state before did.
func (m *twins) fail(difference string, units ...int) {
	m.t.Helper()
	rules := m.g.Rules()
	text := fmt.Sprintf("%s, tick %d: %s\n", m.title, m.before.Tick, difference)
	for _, i := range units {
		if i >= 0 {
			text += m.describe(i)
		}
	}
	standard, _ := codecraft.Preset("round2")
	usual := strings.Split(string(standard.AppendText(nil)), "\n")
	for l := range strings.Lines(string(rules.AppendText(nil))) {
		if !slices.Contains(usual, strings.TrimSpace(l)) {
			text += "rule " + l
		}
	}
	m.t.Fatal(text)
}

// describe tells about unit i of the state before, and draws what is around it:
// letters of types, small for players 1 and 3, large for others, + for resources.
func (m *twins) describe(i int) string {
	s := &m.before
	u := s.Units[i]
	e := m.twin.Find(u.ID)
	text := fmt.Sprintf("%s %+v\naction %+v\n", u.Type, u, s.Acts[i])
	if e != nil {
		text += fmt.Sprintf("plain: steps %04b, victims %v; fast: steps %04b, victims %v\n",
			e.Steps(), e.Victims(), m.g.Steps(i), m.g.AppendVictims(nil, s, i))
	}
	for y := min(int(u.Y)+12, codecraft.Side-1); y >= max(int(u.Y)-12, 0); y-- {
		text += fmt.Sprintf("%3d ", y)
		for x := max(int(u.X)-20, 0); x <= min(int(u.X)+20, codecraft.Side-1); x++ {
			text += cellText(s, x, y, u.ID)
		}
		text += "\n"
	}
	return text + fmt.Sprintf("    from x %d on\n", max(int(u.X)-20, 0))
}

func cellText(s *codecraft.State, x, y int, marked uint32) string {
	k := s.At[codecraft.CellOf(x, y)]
	switch {
	case k == 0 && s.Resources.Has(x, y):
		return "+"
	case k == 0:
		return "."
	}
	u := s.Units[k-1]
	if u.ID == marked {
		return "@"
	}
	letter := string("WHXBYMZR+T"[u.Type])
	if u.Owner%2 == 0 {
		return strings.ToLower(letter)
	}
	return letter
}

// differ returns the first difference between two lists, "" if there is none.
func differ[E comparable](name string, fast, want []E) string {
	for i := range max(len(fast), len(want)) {
		switch {
		case i >= len(fast):
			return fmt.Sprintf("%s: entry %d: fast has none, plain %+v", name, i, want[i])
		case i >= len(want):
			return fmt.Sprintf("%s: entry %d: fast %+v, plain has none", name, i, fast[i])
		case fast[i] != want[i]:
			return fmt.Sprintf("%s: entry %d: fast %+v, plain %+v", name, i, fast[i], want[i])
		}
	}
	return ""
}

// count counts what the tick had in it.
func (m *twins) count(status sim.Status) {
	m.ticks++
	m.units += int(m.before.N)
	m.most = max(m.most, int(m.before.N))
	m.attacks += len(m.twin.Attacks)
	hit := map[uint32]bool{}
	for _, a := range m.twin.Attacks {
		hit[a.Attacker] = true
		i := m.before.Find(a.Attacker)
		if act := &m.before.Acts[i]; act.Parts&(codecraft.HasTarget|codecraft.HasAuto) == 0 {
			m.blockers++
		}
	}
	for _, id := range m.twin.Died {
		if m.before.Find(id) >= 0 {
			m.dead++
		} else {
			m.dug++
		}
	}
	for _, e := range m.twin.Entities {
		i := m.before.Find(e.ID)
		switch {
		case e.Type == codecraft.Resource:
		case i < 0:
			m.built++
		case e.Health > int(m.before.Units[i].Health):
			m.mended++
			if e.Active && !m.before.Units[i].Active {
				m.finished++
			}
		case e.At.X != int(m.before.Units[i].X) || e.At.Y != int(m.before.Units[i].Y):
			m.moved++
		case e.Steps() != 0 && !hit[e.ID]:
			m.waited++
		}
	}
	if status == sim.Over {
		m.over++
	}
	if m.s.N == codecraft.MaxUnits {
		m.crammed++
	}
}

// playTwins plays matches of a scenario until the given number of ticks is
// reached, and fails at the first difference.
func playTwins(t *testing.T, sc scenario, seed uint64, ticks int) (sum tally) {
	t.Helper()
	for set := uint64(0); sum.ticks < ticks; set++ {
		r := prng.New(prng.Key(seed, set, 0, 0, prng.PurposeGame))
		rules := twinRules(&r)
		if sc.rules != nil {
			sc.rules(&r, &rules)
		}
		m := newTwins(t, fmt.Sprintf("scenario %s, seed %d, set %d", sc.name, seed, set), rules)
		s := sc.begin(&r, m.g)
		m.begin(&s)
		c := &commander{r: &r, s: &m.s, g: m.g}
		sc.mood(&r, c)
		for status := sim.Running; status == sim.Running && m.ticks < min(sc.ticks, ticks-sum.ticks) && m.s.N > 0; {
			for p := range m.orders {
				if m.orders[p] = m.orders[p][:0]; p < int(rules.Players) {
					m.orders[p] = sc.give(c, m.orders[p], sim.Player(p))
				}
				if chance(&r, 30) { // a gift
					m.s.Resource[p] += 200
					m.twin.Resource[p] += 200
				}
			}
			status = m.tick()
		}
		m.addSearches(m.twin.Tally)
		sum.add(m.tally)
	}
	return sum
}
