package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"moonfarm/features"
	"moonfarm/rollout/view"
	"moonfarm/rollout/view/picture"
)

// item is an item of a list of a frame. Items that stay the same are the same slice.
type item []any

// moment is a frame with its lists written out.
type moment struct {
	title                          string
	areas, ranges, entities, lines []item
	events                         []item
	stats                          []any
}

// film is a film of one game for tests.
type film struct {
	head      map[string]any
	kinds     []item // name, outline and letter
	looks     []item
	positions [][]moment
	inputs    [][][]string
	printed   map[int][]any                 // what the seats printed, by position; nil: the data have no such list
	seen      map[int]func(m moment) moment // what a seat sees
	player    item                          // its line in the list: players, winner, scores
}

// spread returns a list as its differences from the list before: [start, count] copies.
func spread(list, before []item) []any {
	index := map[*any]int{}
	for i, b := range before {
		index[&b[0]] = i
	}
	coded := []any{}
	start, count := 0, 0
	flush := func() {
		if count > 0 {
			coded = append(coded, []int{start, count})
		}
		count = 0
	}
	for _, it := range list {
		i, ok := index[&it[0]]
		switch {
		case ok && count > 0 && i == start+count:
			count++
		case ok:
			flush()
			start, count = i, 1
		default:
			flush()
			coded = append(coded, it)
		}
	}
	flush()
	return coded
}

// looked returns entities as the page gets them: each with the number of its look, which is added if it is new. The fixture has the kind,
// the owner, the place and the size, the health, the number, the flags, the id and a note of an entity. known has those that were looked at.
func (f *film) looked(list []item, known map[*any]item) (all []item) {
	for _, e := range list {
		if it := known[&e[0]]; it != nil {
			all = append(all, it)
			continue
		}
		it := item{-1, nil, nil}
		if len(e) >= 10 {
			kind := item{"thing", 0, ""}
			if n, ok := e[0].(int); ok && n >= 0 {
				kind = f.kinds[n]
			}
			look := f.look(kind, e[1], e[4], e[5], e[8])
			if _, ok := e[1].(int); ok && e[1] != -1 || e[8] != 0 {
				look[13] = f.number(f.look(kind, -1, e[4], e[5], 0))
			}
			it = append(item{f.number(look), e[2], e[3], e[6], e[7], e[9]}, e[10:]...)
		}
		known[&e[0]] = it
		all = append(all, it)
	}
	return all
}

// look returns the JSON of a look.
func (f *film) look(kind item, owner, width, height, flags any) item {
	e := features.Entity{Width: 1, Height: 1}
	if n, ok := kind[1].(int); ok {
		e.Outline = features.Outline(n)
	}
	if n, ok := owner.(int); ok {
		e.Owner = int8(n)
	}
	if n, ok := flags.(int); ok {
		e.Unfinished, e.Upgraded, e.Leaving = n&1 != 0, n&2 != 0, n&4 != 0
	}
	if w, ok := width.(float64); ok {
		e.Width = float32(w)
	}
	up, _ := f.head["up"].(bool)
	var m picture.Maker
	l := m.Of(&features.Scene{Width: 100, Height: 100, Up: up}, &e)
	return item{kind[0], owner, width, height, flags, l.Corners, l.Fill, l.Edge, l.Stroke.List(), kind[2], l.LetterX, l.LetterY, l.LetterSize.List(), nil}
}

// number returns the number of a look.
func (f *film) number(look item) int {
	i := slices.IndexFunc(f.looks, func(l item) bool {
		return reflect.DeepEqual(l[:5], look[:5]) && l[9] == look[9] && reflect.DeepEqual(l[5], look[5])
	})
	if i < 0 {
		i = len(f.looks)
		if look[13] == nil {
			look[13] = i
		}
		f.looks = append(f.looks, look)
	}
	return i
}

