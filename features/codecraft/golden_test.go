package codecraft

import (
	"fmt"
	"math/bits"
	"slices"
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
	"Every observation shows the map as its player sees it in the original: rotated so that its own start is at the lower left. Row y of a\n" +
	"plane is row y of the map, row 0 the lowest; the cell (x, y) is byte 80·y + x. With two players the other player starts at the\n" +
	"upper right. With more players, the opposite player starts there, and the others at the lower right and at the upper left. Under fog\n" +
	"of war an observation has only entities in sight of an own entity at this tick; `Memory` of `env.Settings` adds resources and\n" +
	"buildings as they were last seen. The scores and resources of all players are\n" +
	"always known. \"Scale\" is the largest usual value: a value divided by it is about 0 … 1. Scales are those of the default rules.\n"

const pageOrders = "\n## Learning from slots\n\n" +
	"With the planes as uint8 [25, 80, 80] and an action as int32 [14 · 256], in Python:\n\n" +
	"```python\n" +
	"cells = np.flatnonzero(planes[24])[:256]        # cell of slot 0, 1, …: where the network's output for the slot is\n" +
	"heads = action.reshape(14, 256)[:, :len(cells)] # its labels: heads[k, i] is head k of slot i\n" +
	"legal = mask[:len(cells), None] >> np.arange(64, dtype=np.uint64) & 1   # of heads[0]\n" +
	"y, x = cells // 80, cells % 80\n" +
	"```\n\n" +
	"A convolutional network gives some numbers for every cell; the numbers at `cells` become the choices of the slots. In every head 0\n" +
	"means no part, and −1 means that there is no label. So a loss can leave out all heads whose label is not above 0.\n\n" +
	"## All actions\n\n" +
	"An action of an entity has up to four parts; an attack may have a target, types for an auto attack, or both. Choice 1 can express any\n" +
	"combination of parts, with any cell of the map and any set of types. It cannot express a target that does not exist or is not in\n" +
	"sight, because its cell is not known; some pathfind ranges above 160; squares that reach over the edge of the map; and orders to\n" +
	"entities beyond slot 255. The heads of such parts are −1, and the packed orders keep the parts: `sim/codecraft` describes their bits,\n" +
	"which are in the frame of the recordings for all players. Orders for entities that do not exist or belong to other players do nothing\n" +
	"and have no heads. Several orders to one entity count by their result.\n\n" +
	"Why part by part: most actions of players have several parts, each with its own place. These are the shapes of actions of the\n" +
	"scripted policies in games by the rules of all rounds, and of the three players of the recorded game, by the number of entities:\n\n" +
	"| player | shapes, the most frequent first |\n" +
	"|---|---|\n" +
	"| econ, turtle | move (closest) and auto attack with range 10, 20 or 30 on the way; build next to a base; move (closest) and build or repair at the far end; auto attack; stop |\n" +
	"| econ-near | the same, moves four cells ahead at a time |\n" +
	"| econ-break | the same, moves that break through |\n" +
	"| squads | move to the next cell; auto attack of resources with range 1; attack of one target; auto attack; build next to the builder or the base; repair; stop |\n" +
	"| quickstart | move (closest, breaking through) and auto attack; build and auto attack; auto attack of entities that cannot attack |\n" +
	"| recorded | move (closest, breaking through), with and without auto attack of ranges 10, 20 and 80 and four sets of types; build next to the builder or farther; move and build, move and repair; stop |\n\n" +
	"Public programs of contestants also combine a target with an auto attack, repair while they attack, and move neither to the closest\n" +
	"position nor by breaking through. In matches of four of these programs all of their orders had choices.\n\n" +
	"Why slots and not cells: a mask and 14 choices for each of 6,400 cells would take a megabyte per row, nearly all of it for empty\n" +
	"cells. Every reader can derive the order of the slots from the observation. Only the first head has a mask, one word per slot: all\n" +
	"other heads accept every choice, and the mask of the first head shows which entities can get orders.\n\n" +
	"Why shortcuts: a policy that plays by the mask alone, as `random` does, finds no place to build by drawing cells, and its moves\n" +
	"across the map would need long searches. A legal shortcut has an effect now. No shortcut breaks through on its way: a search with\n" +
	"weights takes many times as long. Labels are never shortcuts, so that each action has one label.\n"

const pageEntities = "\n## The form entities\n\n" +
	"`--form entities` (Python: `form=\"entities\"`) gives the same games as lists: 12 KB a row instead of 160, and one choice for each own\n" +
	"entity. The sections above are the form `cells`. The planes of this form are one row of values, [1, 1, 11808], which the tensors divide, one after the\n" +
	"other; in Python:\n\n" +
	"```python\n" +
	"own, others, code, coarse = np.split(values.ravel(), np.cumsum([256 * 12, 256 * 6, 80 * 80]))\n" +
	"own, others, code, coarse = own.reshape(256, 12), others.reshape(256, 6), code.reshape(80, 80), coarse.reshape(8, 10, 10)\n" +
	"n = np.count_nonzero(own[:, 0])                               # entities: slots 0 … n − 1\n" +
	"padded = np.pad(code, 7)                                      # 15 × 15 cells around each entity; outside of the map is out of sight\n" +
	"windows = np.lib.stride_tricks.sliding_window_view(padded, (15, 15))[own[:n, 2], own[:n, 1]]\n" +
	"```\n"

const pageLabels = "\n### Choices of players\n\n" +
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
	out := featuretest.AppendFields([]byte(pageHead), kit, "what the planes show, without loss")
	out = fmt.Appendf(out, "\n## Actions\n\n%s%s\n\n```text\n%s\n```\n", headLines(kit.Actions), featuretest.Ended(kit), kit.Actions.Doc())
	out = append(append(out, pageOrders...), pageEntities...)
	form := kit
	form.Encoder, form.Actions = kit.Forms[0].Encoder, kit.Forms[0].Actions
	out = featuretest.AppendTensors(out, form, "the values, without loss")
	out = fmt.Appendf(out, "\n### Actions\n\nHeads: 256, of 128 choices. The mask has one bit a choice in 512 uint64 words; a set bit is accepted by the rules, a clear one refused.\n%s\n\n```text\n%s\n```\n",
		featuretest.Ended(form), form.Actions.Doc())
	out = featuretest.AppendMeasures(append(out, pageLabels...), kit)
	simtest.Golden(t, "FEATURES.md", out)
}

