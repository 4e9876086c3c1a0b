package terminal_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
)

// Tests of the clauses of RULES.md, section 7.

// full returns a board of player 1 with structures on all cells but one.
func full(letter, but string) string {
	line := letter
	for local := range terminal.HalfCells {
		x, y := terminal.LocalXY(local, 0)
		if at := fmt.Sprintf("%d,%d", x, y); at != but {
			line += " " + at
		}
	}
	return line + "\n"
}

// armies returns the greatest number of units that player 1 can buy in one turn, if it saves from the
// start with a board of structures that give bits. Each time the player must run out of bits before it
// reaches the game's bound of units.
func armies(t *testing.T, g *terminal.Game, board string) (most int) {
	t.Helper()
	s := position(t, g, board)
	rules := g.Rules()
	cheap := terminal.Scout
	for k := terminal.Scout; k <= terminal.Interceptor; k++ {
		if rules.Units[k].Bits < rules.Units[cheap].Bits {
			cheap = k
		}
	}
	turn, none := sim.NewTurn(1), sim.NewTurn(1)
	turn.SetOne(0, terminal.Spawn(cheap, 13, 0, 1<<20))
	for status := sim.Running; status == sim.Running; status = g.Step(&s, none) {
		spent := s
		g.Deploy(&spent, turn)
		most = max(most, int(spent.NextID-s.NextID))
		price := rules.Units[cheap].Bits
		require.Lessf(t, spent.Bits[0], price, "turn %d: %d units, but %v bits are left, the price is %v", s.Turn, spent.NextID-s.NextID, spent.Bits[0], price)
	}
	return most
}

func TestClause_7_1_MaxMobile(t *testing.T) {
	check := func(rules terminal.Rules, board string) (most, bound int) {
		t.Helper()
		g := newGame(t, rules)
		return armies(t, g, board), rules.MaxMobile()
	}
	for _, name := range terminal.RuleSets() {
		rules, _ := terminal.RuleSet(name)
		board := ""
		if rules.Units[terminal.Support].GivesBits > 0 {
			board = full("s", "13,0")
		}
		most, bound := check(rules, board)
		assert.GreaterOrEqualf(t, most, bound-bound/20-4, "%s: %d units are the most, MaxMobile is as much as %d", name, most, bound)
		// The same without a maximum of bits.
		rules.CapBits = false
		check(rules, board)
	}
	r := prng.New(5)
	for range 60 {
		rules := randomRules(&r)
		board, gives := full("w", "13,0"), rules.Units[terminal.Wall].GivesBits
		for i, letter := range []string{"w", "s", "t"} {
			if b := rules.Units[i].GivesBits; b > gives {
				board, gives = full(letter, "13,0"), b
			}
			if b := rules.Upgraded[i].GivesBits; b > gives {
				board, gives = full(strings.ToUpper(letter), "13,0"), b
			}
		}
		check(rules, board)
	}
	rules := terminal.DefaultRules()
	rules.BitsPerTurn, rules.MaxBits = 2000, 100_000
	refused(t, rules, "let a player buy")
	rules.CapBits = false
	refused(t, rules, "let a player buy")
	// More bits, in a state made by hand, buy no more units.
	g := mustGame(t, "2025b")
	s := position(t, g, "p1 bits 99999\np2 bits 99999")
	turn := sim.NewTurn(3)
	turn.Set(0, orders(t, "40 scout 13,0; 9 scout 14,0; 99 scout 14,0"))
	turn.Set(1, orders(t, "999 scout 13,27"))
	g.Deploy(&s, turn)
	stock := g.Rules()
	most := uint32(stock.MaxMobile())
	assert.Truef(t, s.NextID == 1+2*most && s.Bits == [2]float32{99999 - float32(most), 99999 - float32(most)}, "next id %d, bits %v; MaxMobile is %d", s.NextID, s.Bits, most)
}

func TestClause_7_2_IDsOfATurn(t *testing.T) {
	// Commands that take ids, on every cell: two ids each for 210 walls, one for the upgrade, two
	// for marks.
	rules, _ := terminal.RuleSet("2025b")
	rules.OldIDs, rules.StartCores = true, 1e6
	g := newGame(t, rules)
	var s terminal.State
	g.Reset(&s, 0)
	turn := sim.NewTurn(rules.MaxOrders())
	accepted := everything(turn)
	g.Deploy(&s, turn)
	got := s.NextID - 1
	assert.Equalf(t, uint32(2*(2+1+2)*terminal.HalfCells), got, "%d ids of a turn", got)
	assert.Truef(t, accepted == 4*terminal.HalfCells && len(turn.Orders(0)) <= rules.MaxOrders(), "%d orders", accepted)
	worst := 2 * 1000 * (5*terminal.HalfCells + 4096)
	assert.Lessf(t, worst, terminal.MaxID, "%d ids of a match, MaxID is %d", worst, terminal.MaxID)
}

