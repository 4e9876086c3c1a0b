package featuretest

import (
	"regexp"
	"testing"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
)

// Options adjusts the conformance suite to a game.
type Options struct {
	Games int // number of random games; 0 means 10
	Turns int // games are stopped after this many turns; 0 means at their end
	Every int // checks every Every-th turn; 0 means every turn
}

// Run checks all promises of package features for a kit, on the states of
// random games. fresh makes a new value of the game. At most one Options is
// given. The subtests are the promises:
//
//	Description  a field for every plane and scalar, with unique names
//	Unpack       the packed words hold the planes, and Description.PackedLayout says where
//	Encode       every element is written, and nothing outside of the slab
//	Mask         likewise; bits past the last choice are 0; every head has a legal choice
//	Complete     one head: every legal order has an action, and its bit is set
//	Sound        one head: a set bit stands for a legal order
//	Labels       the action of a legal order is legal, or -1
//	Actions      Action and AppendOrders are inverse; a head without a choice
//	             does not affect the others
//	Lengths      a slab that is too short panics with its name
//	Measures     finite, with unique names
//	Scene        if the kit has scenes: finite, on the board, of known owners, the
//	             same for the same state; a seat sees nothing that a spectator does not
//	Frames       if the kit has moments of a turn: their scenes keep the promises of
//	             Scene, the last is that of the state after the turn, and numbers stay
//	             with their things
//	Allocations  no method allocates
func Run[S any](t *testing.T, fresh func() sim.Game[S], kit features.Kit[S], options ...Options) {
	t.Helper()
	c := newSuite(fresh(), kit, options)
	t.Run("Description", c.testDescription)
	t.Run("Unpack", c.testUnpack)
	t.Run("Encode", c.testEncode)
	t.Run("All", c.testAll)
	t.Run("Mask", c.testMask)
	if len(c.heads) == 1 {
		t.Run("Complete", c.testComplete)
		t.Run("Sound", c.testSound)
	}
	t.Run("Labels", c.testLabels)
	t.Run("Actions", c.testActions)
	t.Run("Lengths", c.testLengths)
	t.Run("Measures", c.testMeasures)
	if c.kit.Scene != nil {
		t.Run("Scene", c.testScene)
	}
	if c.kit.Frames != nil {
		t.Run("Frames", c.testFrames)
	}
	if c.kit.Paths != nil && c.kit.Scene != nil {
		t.Run("Paths", c.testPaths)
	}
	if c.kit.Command != nil && c.kit.Scene != nil {
		t.Run("Command", c.testCommand)
	}
	t.Run("Allocations", c.testAllocations)
}

func newSuite[S any](g sim.Game[S], kit features.Kit[S], options []Options) *suite[S] {
	c := &suite[S]{game: g, info: g.Info(), kit: kit, heads: kit.Actions.Heads(), shape: kit.Encoder.Shape()}
	if len(options) > 0 {
		c.Options = options[0]
	}
	if c.Games == 0 {
		c.Games = 10
	}
	if c.Every == 0 {
		c.Every = 1
	}
	return c
}

type suite[S any] struct {
	Options
	game  sim.Game[S]
	info  sim.Info
	kit   features.Kit[S]
	heads []int
	shape features.Shape

	nothing []int32 // the action of no orders, once known
}

// view is a state as one seat sees it.
type view[S any] struct {
	seed   uint64
	turn   int
	p      sim.Player
	s      *S
	status sim.Status
}

// each calls visit for the views of all seats in the states of random games.
func (c *suite[S]) each(t *testing.T, visit func(v view[S])) {
	t.Helper()
	for seed := range uint64(c.Games) {
		simtest.Play(c.game, seed, func(turn int, s *S, status sim.Status) bool {
			if turn%c.Every == 0 || status != sim.Running {
				for seat := range c.info.Players {
					visit(view[S]{seed, turn, sim.Player(seat), s, status})
				}
			}
			return !t.Failed() && (c.Turns == 0 || turn < c.Turns)
		})
	}
}

var fieldName = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