// frames returns a frames.json.
func (f *film) frames(seat, from int) any {
	chunk := f.head["chunk"].(int)
	end := min(from+chunk, len(f.positions))
	var positions [][]any
	var last moment
	f.looks = nil
	known := map[*any]item{}
	for _, moments := range f.positions[min(from, end):end] {
		var coded []any
		for _, m := range moments {
			if see := f.seen[seat]; see != nil {
				m = see(m)
			}
			m.entities = f.looked(m.entities, known)
			coded = append(coded, map[string]any{
				"t": m.title, "a": spread(m.areas, last.areas), "r": spread(m.ranges, last.ranges), "e": spread(m.entities, last.entities),
				"l": spread(m.lines, last.lines), "v": m.events, "s": m.stats,
			})
			last = m
		}
		positions = append(positions, coded)
	}
	var inputs [][][]string
	if before := max(from-1, 0); before < len(f.inputs) {
		inputs = f.inputs[before:min(end, len(f.inputs))]
	}
	frames := map[string]any{"from": from, "looks": f.looks, "positions": positions, "inputs": inputs}
	if f.printed != nil {
		printed := make([][]any, end-from)
		for i := range printed {
			printed[i] = f.printed[from+i]
		}
		frames["printed"] = printed
	}
	return frames
}

// stats returns a stats.json.
func (f *film) stats() any {
	var turns [][]any
	for _, p := range f.positions {
		turns = append(turns, p[len(p)-1].stats)
	}
	return map[string]any{"turns": turns}
}

// gameList returns the list of the films' games.
func gameList(title string, live bool, films []*film) *view.Responder {
	l := &view.List{Title: title, Live: live}
	for _, f := range films {
		l.Entries = append(l.Entries, f.entry())
	}
	return view.NewResponder(l)
}

// entry returns the game's item of a games.json.
func (f *film) entry() view.Entry {
	return view.Entry{ID: uint64(f.head["id"].(int)), Name: f.head["name"].(string), Players: f.head["players"].([]string), Turns: f.head["turns"].(int),
		Status: "over", Winner: f.player[0].(int), Scores: f.player[1].([]string)}
}

// arena returns a film of a board of 14 × 14 cells with every outline, every sign, ranges, lines,
// events and fog. Turn n has n%4 frames before its last.
func arena(id, turns int) *film {
	const side = 14
	f := &film{
		kinds: []item{{"wall", 0, "W"}, {"support", 1, "S"}, {"turret", 2, "T"}, {"scout", 5, "s"}, {"missile", 3, ""}, {"boat", 4, "b"}, {"plane", 6, "p"}},
		head: map[string]any{
			"game": "arena", "id": id, "name": "", "players": []string{"econ", "random"}, "seats": 2, "fog": true, "turns": turns, "chunk": 8,
			"width": side, "height": side, "up": true, "word": "turn",
			"marks": []any{
				map[string]any{"turn": 3, "kind": "fault", "seat": 1, "note": "late answer"}, map[string]any{"turn": min(7, turns), "kind": "event", "seat": 0, "note": "breach"},
			},
			"stats": []any{
				map[string]any{"name": "health", "unit": "health points", "seat": 0}, map[string]any{"name": "health", "unit": "health points", "seat": 1},
				map[string]any{"name": "cores", "unit": "cores", "seat": 0}, map[string]any{"name": "cores", "unit": "cores", "seat": 1},
			},
		},
		player: item{id % 2, []string{strconv.Itoa(30 - id), "7"}},
	}
	areas := []item{{0, 0, side, side / 2, 0, 0}, {0, side / 2, side, side / 2, 1, 0}}
	fog := item{0, side / 2, side, side / 2, -1, 1}
	f.seen = map[int]func(moment) moment{0: func(m moment) moment {
		m.areas = append(slices.Clone(m.areas), fog)
		m.entities = slices.DeleteFunc(slices.Clone(m.entities), func(e item) bool { return e[1] == 1 })
		return m
	}}
	fixed := []item{
		{0, 0, 2, 3, 1, 1, 1, 0, 0, 1}, {0, 0, 3, 3, 1, 1, 0.6, 0, 2, 2}, {1, 0, 5, 2, 1, 1, 1, 0, 1, 3, "finished in 2 turns"}, {2, 0, 7, 3, 1, 1, 0.3, 2, 4, 4, "removed in 2 turns"},
		{0, 1, 4, 10, 1, 1, 1, 0, 0, 5}, {2, 1, 6, 9, 2, 2, 0.8, 0, 2, 6}, {4, -1, 9.35, 6.1, 0.3, 0.3, 0, 3, 0, 0, "3 missiles"}, {5, 2, 11, 4, 1, 1, 1, 0, 0, 0}, {6, 3, 11, 8, 1, 1, 1, 0, 0, 0},
	}
	ranges := []item{{7.5, 3.5, 2.5, 0, "attack"}, {7, 10, 3.5, 1, "attack"}, {5.5, 2.5, 2, 0, "shield"}}
	barrier := item{0, 7, side, 7, 0, 2, "curtain", "protects for 3 turns"}
	for turn := range turns + 1 {
		var moments []moment
		steps := turn%4 + 1
		if turn == 0 {
			steps = 1
		}
		for k := range steps {
			at := float64((turn*4+k)%(side*2)) / 2
			m := moment{
				title: fmt.Sprintf("turn %d", turn), areas: areas, ranges: ranges, entities: append(slices.Clone(fixed), item{3, 0, at, 5, 1, 1, 1, 2, 0, 77}),
				lines: []item{barrier, {at + 0.5, 5.5, at + 0.5, 9, 0, 1, "move", ""}, {4.5, 10.5, 7, 6, 1, 1, "attack", "target"}},
				stats: []any{30 - turn/2, 30 - turn/3, turn % 7, (turn * 3) % 11},
			}
			if k < steps-1 {
				m.title = fmt.Sprintf("turn %d, after frame %d", turn-1, k)
			}
			if turn%2 == 1 {
				m.events = []item{{"attack", 0, 7.5, 3.5, at + 0.5, 5.5, 8, ""}, {"breach", 1, 4.5, 10.5, 4.5, 10.5, 1, "a wall is gone"}}
			}
			moments = append(moments, m)
		}
		f.positions = append(f.positions, moments)
		if turn < turns {
			f.inputs = append(f.inputs, [][]string{{fmt.Sprintf("wall %d,3", turn%side)}, {"scout 13,0", "scout 13,0"}})
		}
	}
	return f
}