// everything adds the orders that can be accepted together on all cells of both players, and returns
// their number.
func everything(turn *sim.Turn) int {
	for p := range sim.Player(2) {
		for local := range terminal.HalfCells {
			x, y := terminal.LocalXY(local, p)
			turn.Add(p, terminal.Place(terminal.Wall, x, y))
			turn.Add(p, terminal.RemoveAt(x, y))
			turn.Add(p, terminal.UpgradeAt(x, y))
			turn.Add(p, terminal.RemoveAt(x, y))
		}
	}
	return len(turn.Orders(0))
}

func TestClause_7_3_MaxOrders(t *testing.T) {
	// The orders of 7.2 and the largest army, one unit per order, are within the limit, so all
	// are carried out.
	rules, _ := terminal.RuleSet("2025b")
	rules.StartCores = 1e6
	g := newGame(t, rules)
	s := position(t, g, "p1 bits 56")
	turn := sim.NewTurn(rules.MaxOrders())
	turn.Add(0, terminal.Clock(1))
	turn.Add(0, terminal.Penalty(1))
	for range rules.MaxMobile() {
		turn.Add(0, terminal.Swap(terminal.Spawn(terminal.Scout, 13, 0, 1))) // before a structure is placed on the cell
	}
	all := everything(turn)
	got := len(turn.Orders(0))
	require.Equalf(t, rules.MaxOrders(), got, "%d orders", got)
	g.Deploy(&s, turn)
	assert.Truef(t, s.Marked.Count() == 2*terminal.HalfCells-1 && s.Upgraded.Count() == 2*terminal.HalfCells-1 && s.Bits[0] == 0 && s.Time[0] == 1 && all != 0, "%d marked, %d upgraded, bits %v, time %v", s.Marked.Count(), s.Upgraded.Count(), s.Bits, s.Time)
}

func TestClause_7_4_ShieldsOfAUnit(t *testing.T) {
	m := begin(t, full("s", "13,0"), wide).deploy("2 interceptor 13,0", "").frame(1)
	got := len(m.rec.Frame(0).Shields)
	assert.Equalf(t, 2*209, got, "%d shields", got)
	m.want("unit 210–211 p1 interceptor 13,0 health 667")
}

// refused checks that New refuses rules, and its error.
func refused(t *testing.T, rules terminal.Rules, want string) {
	t.Helper()
	_, err := terminal.New(rules)
	assert.ErrorContains(t, err, want)
}

