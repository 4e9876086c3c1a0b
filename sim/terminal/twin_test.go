package terminal_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/internal/plain"
)

// tally counts what the matches had in them.
type tally struct {
	deployments, frames, moves, breaches, shots, shields int
	explosions, twofold                                  int // two events of one explosion
	chains                                               int // explosions of units hit by another of the same frame
	fallen, removed, upgrades, swapped, rejected         int
	meetings                                             int // shots of mobile units at mobile units
	turned                                               int // moves back to where the unit came from
	pockets                                              int // self-destructs, with or without an explosion
	large                                                int // deployments with more than 64 turrets and more than 64 supports of a player
	ended                                                int
	mostMobile, mostFrames                               int
}

func (a *tally) add(b tally) {
	a.deployments += b.deployments
	a.frames += b.frames
	a.moves += b.moves
	a.breaches += b.breaches
	a.shots += b.shots
	a.shields += b.shields
	a.explosions += b.explosions
	a.twofold += b.twofold
	a.chains += b.chains
	a.fallen += b.fallen
	a.removed += b.removed
	a.upgrades += b.upgrades
	a.swapped += b.swapped
	a.rejected += b.rejected
	a.meetings += b.meetings
	a.turned += b.turned
	a.pockets += b.pockets
	a.large += b.large
	a.ended += b.ended
	a.mostMobile = max(a.mostMobile, b.mostMobile)
	a.mostFrames = max(a.mostFrames, b.mostFrames)
}

// demand fails if the matches did not have in them what they are for.
func (a *tally) demand(t *testing.T) {
	t.Helper()
	for _, c := range []struct {
		what        string
		have, least int
	}{
		{"breaches", a.breaches, a.deployments}, {"shots", a.shots, 10 * a.deployments}, {"shields", a.shields, a.deployments},
		{"explosions", a.explosions, a.deployments / 10}, {"explosions with two events", a.twofold, a.deployments / 100},
		{"explosions of units hit by others", a.chains, a.deployments / 200},
		{"fallen structures", a.fallen, a.deployments}, {"removals", a.removed, a.deployments / 10},
		{"upgrades", a.upgrades, a.deployments}, {"swapped orders", a.swapped, a.deployments / 10},
		{"rejected orders", a.rejected, a.deployments / 10}, {"shots between mobile units", a.meetings, a.deployments},
		{"self-destructs", a.pockets, a.deployments}, {"moves back", a.turned, a.deployments / 50}, {"more than 64 turrets and supports", a.large, a.deployments / 100},
		{"finished games", a.ended, a.deployments / 1000}, {"mobile units at once", a.mostMobile, 200},
	} {
		if c.have < c.least {
			t.Errorf("%s: %d, expected at least %d in %d deployments", c.what, c.have, c.least, a.deployments)
		}
	}
}

// twins are the fast game and the plain one at the same point of a match.
type twins struct {
	t     *testing.T
	title string         // scenario, rules and seed
	g     *terminal.Game // with a record, frame by frame
	bare  *terminal.Game // turn by turn
	rec   terminal.Record
	s     terminal.State
	twin  *plain.Game
	tally

	before      terminal.State
	orders      [2][]sim.Order
	frame       int
	from        map[uint32]terminal.Pos // where mobile units came from
	fast, plain [2][]terminal.Piece
}

// playTwins plays matches of a scenario until the given number of deployments
// is reached, and fails at the first difference.
func playTwins(t *testing.T, sc scenario, seed uint64, deployments int) (sum tally) {
	t.Helper()
	for set := uint64(0); sum.deployments < deployments; set++ {
		r := prng.New(prng.Key(seed, set, 0, 0, prng.PurposeGame))
		name, rules := twinRules(&r, sc.bits)
		if sc.rules != nil {
			sc.rules(&r, &rules)
		}
		m := newTwins(t, fmt.Sprintf("scenario %s, set %d, rules %s", sc.name, set, name), rules)
		for range 3 {
			m.begin()
			sc.play(m, &r)
		}
		sum.add(m.tally)
	}
	return sum
}

func newTwins(t *testing.T, title string, rules terminal.Rules) *twins {
	t.Helper()
	m := &twins{t: t, title: title, twin: plain.New(rules)}
	for _, g := range []**terminal.Game{&m.g, &m.bare} {
		var err error
		if *g, err = terminal.New(rules); err != nil {
			t.Fatalf("%s: %v", title, err)
		}
	}
	m.g.Record(&m.rec)
	return m
}

// begin begins a match.
func (m *twins) begin() {
	m.g.Reset(&m.s, 0)
	m.twin.Reset()
}

// give sets the resources of both players.
func (m *twins) give(cores, bits float32) {
	for p := range m.twin.Players {
		m.s.Cores[p], m.twin.Players[p].Cores = cores, cores
		m.s.Bits[p], m.twin.Players[p].Bits = bits, bits
	}
}

