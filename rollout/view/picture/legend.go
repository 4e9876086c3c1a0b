package picture

import (
	"slices"
	"strconv"
	"strings"

	"moonfarm/features"
	"moonfarm/rollout/view/picture/internal/legend"
)

// Sizes of the parts below the board, in points.
const (
	nameWide  = 150 // column of the names of stats
	valueWide = 75  // column of a seat
	entryWide = 170 // entry of the legend
	sample    = 16  // side of a sample in the legend
)

// legendHeight returns the height of the stats and the legend in a picture of that width.
func (c *canvas) legendHeight(width float64) float64 {
	entities, ranges, lines := legend.Entries(c.scene)
	t := legend.TableOf(c.scene)
	perRow := perRow(width)
	n := len(entities) + len(ranges) + len(lines) + min(len(c.scene.Events), 1)
	rows := (n + perRow - 1) / perRow
	return float64((len(t.Names) + 2 + rows) * line)
}

// inWords returns the stats of each seat and the numbers of its entities: "A: health 100; 2 energy."
func (c *canvas) inWords() string {
	t := legend.TableOf(c.scene)
	kinds, _, _ := legend.Entries(c.scene)
	var words []string
	for _, seat := range append(t.Seats, features.Nobody) {
		var stats, counts []string
		for _, n := range c.scene.Stats {
			if n.Seat == seat && seat >= 0 {
				stats = append(stats, legend.Label(n.Name)+" "+legend.Number(n.Value))
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
			words = append(words, legend.SeatName(seat)+": "+strings.Join(parts, "; ")+".")
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
	t := legend.TableOf(c.scene)
	for i, seat := range t.Seats {
		x := edge + float64(nameWide+i*valueWide)
		c.rect(x+valueWide-32, top-5, 10, 10, colourOf(seat).Edge)
		c.text(x+valueWide, top, "end", letters, legend.SeatName(seat))
	}
	for row, name := range t.Names {
		y := top + float64((row+1)*line)
		label := legend.Label(name)
		c.text(edge, y, "start", letters, label)
		for i, seat := range t.Seats {
			c.text(edge+float64(nameWide+(i+1)*valueWide), y, "end", letters, legend.Value(c.scene, name, seat))
		}
		if unit := t.Units[row]; unit != label {
			c.text(edge+float64(nameWide+len(t.Seats)*valueWide+12), y, "start", letters, unit)
		}
	}
	c.samples(top+float64((len(t.Names)+2)*line), width)
}

// samples draws the samples of the legend with their kinds.
func (c *canvas) samples(top, width float64) {
	entities, ranges, lines := legend.Entries(c.scene)
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