// craft returns a film like one of CodeCraft: 80 × 80 cells, 1,400 resources of which a few are
// used up each tick, and 300 units with an order each, of which half move each tick.
func craft(id, ticks int) *film {
	const side, units = 80, 300
	f := &film{
		kinds: []item{{"resource", 1, ""}, {"builder unit", 1, "b"}, {"melee unit", 2, "m"}, {"ranged unit", 5, "r"}, {"house", 0, "H"}, {"turret", 0, "T"}},
		head: map[string]any{
			"game": "codecraft", "id": id, "name": "", "players": []string{"econ", "rush", "quickstart", "random"}, "seats": 4, "fog": false, "turns": ticks, "chunk": 32,
			"width": side, "height": side, "up": true, "word": "tick", "marks": []any{}, "stats": []any{},
		},
		player: item{0, []string{"100", "7", "5", "1"}},
	}
	var stats []any
	for seat := range 4 {
		stats = append(stats, map[string]any{"name": "score", "unit": "points", "seat": seat}, map[string]any{"name": "resource", "unit": "resource", "seat": seat})
	}
	f.head["stats"] = stats
	random := uint32(1)
	next := func(n int) int {
		random = random*1664525 + 1013904223
		return int(random>>16) % n
	}
	areas := []item{{0, 0, side, side, -1, 0}}
	taken := [side * side]bool{}
	var resources []item
	for len(resources) < 1400+ticks/2 {
		if at := next(side * side); !taken[at] {
			taken[at] = true
			resources = append(resources, item{0, -1, at % side, at / side, 1, 1, 1, 0, 0, 0})
		}
	}
	var army, orders []item
	for u := range units {
		kind, size := 1+u%5, 1
		if kind == 4 {
			size = 3
		}
		army = append(army, item{kind, u % 4, next(side - 3), next(side - 3), size, size, 1, 0, 0, u + 1})
		orders = append(orders, nil)
	}
	for tick := range ticks + 1 {
		if n := len(resources); n > 900 && tick%2 == 1 {
			i := next(n)
			resources = slices.Delete(slices.Clone(resources), i, i+1)
		}
		i := next(len(resources))
		resources = slices.Clone(resources)
		hurt := slices.Clone(resources[i])
		hurt[6] = 0.4
		resources[i] = hurt
		army, orders = slices.Clone(army), slices.Clone(orders)
		for u := range army {
			moves := army[u][0].(int) <= 3
			if orders[u] != nil && (!moves || next(2) == 0) {
				continue
			}
			unit := slices.Clone(army[u])
			x, y := unit[2].(int), unit[3].(int)
			if moves {
				x, y = min(max(x+next(3)-1, 0), side-1), min(max(y+next(3)-1, 0), side-1)
				unit[2], unit[3], unit[6] = x, y, 0.3+float64(next(70))/100
			}
			army[u] = unit
			orders[u] = item{float64(x) + 0.5, float64(y) + 0.5, min(x+next(9), side), min(y+next(9), side), unit[1], 1, []string{"move", "attack"}[u%2], ""}
		}
		values := []any{}
		for seat := range 4 {
			values = append(values, tick*(4-seat)+next(20), next(500))
		}
		m := moment{title: fmt.Sprintf("tick %d", tick), areas: areas, entities: slices.Concat(resources, army), lines: orders, stats: values}
		for k := range next(12) {
			e := army[k*7]
			m.events = append(m.events, item{"attack", e[1], e[2], e[3], e[2].(int) + 3, e[3].(int) + 2, 5, ""})
		}
		f.positions = append(f.positions, []moment{m})
		if tick < ticks {
			f.inputs = append(f.inputs, [][]string{{"move 1 to 3,4"}, {}, {}, {}})
		}
	}
	return f
}

