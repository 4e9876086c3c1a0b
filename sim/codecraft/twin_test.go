package codecraft_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/internal/plain"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
)

// tally counts events of the matches.
type tally struct {
	ticks, units, most     int // units: summed over ticks; most: at once
	attacks, blockers      int // blockers: attacks on entities in the way
	dead, dug              int // removed units and resources
	built, finished, moved int
	mended                 int // units that gained health
	victims, ties, full    int // draws: of a target, of two steps, of three or four steps
	waited, over           int
	crammed                int // ticks that ended with MaxUnits units
	plain.Tally
}

// demand fails if the matches had too few events of some kind.
func (a *tally) demand(t *testing.T) {
	t.Helper()
	for _, c := range []struct {
		what        string
		have, least int
	}{
		{"units", a.units, 20 * a.ticks}, {"units at once", a.most, 150}, {"attacks", a.attacks, a.ticks},
		{"attacks on entities in the way", a.blockers, a.ticks / 20}, {"dead units", a.dead, a.ticks / 10},
		{"emptied resources", a.dug, a.ticks / 50}, {"built", a.built, a.ticks / 20}, {"finished", a.finished, a.ticks / 100},
		{"repaired", a.mended, a.ticks / 10}, {"times without room for units", a.crammed, a.ticks / 1000},
		{"moves", a.moved, 3 * a.ticks}, {"draws of a target", a.victims, a.ticks / 4}, {"draws of two steps", a.ties, a.ticks},
		{"draws of more steps", a.full, a.ticks / 50}, {"waits", a.waited, a.ticks / 4}, {"games that ended", a.over, a.ticks / 400},
		{"searches", a.Searches, 3 * a.ticks}, {"searches at the limit", a.Limited, a.ticks / 4}, {"searches through others", a.Weighted, a.ticks / 2},
		{"searches without a path", a.Blocked, a.ticks / 4}, {"searches out of the map", a.Beyond, a.ticks / 20},
		{"chases", a.Chases, a.ticks / 2}, {"chases at the limit", a.Lost, a.ticks / 100},
	} {
		assert.GreaterOrEqualf(t, c.have, c.least, "%s: %d, expected at least %d in %d ticks", c.what, c.have, c.least, a.ticks)
	}
}

// match is a game that the fast game and the plain twin play side by side.
type match struct {
	t      testing.TB
	title  string // for failures
	g      *codecraft.Game
	bare   *codecraft.Game // where there is one, it plays a tick now and then, too
	rec    codecraft.Record
	s      codecraft.State
	twin   *plain.Game
	status sim.Status
	n      *tally

	turn   sim.Turn
	orders [sim.MaxPlayers][]sim.Order
	before codecraft.State // with the orders of the tick
	ids    []uint32
}

// newMatch returns a match by rules, whose events count in n.
func newMatch(t testing.TB, title string, rules codecraft.Rules, n *tally) *match {
	t.Helper()
	m := &match{t: t, title: title, twin: plain.New(rules), n: n}
	for _, g := range []**codecraft.Game{&m.g, &m.bare} {
		var err error
		*g, err = codecraft.New(rules)
		require.NoError(t, err, title)
	}
	return m
}

// begin begins a match in a state.
func (m *match) begin(s *codecraft.State) {
	m.t.Helper()
	m.g.Record(&m.rec)
	m.s = *s
	m.twin.Load(s)
	m.twin.Tally = m.n.Tally
	var again codecraft.State
	m.twin.Store(&again)
	if d := simtest.Diff(s, &again); d != "" {
		m.t.Fatalf("%s: the first state is no state: given and stored again by the plain twin: %s", m.title, d)
	}
}

// step plays one tick with m.orders on both games, and compares the possible actions before it and
// the results.
func (m *match) step() {
	m.t.Helper()
	m.turn.Clear()
	for p := range sim.Player(m.g.Info().Players) {
		m.turn.Set(p, m.orders[p])
		m.twin.Command(int(p), m.orders[p])
	}
	m.twin.Store(&m.before)
	m.twin.Plan()
	m.g.Plan(&m.before)
	m.compareplans()

	m.status = m.g.Step(&m.s, &m.turn)
	m.twin.Attack()
	m.twin.Build()
	m.twin.Repair()
	m.twin.Move()
	want := m.twin.CleanUp()
	m.count(want)
	m.check(simtest.DiffLists("attacks", m.rec.Attacks, m.twin.Attacks))
	m.check(simtest.DiffLists("died", m.rec.Died, m.twin.Died))
	var s codecraft.State
	m.twin.Store(&s)
	m.compare(&s)
	if m.status != want {
		m.fail(fmt.Sprintf("status: fast %v, plain %v", m.status, want))
	}
	for p := range sim.Player(m.g.Info().Players) {
		if a, b := m.g.Outcome(&m.s, p), m.twin.Outcome(int(p)); a != b {
			m.fail(fmt.Sprintf("outcome of %d: fast %+v, plain %+v", p, a, b))
		}
	}
	if m.bare != nil && m.n.ticks%8 == 0 {
		bare := m.before // has the orders already
		if m.bare.Tick(&bare); bare != m.s {
			m.fail("Tick without a record, by another game: " + simtest.Diff(&bare, &m.s))
		}
	}
	m.n.Tally = m.twin.Tally
}

