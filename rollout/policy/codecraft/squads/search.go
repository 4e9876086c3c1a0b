package squads

import (
	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/policy/script"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
)

// Distances of the search, in cells, and its bounds.
const (
	linkReach  = 10 // distance up to which fighters of two players fight each other
	sceneReach = 20 // distance from an enemy of a fight up to which units are in its playouts
	mostFights = 16
)

// Searcher searches for the orders of a seat by portfolio greedy search. It takes the orders of
// the script squads-forward, and improves those of the fighters near armed enemies:
//
//   - Fighters within linkReach of each other form a fight, and fights are searched one by one,
//     each with a part of the budget by its own fighters.
//   - A playout plays a few ticks on by the exact rules, in a state with only the units nearby
//     that the seat sees. In it each fighter follows one option of a portfolio.
//   - First all own fighters get the same option, then the options of one after the other are
//     improved as long as that helps. An assignment is judged by its mean value against several
//     models of the enemies: each of three options for all of them, and the answer to the best
//     assignment so far, which is improved in the same way.
//   - The fighters whose option is not keep get their action in the first tick of the best
//     playout.
//
// It uses nothing that its player does not see: the playouts have no unseen entities, no actions
// of enemies, and random numbers of their own. It holds scratch memory, so each goroutine needs its
// own.
type Searcher struct {
	Commander
	ticks  int // of a playout
	looked *codecraft.Game
	play   playout
	toOwn  field // distances to own units
	fights fights
	greedy

	acts    [codecraft.MaxUnits]codecraft.Action // actions of own units after the orders so far
	decided [codecraft.MaxUnits]bool             // own units whose actions the search has changed
	changed bool                                 // there are such units
	outlook int32                                // sum of the changes of value that the fights bring
}

// NewSearcher returns a Searcher with playouts of that many ticks.
func NewSearcher(ticks int) *Searcher {
	c := &Searcher{ticks: ticks}
	c.plan = &forward
	return c
}

// Look implements script.Planner.
func (c *Searcher) Look(v env.Vector) bool {
	rules, _ := env.Rules[codecraft.State](v)
	game, ok := rules.(*codecraft.Game)
	if !ok {
		return false
	}
	c.adopt(game)
	return true
}

// adopt sets the game, and makes a game of its rules without fog for the playouts.
func (c *Searcher) adopt(g *codecraft.Game) {
	if c.looked == g {
		return
	}
	rules := g.Rules()
	rules.Fog = false
	game, err := codecraft.New(rules)
	if err != nil {
		panic(err) // g has valid rules, and any rules are valid without fog
	}
	c.looked, c.play.game, c.play.rules = g, game, &c.Rules
	c.play.sides[0].ways, c.play.sides[1].ways = &c.toFoes, &c.toOwn
}

// Search implements script.Planner. The first move has the orders of the script, the second one,
// if there is one, those that the search has improved.
func (c *Searcher) Search(found *rollout.SearchResult, s *codecraft.State, p sim.Player, seed uint64, b *script.Budget) {
	found.Orders = c.Commander.AppendOrders(found.Orders[:0], c.looked, s, p)
	found.Ends = append(found.Ends[:0], int32(len(found.Orders)))
	found.Shares = append(found.Shares[:0], 1)
	c.start(b)
	c.State, c.outlook, c.changed = s, 0, false
	if c.foes.armed > 0 && c.Army.N > 0 {
		c.improve(found.Orders, seed)
	}
	if c.changed {
		found.Shares = append(found.Shares[:0], 0, 1)
		found.Orders = c.merge(found.Orders)
		found.Ends = append(found.Ends, int32(len(found.Orders)))
	}
	found.Value = c.expected()
	c.State = nil
}

