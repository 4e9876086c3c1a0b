package terminal_test

import (
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
)

// TestTwin compares the fast game with the plain twin, deployment by deployment and frame by frame, in
// every scenario: units, resources and all events of every frame, the restore, and the same turn
// played by Step without a record. Half of the matches have random rules. It plays 4,000 deployments,
// with MOONFARM_LONG=1 60,000.
func TestTwin(t *testing.T) {
	deployments := 4000
	if os.Getenv("MOONFARM_LONG") == "1" {
		deployments = 60_000
	}
	shares := 0
	for _, sc := range scenarios {
		shares += max(sc.share, 1)
	}
	sum := tally{}
	for i, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			playTwins(t, sc, uint64(i), sum, sum["deployments"]+deployments*max(sc.share, 1)/shares)
		})
	}
	t.Logf("%v", sum)
	if !t.Failed() && sum["deployments"] >= deployments { // not with -run of a single scenario
		sum.demand(t)
	}
}

// playTwins plays matches of a scenario until the tally has the given number of deployments.
func playTwins(t *testing.T, sc scenario, seed uint64, sum tally, deployments int) {
	t.Helper()
	for set := uint64(0); sum["deployments"] < deployments; set++ {
		r := prng.New(prng.StreamSeed(seed, set, 0, 0, prng.PurposeGame))
		rules := randomRules(&r)
		if r.IntN(2) == 0 {
			rules.StartHealth = 10_000 // so that games last
		}
		rules.StartBits = sc.bits
		if sc.rules != nil {
			sc.rules(&r, &rules)
		}
		m := newTwins(t, sum, fmt.Sprintf("scenario %s, set %d", sc.name, set), rules)
		for range 3 {
			m.begin()
			sc.play(m, &r)
		}
	}
}

// twins is a random match, played by the fast game and by the plain one.
type twins struct {
	*match                // with a record, frame by frame
	bare   *terminal.Game // turn by turn
	count  tally
	from   map[uint32]terminal.Pos // cells from which mobile units came
}

func newTwins(t *testing.T, count tally, title string, rules terminal.Rules) *twins {
	t.Helper()
	m := &match{t: t, title: fmt.Sprintf("%s\n%s", title, rules.AppendText(nil)), g: newGame(t, rules)}
	return &twins{match: m, bare: newGame(t, rules), count: count}
}

// begin begins a match.
func (t *twins) begin() {
	t.g.Reset(&t.s, 0)
	title := t.title
	t.match = resume(t.t, t.g, t.s)
	t.title = title
}

// purse sets the resources of both players.
func (t *twins) purse(cores, bits float32) {
	for p := range t.twin.Players {
		t.s.Cores[p], t.twin.Players[p].Cores = cores, cores
		t.s.Bits[p], t.twin.Players[p].Bits = bits, bits
	}
}

// play plays one turn in three ways and compares them.
func (t *twins) play(orders [2][]sim.Order) {
	t.t.Helper()
	stepped := t.s
	t.give(orders[0], orders[1])
	steppedStatus := t.step(&stepped)
	t.from = map[uint32]terminal.Pos{}
	for t.more {
		t.frame(1)
		t.countFrame(&t.twin.Events)
	}
	t.restore()
	if steppedStatus != t.status {
		t.check("Step", fmt.Sprintf("status %v, frame by frame %v", steppedStatus, t.status))
	}
	t.check("Step, frame by frame", simtest.Diff(&stepped, &t.s))
	t.countTurn()
}

// step plays the turn without a record: by Step, or the first frames one by one.
func (t *twins) step(s *terminal.State) sim.Status {
	frames := t.count["deployments"] % 4
	if frames == 0 {
		return t.bare.Step(s, t.turn)
	}
	t.bare.Deploy(s, t.turn)
	for more := true; more && frames > 0; frames-- {
		if more = t.bare.Frame(s); !more {
			return t.bare.Restore(s)
		}
	}
	t.bare.Action(s)
	return t.bare.Restore(s)
}