// turn plays one turn in three ways and compares them.
func (m *twins) turn(orders [2][]sim.Order) sim.Status {
	m.t.Helper()
	m.before, m.orders, m.frame, m.from = m.s, orders, -1, map[uint32]terminal.Pos{}
	var turn sim.Turn
	for p := range orders {
		turn.Set(sim.Player(p), orders[p])
		orders[p] = orders[p][:min(len(orders[p]), m.g.Info().MaxOrders)] // the others are not looked at
	}
	stepped := m.s
	steppedStatus := m.step(&stepped, &turn)

	m.rec.Clear()
	m.g.Deploy(&m.s, &turn)
	m.twin.Deploy(orders)
	m.check(m.compareBoard())
	for more := true; more; {
		m.frame++
		more = m.g.Frame(&m.s)
		if again := m.twin.Frame(); again != more {
			m.check(fmt.Sprintf("another frame: fast %v, plain %v", more, again))
		}
		m.check(m.compareFrame())
	}
	m.frame = -1
	status, want := m.g.Restore(&m.s), m.twin.Restore()
	if status != want {
		m.check(fmt.Sprintf("status: fast %v, plain %v", status, want))
	}
	m.check(differ("removed", m.rec.Removed, m.twin.Removed))
	m.check(m.compareBoard())
	m.check(compareState(&m.s, m.twin))
	if steppedStatus != status || bytesOf(&stepped) != bytesOf(&m.s) {
		m.check(fmt.Sprintf("Step: %v, frame by frame: %v; %s", steppedStatus, status, compareState(&stepped, m.twin)))
	}
	for p := range sim.Player(2) {
		if a, b := m.g.Outcome(&m.s, p), m.twin.Outcome(p); a != b {
			m.check(fmt.Sprintf("outcome of %d: fast %+v, plain %+v", p, a, b))
		}
	}
	m.count(status)
	return status
}

// step plays a turn without a record: as Step, or the first frames one by one.
func (m *twins) step(s *terminal.State, turn *sim.Turn) sim.Status {
	frames := m.deployments % 4
	if frames == 0 {
		return m.bare.Step(s, turn)
	}
	m.bare.Deploy(s, turn)
	for more := true; more && frames > 0; frames-- {
		if more = m.bare.Frame(s); !more {
			return m.bare.Restore(s)
		}
	}
	m.bare.Action(s)
	return m.bare.Restore(s)
}

// check fails with everything there is to know about a difference.
func (m *twins) check(difference string) {
	m.t.Helper()
	if difference == "" {
		return
	}
	rules := m.g.Rules()
	m.t.Fatalf("%s, turn %d, frame %d (−1: between): %s\nbefore\n%s\nfast and plain\n%s\norders\n%srules\n%s",
		m.title, m.before.Turn, m.frame, difference, drawPieces(statePieces(&m.before)),
		besides(drawPieces(m.pieces(true)), drawPieces(m.pieces(false))), drawOrders(m.orders), rules.AppendText(nil))
}

// pieces are all units of one of the games.
func (m *twins) pieces(fast bool) (all []terminal.Piece) {
	if !fast {
		return slices.Concat(m.twin.Pieces(0), m.twin.Pieces(1), m.twin.MobilePieces(0), m.twin.MobilePieces(1))
	}
	all = statePieces(&m.s)
	for p := range sim.Player(2) {
		all = m.g.AppendMobile(all, p)
	}
	return all
}

func statePieces(s *terminal.State) []terminal.Piece {
	return s.AppendStructures(s.AppendStructures(nil, 0), 1)
}

// compareFrame compares the frame that both have just played.
func (m *twins) compareFrame() string {
	fast, want := m.rec.Frame(m.frame), &m.twin.Events
	d := firstOf(
		differ("spawns", fast.Spawns, want.Spawns), differ("moves", fast.Moves, want.Moves),
		differ("breaches", fast.Breaches, want.Breaches), differ("shields", fast.Shields, want.Shields),
		differExplosions(&fast, want), differ("damages", fast.Damages, want.Damages),
		differ("deaths", fast.Deaths, want.Deaths), differ("attacks", fast.Attacks, want.Attacks))
	if d != "" {
		return d
	}
	m.countFrame(want)
	if len(want.Damages) > 0 {
		return m.compareBoard()
	}
	return firstOf(m.comparePlayers(), m.compareMobile())
}