// improve searches all fights for better actions than the orders give.
func (c *Searcher) improve(orders []sim.Order, seed uint64) {
	s := c.State
	c.play.player = c.Player
	for i := range s.Units[:s.N] {
		c.decided[i] = false
		if s.Units[i].Owner == c.Player {
			c.acts[i] = s.Acts[i]
		}
	}
	s.EachOrder(orders, c.Player, func(i int, o sim.Order) { c.acts[i].Take(o) })
	c.mapOwn()
	c.findFights()
	all, sum := 0, 0
	for _, f := range c.fights.list[:c.fights.n] {
		all += f.fighters
	}
	for k, f := range c.fights.list[:c.fights.n] {
		sum += f.fighters
		c.until = int(int64(c.budget.All) * int64(sum) / int64(all))
		c.fightOut(f.leader, prng.Mix(seed+uint64(k)))
	}
}

// expected returns the result that the seat can expect, by the scores and the fights.
func (c *Searcher) expected() float64 {
	s, most := c.State, int32(0)
	for q := range sim.Player(c.Rules.Players) {
		if q != c.Player {
			most = max(most, s.Score[q])
		}
	}
	lead := int64(s.Score[c.Player]) - int64(most) + int64(c.outlook)
	return float64(lead) / float64(max(lead, -lead)+1000+30*int64(c.Rules.MaxTurns-s.Tick))
}

// chargePrice is the price of an enemy's step onto each kind of cell.
var chargePrice = [wall + 1]uint16{open: 1, ore: 7, own: 1, foe: 2}

// mapOwn computes toOwn.
func (c *Searcher) mapOwn() {
	f := &c.toOwn
	f.begin()
	for _, l := range [...][]uint16{c.Army.All(), c.Builders.All(), c.Fixed.All()} {
		for _, at := range l {
			x, y, size := c.Corner(int(at))
			for k := range size * size {
				f.source(cellAt(x+k%size, y+k/size), 0)
			}
		}
	}
	c.ways.flood(f, &c.ground, &chargePrice)
}

// fights are sets of fighters, linked by distances of at most linkReach between own fighters and
// armed enemies.
type fights struct {
	above [codecraft.MaxUnits]uint16 // by unit: itself or another unit of its fight; see leader
	n     int
	list  [mostFights]fight
}

// fight is one of them. Its leader is the least index of its units.
type fight struct {
	leader   uint16
	fighters int // own ones
}

// leader returns the leader of a unit's fight.
func (q *fights) leader(i uint16) uint16 {
	for q.above[i] != i {
		q.above[i] = q.above[q.above[i]]
		i = q.above[i]
	}
	return i
}

// findFights lists the fights; those beyond mostFights are left to the script.
func (c *Searcher) findFights() {
	q, s := &c.fights, c.State
	q.n = 0
	for i := range s.Units[:s.N] {
		q.above[i] = uint16(i)
	}
	for k := range c.foes.arms[:c.foes.armed] {
		a := &c.foes.arms[k]
		for _, i := range c.Army.All() {
			u := &s.Units[i]
			if u.Active && distance(a.x, a.y, int16(u.X), int16(u.Y)) <= linkReach {
				l, m := q.leader(a.unit), q.leader(i)
				q.above[max(l, m)] = min(l, m)
			}
		}
	}
	for k := range c.foes.arms[:c.foes.armed] {
		if l := q.leader(c.foes.arms[k].unit); q.n < mostFights && !q.has(l) {
			q.list[q.n] = fight{leader: l}
			q.n++
		}
	}
	for _, i := range c.Army.All() {
		l := q.leader(i)
		for k := range q.list[:q.n] {
			if q.list[k].leader == l {
				q.list[k].fighters++
			}
		}
	}
	kept := 0
	for _, f := range q.list[:q.n] {
		if f.fighters > 0 {
			q.list[kept] = f
			kept++
		}
	}
	q.n = kept
}

// has reports whether the list has the fight of a leader.
func (q *fights) has(leader uint16) bool {
	for _, f := range q.list[:q.n] {
		if f.leader == leader {
			return true
		}
	}
	return false
}