// tally counts events of the matches.
type tally map[string]int

// demand fails if the matches lack events that the scenarios are for.
func (n tally) demand(t *testing.T) {
	t.Helper()
	all := n["deployments"]
	for what, least := range map[string]int{
		"breaches": all, "shots": 10 * all, "shields": all, "explosions": all / 10, "explosions with two events": all / 100,
		"explosions of units hit by others": all / 200, "fallen structures": all, "removals": all / 10, "upgrades": all,
		"swapped orders": all / 10, "rejected orders": all / 10, "shots between mobile units": all, "self-destructs": all,
		"moves back": all / 50, "more than 64 turrets and supports": all / 100, "finished games": all / 1000, "mobile units at once": 200,
		"shots by earlier rules": all, "deaths written again": all / 200, "structures killed by upgrades": all / 200,
	} {
		assert.GreaterOrEqualf(t, n[what], least, "%s: %d, expected at least %d in %d deployments", what, n[what], least, all)
	}
}

func (t *twins) countFrame(f *terminal.Events) {
	n := t.count
	n["frames"]++
	n["mobile units at once"] = max(n["mobile units at once"], len(t.twin.Mobile))
	for _, e := range f.Moves {
		if from, ok := t.from[e.ID]; ok && from == e.To {
			n["moves back"]++
		}
		t.from[e.ID] = e.From
	}
	n["breaches"] += len(f.Breaches)
	n["shots"] += len(f.Attacks)
	n["shields"] += len(f.Shields)
	n["explosions"] += len(f.SelfDestructs)
	hit := map[uint32]terminal.Kind{}
	for _, e := range f.Damages {
		hit[e.ID] = e.Kind
	}
	for i, e := range f.SelfDestructs {
		if i > 0 && e.ID == f.SelfDestructs[i-1].ID {
			n["explosions with two events"]++
		}
		if _, ok := hit[e.ID]; ok {
			n["explosions of units hit by others"]++
		}
	}
	if r := t.g.Rules(); r.BareWeakest || r.TiesByText {
		n["shots by earlier rules"] += len(f.Attacks)
	}
	for _, e := range f.Deaths {
		if e.Repeated {
			n["deaths written again"]++
		}
		if _, ok := hit[e.ID]; e.Kind.Structure() && !ok {
			n["structures killed by upgrades"]++
		}
		if e.Kind.Structure() {
			n["fallen structures"]++
		} else if _, ok := hit[e.ID]; !ok { // with an explosion or without
			n["self-destructs"]++
		}
	}
	n["self-destructs"] -= len(f.Breaches)
	for _, e := range f.Attacks {
		if e.Kind.Mobile() && hit[e.Target].Mobile() {
			n["shots between mobile units"]++
		}
	}
	for _, e := range f.Spawns {
		if e.Kind == terminal.Upgrade {
			n["upgrades"]++
		}
	}
}

func (t *twins) countTurn() {
	n := t.count
	n["deployments"]++
	n["removals"] += len(t.rec.Removed)
	if t.status == sim.Over {
		n["finished games"]++
	}
	for p := range sim.Player(2) {
		asked := int64(0)
		for _, o := range t.turn.Orders(p) {
			c := terminal.Decode(o)
			if c.Swapped {
				n["swapped orders"]++
			}
			switch c.Op {
			case terminal.OpPlace, terminal.OpUpgrade, terminal.OpRemove:
				asked++
			case terminal.OpSpawn:
				asked += int64(c.Count)
			}
		}
		for _, e := range t.rec.Spawns {
			if e.Player == p {
				asked--
			}
		}
		n["rejected orders"] += int(min(asked, math.MaxInt16))
		if t.s.Ages[p][terminal.Turret].N > 64 && t.s.Ages[p][terminal.Support].N > 64 {
			n["more than 64 turrets and supports"]++
		}
	}
}
