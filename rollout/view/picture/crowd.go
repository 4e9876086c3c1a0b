package picture

import (
	"fmt"
	"math"
	"strings"

	"moonfarm/features"
	"moonfarm/rollout/view/picture/internal/legend"
)

// leastCrowd is the least number of simple entities of one kind, one after the other, that are drawn as
// a crowd: with one path for all that look alike, such as the resources of CodeCraft. A picture with
// an element for each has ten times the size.
const leastCrowd = 30

// look is what the entities of a path have in common.
type look struct {
	outline       features.Outline
	owner         int8
	width, height float32
	health        int // in tenths, rounded up; 0: the kind has no health; full: all of it
}

// full is the health of a look with all of its health.
const full = 11

// simple reports whether an entity has nothing to draw but its outline and its health.
func (c *canvas) simple(e *features.Entity) bool {
	return e.Letter == "" && e.Number == 0 && e.Note == "" && !e.Unfinished && !e.Upgraded && !e.Leaving &&
		e.Health <= 1 && c.near(e.X, e.Y, e.Width, e.Height)
}

// crowd draws the simple entities of one kind at the beginning of a list, if they are many, and returns
// their number, else 0. Things of one kind do not cover each other, so their order does not matter.
func (c *canvas) crowd(list []features.Entity) int {
	n := 0
	for n < len(list) && list[n].Kind == list[0].Kind && c.simple(&list[n]) {
		n++
	}
	if n < leastCrowd {
		return 0
	}
	var looks []look
	alike := map[look][]*features.Entity{}
	for i := range list[:n] {
		e := &list[i]
		l := look{e.Outline, e.Owner, e.Width, e.Height, 0}
		switch {
		case e.Health >= 1:
			l.health = full
		case e.Health > 0:
			l.health = int(math.Ceil(float64(e.Health) * 10))
		}
		if alike[l] == nil {
			looks = append(looks, l)
		}
		alike[l] = append(alike[l], e)
	}
	for _, l := range looks {
		c.alike(l, list[0].Kind, alike[l])
	}
	return n
}

// alike draws entities that look alike, like entity does.
func (c *canvas) alike(l look, kind string, all []*features.Entity) {
	s := c.styleOf(all[0], product(l.width, c.cell), product(l.height, c.cell))
	width, height := product(l.width, c.cell)-2*s.inset, product(l.height, c.cell)-2*s.inset
	c.WriteString("<g>")
	c.title(legend.SeatName(l.owner)+" "+kind, l.healthText())
	round := legend.Turned(c.scene, l.outline) == features.Round && l.width == l.height
	if round { // dots of a line with round ends, in half the bytes of arcs; browsers leave out a path without any length
		dx, dy := s.inset+half(width), s.inset+half(height)
		dots := c.moves(all[:1], dx, dy, "h.01", 0.01) + c.moves(all, dx, dy, "h0", 0)
		for _, of := range []struct {
			size   float64
			colour string
		}{{width + s.stroke, s.edge}, {width - s.stroke, s.fill}} {
			fmt.Fprintf(c, `<path d="%s" stroke-linecap="round" stroke="%s" stroke-width="%s"/>`, dots, of.colour, points(of.size))
		}
	} else {
		at, path := c.relative(l.outline, width, height)
		fmt.Fprintf(c, `<path d="%s" stroke-linejoin="round" %s/>`, c.moves(all, s.inset+at[0], s.inset+at[1], path, 0), s.look())
	}
	if l.health > 0 && l.health < full {
		top, left := s.inset+height-s.bar, rounded((float64(l.health)-0.5)*width/10) // the middle of the tenth
		fmt.Fprintf(c, `<path d="%s" fill="#fff" stroke="%s" stroke-width="0.6"/>`,
			c.moves(all, s.inset, top, fmt.Sprintf("h%sv%sh%sz", points(width), points(s.bar), points(-width)), 0), legend.Dark)
		fmt.Fprintf(c, `<path d="%s" stroke="%s" stroke-width="%s"/>`,
			c.moves(all, s.inset, top+half(s.bar), "h"+points(left), left), legend.Dark, points(s.bar))
	}
	c.WriteString("</g>\n")
}

// healthText returns the health in words, or "".
func (l look) healthText() string {
	switch l.health {
	case 0:
		return ""
	case full:
		return "health 100 %"
	}
	return fmt.Sprintf("health %d to %d %%", 10*l.health-9, min(10*l.health, 99))
}

// moves returns a path that begins at (dx, dy) from the upper left corner of each entity and goes on
// with the same steps. Moves are relative to the end of the steps before them, the differences of
// rounded places. The steps end that far to the right of their begin.
func (c *canvas) moves(all []*features.Entity, dx, dy float64, steps string, end float64) string {
	var b strings.Builder
	lastX, lastY := 0.0, 0.0
	for i, e := range all {
		x, y := c.corner(e.X, e.Y, e.Height)
		x, y = rounded(x+dx), rounded(y+dy)
		if i == 0 {
			b.WriteString("M" + points(x) + " " + points(y) + steps)
		} else {
			b.WriteString("m" + points(x-lastX-end) + " " + points(y-lastY) + steps)
		}
		lastX, lastY = x, y
	}
	return b.String()
}

// relative returns where the path of an outline begins, from the upper left corner of its rectangle,
// and the rest of the path in relative steps.
func (c *canvas) relative(o features.Outline, width, height float64) (at [2]float64, steps string) {
	if legend.Turned(c.scene, o) == features.Round {
		arc := "a" + points(half(width)) + " " + points(half(height)) + " 0 1 0 "
		return [2]float64{0, half(height)}, arc + points(width) + " 0" + arc + points(-width) + " 0z"
	}
	corners := c.corners(o, 0, 0, width, height)
	var b strings.Builder
	for i := 2; i < len(corners); i += 2 {
		b.WriteString("l" + points(rounded(corners[i])-rounded(corners[i-2])) + " " + points(rounded(corners[i+1])-rounded(corners[i-1])))
	}
	return [2]float64{corners[0], corners[1]}, b.String() + "z"
}

// rounded rounds to the hundredths that points writes.
func rounded(v float64) float64 { return math.Round(v*100) / 100 }
