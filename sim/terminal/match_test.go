package terminal_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/internal/plain"
)

// match is a position that the fast game and the plain twin play side by side. Clause tests and tests of
// random matches use it.
type match struct {
	t      testing.TB
	title  string // part of failure messages
	g      *terminal.Game
	before terminal.State // at the start of this turn
	s      terminal.State
	rec    terminal.Record
	twin   *plain.Game
	turn   *sim.Turn
	frames int  // played in this action phase
	more   bool // another frame follows
	status sim.Status
}

// begin returns a match at the position of a text, under the rules 2025b, which change changes if it is
// not nil.
func begin(t testing.TB, text string, change func(r *terminal.Rules)) *match {
	t.Helper()
	rules, _ := terminal.RuleSet("2025b")
	if change != nil {
		change(&rules)
	}
	g := newGame(t, rules)
	return resume(t, g, position(t, g, text))
}

// newGame returns a game under rules that can be played.
func newGame(t testing.TB, rules terminal.Rules) *terminal.Game {
	t.Helper()
	g, err := terminal.New(rules)
	require.NoError(t, err)
	return g
}

// mustGame returns a game under a built-in rule set.
func mustGame(t testing.TB, name string) *terminal.Game {
	t.Helper()
	rules, ok := terminal.RuleSet(name)
	require.Truef(t, ok, "no rule set %q", name)
	return newGame(t, rules)
}

// position returns the state of a text.
func position(t testing.TB, g *terminal.Game, text string) terminal.State {
	t.Helper()
	s, err := terminal.ParseText(g, text)
	require.NoError(t, err)
	return s
}

// resume returns a match that continues from a state.
func resume(t testing.TB, g *terminal.Game, s terminal.State) *match {
	t.Helper()
	m := &match{t: t, g: g, before: s, s: s, twin: twinOf(g, &s), turn: sim.NewTurn(g.Info().MaxOrders)}
	other := s
	g.Deploy(&other, m.turn) // removes the mobile units of an earlier match
	m.compare("at the beginning")
	return m
}

// rules returns a change for begin that sets a rule set.
func rules(name string) func(r *terminal.Rules) {
	return func(r *terminal.Rules) { *r, _ = terminal.RuleSet(name) }
}

func coordinates(t testing.TB, text string) (x, y int) {
	t.Helper()
	left, right, _ := strings.Cut(text, ",")
	x, err1 := strconv.Atoi(left)
	y, err2 := strconv.Atoi(right)
	require.NoErrorf(t, err1, "%q is no cell", text)
	require.Truef(t, err2 == nil && terminal.Inside(x, y), "%q is no cell", text)
	return x, y
}

// orders reads orders, separated by semicolons: "wall 3,12", "up 3,12", "rm 3,12", "scout 13,0",
// "4 scout 13,0", "clock 500", "penalty 2.5". A ~ in front moves an order to the other line.
func orders(t testing.TB, text string) (list []sim.Order) {
	t.Helper()
	for part := range strings.SplitSeq(text, ";") {
		f := strings.Fields(part)
		if len(f) == 0 {
			continue
		}
		swapped := f[0] == "~"
		if swapped {
			f = f[1:]
		}
		count := 1
		if n, err := strconv.Atoi(f[0]); err == nil {
			count, f = n, f[1:]
		}
		o := order(t, f, count)
		if swapped {
			o = terminal.Swap(o)
		}
		list = append(list, o)
	}
	return list
}

func order(t testing.TB, f []string, count int) sim.Order {
	t.Helper()
	switch f[0] {
	case "clock":
		n, _ := strconv.Atoi(f[1])
		return terminal.Clock(uint32(n))
	case "penalty":
		n, _ := strconv.ParseFloat(f[1], 32)
		return terminal.Penalty(float32(n))
	}
	x, y := coordinates(t, f[1])
	switch f[0] {
	case "up":
		return terminal.UpgradeAt(x, y)
	case "rm":
		return terminal.RemoveAt(x, y)
	}
	for k := range terminal.Kind(terminal.Kinds) {
		if k.String() == f[0] && k.Structure() {
			return terminal.Place(k, x, y)
		} else if k.String() == f[0] {
			return terminal.Spawn(k, x, y, count)
		}
	}
	t.Fatalf("no order %q", f)
	return 0
}

// deploy carries out the orders of both players, without a frame.
func (m *match) deploy(first, second string) *match {
	m.t.Helper()
	return m.give(orders(m.t, first), orders(m.t, second))
}