// differExplosions compares explosions with their targets.
func differExplosions(fast, want *terminal.Frame) string {
	for i := range min(len(fast.SelfDestructs), len(want.SelfDestructs)) {
		a, b := fast.SelfDestructs[i], want.SelfDestructs[i]
		if d := differ(fmt.Sprintf("targets of explosion %d", i), fast.TargetsOf(a), want.TargetsOf(b)); d != "" {
			return d
		}
		if a.First, b.First = 0, 0; a != b {
			return fmt.Sprintf("explosion %d: fast %+v, plain %+v", i, a, b)
		}
	}
	if a, b := len(fast.SelfDestructs), len(want.SelfDestructs); a != b {
		return fmt.Sprintf("explosions: fast %d, plain %d", a, b)
	}
	return differ("targets", fast.Targets, want.Targets)
}

// compareBoard compares resources and units.
func (m *twins) compareBoard() string {
	if d := firstOf(m.comparePlayers(), m.compareMobile()); d != "" {
		return d
	}
	for p := range sim.Player(2) {
		m.fast[p] = m.s.AppendStructures(m.fast[p][:0], p)
		if d := differ(fmt.Sprintf("structures of %d", p), m.fast[p], m.twin.Pieces(p)); d != "" {
			return d
		}
	}
	return ""
}

func (m *twins) comparePlayers() string {
	for p, want := range m.twin.Players {
		fast := plain.Player{Health: m.s.Health[p], Cores: m.s.Cores[p], Bits: m.s.Bits[p], Time: m.s.Time[p]}
		if fast != want {
			return fmt.Sprintf("player %d: fast %+v, plain %+v", p, fast, want)
		}
	}
	if m.s.NextID != m.twin.NextID || m.s.Turn != m.twin.Turn {
		return fmt.Sprintf("next id and turn: fast %d, %d, plain %d, %d", m.s.NextID, m.s.Turn, m.twin.NextID, m.twin.Turn)
	}
	return ""
}

func (m *twins) compareMobile() string {
	for p := range sim.Player(2) {
		m.fast[p] = m.g.AppendMobile(m.fast[p][:0], p)
		m.plain[p] = m.twin.MobilePieces(p)
		if d := differ(fmt.Sprintf("mobile units of %d", p), m.fast[p], m.plain[p]); d != "" {
			return d
		}
	}
	m.mostMobile = max(m.mostMobile, len(m.fast[0])+len(m.fast[1]))
	return ""
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

func firstOf(differences ...string) string {
	for _, d := range differences {
		if d != "" {
			return d
		}
	}
	return ""
}

func (m *twins) countFrame(f *terminal.Frame) {
	m.frames++
	m.mostFrames = max(m.mostFrames, m.frame+1)
	m.moves += len(f.Moves)
	for _, e := range f.Moves {
		if from, ok := m.from[e.ID]; ok && from == e.To {
			m.turned++
		}
		m.from[e.ID] = e.From
	}
	m.breaches += len(f.Breaches)
	m.shots += len(f.Attacks)
	m.shields += len(f.Shields)
	m.explosions += len(f.SelfDestructs)
	for i, e := range f.SelfDestructs {
		if i > 0 && e.ID == f.SelfDestructs[i-1].ID {
			m.twofold++
		}
		if slices.ContainsFunc(f.Damages, func(d terminal.DamageEvent) bool { return d.ID == e.ID }) {
			m.chains++
		}
	}
	hit := map[uint32]bool{}
	for _, e := range f.Damages {
		hit[e.ID] = true
	}
	for _, e := range f.Deaths {
		switch {
		case e.Kind.Structure():
			m.fallen++
		case !hit[e.ID]:
			m.pockets++
		}
	}
	m.pockets -= len(f.Breaches)
	for _, e := range f.Attacks {
		if e.Kind.Mobile() && slices.ContainsFunc(f.Damages, func(d terminal.DamageEvent) bool { return d.ID == e.Target && d.Kind.Mobile() }) {
			m.meetings++
		}
	}
	for _, e := range f.Spawns {
		if e.Kind == terminal.Upgrade {
			m.upgrades++
		}
	}
}

func (m *twins) count(status sim.Status) {
	m.deployments++
	m.removed += len(m.rec.Removed)
	if status == sim.Over {
		m.ended++
	}
	for p := range m.orders {
		asked := uint64(0)
		for _, o := range m.orders[p] {
			c := terminal.Decode(o)
			if c.Swapped {
				m.swapped++
			}
			switch c.Op {
			case terminal.OpPlace, terminal.OpUpgrade, terminal.OpRemove:
				asked++
			case terminal.OpSpawn:
				asked += uint64(c.Count)
			}
		}
		for _, e := range m.rec.Spawns {
			if int(e.Player) == p {
				asked--
			}
		}
		m.rejected += int(min(asked, math.MaxInt16))
		if m.s.Ages[p][terminal.Turret].N > 64 && m.s.Ages[p][terminal.Support].N > 64 {
			m.large++
		}
	}
}
