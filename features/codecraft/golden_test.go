package codecraft

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/features"
	"moonfarm/features/featuretest"
	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
	"moonfarm/sim/simtest"
)

const pageHead = "# CodeCraft 2020: observations and actions\n\n" +
	"Written by `go test ./features/codecraft -update` from the documentation in the code; a test compares the two.\n\n" +
	"Every observation shows the map as its player sees it in the original: rotated so that its own start is at the lower left. With two players the other player starts at the\n" +
	"upper right. With more players, the opposite player starts there, and the others at the lower right and at the upper left. Under fog\n" +
	"of war an observation has only entities in sight of an own entity at this tick; `Memory` of `env.Settings` adds resources and\n" +
	"buildings as they were last seen. The scores and resources of all players are\n" +
	"always known. \"Scale\" is the largest usual value: a value divided by it is about 0 … 1. Scales are those of the default rules.\n\n" +
	"There are two observations beside the same actions: the form `entities`, which is the default, and the form `cells` (`--form cells`, in\n" +
	"Python `form=\"cells\"`).\n"

const pageEntities = "\n## The observation entities\n\n" +
	"Lists of the entities in sight, a map of codes, and counts by region: 12 KB a row. The planes of this form are one row of values,\n" +
	"[1, 1, 11808], which the tensors divide, one after the other; in Python:\n\n" +
	"```python\n" +
	"own, others, code, coarse = np.split(values.ravel(), np.cumsum([256 * 12, 256 * 6, 80 * 80]))\n" +
	"own, others, code, coarse = own.reshape(256, 12), others.reshape(256, 6), code.reshape(80, 80), coarse.reshape(8, 10, 10)\n" +
	"n = np.count_nonzero(own[:, 0])                               # entities: slots 0 … n − 1\n" +
	"padded = np.pad(code, 7)                                      # 15 × 15 cells around each entity; outside of the map is out of sight\n" +
	"windows = np.lib.stride_tricks.sliding_window_view(padded, (15, 15))[own[:n, 2], own[:n, 1]]\n" +
	"```\n"

const pageCells = "\n## The observation cells\n\n" +
	"Planes of the whole map, for convolutional networks: 160 KB a row. Row y of a plane is row y of the map, row 0 the lowest; the cell (x, y)\n" +
	"is byte 80·y + x. The plane own_corner shows where the slots of the actions are; with the planes as uint8 [25, 80, 80], in Python:\n\n" +
	"```python\n" +
	"cells = np.flatnonzero(planes[24])[:256]        # cell of slot 0, 1, …: where the network's output for the slot is\n" +
	"y, x = cells // 80, cells % 80\n" +
	"labels = action[:len(cells)]                    # the choices of these slots; −1 means that there is no label\n" +
	"```\n"

const pageLabels = "\n## Choices of players\n\n" +
	"The shares of entities' orders, in games of 600 ticks by the rules of all rounds and in the recorded game, by how far a choice does\n" +
	"the same. All orders have a choice.\n\n" +
	"| player | orders | the same action | the same from now on | the same in this tick |\n" +
	"|---|---|---|---|---|\n" +
	"| squads | 216,090 | 99.27 % | 0 | 0.73 % |\n" +
	"| econ | 8,965 | 40.2 % | 4.5 % | 55.3 % |\n" +
	"| econ-near | 30,076 | 13.3 % | 1.4 % | 85.3 % |\n" +
	"| econ-break | 9,366 | 26.9 % | 4.6 % | 68.5 % |\n" +
	"| turtle | 5,458 | 51.3 % | 9.6 % | 39.2 % |\n" +
	"| quickstart | 964 | 0 | 49.9 % | 50.1 % |\n" +
	"| recorded | 653 | 15.9 % | 0.6 % | 83.5 % |\n\n" +
	"What squads says in this tick only are builds that must fail because the purse is too small. Orders that are the same in this tick only are\n" +
	"mostly moves to a distant cell, of which the choice is the first step. After that step the player's entity goes on by its stored action and\n" +
	"gets no orders, choice 0; the learner's entity has arrived. So whoever learns from players that send units far should ask the player in\n" +
	"the learner's own states, where it orders again, or look at goal_x and goal_y: an entity that is on its way is left alone, an idle one is not.\n" +
	"In the ticks of the test 2 % went another way than by the orders: two bases shared a purse for one unit, and the game draws which of them\n" +
	"builds among all that try.\n"