// give carries out packed orders as deploy does.
func (m *match) give(first, second []sim.Order) *match {
	m.t.Helper()
	m.rec.Clear()
	m.g.Record(&m.rec)
	m.before = m.s
	given := [2][]sim.Order{first, second}
	for p := range given {
		m.turn.Set(sim.Player(p), given[p])
		given[p] = given[p][:min(len(given[p]), m.g.Info().MaxOrders)] // the game does not read more
	}
	m.g.Deploy(&m.s, m.turn)
	m.twin.Deploy(given)
	m.frames, m.more = 0, true
	m.compare("after the deployment")
	return m
}

// frame plays frames of the action phase.
func (m *match) frame(n int) *match {
	m.t.Helper()
	for range n {
		if !m.more {
			m.t.Fatalf("the action phase has only %d frames\n%s", m.frames, m.text())
		}
		m.more = m.g.Frame(&m.s)
		where := fmt.Sprintf("after frame %d", m.frames)
		if more := m.twin.Frame(); more != m.more {
			m.check(where, fmt.Sprintf("another follows: %v, of the plain twin %v", m.more, more))
		}
		m.compare(where)
		m.check(where, differEvents(m.rec.Frame(m.frames), m.twin.Events))
		m.frames++
	}
	return m
}

// action plays the action phase to its end.
func (m *match) action() *match {
	m.t.Helper()
	for m.more {
		m.frame(1)
	}
	return m
}

// restore ends the turn.
func (m *match) restore() *match {
	m.t.Helper()
	if m.more {
		m.t.Fatalf("the action phase goes on\n%s", m.text())
	}
	m.status = m.g.Restore(&m.s)
	const where = "after the restore"
	if status := m.twin.Restore(); status != m.status {
		m.check(where, fmt.Sprintf("status %v, of the plain twin %v", m.status, status))
	}
	m.compare(where)
	m.check(where, differ("removed", m.rec.Removed, m.twin.Removed))
	return m
}

// play plays a whole turn.
func (m *match) play(first, second string) *match {
	m.t.Helper()
	return m.deploy(first, second).action().restore()
}

// compare compares the two games.
func (m *match) compare(where string) {
	m.t.Helper()
	m.check(where, difference(m.g, &m.s, m.twin))
}

// check fails if the games differ, with the position before the turn and the orders.
func (m *match) check(where, difference string) {
	m.t.Helper()
	if difference == "" {
		return
	}
	var given strings.Builder
	for p := range sim.Player(2) {
		for _, o := range m.turn.Orders(p) {
			fmt.Fprintf(&given, "p%d %#x %+v\n", p+1, uint64(o), terminal.Decode(o))
		}
	}
	twin := stateOf(m.twin)
	m.t.Fatalf("%s: %s\n%s\nof the plain twin\n%sp1 %v\np2 %v\nbefore\n%s\norders\n%s%s",
		where, difference, m.text(), terminal.AppendText(nil, m.g, &twin), m.twin.MobilePieces(0), m.twin.MobilePieces(1),
		terminal.AppendText(nil, m.g, &m.before), given.String(), m.title)
}

// text returns the position as text.
func (m *match) text() string { return string(terminal.AppendFrame(nil, m.g, &m.s)) }

// want checks that the position has the given lines: lines of AppendFrame, some pairs of the line of a
// player, and lines like "at 3,12 w1" for single cells. "no unit" means that the text has no line of a
// unit.
func (m *match) want(lines string) *match {
	m.t.Helper()
	if d := m.unlike(lines); d != "" {
		m.t.Fatalf("%s; the position is\n%s", d, m.text())
	}
	return m
}

// unlike returns the first line of want that the position does not have.
func (m *match) unlike(want string) string {
	var got [][]string
	for line := range strings.Lines(m.text()) {
		got = append(got, strings.Fields(line))
	}
	for line := range strings.Lines(want) {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		found := slices.ContainsFunc(got, func(g []string) bool { return slices.Equal(g, f) })
		switch f[0] {
		case "p1", "p2":
			found = slices.ContainsFunc(got, func(g []string) bool { return g[0] == f[0] && hasPairs(g, f[1:]) })
		case "turn":
			found = hasPairs(got[0], f)
		case "at":
			found = m.cell(f[1]) == f[2]
		case "no":
			found = !slices.ContainsFunc(got, func(g []string) bool { return g[0] == f[1] })
		}
		if !found {
			return "want " + strings.Join(f, " ")
		}
	}
	return ""
}

