package featuretest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"moonfarm/features"
	"moonfarm/features/featuretest"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
)

// state, encoder and actions shorten the wrappers below: parts of the toy's
// kit with one method broken.
type (
	state   = simtest.ToyState
	encoder = features.Encoder[state]
	actions = features.ActionSpace[state]
	kit     = features.Kit[state]
)

type nameless struct{ encoder }

func (e nameless) Table() features.Table {
	table := e.encoder.Table()
	table.Planes[1].Name = table.Planes[0].Name
	return table
}

type adding struct{ encoder }

func (e adding) Packed(dst []uint64, s *state, p sim.Player) {
	old := dst[1]
	e.encoder.Packed(dst, s, p)
	dst[1] |= old
}

type trailing struct{ actions }

func (a trailing) Mask(dst []uint64, s *state, p sim.Player) {
	a.actions.Mask(dst, s, p)
	dst[0] |= 1 << 40
}

type timid struct{ actions }

func (a timid) Mask(dst []uint64, s *state, p sim.Player) {
	a.actions.Mask(dst, s, p)
	if s.Turn == 2 {
		dst[0] &= 1
	}
}

type bold struct{ actions }

func (a bold) Mask(dst []uint64, s *state, p sim.Player) {
	a.actions.Mask(dst, s, p)
	dst[0] |= 1<<9 - 1
}

type deaf struct{ actions }

func (a deaf) Action(dst []int32, orders []sim.Order, s *state, p sim.Player) bool {
	clear(dst)
	return true
}

type lavish struct{ actions }

var sink []sim.Order

func (a lavish) Mask(dst []uint64, s *state, p sim.Player) {
	sink = make([]sim.Order, 4)
	a.actions.Mask(dst, s, p)
}

// broken lists, by the subtest that must find it, what is wrong with a kit.
var broken = map[string]func(k *kit){
	"Table":       func(k *kit) { k.Encoder = nameless{k.Encoder} },
	"Encode":      func(k *kit) { k.Encoder = adding{k.Encoder} },
	"Mask":        func(k *kit) { k.Actions = trailing{k.Actions} },
	"Complete":    func(k *kit) { k.Actions = timid{k.Actions} },
	"Sound":       func(k *kit) { k.Actions = bold{k.Actions} },
	"Actions":     func(k *kit) { k.Actions = deaf{k.Actions} },
	"Measures":    func(k *kit) { k.Measures = append(k.Measures, k.Measures[0]) },
	"Allocations": func(k *kit) { k.Actions = lavish{k.Actions} },
}

const brokenEnv = "FEATURETEST_BROKEN"

// TestBroken is run by TestRunFindsFaults in a process of its own, where it
// is expected to fail.
func TestBroken(t *testing.T) {
	spoil, ok := broken[os.Getenv(brokenEnv)]
	if !ok {
		t.Skip("only for TestRunFindsFaults")
	}
	g := simtest.Toy{Seats: 2, Orders: 1}
	k := featuretest.ToyKit(g)
	spoil(&k)
	featuretest.Run(t, func() sim.Game[state] { return g }, k)
}

func TestRunFindsFaults(t *testing.T) {
	for name := range broken {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestBroken$")
			cmd.Env = append(os.Environ(), brokenEnv+"="+name)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestBroken/"+name) {
				t.Errorf("the suite does not find the fault: %v\n%s", err, out)
			}
		})
	}
}