// setScene sets the root of the playouts to the units near the enemies of a fight, and lists the
// fighters of both sides. The own fighters, which the search improves, are the fighters of the fight.
func (c *Searcher) setScene(leader uint16, seed uint64) {
	src, dst := c.State, &c.play.root
	c.play.clear(src, seed)
	dst.Resources = src.Resources
	dst.Resources.And(&c.sight)
	dst.Occupied = dst.Resources
	eachCell(&dst.Resources, func(x, y int) { dst.Health[codecraft.CellOf(x, y)] = src.Health[codecraft.CellOf(x, y)] })
	c.own.n, c.foe.n = 0, 0
	for i := range src.Units[:src.N] {
		u := &src.Units[i]
		t := &c.Rules.Types[u.Type]
		mine := u.Owner == c.Player
		if !mine && !c.sight.MeetsSquare(int(u.X), int(u.Y), int(t.Size)) || !c.inScene(u, leader) {
			continue
		}
		at := uint16(dst.N)
		c.play.place(u)
		c.best[at] = keep
		switch fights := armedUnit(u, t); {
		case !fights:
		case !mine:
			c.foe.add(at)
		case t.CanMove:
			if c.acts[i].Parts&codecraft.HasBuild == 0 { // playouts have no new units
				dst.Acts[at] = c.acts[i]
			}
			if c.fights.leader(uint16(i)) == leader {
				c.own.add(at)
			}
		}
	}
}

// inScene reports whether a unit is near an armed enemy of a fight.
func (c *Searcher) inScene(u *codecraft.Unit, leader uint16) bool {
	for k := range c.foes.arms[:c.foes.armed] {
		a := &c.foes.arms[k]
		if distance(a.x, a.y, int16(u.X), int16(u.Y)) <= sceneReach && c.fights.leader(a.unit) == leader {
			return true
		}
	}
	return false
}

// clear sets the root to an empty map at the tick of a state.
func (k *playout) clear(src *codecraft.State, seed uint64) {
	s := &k.root
	clear(s.Units[:s.N])
	clear(s.Acts[:s.N])
	s.N, s.Seed, s.Tick, s.NextID, s.FirstID = 0, seed, src.Tick, src.NextID, src.FirstID
	s.Veins, s.Before = src.Veins, src.Before
	s.Own = [sim.MaxPlayers]bitboard.Square{}
	s.At, s.Health = [codecraft.Cells]uint16{}, [codecraft.Cells]uint8{}
	s.Count = [sim.MaxPlayers][codecraft.Types]int16{}
	s.PopUse, s.PopProvide = [sim.MaxPlayers]int32{}, [sim.MaxPlayers]int32{}
}

// place adds a unit to the root, without an action.
func (k *playout) place(u *codecraft.Unit) {
	s := &k.root
	s.Units[s.N] = *u
	s.N++
	t := &k.rules.Types[u.Type]
	x, y, size := int(u.X), int(u.Y), int(t.Size)
	for n := range size * size {
		s.At[codecraft.CellOf(x+n%size, y+n/size)] = uint16(s.N)
	}
	s.Occupied.AddSquare(x, y, size)
	s.Own[u.Owner].AddSquare(x, y, size)
	s.Count[u.Owner][u.Type]++
	s.PopUse[u.Owner] += t.PopUse
	if u.Active {
		s.PopProvide[u.Owner] += t.PopProvide
	}
}

// merge appends the orders of the script, but those of units that the search has decided, and
// the orders of these.
func (c *Searcher) merge(orders []sim.Order) []sim.Order {
	s, n := c.State, len(orders)
	c.Orders = orders
	for _, o := range orders[:n] {
		if i := s.Find(codecraft.Decode(o).ID); i < 0 || !c.decided[i] {
			c.Orders = append(c.Orders, o)
		}
	}
	for _, i := range c.Army.All() {
		if c.decided[i] {
			c.Give(int(i), c.acts[i])
		}
	}
	orders, c.Orders = c.Orders, nil
	return orders
}
