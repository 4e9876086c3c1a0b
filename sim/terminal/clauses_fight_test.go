package terminal_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim/terminal"
)

// Tests of the clauses of RULES.md, section 3: shields, explosions, shots.

// wide gives all units that shoot or shield a range over the whole arena, and mobile units the lowest
// speed, with which they stay for 99 frames.
func wide(r *terminal.Rules) {
	for k := range terminal.Kinds {
		u := &r.Units[k]
		if u.DamageMobile+u.DamageStruct > 0 {
			u.AttackRange = 40
		}
		if u.Shield > 0 {
			u.ShieldRange = 40
		}
		if terminal.Kind(k).Mobile() {
			u.Speed = 0.01
		} else {
			r.Upgraded[k].AttackRange, r.Upgraded[k].ShieldRange = u.AttackRange, u.ShieldRange
		}
	}
}

func TestClause_3_7_ShieldsFade(t *testing.T) {
	m := begin(t, "s 13,1", func(r *terminal.Rules) {
		*r, _ = terminal.RuleSet("2019")
		r.Units[terminal.Support].ShieldDecay = 4
	}).deploy("interceptor 13,0", "")
	m.frame(1).wantEvents("shield", "shield 1 2 amount 10").want("unit 2 p1 interceptor 13,0 health 50")
	m.frame(1).wantEvents("shield", "").want("unit 2 p1 interceptor 13,0 health 46")
	m.frame(1).want("unit 2 p1 interceptor 13,0 health 42")
	m.frame(1).want("unit 2 p1 interceptor 14,0 health 40").frame(1).want("unit 2 p1 interceptor 14,0 health 40")
	// The numbers of 2019.
	begin(t, "s 13,1", rules("2019")).deploy("interceptor 13,0", "").frame(3).want("unit 2 p1 interceptor 13,0 health 49.7")
}

func TestClause_3_8_Shields(t *testing.T) {
	// Two supports, the older first. A third comes into range, 3.51, later; the fourth is the
	// enemy's. The unit has not moved.
	m := begin(t, "s 13,3 16,3 11,3\nS 9,15\nid 11,3=2 13,3=5 16,3=6 9,15=3", harmless).deploy("interceptor 12,1", "interceptor 13,27")
	m.frame(1).wantEvents("shield move", "shield 2 7 amount 3\nshield 5 7 amount 3").want("unit 7 p1 interceptor 12,1 health 46")
	m.frame(3).wantEvents("shield move", "move 7 12,1 12,2\nmove 8 13,27 13,26").want("unit 7 p1 interceptor 12,2 health 46")
	m.frame(4).wantEvents("shield move", "move 7 12,2 13,2\nmove 8 13,26 14,26\nshield 6 7 amount 3").want("unit 7 p1 interceptor 13,2 health 49")
	m.frame(4).wantEvents("shield", "")
	// Rows count from the owner's end. An upgrade changes the base of the shield.
	far := func(r *terminal.Rules) {
		wide(r)
		harmless(r)
	}
	m = begin(t, "S 13,5 14,20\ns 14,14", far).deploy("scout 13,0", "scout 14,27").frame(1)
	m.wantEvents("shield", "shield 1 4 amount 5.5\nshield 2 5 amount 6.1000004\nshield 3 5 amount 3")
	m.want("unit 4 p1 scout 13,0 health 20.5\nunit 5 p2 scout 14,27 health 24.1")
	// The bonus alone is enough for a shield; a range without amount and bonus is not.
	begin(t, "s 13,5", func(r *terminal.Rules) {
		far(r)
		r.Units[terminal.Support].Shield, r.Units[terminal.Support].ShieldPerY = 0, 0.5
	}).deploy("scout 13,0", "").frame(1).wantEvents("shield", "shield 1 2 amount 2.5")
	begin(t, "s 13,5", func(r *terminal.Rules) {
		far(r)
		r.Units[terminal.Support].Shield = 0
	}).deploy("scout 13,0", "").frame(1).wantEvents("shield", "")
	// The hit radius of 2019: three rows and one cell are 3.16, within 3.51.
	begin(t, "s 15,2", rules("2019")).deploy("interceptor 13,0", "").frame(1).wantEvents("shield", "shield 1 2 amount 10")
	begin(t, "s 15,3", rules("2019")).deploy("interceptor 13,0", "").frame(1).wantEvents("shield", "")
}

