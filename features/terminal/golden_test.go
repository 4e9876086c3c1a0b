package terminal

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/features"
	"moonfarm/features/featuretest"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
	tm "moonfarm/sim/terminal"
)

const pageHead = "# C1 Terminal: observations and actions\n\n" +
	"`go test ./features/terminal -update` writes this page from the tables in the code; a test compares them.\n\n" +
	"Every observation shows the arena from the side of one seat, with its own half at the bottom: player 0 sees the arena as it is, player 1\n" +
	"sees it turned by 180°, so that (x, y) is (27−x, 27−y) and cell i of a plane is cell 783−i. Row y of a plane is the arena's row y: row 0\n" +
	"is the own end, rows 0 … 13 are the own half, rows 14 … 27 the enemy's half. Observations show the state between two turns, when the\n" +
	"board has no mobile units. They never show orders of the enemy that are not carried out yet, or thinking times. \"Scale\" is the largest\n" +
	"usual value: a value divided by it is about 0 … 1. Scales and sizes are for the default rules.\n\n" +
	"The game has two forms: `cells`, one action for the whole turn, and `orders`, one order after the other.\n"

const pageOrders = "\n# The form `orders`: observations and actions\n\n" +
	"A player gives the orders of a turn one after the other, in the order of the choices, then ends the turn. The observation shows what the\n" +
	"orders so far have done: the own half, cores, bits and mask include them, while the enemy's half is shown as at the start of the turn.\n" +
	"A player who has ended its turn waits for the other; then the turn is played. Steps before that have reward 0.\n"

// TestFeaturesPage compares FEATURES.md with Description, Doc and Shape.
func TestFeaturesPage(t *testing.T) {
	r := tm.DefaultRules()
	out := appendKit([]byte(pageHead), Kit(newGame(t, r)), "84 × 32, then 210 × 16")
	kit := Kit(newGame(t, r))
	out = append(out, pageOrders...)
	kit.Encoder, kit.Actions = kit.Forms[0].Encoder, kit.Forms[0].Actions
	out = appendKit(out, kit, "1555")
	simtest.Golden(t, "FEATURES.md", out)
}

// appendKit appends the tables and texts of a kit.
func appendKit[S any](out []byte, kit features.Kit[S], heads string) []byte {
	out = featuretest.AppendFields(out, "##", kit, "what the planes show")
	out = featuretest.AppendActions(out, kit, heads+" choices", kit.Actions.Doc())
	return featuretest.AppendMeasures(out, kit)
}

// match has the orders of a short match, by turn and seat.
var match = [][2][]sim.Order{
	{{tm.Place(tm.Turret, 11, 11), tm.Place(tm.Turret, 16, 11), tm.Place(tm.Support, 13, 5), tm.Spawn(tm.Scout, 13, 0, 1)},
		{tm.Place(tm.Turret, 14, 15), tm.Place(tm.Wall, 13, 14), tm.Place(tm.Wall, 14, 14), tm.UpgradeAt(14, 14), tm.Spawn(tm.Scout, 23, 18, 1)}},
	{{tm.UpgradeAt(11, 11), tm.RemoveAt(16, 11)},
		{tm.Place(tm.Wall, 27, 14), tm.RemoveAt(13, 14), tm.Spawn(tm.Interceptor, 4, 18, 1)}},
	{{tm.Place(tm.Wall, 0, 13), tm.Place(tm.Wall, 1, 13), tm.RemoveAt(0, 13), tm.Spawn(tm.Scout, 14, 0, 2)},
		{tm.UpgradeAt(14, 15), tm.Spawn(tm.Demolisher, 13, 27, 1)}},
	{{tm.Place(tm.Wall, 13, 14), tm.Spawn(tm.Scout, 0, 13, 1)}, {tm.Spawn(tm.Scout, 27, 14, 1)}}, // all refused
	{nil, nil},
}

// TestPlaythrough compares the observations and masks of both seats in the match with a file.
func TestPlaythrough(t *testing.T) {
	g := newGame(t, tm.DefaultRules())
	kit := Kit(g)
	var s tm.State
	g.Reset(&s, 0)
	out := []byte("# What both seats see and may do in a short match by the default rules: scalars that are not 0; what each plane\n" +
		"# shows, as x,y=value (the arena left out); the choices of the mask, as head ranges:choices; the orders, their action as\n" +
		"# head=choice.\n")
	turn := sim.NewTurn(8)
	status := sim.Running
	for _, given := range match {
		require.Equal(t, sim.Running, status, "the match is over")
		for p := range sim.Player(2) {
			out = fmt.Appendf(out, "\nturn %d seat %d\n", s.Turn, p)
			out = appendView(out, kit.Encoder, &s, p)
			out = appendMask(append(out, "mask\n"...), kit.Actions, &s, p)
			action := make([]int32, len(kit.Actions.Heads()))
			known := kit.Actions.Action(action, given[p], &s, p)
			out = fmt.Appendf(out, "orders %#x\naction %v", given[p], known)
			for h, c := range action {
				if c != 0 {
					out = fmt.Appendf(out, " %d=%d", h, c)
				}
			}
			out = append(out, '\n')
			turn.Set(p, given[p])
		}
		status = g.Step(&s, turn)
	}
	simtest.Golden(t, "testdata/playthrough.txt", out)
}

// appendView appends the values of an observation that are not 0.
func appendView(out []byte, e features.Encoder[tm.State], s *tm.State, p sim.Player) []byte {
	out = append(featuretest.AppendScalars(out, e, s, p), '\n')
	width := e.Shape().Width
	featuretest.EachPlane(e, s, p, func(name string, plane []uint8) {
		cells := []byte(nil)
		for at, v := range plane {
			if v != 0 && name != "arena" {
				cells = fmt.Appendf(cells, " %d,%d=%d", at%width, at/width, v)
			}
		}
		if cells != nil {
			out = fmt.Appendf(out, "plane %s%s\n", name, cells)
		}
	})
	return out
}

// appendMask appends the legal choices of each head; heads with equal choices share a line.
func appendMask(out []byte, a features.ActionSpace[tm.State], s *tm.State, p sim.Player) []byte {
	heads := a.Heads()
	mask := make([]uint64, features.MaskWords(heads))
	a.Mask(mask, s, p)
	texts := make([]string, len(heads))
	at := 0
	for h, n := range heads {
		for c := range n {
			if mask[at/64]>>(at%64)&1 != 0 {
				texts[h] += fmt.Sprint(" ", c)
			}
			at++
		}
	}
	done := map[string]bool{}
	for h := range heads {
		if text := texts[h]; !done[text] {
			done[text] = true
			out = append(out, ' ')
			for i := h; i < len(heads); i++ {
				if texts[i] != text {
					continue
				}
				first := i
				for i+1 < len(heads) && texts[i+1] == text {
					i++
				}
				if out = fmt.Appendf(out, " %d", first); i > first {
					out = fmt.Appendf(out, "–%d", i)
				}
			}
			out = fmt.Appendf(out, ":%s\n", text)
		}
	}
	return out
}