func (c *suite[S]) testDescription(t *testing.T) {
	z, table := c.shape, c.kit.Encoder.Description()
	if z.Planes < 0 || z.Height < 0 || z.Width < 0 || z.Scalars < 0 || z.Words < 0 {
		t.Errorf("shape %+v has negative sizes", z)
	}
	if len(table.Planes) != z.Planes || len(table.Scalars) != z.Scalars {
		t.Errorf("the table has %d planes and %d scalars, the shape %d and %d",
			len(table.Planes), len(table.Scalars), z.Planes, z.Scalars)
	}
	if z.Words > 0 && table.Packed == "" {
		t.Errorf("%d packed words, but Description.Packed does not say what they are", z.Words)
	}
	seen := map[string]bool{}
	for i, f := range append(append([]features.Field(nil), table.Planes...), table.Scalars...) {
		if !fieldName.MatchString(f.Name) || seen[f.Name] {
			t.Errorf("field %d: name %q is not snake_case or not the only one", i, f.Name)
		}
		seen[f.Name] = true
		if f.Unit == "" || f.Doc == "" || !(f.Scale > 0) {
			t.Errorf("field %s: unit %q, doc %q and scale %v must all be given", f.Name, f.Unit, f.Doc, f.Scale)
		}
	}
	c.checkTensors(t, table.Tensors)
	if c.kit.Actions.Doc() == "" {
		t.Error("ActionSpace.Doc is empty")
	}
	for h, n := range c.heads {
		if n < 1 {
			t.Errorf("head %d has %d choices", h, n)
		}
	}
}

// checkTensors checks that the tensors, if there are any, divide the values.
func (c *suite[S]) checkTensors(t *testing.T, tensors []features.Tensor) {
	t.Helper()
	sum, seen := 0, map[string]bool{}
	for _, x := range tensors {
		if !fieldName.MatchString(x.Name) || seen[x.Name] || x.Doc == "" {
			t.Errorf("tensor %q: the name is not snake_case or not the only one, or the doc %q is empty", x.Name, x.Doc)
		}
		seen[x.Name] = true
		if x.Axis < 0 || x.Axis >= len(x.Dims) || len(x.Fields) != x.Dims[x.Axis] {
			t.Errorf("tensor %s: %d fields along axis %d of %v", x.Name, len(x.Fields), x.Axis, x.Dims)
		}
		for _, f := range x.Fields {
			if !fieldName.MatchString(f.Name) || f.Unit == "" || f.Doc == "" || !(f.Scale > 0) {
				t.Errorf("tensor %s: field %+v is not complete", x.Name, f)
			}
		}
		sum += x.Len()
	}
	if len(tensors) > 0 && sum != c.shape.PlaneBytes() {
		t.Errorf("the tensors have %d values, the observation has %d", sum, c.shape.PlaneBytes())
	}
}

func (c *suite[S]) testMeasures(t *testing.T) {
	seen := map[string]bool{"": true, "result": true}
	for _, m := range c.kit.Measures {
		if seen[m.Name] || m.Doc == "" {
			t.Errorf("measure %q: the name is taken or empty, or the doc %q is empty", m.Name, m.Doc)
		}
		seen[m.Name] = true
	}
	c.each(t, func(v view[S]) {
		for _, m := range c.kit.Measures {
			if x := m.Of(c.game, v.s, v.p); x-x != 0 { // NaN or infinite
				t.Errorf("seed %d turn %d seat %d: measure %s is %v", v.seed, v.turn, v.p, m.Name, x)
			}
		}
	})
}

func (c *suite[S]) testAllocations(t *testing.T) {
	rows := newRows(c.shape)
	mask := make([]uint64, features.MaskWords(c.heads))
	action := make([]int32, len(c.heads))
	orders := make([]sim.Order, 0, c.info.MaxOrders)
	legal := []sim.Order(nil)
	e, a := c.kit.Encoder, c.kit.Actions
	c.each(t, func(v view[S]) {
		legal = c.game.AppendOrders(legal[:0], v.s, v.p)
		last := legal[len(legal)-1:]
		for _, f := range []struct {
			what string
			call func()
		}{
			{"Planes", func() { e.Planes(rows.Planes, v.s, v.p) }},
			{"Packed", func() { e.Packed(rows.Packed, v.s, v.p) }},
			{"Scalars", func() { e.Scalars(rows.Scalars, v.s, v.p) }},
			{"Mask", func() { a.Mask(mask, v.s, v.p) }},
			{"Action", func() { a.Action(action, last, v.s, v.p) }},
			{"AppendOrders", func() { orders = a.AppendOrders(orders[:0], action, v.s, v.p) }},
		} {
			if n := testing.AllocsPerRun(1, f.call); n != 0 {
				t.Errorf("seed %d turn %d seat %d: %s allocates %g times", v.seed, v.turn, v.p, f.what, n)
			}
		}
	})
}