func TestClause_3_9_SelfDestruct(t *testing.T) {
	closed := fence("w", append(edge(1, 1), edge(-1, 1)...)...)
	// Both explode after 27 moves and hit all enemies within 1.5, also the wall destroyed before.
	m := begin(t, closed+"health 14,27=2", harmless).deploy("2 scout 13,0", "").frame(27).want("at 14,26 ^")
	m.frame(1).wantEvents("move blast", `
		blast 29 damage 15 targets 13,27 14,27 15,26
		blast 30 damage 15 targets 13,27 14,27 15,26`).want("at 14,27 .\nat 14,26 .\nhealth 13,27=30 15,26=30\nno unit\np2 health 30")
	got := len(m.rec.Frame(27).Deaths)
	assert.Equalf(t, 3, got, "%d deaths", got)
	// A unit shoots after its explosion, and gets the shields of its last frame.
	armed := func(r *terminal.Rules) { r.Units[terminal.Scout].AttackRange = 1.2 }
	m = begin(t, closed, armed).deploy("scout 13,0", "").frame(28)
	m.wantEvents("blast attack", "blast 29 damage 15 targets 13,27 14,27 15,26\nattack 29 3 2").want("health 14,27=45 13,27=45 15,26=41")
	// With one move too few there is no event and no damage.
	m = begin(t, closed, func(r *terminal.Rules) { harmless(r); r.Units[terminal.Scout].BlastSteps = 28 }).deploy("scout 13,0", "").frame(28)
	m.wantEvents("blast damage death", "death scout 29").want("no health")
	// A unit that is shut in at the start has no move, and is removed in frame 0.
	begin(t, "w 13,1 14,0", nil).deploy("scout 13,0", "").frame(1).wantEvents("move blast death", "death scout 3").want("no unit")
	// Different damage to the classes: two events, even without targets.
	shut := begin(t, "w 13,1 14,0\nt 14,14", func(r *terminal.Rules) {
		*r, _ = terminal.RuleSet("2022")
		harmless(r)
		r.Units[terminal.Interceptor].BlastRange = 40
		r.Units[terminal.Interceptor].BlastStruct = 7
	}).deploy("interceptor 13,0", "demolisher 14,27; scout 13,27").frame(3)
	shut.frame(1).wantEvents("blast", "blast 4 damage 40 targets 12,25 15,25\nblast 4 damage 7 targets 14,14")
	shut.want("no unit\nhealth 14,14=68")
	shut = begin(t, "w 13,1 14,0\nt 5,14", rules("2022")).deploy("interceptor 13,0", "").frame(4)
	shut.wantEvents("blast", "blast 4 damage 40 targets\nblast 4 damage 0 targets")
	// No hit radius is added: 1.5 + 0.51 would reach two cells.
	begin(t, "w 13,1 14,0\nt 13,14", func(r *terminal.Rules) {
		*r, _ = terminal.RuleSet("2019")
		harmless(r)
		b := &r.Units[terminal.Scout]
		b.BlastSteps, b.BlastRange = 0, 13.5
	}).deploy("scout 13,0", "").frame(2).wantEvents("blast", "blast 4 damage 15 targets")
	doomedChoices(t)
	doomedTargets(t)
	doomedTwice(t)
}

// doomedTargets checks that a unit that self-destructs can be shot at until the end of the frame in
// 2019, by older and younger units.
func doomedTargets(t *testing.T) {
	t.Helper()
	for _, name := range []string{"2019", "2025b"} {
		m := begin(t, "w 13,1 14,0\nt 13,14\nid 13,14=3", func(r *terminal.Rules) {
			*r, _ = terminal.RuleSet(name)
			r.Units[terminal.Scout].Speed, r.Units[terminal.Scout].AttackRange = 1, 40
			r.Units[terminal.Turret].DamageMobile, r.Units[terminal.Turret].AttackRange = 4, 40
			r.Units[terminal.Demolisher].AttackRange, r.Units[terminal.Interceptor].AttackRange = 0, 0
		}).deploy("2 scout 13,0", "demolisher 14,27; scout 13,27").frame(1)
		if name == "2019" {
			m.wantEvents("death attack", "death scout 4\ndeath scout 5\nattack 3 5 4\nattack 4 7 1\nattack 5 7 1\nattack 7 5 1")
		} else {
			m.wantEvents("death attack", "death scout 4\ndeath scout 5\nattack 4 7 2\nattack 5 7 2\nattack 7 2 2")
		}
	}
}