// TestFeaturesPage compares FEATURES.md with Description, Doc and Shape.
func TestFeaturesPage(t *testing.T) {
	kit := Kit(newGame(t, rules(t, "finals")))
	entities := kit
	entities.Encoder = kit.Forms[0].Encoder
	out := featuretest.AppendFields([]byte(pageHead+pageEntities), "###", entities, "the values, without loss")
	out = featuretest.AppendFields(append(out, pageCells...), "###", kit, "what the planes show, without loss")
	out = featuretest.AppendActions(out, kit, "256, of 128 choices", kit.Actions.Doc())
	out = featuretest.AppendMeasures(append(out, pageLabels...), kit)
	simtest.Golden(t, "FEATURES.md", out)
}

// TestPlaythrough compares the observations and masks of both seats in a short match with a golden file.
func TestPlaythrough(t *testing.T) {
	g := newGame(t, rules(t, "finals"))
	kit := Kit(g)
	s, turn := new(cc.State), sim.NewTurn(g.Info().MaxOrders)
	g.Reset(s, 2)
	out := []byte("# What both seats see and may do in a short match by the rules of the finals, and what they choose, slot=choice. Of the form\n" +
		"# cells: scalars that are not 0, and of each plane the runs of equal values in its rows, as x,y=value or x–x,y=value, of sight only\n" +
		"# how many cells. Of the form entities: likewise the scalars, the rows of both lists, and the runs in the map and in the counts.\n")
	action := make([]int32, slots)
	for tick := range 27 {
		for p := range sim.Player(2) {
			clear(action)
			switch {
			case tick == 0:
				action[0] = choiceForage
			case tick == 25:
				action[0] = choicePlace + int32(p)
			}
			if tick == 0 || tick == 26 {
				out = appendView(fmt.Appendf(out, "\ntick %d seat %d\n", tick, p), kit, s, p)
			}
			orders := kit.Actions.AppendOrders(nil, action, s, p)
			if len(orders) > 0 {
				out = fmt.Appendf(out, "tick %d seat %d action 0=%d orders %#x\n", tick, p, action[0], orders)
			}
			turn.Set(p, orders)
		}
		require.Equal(t, sim.Running, g.Step(s, turn), "the match is over")
	}
	simtest.Golden(t, "testdata/playthrough.txt", out)
}

// appendView appends the values of both observations that are not 0, and the mask.
func appendView(out []byte, kit features.Kit[cc.State], s *cc.State, p sim.Player) []byte {
	out = featuretest.AppendScalars(out, kit.Encoder, s, p)
	featuretest.EachPlane(kit.Encoder, s, p, func(name string, plane []uint8) {
		if name == "visible" {
			out = fmt.Appendf(out, "\nplane visible %d cells", strings.Count(string(plane), "\x01"))
		} else if runs := appendRuns(nil, plane, 80); runs != nil {
			out = fmt.Appendf(out, "\nplane %s%s", name, runs)
		}
	})
	out = append(out, '\n')
	e := kit.Forms[0].Encoder
	out = featuretest.AppendScalars(out, e, s, p)
	values := featuretest.Planes(e, s, p)
	for _, x := range e.Description().Tensors {
		part := values[:x.Len()]
		values = values[x.Len():]
		width := x.Dims[len(x.Dims)-1]
		if x.Axis == 0 {
			out = fmt.Appendf(out, "\n%s%s", x.Name, appendRuns(nil, part, width))
			continue
		}
		for i := range x.Dims[0] {
			if row := part[i*width:][:width]; row[0] != 0 {
				out = fmt.Appendf(out, "\n%s %d: %d", x.Name, i, row)
			}
		}
	}
	mask := make([]uint64, maskWords*slots)
	kit.Actions.Mask(mask, s, p)
	for w, m := range mask {
		if w%2 == 0 && m == 1 && mask[w+1] == 0 {
			continue
		}
		if w%2 == 0 {
			out = fmt.Appendf(out, "\nchoices of slot %d", w/2)
		}
		for ; m != 0; m &= m - 1 {
			out = fmt.Appendf(out, " %d", w%2*64+bits.TrailingZeros64(m))
		}
	}
	return append(out, '\n')
}

func appendRuns(out, plane []uint8, width int) []byte {
	for at := 0; at < len(plane); at++ {
		v := plane[at]
		if v == 0 {
			continue
		}
		x, y := at%width, at/width
		for at%width < width-1 && plane[at+1] == v {
			at++
		}
		if out = fmt.Appendf(out, " %d", x); at%width > x {
			out = fmt.Appendf(out, "–%d", at%width)
		}
		out = fmt.Appendf(out, ",%d=%d", y, v)
	}
	return out
}