// cell returns the text of a cell.
func (m *match) cell(at string) string {
	x, y := coordinates(m.t, at)
	for line := range strings.Lines(m.text()) {
		if f := strings.Fields(line); f[0] == strconv.Itoa(y) {
			for i := range x {
				if terminal.Inside(i, y) {
					f = f[1:]
				}
			}
			return f[1]
		}
	}
	return ""
}

// hasPairs reports whether all pairs of some are in a line.
func hasPairs(line, some []string) bool {
	for i := 0; i+1 < len(some); i += 2 {
		if at := slices.Index(line, some[i]); at < 0 || at+1 >= len(line) || line[at+1] != some[i+1] {
			return false
		}
	}
	return true
}

// ended checks the status and the outcome of the match.
func (m *match) ended(want sim.Status, result float32) *match {
	m.t.Helper()
	if got := m.g.Outcome(&m.s, 0).Result; m.status != want || got != result || m.g.Outcome(&m.s, 1).Result != -result {
		m.t.Fatalf("the match is %v, player 1's result %v, want %v, %v\n%s", m.status, got, want, result, m.text())
	}
	return m
}

// wantEvents checks the events of some kinds in the last frame, given one per line in their order: see
// eventLines.
func (m *match) wantEvents(kinds, want string) *match {
	m.t.Helper()
	got := ""
	for _, line := range eventLines(m.rec.Frame(m.frames - 1)) {
		if kind, _, _ := strings.Cut(line, " "); slices.Contains(strings.Fields(kinds), kind) {
			got += line + "\n"
		}
	}
	squeezed := ""
	for line := range strings.Lines(want) {
		if f := strings.Fields(line); len(f) > 0 {
			squeezed += strings.Join(f, " ") + "\n"
		}
	}
	if got != squeezed {
		m.t.Fatalf("frame %d: heard\n%swant\n%sthe position is\n%s", m.frames-1, got, squeezed, m.text())
	}
	return m
}

// eventLines returns the events of a frame, one per line, with units as ids:
//
//	spawn wall 3,12 p1 7
//	move 7 3,12 3,13
//	breach 7 p1 damage 1
//	shield 5 7 amount 3
//	blast 7 damage 15 targets 3,14 4,14
//	damage 8 16
//	death wall 8
//	attack 7 8 16
func eventLines(f terminal.Events) (lines []string) {
	add := func(format string, values ...any) { lines = append(lines, fmt.Sprintf(format, values...)) }
	for _, e := range f.Spawns {
		add("spawn %v %s p%d %d", e.Kind, place(e.At), e.Player+1, e.ID)
	}
	for _, e := range f.Moves {
		add("move %d %s %s", e.ID, place(e.From), place(e.To))
	}
	for _, e := range f.Breaches {
		add("breach %d p%d damage %v", e.ID, e.Player+1, e.Damage)
	}
	for _, e := range f.Shields {
		add("shield %d %d amount %v", e.ID, e.Unit, e.Amount)
	}
	for _, e := range f.SelfDestructs {
		targets := []string{"targets"} // they have no fixed order in the original
		for _, at := range f.TargetsOf(e) {
			targets = append(targets, place(at))
		}
		slices.Sort(targets[1:])
		add("blast %d damage %v %s", e.ID, e.Damage, strings.Join(targets, " "))
	}
	for _, e := range f.Damages {
		add("damage %d %v", e.ID, e.Damage)
	}
	for _, e := range f.Deaths {
		add("death %v %d", e.Kind, e.ID)
	}
	for _, e := range f.Attacks {
		add("attack %d %d %v", e.ID, e.Target, e.Damage)
	}
	return lines
}

func place(at terminal.Pos) string { return fmt.Sprintf("%d,%d", at.X, at.Y) }

// differEvents returns the first difference in the events of a frame, or "".
func differEvents(fast, twin terminal.Events) string {
	d := cmp.Or(differ("spawns", fast.Spawns, twin.Spawns), differ("moves", fast.Moves, twin.Moves),
		differ("breaches", fast.Breaches, twin.Breaches), differ("shields", fast.Shields, twin.Shields),
		differ("damages", fast.Damages, twin.Damages), differ("deaths", fast.Deaths, twin.Deaths),
		differ("attacks", fast.Attacks, twin.Attacks), differ("targets", fast.Targets, twin.Targets))
	a, b := slices.Clone(fast.SelfDestructs), slices.Clone(twin.SelfDestructs)
	for i := range min(len(a), len(b)) {
		d = cmp.Or(d, differ(fmt.Sprintf("targets of explosion %d", i), fast.TargetsOf(a[i]), twin.TargetsOf(b[i])))
		a[i].First, b[i].First = 0, 0 // one counts from the first frame, the other from this one
	}
	return cmp.Or(d, differ("explosions", a, b))
}