// doomedChoices checks the rules by which a unit that decided to self-destruct is shielded, and
// explodes although it is dead.
func doomedChoices(t *testing.T) {
	t.Helper()
	for _, choice := range []bool{true, false} {
		// The unit is shut in at its start, so it decides to self-destruct in the frame of its first shield.
		m := begin(t, "w 13,1 14,0\ns 14,1", func(r *terminal.Rules) { r.DoomedShielded = choice }).deploy("scout 13,0", "").frame(1)
		if choice {
			m.wantEvents("shield", "shield 3 4 amount 3")
		} else {
			m.wantEvents("shield", "")
		}
		// Two enemies that meet explode: the older kills the younger.
		m = begin(t, "w 13,1 12,1\nt 13,26 12,26", func(r *terminal.Rules) {
			harmless(r)
			r.DoomedExplode = choice
			for k := terminal.Scout; k <= terminal.Interceptor; k++ {
				r.Units[k].BlastSteps, r.Units[k].BlastRange = 0, 40
			}
		}).deploy("wall 14,0; scout 13,0", "wall 14,27; scout 13,27").frame(1)
		if choice {
			m.wantEvents("blast death", `
				blast 7 damage 15 targets 12,26 13,26 13,27 14,27
				blast 8 damage 15 targets 12,1 13,0 13,1 14,0
				death scout 8
				death scout 7
				death scout 8`).want("health 12,1=45 13,1=45 13,26=60 12,26=60 14,0=45 14,27=45")
		} else {
			m.wantEvents("blast death", "blast 7 damage 15 targets 12,26 13,26 13,27 14,27\ndeath scout 8\ndeath scout 7").want("at 12,1 w")
		}
	}
}

func TestClause_3_10_DamageAndShields(t *testing.T) {
	// Two shields of 3 and 4: damage of 5 uses up the first shield and half of the second.
	m := begin(t, "s 13,3\nS 10,4\nt 14,14", func(r *terminal.Rules) {
		wide(r)
		r.Upgraded[terminal.Support].ShieldPerY = 0
		r.Units[terminal.Interceptor].AttackRange = 0
	}).deploy("interceptor 13,0", "")
	m.frame(1).wantEvents("shield damage", "shield 1 4 amount 3\nshield 2 4 amount 4\ndamage 4 5").want("unit 4 p1 interceptor 13,0 health 42")
	m.frame(1).wantEvents("shield", "").want("unit 4 p1 interceptor 13,0 health 37") // takes 2 from the shield, 3 from the health
	m.frame(1).want("unit 4 p1 interceptor 13,0 health 32")
	// Damage equal to the sum removes the shields and leaves the health.
	begin(t, "s 13,3\nt 14,14", func(r *terminal.Rules) {
		wide(r)
		r.Units[terminal.Support].Shield = 5
		r.Units[terminal.Interceptor].AttackRange = 0
	}).deploy("interceptor 13,0", "").frame(1).want("unit 3 p1 interceptor 13,0 health 40")
	// In float32 0.1 + 0.2 + 0.3 is slightly more than 0.6. Damage of 0.25 is taken from the oldest shields.
	m = begin(t, "S 13,1 13,2 13,3\nt 14,14", func(r *terminal.Rules) {
		wide(r)
		up := &r.Upgraded[terminal.Support]
		up.Shield, up.ShieldPerY = 0, 0.1
		r.Units[terminal.Turret].DamageMobile = 0.25
		r.Units[terminal.Interceptor].AttackRange = 0
	}).deploy("interceptor 13,0", "").frame(1)
	one, two, three := float32(0.1), float32(0.1)*2, float32(float32(0.1)*3)
	left := two - float32(0.25-one) // rest of the second shield
	got, want := m.g.AppendMobile(nil, 0)[0].Health, 40+float32(left+three)
	assert.Equal(t, want, got, "health")
}

