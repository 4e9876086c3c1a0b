package featuretest_test

import (
	"maps"
	"math"
	"slices"
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

func (e nameless) Description() features.Description {
	table := e.encoder.Description()
	table.Planes[1].Name = table.Planes[0].Name
	return table
}

type misplaced struct{ encoder }

func (e misplaced) Description() features.Description {
	table := e.encoder.Description()
	table.PackedLayout.Parts[1].Number.First++
	table.PackedLayout.Cells[0][0].Count-- // the last cell has no bit
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

// foreign returns choices that the mask forbids.
type foreign struct{ actions }

func (a foreign) Action(dst []int32, orders []sim.Order, s *state, p sim.Player) bool {
	said := a.actions.Action(dst, orders, s, p)
	for h, c := range dst {
		if c == 3 {
			dst[h] = 9
		}
	}
	return said
}

type lavish struct{ actions }

var sink []sim.Order

func (a lavish) Mask(dst []uint64, s *state, p sim.Player) {
	sink = make([]sim.Order, 4)
	a.actions.Mask(dst, s, p)
}

// changed returns a defect: the scenes of the kit with a change.
func changed(change func(dst *features.Scene, seat int)) func(k *kit) {
	return func(k *kit) {
		whole := k.Scene
		k.Scene = func(dst *features.Scene, s *state, seat int) {
			if whole(dst, s, seat); len(dst.Entities) > 0 {
				change(dst, seat)
			}
		}
	}
}

// piling keeps what was in the scene before.
func piling(dst *features.Scene, s *state, _ int) {
	dst.Width, dst.Height, dst.Title = simtest.ToyHeaps, 1, "heaps"
	dst.Entities = append(dst.Entities, features.Entity{Kind: "heap", Owner: features.Nobody, Width: 1, Height: 1})
}

// reshot returns a defect: the scenes of turns with a change of scene i, from 0, and
// of its events, if it has any.
func reshot(i int, change func(dst *features.Scene, seat int)) func(k *kit) {
	return func(k *kit) {
		whole := k.Frames
		k.Frames = func(s *state, t *sim.Turn, seat int, frame func(*features.Scene)) {
			at := 0
			whole(s, t, seat, func(dst *features.Scene) {
				if at == i && len(dst.Events) > 0 {
					change(dst, seat)
				}
				at++
				frame(dst)
			})
		}
	}
}

// unsteady has other scenes in each call.
func unsteady(k *kit) {
	calls := 0
	reshot(0, func(dst *features.Scene, _ int) {
		calls++
		dst.Events[0].Amount += float32(calls)
	})(k)
}

// walking returns a defect that changes the ways. It counts the calls.
func walking(change func(w *features.Path, call int)) func(k *kit) {
	return func(k *kit) {
		paths, call := k.Paths, 0
		k.Paths = func(s *state, path func(*features.Path)) {
			call++
			paths(s, func(w *features.Path) {
				change(w, call)
				path(w)
			})
		}
	}
}

// broken maps each subtest to a defect that it must find; a "#" and a word tell
// defects of one subtest apart.
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
	"Scene#owner": changed(func(dst *features.Scene, _ int) { dst.Entities[0].Owner = 2 }),
	"Scene#place": changed(func(dst *features.Scene, _ int) { dst.Entities[0].X = simtest.ToyHeaps }),
	"Scene#nan":   changed(func(dst *features.Scene, _ int) { dst.AddStat("stones", "stones", 0, math.NaN()) }),
	"Scene#fog": changed(func(dst *features.Scene, seat int) {
		if seat != features.Spectator {
			dst.Entities[0].Health = 0.5 // which a spectator does not see
		}
	}),
	"Scene#used":   func(k *kit) { k.Scene = piling },
	"Scene#number": changed(func(dst *features.Scene, _ int) { dst.Entities = append(dst.Entities, dst.Entities[0]) }),
	"Scene#event":  changed(func(dst *features.Scene, _ int) { dst.AddEvent(features.Event{Kind: "take"}) }),
	"Frames#none": func(k *kit) {
		k.Frames = func(*state, *sim.Turn, int, func(*features.Scene)) {}
	},
	"Frames#owner": reshot(0, func(dst *features.Scene, _ int) { dst.Events[0].Owner = 2 }),
	"Frames#place": reshot(0, func(dst *features.Scene, _ int) { dst.Events[0].Y2 = 1.5 }),
	"Frames#kind":  reshot(1, func(dst *features.Scene, _ int) { dst.Events[0].Kind = "" }),
	"Frames#nan":   reshot(1, func(dst *features.Scene, _ int) { dst.Events[0].Amount = float32(math.Inf(1)) }),
	"Frames#last":  reshot(1, func(dst *features.Scene, _ int) { dst.Title = "the end" }),
	"Frames#fog": reshot(0, func(dst *features.Scene, seat int) {
		if seat != features.Spectator {
			dst.Events[0].Note = "which a spectator does not see"
		}
	}),
	"Frames#id": reshot(0, func(dst *features.Scene, seat int) {
		if seat != features.Spectator && len(dst.Entities) > 0 {
			dst.Entities[0].ID += 100
		}
	}),
	"Frames#number": reshot(0, func(dst *features.Scene, _ int) { dst.Entities[0].Owner = 1 }),
	"Frames#again":  unsteady,
	"Paths#owner":   walking(func(w *features.Path, _ int) { w.Owner = 2 }),
	"Paths#place":   walking(func(w *features.Path, _ int) { w.Cells[0].Y = 1 }),
	"Paths#step":    walking(func(w *features.Path, _ int) { w.Cells[1].X++ }),
	"Paths#again":   walking(func(w *features.Path, call int) { w.Stops = call == 1 }),
	"Command#kind": func(k *kit) {
		k.Command = func(sim.Order, sim.Player) features.Command { return features.Command{} }
	},
	"Command#place": func(k *kit) {
		k.Command = func(sim.Order, sim.Player) features.Command {
			return features.Command{Kind: "take", Placed: true, X: simtest.ToyHeaps}
		}
	},
	"Allocations": func(k *kit) { k.Actions = lavish{k.Actions} },
}

func TestRunFindsFaults(t *testing.T) {
	simtest.FindsFaults(t, slices.Collect(maps.Keys(broken)), func(t *testing.T, name string) {
		g := simtest.Toy{Seats: 2, Orders: 1}
		k := featuretest.ToyKit(g)
		broken[name](&k)
		featuretest.Run(t, func() sim.Game[state] { return g }, k)
	})
}