// headLines returns the description of the heads and the mask.
func headLines(a features.ActionSpace[cc.State]) (text string) {
	heads, unmasked := a.Heads(), features.UnmaskedHeads(a)
	slots := len(heads) - unmasked
	text = fmt.Sprintf("Heads: %d × %d, of", len(heads)/slots, slots)
	for k := range len(heads) / slots {
		text += fmt.Sprintf(" %d,", heads[k*slots])
	}
	return strings.TrimSuffix(text, ",") + fmt.Sprintf(" choices. The mask has one bit a choice in %d uint64 words, for the first %d heads\n"+
		"alone; a set bit is accepted by the rules, a clear one refused. The other %d heads have no mask.\n", features.MaskWords(heads[:slots]), slots, unmasked)
}

// placed is a choice for the entity at (x, y), as its player sees it: a shortcut, or 1 with the choices
// of the other heads.
type placed struct {
	x, y, choice int
	parts        map[int]int
}

// match has the choices of a short match, by seat and tick.
var match = map[sim.Player]map[int][]placed{
	0: {
		0:  {{4, 4, 6, nil}},
		25: {{5, 5, 12, nil}},
		26: {{5, 5, 1, nil}, {10, 5, 51, nil}},
		30: {{5, 5, 62, nil}}, // not legal
	},
	1: {
		0:  {{4, 4, 3, nil}},
		1:  {{3, 4, 4, nil}},
		2:  {{3, 5, 1, map[int]int{1: 4, 2: 12, 3: 14, 9: 0, 10: 8, 11: 6}}}, // to (11, 13), and collect resources on the way
		10: {{5, 5, 15, nil}},
	},
}