// differ returns the first difference of two lists, or "".
func differ[E comparable](name string, fast, twin []E) string {
	for i := range max(len(fast), len(twin)) {
		if i >= len(fast) || i >= len(twin) || fast[i] != twin[i] {
			return fmt.Sprintf("%s from entry %d on: %+v, of the plain twin %+v", name, i, fast[min(i, len(fast)):], twin[min(i, len(twin)):])
		}
	}
	return ""
}

// difference returns the first difference of the two games, or "".
func difference(g *terminal.Game, s *terminal.State, twin *plain.Game) string {
	want := stateOf(twin)
	d := simtest.Diff(s, &want)
	for p := range sim.Player(2) {
		d = cmp.Or(d, differ("structures", s.AppendStructures(nil, p), twin.Pieces(p)),
			differ("mobile units", g.AppendMobile(nil, p), twin.MobilePieces(p)))
		if a, b := g.Outcome(s, p), twin.Outcome(p); a != b {
			d = cmp.Or(d, fmt.Sprintf("player %d: outcome %+v, of the plain twin %+v", p+1, a, b))
		}
	}
	return d
}

// stateOf returns the state that the fast game should have.
func stateOf(twin *plain.Game) (s terminal.State) {
	s.NextID, s.Turn = twin.NextID, twin.Turn
	for p, player := range twin.Players {
		s.Health[p], s.Cores[p], s.Bits[p], s.Time[p] = player.Health, player.Cores, player.Bits, player.Time
	}
	for _, u := range twin.Structures {
		cell, _ := bitboard.DiamondCell(u.At.X, u.At.Y)
		s.Own[u.Player].Add(cell)
		mark := uint32(u.Kind) | uint32(u.Player)<<3 | uint32(u.RemoveIn)<<4 | u.ID<<8
		switch u.Kind {
		case terminal.Support:
			s.Supports.Add(cell)
		case terminal.Turret:
			s.Turrets.Add(cell)
		}
		if u.Upgraded {
			s.Upgraded.Add(cell)
			mark |= 1 << 2
		}
		if u.RemoveIn > 0 {
			s.Marked.Add(cell)
		}
		s.Cells[cell] = terminal.Cell{Health: u.Base, Mark: mark}
		list := &s.Ages[u.Player][u.Kind]
		list.Cell[list.N] = uint8(terminal.Local(u.At.X, u.At.Y))
		list.N++
	}
	return s
}

// twinOf returns the plain twin in the position of s. It places the structures by orders and then sets
// the numbers.
func twinOf(g *terminal.Game, s *terminal.State) *plain.Game {
	rules := g.Rules()
	twin := plain.New(rules)
	pieces := map[plain.Pos]terminal.Piece{}
	var build [2][]sim.Order
	for p := range sim.Player(2) {
		for _, c := range s.AppendStructures(nil, p) {
			x, y := int(c.At.X), int(c.At.Y)
			pieces[plain.Pos{X: x, Y: y}] = c
			build[p] = append(build[p], terminal.Place(c.Kind, x, y))
			if c.Upgraded {
				build[p] = append(build[p], terminal.UpgradeAt(x, y))
			}
			if c.RemoveIn > 0 {
				build[p] = append(build[p], terminal.RemoveAt(x, y))
			}
		}
		twin.Players[p].Cores = 1e12
	}
	twin.Deploy(build)
	for _, u := range twin.Structures {
		c := pieces[u.At]
		u.ID, u.Base, u.RemoveIn = c.ID, c.Health, int(c.RemoveIn)
	}
	slices.SortFunc(twin.Structures, func(a, b *plain.Unit) int { return cmp.Compare(a.ID, b.ID) })
	for p := range twin.Players {
		twin.Players[p] = plain.Player{Health: s.Health[p], Cores: s.Cores[p], Bits: s.Bits[p], Time: s.Time[p]}
	}
	twin.NextID, twin.Turn = s.NextID, s.Turn
	return twin
}