func TestClause_7_5_RuleValues(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	minus := float32(math.Copysign(0, -1))
	type change func(r *terminal.Rules)
	u := func(k terminal.Kind, set func(u *terminal.Unit)) change {
		return func(r *terminal.Rules) { set(&r.Units[k]) }
	}
	up := func(k terminal.Kind, set func(u *terminal.Unit)) change {
		return func(r *terminal.Rules) { set(&r.Upgraded[k]) }
	}
	for want, c := range map[string]change{
		"unitInformation.0.cost1 is -1, expected 0 to 1000000 (wall)":                      u(terminal.Wall, func(u *terminal.Unit) { u.Cores = -1 }),
		"unitInformation.0.cost1 is NaN, expected 0":                                       u(terminal.Wall, func(u *terminal.Unit) { u.Cores = nan }),
		"unitInformation.0.cost1 is +Inf, expected 0":                                      u(terminal.Wall, func(u *terminal.Unit) { u.Cores = inf }),
		"unitInformation.0.cost1 is 1000001, expected 0 to 1000000":                        u(terminal.Wall, func(u *terminal.Unit) { u.Cores = 1_000_001 }),
		"unitInformation.0.cost1 is -0, expected 0 to 1000000":                             u(terminal.Wall, func(u *terminal.Unit) { u.Cores = minus }),
		"unitInformation.0.cost2 is 1, expected 0 (wall)":                                  u(terminal.Wall, func(u *terminal.Unit) { u.Bits = 1 }),
		"unitInformation.3.cost1 is 1, expected 0 (scout)":                                 u(terminal.Scout, func(u *terminal.Unit) { u.Cores = 1 }),
		"unitInformation.3.cost2 is 0, expected 0.1 to 1000 (scout)":                       u(terminal.Scout, func(u *terminal.Unit) { u.Bits = 0 }),
		"unitInformation.3.cost2 is 0.09, expected 0.1":                                    u(terminal.Scout, func(u *terminal.Unit) { u.Bits = 0.09 }),
		"unitInformation.4.startHealth is 0, expected more than moonfarm.deadAt, 0":        u(terminal.Demolisher, func(u *terminal.Unit) { u.Health = 0 }),
		"unitInformation.2.attackRange is 40.5, expected 0 to 40 (turret)":                 u(terminal.Turret, func(u *terminal.Unit) { u.AttackRange = 40.5 }),
		"unitInformation.2.getHitRadius is 2.5, expected 0 to 2 (turret)":                  u(terminal.Turret, func(u *terminal.Unit) { u.HitRadius = 2.5 }),
		"unitInformation.2.attackDamageTower is 1, expected 0 (turret)":                    u(terminal.Turret, func(u *terminal.Unit) { u.DamageStruct = 1 }),
		"unitInformation.1.attackDamageWalker is 1, expected 0 (support)":                  u(terminal.Support, func(u *terminal.Unit) { u.DamageMobile = 1 }),
		"unitInformation.5.speed is 0, expected 0.01 to 1 (interceptor)":                   u(terminal.Interceptor, func(u *terminal.Unit) { u.Speed = 0 }),
		"unitInformation.5.speed is 1.5, expected 0.01 to 1":                               u(terminal.Interceptor, func(u *terminal.Unit) { u.Speed = 1.5 }),
		"unitInformation.0.speed is 1, expected 0 (wall)":                                  u(terminal.Wall, func(u *terminal.Unit) { u.Speed = 1 }),
		"unitInformation.0.playerBreachDamage is 1, expected 0 (wall)":                     u(terminal.Wall, func(u *terminal.Unit) { u.BreachDamage = 1 }),
		"unitInformation.0.metalForBreach is 1, expected 0 (wall)":                         u(terminal.Wall, func(u *terminal.Unit) { u.BreachCores = 1 }),
		"unitInformation.1.selfDestructDamageWalker is 1, expected 0 (support)":            u(terminal.Support, func(u *terminal.Unit) { u.BlastMobile = 1 }),
		"unitInformation.1.selfDestructDamageTower is 1, expected 0 (support)":             u(terminal.Support, func(u *terminal.Unit) { u.BlastStruct = 1 }),
		"unitInformation.3.selfDestructRange is -1, expected 0 to 40 (scout)":              u(terminal.Scout, func(u *terminal.Unit) { u.BlastRange = -1 }),
		"unitInformation.3.selfDestructStepsRequired is -1, expected 0 to 1000000 (scout)": u(terminal.Scout, func(u *terminal.Unit) { u.BlastSteps = -1 }),
		"unitInformation.2.shieldPerUnit is 1, expected 0 (turret)":                        u(terminal.Turret, func(u *terminal.Unit) { u.Shield = 1 }),
		"unitInformation.3.shieldRange is 1, expected 0 (scout)":                           u(terminal.Scout, func(u *terminal.Unit) { u.ShieldRange = 1 }),
		"unitInformation.3.shieldBonusPerY is 1, expected 0 (scout)":                       u(terminal.Scout, func(u *terminal.Unit) { u.ShieldPerY = 1 }),
		"unitInformation.0.shieldDecay is 1, expected 0 (wall)":                            u(terminal.Wall, func(u *terminal.Unit) { u.ShieldDecay = 1 }),
		"unitInformation.1.upgrade.shieldDecay is 0, expected 1: all shields":              u(terminal.Support, func(u *terminal.Unit) { u.ShieldDecay = 1 }),
		"unitInformation.1.upgrade.startHealth is 0, expected more than moonfarm.deadAt":   func(r *terminal.Rules) { r.Units[1].Health, r.Upgraded[1].Health = 41, 0 },
		"unitInformation.0.refundPercentage is 1.5, expected 0 to 1 (wall)":                u(terminal.Wall, func(u *terminal.Unit) { u.Refund = 1.5 }),
		"unitInformation.3.generatesResource1 is 1, expected 0 (scout)":                    u(terminal.Scout, func(u *terminal.Unit) { u.GivesBits = 1 }),
		"unitInformation.3.generatesResource2 is 1, expected 0 (scout)":                    u(terminal.Scout, func(u *terminal.Unit) { u.GivesCores = 1 }),
		"unitInformation.2.upgrade.attackDamageTower is 2, expected 0 (turret)":            up(terminal.Turret, func(u *terminal.Unit) { u.DamageStruct = 2 }),
		"unitInformation.2.upgrade is false, expected none of the values below it":         func(r *terminal.Rules) { r.Upgradable[terminal.Turret] = false },
		"resources.startingHP is 0, expected 0.1 to 1000000":                               func(r *terminal.Rules) { r.StartHealth = 0 },
		"resources.startingCores is -1, expected 0":                                        func(r *terminal.Rules) { r.StartCores = -1 },
		"resources.startingBits is 100001, expected 0 to 100000":                           func(r *terminal.Rules) { r.StartBits = 100_001 },
		"resources.coresPerRound is NaN":                                                   func(r *terminal.Rules) { r.CoresPerTurn = nan },
		"resources.bitsPerRound is -1":                                                     func(r *terminal.Rules) { r.BitsPerTurn = -1 },
		"resources.bitDecayPerRound is 1.1, expected 0 to 1":                               func(r *terminal.Rules) { r.BitDecay = 1.1 },
		"resources.bitGrowthRate is -1":                                                    func(r *terminal.Rules) { r.BitGrowth = -1 },
		"resources.roundStartBitRamp is -1":                                                func(r *terminal.Rules) { r.GrowthStart = -1 },
		"resources.turnIntervalForBitSchedule is 0, expected 1":                            func(r *terminal.Rules) { r.GrowthInterval = 0 },
		"resources.maxBits is -1":                                                          func(r *terminal.Rules) { r.MaxBits = -1 },
		"resources.bitRampBitCapGrowthRate is -1":                                          func(r *terminal.Rules) { r.CapGrowth = -1 },
		"resources.turnIntervalForBitCapSchedule is 0, expected 1":                         func(r *terminal.Rules) { r.CapInterval = 0 },
		"timingAndReplay.waitTimeBotSoft is -1":                                            func(r *terminal.Rules) { r.SoftTime = -1 },
		"timingAndReplay.waitTimeBotMax is -1":                                             func(r *terminal.Rules) { r.MaxTime = -1 },
		"moonfarm.maxTurns is 0, expected 1 to 1000":                                       func(r *terminal.Rules) { r.MaxTurns = 0 },
		"moonfarm.maxTurns is 1001, expected 1 to 1000":                                    func(r *terminal.Rules) { r.MaxTurns = 1001 },
		"moonfarm.deadAt is -1, expected 0 to 1":                                           func(r *terminal.Rules) { r.DeadAt = -1 },
	} {
		t.Run(want, func(t *testing.T) {
			rules := terminal.DefaultRules()
			c(&rules)
			refused(t, rules, want)
		})
	}
	rules := terminal.DefaultRules() // an upgraded form may have less health
	rules.Units[terminal.Support].Health, rules.Upgraded[terminal.Support].Health = 41, 39
	_, err := terminal.New(rules)
	assert.NoError(t, err)
}

func TestClause_7_6_RemovalTurns(t *testing.T) {
	fifteen := func(r *terminal.Rules) { r.Units[terminal.Wall].RemoveTurns = 15 }
	m := begin(t, "w 13,5", fifteen).deploy("rm 13,5", "").want("at 13,5 w15").action().restore()
	for range 13 {
		m.play("", "")
	}
	m.want("at 13,5 w1").play("", "").want("at 13,5 .")
	for _, turns := range []int32{0, -1, 16} {
		rules := terminal.DefaultRules()
		rules.Upgraded[terminal.Turret].RemoveTurns = turns
		refused(t, rules, fmt.Sprintf("unitInformation.2.upgrade.turnsRequiredToRemove is %d, expected 1 to 15", turns))
	}
}

func TestClause_7_7_TheSlowest(t *testing.T) {
	m := begin(t, "", func(r *terminal.Rules) { harmless(r); r.Units[terminal.Scout].Speed = 0.01 })
	m.deploy("scout 13,0", "").action().want("p2 health 29")
	assert.Truef(t, m.frames >= 2900 && m.frames <= 29*101, "%d frames", m.frames)
}