func TestClause_3_11_ShotsInTheOrderOfIDs(t *testing.T) {
	// The interceptor is older; the scout that it kills still shoots back.
	m := begin(t, "", wide).deploy("interceptor 13,0", "scout 13,27").frame(1)
	m.wantEvents("attack damage death", `
		damage 2 20
		damage 1 2
		death scout 2
		attack 1 2 20
		attack 2 1 2`).want("unit 1 p1 interceptor 13,0 health 38")
	// Structures and mobile units shoot in one order, and each shot takes effect before the next:
	// the third turret shoots at the second scout, because two turrets have killed the first.
	m = begin(t, "t 13,3 14,3\nt 14,20\nid 13,3=3 14,3=5 14,20=4", func(r *terminal.Rules) {
		wide(r)
		r.Units[terminal.Turret].DamageMobile = 8
	}).deploy("turret 15,3", "2 scout 13,27").frame(1)
	m.wantEvents("attack", "attack 3 8 8\nattack 5 8 8\nattack 6 7 8\nattack 7 3 2\nattack 8 3 2").want("unit 7 p2 scout 13,27 health 7\nhealth 13,3=71")
	// A structure upgraded in the second line is younger than its owner's mobile units.
	m = begin(t, "t 13,3", wide).deploy("scout 13,0; ~ up 13,3", "interceptor 13,27").frame(1)
	m.wantEvents("attack", "attack 2 4 2\nattack 3 4 16\nattack 4 2 20")
	// A unit killed by an explosion still shoots.
	m = begin(t, "w 13,1 14,0", func(r *terminal.Rules) {
		wide(r)
		s := &r.Units[terminal.Scout]
		s.Speed, s.BlastSteps, s.BlastRange = 1, 0, 40
		r.Units[terminal.Interceptor].Health = 15
	}).deploy("scout 13,0; interceptor 12,1", "interceptor 13,27").frame(1)
	m.wantEvents("blast attack death", `
		blast 3 damage 15 targets 13,27
		death interceptor 5
		death scout 3
		death interceptor 4
		attack 5 4 20`).want("no unit")
	// Units do not shoot at a class against which their damage is 0, or without a range.
	begin(t, "t 14,14", wide).deploy("interceptor 13,0", "").frame(1).wantEvents("attack", "attack 1 2 5")
	begin(t, "", func(r *terminal.Rules) { wide(r); harmless(r) }).deploy("scout 13,0", "scout 13,27").frame(1).wantEvents("attack", "")
}

// shooter puts one demolisher of player 1 on 13,0, against the structures of player 2 in text and the
// units that it spawns.
func shooter(t *testing.T, board, second string) *match {
	t.Helper()
	return begin(t, board, func(r *terminal.Rules) {
		wide(r)
		r.Units[terminal.Scout].AttackRange, r.Units[terminal.Turret].AttackRange = 0, 0
	}).deploy("demolisher 13,0", second).frame(1)
}

