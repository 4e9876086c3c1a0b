package featuretest_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/features"
	"moonfarm/features/featuretest"
	trongame "moonfarm/features/tron"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/tron"
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

func (n nameless) Description() features.Description {
	table := n.encoder.Description()
	table.Planes[1].Name = table.Planes[0].Name
	return table
}

type misplaced struct{ encoder }

func (m misplaced) Description() features.Description {
	table := m.encoder.Description()
	table.PackedLayout.Parts[1].Number.First++
	table.PackedLayout.Cells[0][0].Count-- // the last cell has no bit
	return table
}

type adding struct{ encoder }

func (a adding) Packed(dst []uint64, s *state, p sim.Player) {
	old := dst[1]
	a.encoder.Packed(dst, s, p)
	dst[1] |= old
}

type trailing struct{ actions }

func (t trailing) Mask(dst []uint64, s *state, p sim.Player) {
	t.actions.Mask(dst, s, p)
	dst[0] |= 1 << 40
}

type timid struct{ actions }

func (t timid) Mask(dst []uint64, s *state, p sim.Player) {
	t.actions.Mask(dst, s, p)
	if s.Turn == 2 {
		dst[0] &= 1
	}
}

type bold struct{ actions }

func (b bold) Mask(dst []uint64, s *state, p sim.Player) {
	b.actions.Mask(dst, s, p)
	dst[0] |= 1<<9 - 1
}

type deaf struct{ actions }

func (d deaf) Action(dst []int32, orders []sim.Order, s *state, p sim.Player) bool {
	clear(dst)
	return true
}

// foreign returns choices that the mask forbids.
type foreign struct{ actions }

func (f foreign) Action(dst []int32, orders []sim.Order, s *state, p sim.Player) bool {
	said := f.actions.Action(dst, orders, s, p)
	for h, c := range dst {
		if c == 3 {
			dst[h] = 9
		}
	}
	return said
}

type lavish struct{ actions }

var sink []sim.Order

func (l lavish) Mask(dst []uint64, s *state, p sim.Player) {
	sink = make([]sim.Order, 4)
	l.actions.Mask(dst, s, p)
}

// hiding returns scenes in which a seat sees cycles that a spectator does not see.
func hiding(draw func(dst *features.Scene, s *tron.State, seat int)) func(dst *features.Scene, s *tron.State, seat int) {
	return func(dst *features.Scene, s *tron.State, seat int) {
		if draw(dst, s, seat); seat != features.Spectator {
			dst.Entities[0].Health = 0.5
		}
	}
}

// retitled returns the scenes of turns with another title than those of states.
func retitled(whole features.Kit[tron.State]) func(s *tron.State, t *sim.Turn, seat int, frame func(*features.Scene)) {
	return func(s *tron.State, t *sim.Turn, seat int, frame func(*features.Scene)) {
		whole.Frames(s, t, seat, func(dst *features.Scene) {
			dst.Title = "the end"
			frame(dst)
		})
	}
}

// jumping has a way with a gap.
func jumping(_ *tron.State, path func(*features.Path)) {
	path(&features.Path{Cells: []features.Cell{{X: 1}, {X: 3}}})
}

// broken has for each promise a defect that its subtest must find.
var broken = map[string]func(k *kit){
	"Description": func(k *kit) { k.Encoder = nameless{k.Encoder} },
	"Unpack":      func(k *kit) { k.Encoder = misplaced{k.Encoder} },
	"Encode":      func(k *kit) { k.Encoder = adding{k.Encoder} },
	"Mask":        func(k *kit) { k.Actions = trailing{k.Actions} },
	"Complete":    func(k *kit) { k.Actions = timid{k.Actions} },
	"Sound":       func(k *kit) { k.Actions = bold{k.Actions} },
	"Labels":      func(k *kit) { k.Actions = foreign{k.Actions} },
	"Actions":     func(k *kit) { k.Actions = deaf{k.Actions} },
	"Measures":    func(k *kit) { k.Measures = append(k.Measures, k.Measures[0]) },
	"Allocations": func(k *kit) { k.Actions = lavish{k.Actions} },
}

// drawnWrong has the defects of what a kit draws, which the toy's kit does not.
var drawnWrong = map[string]func(k *features.Kit[tron.State]){
	"Scene":  func(k *features.Kit[tron.State]) { k.Scene = hiding(k.Scene) },
	"Frames": func(k *features.Kit[tron.State]) { k.Frames = retitled(*k) },
	"Paths":  func(k *features.Kit[tron.State]) { k.Paths = jumping },
	"Command": func(k *features.Kit[tron.State]) {
		k.Command = func(sim.Order, sim.Player) features.Command { return features.Command{} }
	},
}

func TestRunFindsFaults(t *testing.T) {
	names := slices.Concat(slices.Collect(maps.Keys(broken)), slices.Collect(maps.Keys(drawnWrong)))
	simtest.FindsFaults(t, names, func(t *testing.T, name string) {
		if change := drawnWrong[name]; change != nil {
			g, err := tron.New(tron.DefaultRules())
			require.NoError(t, err)
			k := trongame.Kit(g)
			change(&k)
			featuretest.Run(t, func() sim.Game[tron.State] { return g }, k)
			return
		}
		g := simtest.Toy{Seats: 2, Orders: 1}
		k := featuretest.ToyKit(g)
		broken[name](&k)
		featuretest.Run(t, func() sim.Game[state] { return g }, k)
	})
}
