package picture

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"moonfarm/features"
)

// Sizes of the parts below the board, in points.
const (
	nameWide  = 150 // column of the names of stats
	valueWide = 75  // column of a seat
	entryWide = 170 // entry of the legend
	sample    = 16  // side of a sample in the legend
)

// table has the stats by name and seat.
type table struct {
	seats []int8
	names []string // in the order of the scene
	units []string
}

// tableOf returns the rows and columns of the stats of a scene, no more than fit.
func (c *canvas) tableOf() (t table) {
	for _, n := range c.scene.Stats {
		if !slices.Contains(t.seats, n.Seat) && len(t.seats) < len(colours) {
			t.seats = append(t.seats, n.Seat)
		}
		if !slices.Contains(t.names, n.Name) {
			t.names, t.units = append(t.names, n.Name), append(t.units, n.Unit)
		}
	}
	slices.Sort(t.seats)
	return t
}

// entries returns the things of a scene of which the legend has a sample: an entity, a range or a line
// of each kind, sorted by kind.
func (c *canvas) entries() (entities []features.Entity, ranges []features.Range, lines []features.Line) {
	for _, e := range c.scene.Entities {
		if !slices.ContainsFunc(entities, func(o features.Entity) bool { return o.Kind == e.Kind }) {
			entities = append(entities, features.Entity{Kind: e.Kind, Outline: e.Outline, Letter: e.Letter, Owner: features.Nobody, Width: e.Width})
		}
	}
	slices.SortStableFunc(entities, func(a, b features.Entity) int { return cmp.Compare(a.Kind, b.Kind) })
	for _, s := range []struct {
		note string
		has  func(e features.Entity) bool
		e    features.Entity
	}{
		{"unfinished", func(e features.Entity) bool { return e.Unfinished }, features.Entity{Unfinished: true}},
		{"upgraded", func(e features.Entity) bool { return e.Upgraded }, features.Entity{Upgraded: true}},
		{"leaving or out", func(e features.Entity) bool { return e.Leaving }, features.Entity{Leaving: true}},
		{"health left", func(e features.Entity) bool { return e.Health > 0 && e.Health < 1 }, features.Entity{Health: 0.6}},
	} {
		if slices.ContainsFunc(c.scene.Entities, s.has) {
			s.e.Kind, s.e.Owner = s.note, features.Nobody
			entities = append(entities, s.e)
		}
	}
	for _, r := range c.scene.Ranges {
		if !slices.ContainsFunc(ranges, func(o features.Range) bool { return o.Kind == r.Kind }) {
			ranges = append(ranges, r)
		}
	}
	for _, l := range c.scene.Lines {
		if !slices.ContainsFunc(lines, func(o features.Line) bool { return o.Kind == l.Kind }) {
			lines = append(lines, l)
		}
	}
	return entities, ranges, lines
}

// legendHeight returns the height of the stats and the legend in a picture of that width.
func (c *canvas) legendHeight(width float64) float64 {
	entities, ranges, lines := c.entries()
	t := c.tableOf()
	perRow := perRow(width)
	n := len(entities) + len(ranges) + len(lines) + min(len(c.scene.Events), 1)
	rows := (n + perRow - 1) / perRow
	return float64((len(t.names) + 2 + rows) * line)
}

// inWords returns the stats of each seat and the numbers of its entities: "A: health 100; 2 energy."
func (c *canvas) inWords() string {
	t := c.tableOf()
	kinds, _, _ := c.entries()
	var words []string
	for _, seat := range append(t.seats, features.Nobody) {
		var stats, counts []string
		for _, n := range c.scene.Stats {
			if n.Seat == seat && seat >= 0 {
				stats = append(stats, strings.ReplaceAll(n.Name, "_", " ")+" "+number(n.Value))
			}
		}
		for _, kind := range kinds {
			n := 0
			for _, e := range c.scene.Entities {
				if e.Owner == seat && e.Kind == kind.Kind {
					n++
				}
			}
			if n > 0 {
				counts = append(counts, strconv.Itoa(n)+" "+kind.Kind)
			}
		}
		parts := slices.DeleteFunc([]string{strings.Join(stats, ", "), strings.Join(counts, ", ")}, func(p string) bool { return p == "" })
		if len(parts) > 0 {
			words = append(words, seatName(seat)+": "+strings.Join(parts, "; ")+".")
		}
	}
	if events := c.eventsInWords(); events != "" {
		words = append(words, events)
	}
	return strings.Join(words, " ")
}

// perRow returns the number of entries in a row of the legend.
func perRow(width float64) int { return max(1, int((width-2*edge)/entryWide)) }

// legend draws the stats, and below them the legend.
func (c *canvas) legend(top, width float64) {
	t := c.tableOf()
	for i, seat := range t.seats {
		x := edge + float64(nameWide+i*valueWide)
		c.rect(x+valueWide-32, top-5, 10, 10, colourOf(seat).edge)
		c.text(x+valueWide, top, "end", letters, seatName(seat))
	}
	for row, name := range t.names {
		y := top + float64((row+1)*line)
		label := strings.ReplaceAll(name, "_", " ")
		c.text(edge, y, "start", letters, label)
		for i, seat := range t.seats {
			at := slices.IndexFunc(c.scene.Stats, func(n features.Stat) bool { return n.Name == name && n.Seat == seat })
			if at >= 0 {
				c.text(edge+float64(nameWide+(i+1)*valueWide), y, "end", letters, number(c.scene.Stats[at].Value))
			}
		}
		if unit := t.units[row]; unit != label {
			c.text(edge+float64(nameWide+len(t.seats)*valueWide+12), y, "start", letters, unit)
		}
	}
	c.samples(top+float64((len(t.names)+2)*line), width)
}

// samples draws the samples of the legend with their kinds.
func (c *canvas) samples(top, width float64) {
	entities, ranges, lines := c.entries()
	i := 0
	next := func(kind string) (x, y float64) {
		x, y = edge+float64(i%perRow(width)*entryWide), top+float64(i/perRow(width)*line)
		c.text(x+sample+8, y, "start", letters, kind)
		i++
		return x, y
	}
	for j := range entities {
		x, y := next(entities[j].Kind)
		c.entity(&entities[j], x, y-sample/2, sample, sample)
	}
	for _, r := range ranges {
		x, y := next(r.Kind + " range")
		c.ring(x+sample/2, y, sample/2-1, features.Nobody, c.dash(r.Kind))
	}
	for _, l := range lines {
		x, y := next(l.Kind)
		l.Owner, l.Note = features.Nobody, ""
		c.line(&l, x, y, x+sample+4, y)
	}
	if len(c.scene.Events) > 0 {
		x, y := next("event")
		c.beginEvents()
		c.event(&features.Event{Kind: "event", Owner: features.Nobody}, x, y, x+sample+4, y)
		c.WriteString("</g>\n")
	}
}

// number formats a value with one decimal at most. A value that is no number has a dash.
func number(v float64) string {
	if v-v != 0 || v > 1e12 || v < -1e12 {
		return "–"
	}
	return strings.TrimSuffix(strconv.FormatFloat(v+0, 'f', 1, 64), ".0")
}
