package report

import (
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/rollout"
	"moonfarm/rollout/redact"
	"moonfarm/rollout/view"
	"moonfarm/rollout/view/picture"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// Bounds of the pictures.
const (
	mostEpisodes  = 3
	mostPictures  = 1200 << 10 // bytes of all pictures, after the first leastPictures
	leastPictures = 3
	mostNamed     = 2000 // turns that are played to find names of choices
)

// position is a position to draw.
type position struct{ episode, part int } // part: 0 the first turn, 1 the middle one, 2 the end

// positions lists the positions to draw, the most important first.
var positions = []position{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 1}}

// drawnBoards are the pictures of a page.
type drawnBoards struct {
	list    []board
	bytes   int
	lacking string           // why there are no pictures, or fewer
	names   map[int][]string // texts of the orders that a choice stood for, by choice
	wanted  map[int]bool     // choices without a name that the boards' episodes are searched for
}

// pictured returns the numbers of the episodes to draw, in order. The seed of the dataset chooses them.
func (b *builder) pictured() (list []uint64) {
	all := b.m.Totals.Episodes
	if all <= mostEpisodes {
		for i := range all {
			list = append(list, i)
		}
		return list
	}
	rand := prng.New(prng.StreamSeed(b.m.Job.Seed, all, 0, 0, prng.PurposeShuffle))
	for len(list) < mostEpisodes {
		if n := rand.Uint64() % all; !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

// drawBoards draws positions of some episodes. What keeps a game from being drawn is a sentence on
// the page; a damaged file is an error.
func (b *builder) drawBoards() error {
	b.drawn.names = map[int][]string{}
	if b.o.Game == nil {
		b.drawn.lacking = "This program does not know the game, so it cannot draw it."
		return nil
	}
	for k, id := range b.pictured() {
		for e, err := range b.d.EpisodesFrom(id) {
			if err != nil {
				return err
			}
			if err := b.drawEpisode(k, &e.Episode, e.Rules); err != nil && b.drawn.lacking == "" {
				b.drawn.lacking = fmt.Sprintf("Episode %d cannot be drawn: %v.", id, err)
			}
			break
		}
		if b.ctx.Err() != nil {
			return b.ctx.Err()
		}
	}
	return nil
}

// game makes the game of an episode.
func (b *builder) game(e *rollout.Episode, rules int) (env.Vector, error) {
	j := &b.m.Job
	v, err := b.o.Game(j.Rules[rules], env.Settings{N: 1, Reward: j.Reward, MaxTurns: j.MaxTurns, Form: j.Form}, e.Recording)
	if err != nil {
		return nil, err
	}
	if got, made := v.Spec().Info.Rules, b.m.Rules[rules].Version; got != made {
		return nil, fmt.Errorf("it was made with rules %s, and this program has %s", made, got)
	}
	for k := range e.Turns * e.Players {
		if n, most := len(e.OrdersOf(k/e.Players, sim.Player(k%e.Players))), v.Spec().Info.MaxOrders; n > most {
			return nil, fmt.Errorf("%d orders of a seat in turn %d, the game has at most %d", n, k/e.Players, most)
		}
	}
	return v, nil
}

// drawEpisode draws the positions of the k-th episode.
func (b *builder) drawEpisode(k int, e *rollout.Episode, rules int) error {
	v, err := b.game(e, rules)
	if err != nil {
		return err
	}
	film, err := view.NewFilm(view.Game{ID: e.ID, Vector: v, Episode: e})
	if err != nil {
		return err
	}
	last := -1
	for _, p := range positions {
		turn := e.Turns * p.part / 2
		if p.episode != k || turn == last {
			continue
		}
		last = turn
		if len(b.drawn.list) >= leastPictures && b.drawn.bytes > mostPictures {
			break
		}
		var scene features.Scene // the last one, of the position itself
		if err := film.EachFrame(features.Spectator, turn, turn, nil, func(s *features.Scene) { keep(&scene, s) }); err != nil {
			return err
		}
		svg := b.picture(e, turn, &scene)
		b.drawn.bytes += len(svg)
		b.drawn.list = append(b.drawn.list, board{
			Caption: fmt.Sprintf("Episode %d, %s of %d: %s", e.ID, turnName(turn, e.Turns), e.Turns, strings.Join(e.Policies, " – ")),
			Command: fmt.Sprintf("moonfarm view %s --episodes %d", quote(redact.Text(b.dir)), e.ID), Picture: template.HTML(svg),
		})
	}
	return nil
}

// keep copies what is drawn of a scene, in the memory of dst.
func keep(dst, s *features.Scene) {
	areas, ranges, entities, lines := dst.Areas[:0], dst.Ranges[:0], dst.Entities[:0], dst.Lines[:0]
	*dst = *s
	dst.Areas, dst.Ranges = append(areas, s.Areas...), append(ranges, s.Ranges...)
	dst.Entities, dst.Lines = append(entities, s.Entities...), append(lines, s.Lines...)
	dst.Events, dst.Stats = nil, nil
}

// turnName names a position of an episode.
func turnName(turn, turns int) string {
	switch turn {
	case 0:
		return "the start, turn 0"
	case turns:
		return "the end, turn " + strconv.Itoa(turn)
	}
	return "turn " + strconv.Itoa(turn)
}

// picture draws a scene.
func (b *builder) picture(e *rollout.Episode, turn int, s *features.Scene) []byte {
	h := picture.Head{ID: fmt.Sprintf("board-%d-%d", e.ID, turn), Title: fmt.Sprintf("Episode %d", e.ID),
		Description: fmt.Sprintf("The board of episode %d after %d of %d turns.", e.ID, turn, e.Turns)}
	return picture.SVG(s, h)
}

// nameChoices finds, in the episodes that are drawn, orders that choices stood for. Without a choice
// the action would give fewer orders; these are the ones that the choice stands for.
func (b *builder) nameChoices(wanted []int) error {
	if b.o.Game == nil || b.o.Orders == nil || len(b.m.Action.Heads) < 2 {
		return nil
	}
	b.drawn.wanted = map[int]bool{}
	for _, k := range wanted {
		b.drawn.wanted[k] = true
	}
	left := mostNamed
	for _, id := range b.pictured() {
		for e, err := range b.d.EpisodesFrom(id) {
			if err != nil {
				return err
			}
			if v, err := b.game(&e.Episode, e.Rules); err == nil {
				left -= b.nameIn(v, &e.Episode, left)
			}
			break
		}
	}
	return nil
}

// nameIn finds names of choices in an episode, in at most that number of turns. It returns the number
// of turns that it played.
func (b *builder) nameIn(v env.Vector, e *rollout.Episode, most int) (turns int) {
	spec := v.Spec()
	label, ok := env.Unwrap(v).(env.Labeller)
	if !ok || len(spec.Heads) != len(b.m.Action.Heads) || spec.Info.Players != e.Players {
		return 0
	}
	x := env.NewBatch(spec, 1, 0)
	room := len(x.Orders) / e.Players
	action := make([]int32, len(spec.Heads))
	v.Reset(0, e.Seed)
	for turns < min(e.Turns, most) && len(b.drawn.wanted) > 0 {
		for p := range sim.Player(e.Players) {
			orders := e.OrdersOf(turns, p)
			label.Label(action, 0, p, orders)
			b.nameOf(label, p, action)
			x.OrderLen[p] = int32(copy(x.Orders[int(p)*room:(int(p)+1)*room], orders))
		}
		v.Step(x)
		if turns++; int(x.Turn[0]) != turns {
			break
		}
	}
	return turns
}

// nameOf names the choices of an action that have no name yet.
func (b *builder) nameOf(label env.Labeller, p sim.Player, action []int32) {
	var all []sim.Order
	for h, c := range action {
		if c <= 0 || int(c) >= b.m.Action.Heads[h] || !b.drawn.wanted[b.rows.offsets[h]+int(c)] {
			continue
		}
		if all == nil {
			all = label.AppendOrders([]sim.Order{}, 0, p, action)
		}
		action[h] = 0
		names := b.o.Orders(without(all, label.AppendOrders(nil, 0, p, action)))
		action[h] = c
		if len(names) > 0 {
			b.drawn.names[b.rows.offsets[h]+int(c)] = names
			delete(b.drawn.wanted, b.rows.offsets[h]+int(c))
		}
	}
}

// without returns the orders of a list that another one lacks.
func without(list, other []sim.Order) (left []sim.Order) {
	counts := map[sim.Order]int{}
	for _, o := range other {
		counts[o]++
	}
	for _, o := range list {
		if counts[o]--; counts[o] < 0 {
			left = append(left, o)
		}
	}
	return left
}

// boards shows the pictures.
func (b *builder) boards() []section {
	s := section{ID: "boards", Title: "Boards", Boards: b.drawn.list}
	if len(s.Boards) > 0 {
		s.Text = append(s.Text, "Positions of a few episodes, which the seed of the dataset chooses, as a spectator sees them. The command below a picture shows the whole game in a browser.")
	}
	if b.drawn.lacking != "" {
		s.Text = append(s.Text, b.drawn.lacking)
	}
	return []section{s}
}