// shown has the ticks in the playthrough.
var shown = []int{0, 1, 10, 27, 40}

// TestPlaythrough compares the observations and masks of both seats in the match with a golden file.
func TestPlaythrough(t *testing.T) {
	g := newGame(t, rules(t, "finals"))
	kit := Kit(g)
	s, turn := new(cc.State), sim.NewTurn(g.Info().MaxOrders)
	g.Reset(s, 2)
	out := []byte("# What both seats see and may do in a short match by the rules of the finals, and what they choose: scalars that are not 0;\n" +
		"# of each plane the runs of equal values in its rows, as x,y=value or x–x,y=value, of sight only how many cells; the choices\n" +
		"# of the first head of every slot; the action as x,y=choice, with the choices of other heads of the slot, and its orders.\n")
	action := make([]int32, len(kit.Actions.Heads()))
	for tick := range 41 {
		for p := range sim.Player(2) {
			clear(action)
			at := corners(kit.Encoder, s, p)
			for _, c := range match[p][tick] {
				slot := slices.Index(at, c.y*80+c.x)
				action[slot] = int32(c.choice)
				for k, choice := range c.parts {
					action[256*k+slot] = int32(choice)
				}
			}
			orders := kit.Actions.AppendOrders(nil, action, s, p)
			turn.Set(p, orders)
			for _, n := range shown {
				if n == tick {
					out = fmt.Appendf(out, "\ntick %d seat %d\n", tick, p)
					out = appendView(out, kit, s, p)
				}
			}
			if len(match[p][tick]) > 0 {
				out = fmt.Appendf(out, "tick %d seat %d action", tick, p)
				for _, c := range match[p][tick] {
					if out = fmt.Appendf(out, " %d,%d=%d", c.x, c.y, c.choice); c.parts != nil {
						out = fmt.Appendf(out, "%v", c.parts) // in the order of the heads
					}
				}
				out = fmt.Appendf(out, " orders %#x\n", orders)
			}
		}
		require.Equal(t, sim.Running, g.Step(s, turn), "the match is over")
	}
	simtest.Golden(t, "testdata/playthrough.txt", out)
}

// appendView appends the values of an observation that are not 0, and the mask.
func appendView(out []byte, kit features.Kit[cc.State], s *cc.State, p sim.Player) []byte {
	out = featuretest.AppendScalars(out, kit.Encoder, s, p)
	featuretest.EachPlane(kit.Encoder, s, p, func(name string, plane []uint8) {
		if name == "visible" {
			out = fmt.Appendf(out, "\nplane visible %d cells", strings.Count(string(plane), "\x01"))
		} else if runs := appendRuns(nil, plane, 80); runs != nil {
			out = fmt.Appendf(out, "\nplane %s%s", name, runs)
		}
	})
	mask := make([]uint64, 256)
	kit.Actions.Mask(mask, s, p)
	for slot, at := range corners(kit.Encoder, s, p) {
		out = fmt.Appendf(out, "\nchoices of slot %d at %d,%d", slot, at%80, at/80)
		for m := mask[slot]; m != 0; m &= m - 1 {
			out = fmt.Appendf(out, " %d", bits.TrailingZeros64(m))
		}
	}
	return append(out, '\n')
}

// corners returns the cells of the slots by the plane own_corner.
func corners(e features.Encoder[cc.State], s *cc.State, p sim.Player) (cells []int) {
	featuretest.EachPlane(e, s, p, func(name string, plane []uint8) {
		for i, v := range plane {
			if v != 0 && name == "own_corner" {
				cells = append(cells, i)
			}
		}
	})
	return cells
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
