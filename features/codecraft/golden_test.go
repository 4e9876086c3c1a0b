package codecraft

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"moonfarm/features"
	"moonfarm/features/featuretest"
	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
	"moonfarm/sim/simtest"
)

const pageHead = "# CodeCraft 2020: observations and actions\n\n" +
	"Written by `go test ./features/codecraft -update` from what the code says of itself; a test compares the two.\n\n" +
	"Every observation shows the map as its player sees it in the original: turned so that its own start is at the lower left. Row y of a\n" +
	"plane is row y of the map, row 0 the lowest; the cell (x, y) is byte 80·y + x. With two players the other one starts at the upper\n" +
	"right; with more, the start of the opposite one is there, of the others at the lower right and at the upper left. Under fog of war\n" +
	"only what is in sight of an own entity at this tick is there, and nothing is remembered, unless `Memory` of `env.Settings` asks to\n" +
	"fill in what was last seen of resources and buildings; scores and resources of all players are\n" +
	"always known. \"Scale\" is the largest usual value: a value divided by it is about 0 … 1. Scales are those of the default rules.\n"

const pageOrders = "\n## Learning from slots\n\n" +
	"With the planes as uint8 [25, 80, 80] and an action as int32 [14 · 256], in Python:\n\n" +
	"```python\n" +
	"cells = np.flatnonzero(planes[24])[:256]        # cell of slot 0, 1, …: where to look for what the network says of it\n" +
	"heads = action.reshape(14, 256)[:, :len(cells)] # its labels: heads[k, i] is head k of slot i\n" +
	"legal = mask[:len(cells), None] >> np.arange(64, dtype=np.uint64) & 1   # of heads[0]\n" +
	"y, x = cells // 80, cells % 80\n" +
	"```\n\n" +
	"A convolutional network gives some numbers for every cell; those at `cells` become the choices of the slots. In every head 0 says\n" +
	"nothing and −1 that there is no label: what is above 0 is what was said, so a loss can leave out heads of parts that were not told.\n\n" +
	"## All actions\n\n" +
	"An action of an entity has up to four parts, of which the attack may name a target, types to attack by itself, or both. Choice 1 says\n" +
	"any of their combinations, with any cell of the map and any set of types. What it does not say: a target that is not there or not in\n" +
	"sight, so that its cell is not known; a few pathfind ranges above 160; squares that reach over the edge of the map; entities beyond\n" +
	"slot 255. Such parts are −1 in their heads alone, and stay in the packed orders, whose bits `sim/codecraft` says, in the frame of the\n" +
	"recordings for all players. Orders for entities that do not exist or belong to others do nothing and have no head; of several for one\n" +
	"entity counts what they come to.\n\n" +
	"Why part by part: most actions of players have several parts, and each its own place. These are the shapes that the scripted policies\n" +
	"gave in games by the rules of all rounds, and the three players of the recorded game, by how many entities were told so:\n\n" +
	"| who | shapes, the most frequent first |\n" +
	"|---|---|\n" +
	"| econ, turtle | move (closest) and auto attack with range 10, 20 or 30 on the way; build next to a base; move (closest) and build or repair at the far end; auto attack; stop |\n" +
	"| econ-near | the same, moves four cells ahead at a time |\n" +
	"| econ-break | the same, moves that break through |\n" +
	"| squads | move to the next cell; auto attack of resources with range 1; attack of one target; auto attack; build next to the builder or the base; repair; stop |\n" +
	"| quickstart | move (closest, breaking through) and auto attack; build and auto attack; auto attack of entities that cannot attack |\n" +
	"| recorded | move (closest, breaking through), with and without auto attack of ranges 10, 20 and 80 and four sets of types; build next to the builder or farther; move and build, move and repair; stop |\n\n" +
	"Programs of contestants that are public also name one target along with types to attack by themselves, repair while they attack, and\n" +
	"give moves that are neither closest nor break through. In matches of four of them all that they ordered had choices.\n\n" +
	"Why slots and not cells: a mask and 14 choices for each of 6,400 cells would be a megabyte a row, nearly all of it for cells where\n" +
	"nobody stands. The order of the cells is one that every reader finds again in the observation. Only the first head has a mask, one word\n" +
	"a slot: in all others every choice is accepted, and the mask of the first tells who can be told anything.\n\n" +
	"Why shortcuts: who plays by the mask alone, as `random` does, finds no place to build by drawing cells, and moves across the map one\n" +
	"after the other cost long searches. A shortcut that is masked in does something now. None breaks through on its way: a search that\n" +
	"weighs what stands there takes many times as long. Labels are never shortcuts, so that the same action has one label.\n"

// TestFeaturesPage compares FEATURES.md with Description, Doc and Shape.
func TestFeaturesPage(t *testing.T) {
	kit := Kit(newGame(t, rules(t, "finals")))
	out := featuretest.AppendFields([]byte(pageHead), kit, "what the planes show, without loss")
	out = fmt.Appendf(out, "\n## Actions\n\n%s%s\n\n```text\n%s\n```\n", headLines(kit.Actions), featuretest.Ended(kit), kit.Actions.Doc())
	out = featuretest.AppendMeasures(append(out, pageOrders...), kit)
	simtest.Golden(t, "FEATURES.md", out)
}

// headLines describe the heads and the mask.
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

// told is a choice for the entity at (x, y), as its player sees it: a shortcut, or
// 1 with the choices of the heads that follow.
type told struct {
	x, y, choice int
	parts        map[int]int
}

// match are the choices of a short match, by seat and tick.
var match = map[sim.Player]map[int][]told{
	0: {
		0:  {{4, 4, 6, nil}},
		25: {{5, 5, 12, nil}},
		26: {{5, 5, 1, nil}, {10, 5, 51, nil}},
		30: {{5, 5, 62, nil}}, // not legal
	},
	1: {
		0:  {{4, 4, 3, nil}},
		1:  {{3, 4, 4, nil}},
		2:  {{3, 5, 1, map[int]int{1: 4, 2: 12, 3: 14, 9: 0, 10: 8, 11: 6}}}, // to (11, 13), and take the resources on the way
		10: {{5, 5, 15, nil}},
	},
}

// shown are the ticks that are written down.
var shown = []int{0, 1, 10, 27, 40}

// TestPlaythrough writes down what both seats see and may do in the match.
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
		if g.Step(s, turn) != sim.Running {
			t.Fatal("the match is over")
		}
	}
	simtest.Golden(t, "testdata/playthrough.txt", out)
}

// appendView writes what is not 0 of an observation, and the mask.
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

// corners are the cells of the slots, found in the plane own_corner.
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