// compareplans compares the possible actions of the units.
func (m *match) compareplans() {
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
			m.n.victims++
		}
		switch s := e.Steps(); {
		case s&(s-1) == 0:
		case s&(s-1)&(s-2)&(s&(s-1)-1) == 0:
			m.n.ties++
		default:
			m.n.full++
		}
	}
}

// compare compares the states after a tick.
func (m *match) compare(s *codecraft.State) {
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

func (m *match) check(difference string) {
	m.t.Helper()
	if difference != "" {
		m.fail(difference)
	}
}

// fail ends the test with all details of a difference in the actions of units of the state before.
func (m *match) fail(difference string, units ...int) {
	m.t.Helper()
	rules := m.g.Rules()
	text := fmt.Sprintf("%s, tick %d: %s\n", m.title, m.before.Tick, difference)
	if len(units) == 0 {
		text += m.text()
	}
	for _, i := range units {
		if i >= 0 { // what is around it, and what the twins let it do
			u := m.before.Units[i]
			text += string(codecraft.AppendWindow(nil, m.g, &m.before, int(u.X)-20, int(u.Y)-12, 41, 25))
			text += fmt.Sprintf("unit %d: steps %04b, victims %v", u.ID, m.g.Steps(i), m.g.AppendVictims(nil, &m.before, i))
			if e := m.twin.Find(u.ID); e != nil {
				text += fmt.Sprintf("; plain: steps %04b, victims %v", e.Steps(), e.Victims())
			}
			text += "\n"
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

// count counts the events of the tick.
func (m *match) count(status sim.Status) {
	m.n.ticks++
	m.n.units += int(m.before.N)
	m.n.most = max(m.n.most, int(m.before.N))
	m.n.attacks += len(m.twin.Attacks)
	hit := map[uint32]bool{}
	for _, a := range m.twin.Attacks {
		hit[a.Attacker] = true
		i := m.before.Find(a.Attacker)
		if act := &m.before.Acts[i]; act.Parts&(codecraft.HasTarget|codecraft.HasAuto) == 0 {
			m.n.blockers++
		}
	}
	for _, id := range m.twin.Died {
		if m.before.Find(id) >= 0 {
			m.n.dead++
		} else {
			m.n.dug++
		}
	}
	for _, e := range m.twin.Entities {
		i := m.before.Find(e.ID)
		switch {
		case e.Type == codecraft.Resource:
		case i < 0:
			m.n.built++
		case e.Health > int(m.before.Units[i].Health):
			m.n.mended++
			if e.Active && !m.before.Units[i].Active {
				m.n.finished++
			}
		case e.At.X != int(m.before.Units[i].X) || e.At.Y != int(m.before.Units[i].Y):
			m.n.moved++
		case e.Steps() != 0 && !hit[e.ID]:
			m.n.waited++
		}
	}
	if status == sim.Over {
		m.n.over++
	}
	if m.s.N == codecraft.MaxUnits {
		m.n.crammed++
	}
}

// playTwins plays the given number of ticks in matches of a scenario, and fails at the first
// difference.
func playTwins(t *testing.T, sc scenario, seed uint64, ticks int, n *tally) {
	t.Helper()
	end := n.ticks + ticks
	for set := uint64(0); n.ticks < end; set++ {
		r := prng.New(prng.StreamSeed(seed, set, 0, 0, prng.PurposeGame))
		rules := twinRules(&r)
		if sc.rules != nil {
			sc.rules(&r, &rules)
		}
		m := newMatch(t, fmt.Sprintf("scenario %s, seed %d, set %d", sc.name, seed, set), rules, n)
		s := sc.begin(&r, m.g)
		m.begin(&s)
		c := &commander{r: &r, s: &m.s, g: m.g}
		sc.mood(&r, c)
		for last := min(end, n.ticks+sc.ticks); m.status == sim.Running && n.ticks < last && m.s.N > 0; {
			for p := range m.orders {
				if m.orders[p] = m.orders[p][:0]; p < int(rules.Players) {
					m.orders[p] = sc.give(c, m.orders[p], sim.Player(p))
				}
				if chance(&r, 30) { // a gift
					m.s.Resource[p] += 200
					m.twin.Resource[p] += 200
				}
			}
			m.step()
		}
	}
}