// server serves films, as a program that shows them does.
type server struct {
	*httptest.Server

	mu      sync.Mutex
	films   []*film
	live    bool
	version int
	raw     map[string]string // answers in place of those of the films
	asked   []string
}

// serve starts a server.
func serve(t testing.TB, films ...*film) *server {
	s := &server{films: films, raw: map[string]string{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.answer))
	t.Cleanup(s.Close)
	return s
}

// change changes the server while it runs.
func (s *server) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// requests returns the names that the page has asked for.
func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func (s *server) answer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := strings.TrimPrefix(r.URL.RequestURI(), "/")
	if name == "" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(HTML(nil))
		return
	}
	s.asked = append(s.asked, name)
	w.Header().Set("Content-Type", "application/json")
	if text, ok := s.raw[name]; ok {
		fmt.Fprint(w, text)
		return
	}
	q := r.URL.Query()
	number := func(key string) int { n, _ := strconv.Atoi(q.Get(key)); return n }
	var value any
	file, _, _ := strings.Cut(name, "?")
	f := s.film(number("game"))
	switch {
	case file == "list.json" || file == "games.json":
		text, err := gameList("data/td", s.live, s.films).Answer(name)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		value = json.RawMessage(text)
	case file == "version.json":
		value = map[string]any{"version": s.version}
	case f == nil:
		http.Error(w, "no such game", http.StatusNotFound)
		return
	case file == "film.json":
		value = f.head
	case file == "frames.json":
		value = f.frames(number("seat"), number("from"))
	case file == "stats.json":
		value = f.stats()
	}
	_ = json.NewEncoder(w).Encode(value)
}

func (s *server) film(id int) *film {
	for _, f := range s.films {
		if f.head["id"] == id {
			return f
		}
	}
	return nil
}

// data returns the JSON texts of films, to embed them.
func data(films ...*film) map[string][]byte {
	all := map[string][]byte{}
	put := func(name string, v any) {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		all[name] = text
	}
	for _, name := range []string{"list.json", "games.json?from=0&count=50"} {
		text, err := gameList("embedded", false, films).Answer(name)
		put(name, json.RawMessage(text))
		if err != nil {
			panic(err)
		}
	}
	for _, f := range films {
		id := f.head["id"].(int)
		put(fmt.Sprintf("film.json?game=%d", id), f.head)
		put(fmt.Sprintf("stats.json?game=%d", id), f.stats())
		for seat := -1; seat < 2; seat++ {
			for from := 0; from < len(f.positions); from += f.head["chunk"].(int) {
				put(fmt.Sprintf("frames.json?game=%d&seat=%d&from=%d", id, seat, from), f.frames(seat, from))
			}
		}
	}
	return all
}