func TestClause_3_12_Targets(t *testing.T) {
	shooter(t, "w 13,14", "scout 0,14").wantEvents("attack", "attack 2 3 8")                                          // mobile units first
	shooter(t, "w 13,14 13,15", "").wantEvents("attack", "attack 3 2 8")                                              // the nearest, although 13,15 has the lower id
	shooter(t, "w 10,20 16,20\nhealth 16,20=59.5", "").want("health 16,20=51.5").wantEvents("death", "")              // the weakest
	shooter(t, "w 13,20\nT 25,16", "").want("health 13,20=52")                                                        // health counts, not lost health
	shooter(t, "w 13,20 25,16", "").want("health 25,16=52")                                                           // the nearer to the own end
	shooter(t, "w 10,20 16,20", "").want("health 10,20=52")                                                           // the nearer to a side
	shooter(t, "", "scout 13,27; scout 13,27; scout 12,26").wantEvents("attack", "attack 1 4 8")                      // the nearest
	shooter(t, "", "2 scout 13,27; scout 14,27").wantEvents("attack", "attack 1 3 8")                                 // the youngest
	shooter(t, "s 14,20", "2 scout 13,27").want("unit 3 p2 scout 13,27 health 18")                                    // both have a shield
	shooter(t, "", "scout 13,27; interceptor 13,27; scout 14,27").wantEvents("attack", "attack 1 2 8\nattack 3 1 20") // the weakest before the youngest
	// Shields count: the turret hits the unit that came too late for a shield.
	m := begin(t, "s 15,26\nt 13,13", func(r *terminal.Rules) {
		wide(r)
		r.Units[terminal.Support].ShieldRange = 1.5
		r.Units[terminal.Support].Shield = 1
		r.Units[terminal.Scout].AttackRange = 0
	}).deploy("", "scout 14,27; scout 13,27").frame(1)
	m.wantEvents("shield attack", "shield 2 3 amount 1\nattack 1 4 5")
	// In February 2020 and before shields do not count. The scout has 15 health and a shield of 10.
	// It is the weaker unit, also after a shot that takes from the shield.
	for _, bare := range []bool{true, false} {
		m = begin(t, "s 15,25\nt 13,13 14,13", func(r *terminal.Rules) {
			wide(r)
			r.BareWeakest = bare
			r.Units[terminal.Support].ShieldRange, r.Units[terminal.Support].Shield = 1.5, 10
			r.Units[terminal.Scout].HitRadius, r.Units[terminal.Scout].AttackRange = 1, 0
			r.Units[terminal.Interceptor].Health, r.Units[terminal.Interceptor].AttackRange = 20, 0
		}).deploy("", "scout 14,27; interceptor 14,27").frame(1)
		if bare {
			m.wantEvents("shield attack", "shield 3 4 amount 10\nattack 1 4 5\nattack 2 4 5")
		} else {
			m.wantEvents("shield attack", "shield 3 4 amount 10\nattack 1 5 5\nattack 2 5 5")
		}
	}
	earlierTies(t)
	// Player 2 shoots at the unit nearest to its own end, at the top.
	m = begin(t, "w 25,11 13,7", func(r *terminal.Rules) { wide(r); r.Units[terminal.Turret].AttackRange = 0 })
	m.deploy("", "demolisher 13,27").frame(1).want("health 25,11=52")
	// With the target's radius the squared range is (3.5 + 0.01)²: 12 is in range and 13 is not.
	reach := func(radius float32) func(r *terminal.Rules) {
		return func(r *terminal.Rules) {
			r.Units[terminal.Wall].HitRadius = radius
			r.Units[terminal.Scout].Speed = 0.01
		}
	}
	begin(t, "w 2,15", reach(0.01)).deploy("scout 0,13", "").frame(1).want("health 2,15=58")
	begin(t, "w 2,16", reach(0.01)).deploy("scout 0,13", "").frame(1).want("no health")
	begin(t, "w 2,16", reach(0.11)).deploy("scout 0,13", "").frame(1).want("health 2,16=58")
}

// doomedTwice checks that a shot can kill a unit that has exploded. Its death is written again, and
// counts once.
func doomedTwice(t *testing.T) {
	t.Helper()
	m := begin(t, "w 13,1 14,0\nt 13,14\nid 13,14=3", func(r *terminal.Rules) {
		*r, _ = terminal.RuleSet("2019")
		r.Units[terminal.Scout].Speed = 1
		r.Units[terminal.Turret].DamageMobile, r.Units[terminal.Turret].AttackRange = 15, 40
	}).deploy("2 scout 13,0", "").frame(1).wantEvents("death attack", "death scout 4\ndeath scout 5\ndeath scout 5\nattack 3 5 15")
	for i, repeated := range []bool{false, false, true} {
		assert.Equalf(t, repeated, m.rec.Frame(0).Deaths[i].Repeated, "death %d: repeated", i)
	}
}

