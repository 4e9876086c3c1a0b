package view

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"moonfarm/rollout"
	"moonfarm/sim"
)

// mostMoves is the number of a search's moves that a page gets of a turn and seat, those with the largest shares.
const mostMoves = 24

// seat has the moves that a seat's search weighed.
type seat []move

type move struct {
	share  float32
	kind   string // of its first order that has a place, or of its first
	placed bool
	x, y   float32
	text   string // of all orders
}

func (m move) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{m.share, m.kind, m.placed, m.x, m.y, m.text})
}

// movesNow returns the moves of the searches in the turn that comes next, by seat.
func (f *Film) movesNow() []seat {
	seats := make([]seat, f.head.Seats)
	for p := range seats {
		seats[p] = seat{}
		if r := f.game.Searches; r != nil && f.at < f.head.Turns {
			seats[p] = f.movesOf(r, sim.Player(p))
		}
	}
	return seats
}

func (f *Film) movesOf(r *rollout.SearchResults, p sim.Player) seat {
	list := seat{}
	spec := f.game.Vector.Spec()
	for _, m := range r.Moves(f.at*f.head.Seats + int(p)) {
		action := slices.Repeat([]int32{int32(spec.Nothing)}, len(spec.Heads))
		if !set(action, spec.Heads, m.Choices) {
			continue
		}
		orders := f.game.Vector.AppendOrders(nil, 0, p, action)
		one := move{share: m.Share}
		for i, o := range orders {
			c, _ := f.game.Vector.Command(o, p)
			if i == 0 || c.Placed && !one.placed {
				one.kind, one.placed, one.x, one.y = c.Kind, c.Placed, c.X, c.Y
			}
		}
		if f.game.Orders != nil {
			one.text = strings.Join(f.game.Orders(orders), ", ")
		}
		one.text = cmp.Or(one.text, one.kind, "nothing")
		list = append(list, one)
	}
	slices.SortStableFunc(list, func(a, b move) int { return cmp.Compare(b.share, a.share) })
	return list[:min(len(list), mostMoves)]
}

// set writes choices, which are numbered through all heads, into an action. It reports false if there is no such choice.
func set(action []int32, heads []int, choices []int32) bool {
	for _, c := range choices {
		h := 0
		for ; h < len(heads) && c >= int32(heads[h]); h++ {
			c -= int32(heads[h])
		}
		if c < 0 || h == len(heads) {
			return false
		}
		action[h] = c
	}
	return true
}