// earlierTies checks the last tie of February 2020, within a stack and between stacks: the unit whose
// id sorts last as text counts as the youngest.
func earlierTies(t *testing.T) {
	t.Helper()
	byText := func(r *terminal.Rules) {
		wide(r)
		r.TiesByText = true
		r.Units[terminal.Scout].AttackRange, r.Units[terminal.Turret].DamageMobile = 0, 8
	}
	// The order of the ids 97 to 100 is 99, 98, 97, 100; each unit dies by two shots.
	m := begin(t, "turn 0 next 97\nt 13,13 14,13 15,13 12,13 11,13 10,13 9,13", byText)
	m.deploy("", "4 scout 13,27").frame(1).wantEvents("attack", `
		attack 1 99 8
		attack 2 99 8
		attack 3 98 8
		attack 4 98 8
		attack 5 97 8
		attack 6 97 8
		attack 7 100 8`).want("unit 100 p2 scout 13,27 health 7")
	// Two stacks on one cell: 97, and 99 to 101.
	m = begin(t, "turn 0 next 97\nt 13,13 12,13 11,13 10,13 9,13", byText).deploy("", "scout 13,27; scout 14,27; 3 scout 13,27").frame(1)
	m.wantEvents("attack", "attack 1 99 8\nattack 2 99 8\nattack 3 97 8\nattack 4 97 8\nattack 5 101 8")
	m.want("unit 98 p2 scout 14,27 health 15\nunit 100 p2 scout 13,27 health 15\nunit 101 p2 scout 13,27 health 7")
}

func TestClause_3_13_TheDeadAreNoTargets(t *testing.T) {
	// Three interceptors and two scouts: the first two kill with one shot each, their excess damage
	// is lost, and the third has no target.
	m := begin(t, "", wide).deploy("3 interceptor 13,0", "2 scout 13,27").frame(1)
	m.wantEvents("attack death", "death scout 5\ndeath scout 4\nattack 1 5 20\nattack 2 4 20\nattack 4 3 2\nattack 5 3 2").want("unit 1–2 p1 interceptor 13,0 health 40\nunit 3 p1 interceptor 13,0 health 36")
	// A unit with exactly 0 health is dead, a unit with a little more than deadAt is alive.
	for deadAt, want := range map[float32]string{0: "health 13,14=0.000049591064", 1e-4: "at 13,14 .\nno health"} {
		t.Run(fmt.Sprint(deadAt), func(t *testing.T) {
			begin(t, "w 13,14\nhealth 13,14=8.00005", func(r *terminal.Rules) { wide(r); r.DeadAt = deadAt }).deploy("demolisher 13,0", "").frame(1).want(want)
		})
	}
	for _, name := range terminal.RuleSets() {
		rules, _ := terminal.RuleSet(name)
		assert.Equalf(t, float32(1e-4), rules.DeadAt, "%s: dead at", name)
	}
	begin(t, "w 13,14\nhealth 13,14=8", wide).deploy("demolisher 13,0", "").frame(1).want("at 13,14 .").wantEvents("death", "death wall 1")
}

func TestClause_3_14_TheDeadGoAtTheEnd(t *testing.T) {
	// A wall in front of the scout is destroyed in frame 0, after the scout's step around it. The
	// step of frame 1 would have led through the cell.
	m := begin(t, "w 14,1 15,1\nhealth 14,1=8", func(r *terminal.Rules) {
		wide(r)
		r.Units[terminal.Scout].Speed, r.Units[terminal.Scout].AttackRange = 1, 0
		r.Units[terminal.Demolisher].DamageMobile = 0
	})
	m.deploy("scout 13,0", "demolisher 14,27").frame(1).want("at 13,1 ^\nat 14,1 .").wantEvents("move death", "move 3 13,0 13,1\ndeath wall 1")
	m.frame(1).want("at 14,1 ^")
	// Each unit that dies in a frame has one death event at its end.
	m = begin(t, "w 14,14 13,14\nhealth 14,14=8 13,14=8", wide).deploy("demolisher 13,0", "").frame(1).wantEvents("death", "death wall 2")
	m.frame(1).wantEvents("death", "death wall 1").want("at 13,14 .\nat 14,14 .")
}

func TestClause_3_15_EndOfTheActionPhase(t *testing.T) {
	m := begin(t, "w 3,12", nil).deploy("turret 5,12", "rm 3,12").frame(1)
	assert.False(t, m.more, "a frame after the first without mobile units")
	m = begin(t, "", nil).deploy("scout 13,0; interceptor 14,0", "").action()
	assert.Equalf(t, 116, m.frames, "%d frames, want 28 steps in every fourth and one to breach", m.frames)
	m = begin(t, "p2 health 1", nil).deploy("scout 13,0; interceptor 14,0", "").action().want("unit 2 p1 interceptor 11,4 health 40\np2 health 0")
	assert.Equalf(t, 29, m.frames, "%d frames", m.frames)
}
