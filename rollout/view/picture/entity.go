package picture

import (
	"fmt"
	"math"
	"strconv"

	"moonfarm/features"
	"moonfarm/rollout/view/picture/internal/legend"
)

// leastNumbered is the smallest side of an entity with room for its number, in points. The numbers of
// smaller ones are beside them.
const leastNumbered = 20

// style is how an entity is drawn.
type style struct {
	fill, edge string  // colours
	dash       string  // of the edge
	stroke     float64 // width of the edge
	inset      float64 // from the rectangle to the middle of the edge
	bar        float64 // height of the bar of the health
}

// styleOf returns the style of an entity in a rectangle of that size.
func (c *canvas) styleOf(e *features.Entity, width, height float64) style {
	owner := colourOf(e.Owner)
	small := min(width, height)
	s := style{fill: owner.Fill, edge: owner.Edge, stroke: 1.2, bar: min(max(float64(small*0.12), 1.5), 5)}
	if e.Width > 0 && e.Width < 0.5 { // to be seen on a larger thing of its owner
		s.fill = owner.Edge
	}
	if e.Unfinished {
		s.fill, s.dash = "#fff", "2 1.5"
	}
	if e.Upgraded {
		s.stroke = min(max(float64(small*0.11), 2), 3)
	}
	s.inset = min(float64(small*0.06), 2) + half(s.stroke)
	return s
}

// look returns the attributes of an outline.
func (s *style) look() string {
	return fmt.Sprintf(`fill="%s" stroke="%s" stroke-width="%s"`, s.fill, s.edge, points(s.stroke))
}

// entity draws an entity in a rectangle.
func (c *canvas) entity(e *features.Entity, x, y, width, height float64) {
	s := c.styleOf(e, width, height)
	small, inset := min(width, height), s.inset
	c.WriteString("<g>")
	c.title(legend.SeatName(e.Owner)+" "+e.Kind, healthText(e), mark(e.Unfinished, "unfinished"), mark(e.Upgraded, "upgraded"), e.Note)
	c.outline(e.Outline, x+inset, y+inset, width-2*inset, height-2*inset, s.look(), s.dash)
	if e.Letter != "" {
		c.text(x+half(width), y+c.lift(e.Outline, height), "middle", letterSize(e, small), e.Letter)
	}
	if e.Leaving {
		fmt.Fprintf(c, `<path d="M%s %sL%s %sM%[1]s %[4]sL%[3]s %[2]s" stroke="%[5]s" stroke-width="1.5"/>`, points(x+inset), points(y+inset), points(x+width-inset), points(y+height-inset), legend.Dark)
	}
	if e.Health > 0 && e.Health < 1 {
		c.health(e, x+inset, y+height-inset, width-2*inset, s.bar)
	}
	if e.Number > 0 {
		size := max(9, min(float64(small*0.4), 14))
		if small < leastNumbered {
			c.text(x+width, y+half(height), "start", size, strconv.Itoa(e.Number))
		} else {
			c.text(x+width, y+half(size), "end", size, strconv.Itoa(e.Number))
		}
	}
	c.WriteString("</g>\n")
}

// mark returns the word if it applies.
func mark(applies bool, word string) string {
	if applies {
		return word
	}
	return ""
}

// healthText returns the health of an entity in words, or "" if it has none.
func healthText(e *features.Entity) string {
	if !(e.Health > 0) {
		return ""
	}
	return fmt.Sprintf("health %d %%", int(math.Ceil(min(float64(e.Health), 1)*100)))
}

// health draws the bar of the health above a lower edge: dark for the part that is left, white for the
// part that is lost.
func (c *canvas) health(e *features.Entity, x, bottom, width, height float64) {
	left := product(e.Health, width)
	c.rect(x, bottom-height, width, height, "#fff")
	c.rect(x, bottom-height, left, height, legend.Dark)
	fmt.Fprintf(c, `<path d="M%s %sh%sv%sh%sz" fill="none" stroke="%s" stroke-width="0.6"/>`, points(x), points(bottom-height), points(width), points(height), points(-width), legend.Dark)
}

// letterSize returns the font size of a letter in an outline. Triangles have less room.
func letterSize(e *features.Entity, small float64) float64 {
	size := min(max(float64(small*0.55), min(float64(small*0.75), 10)), 26)
	if e.Outline != features.Square && e.Outline != features.Round {
		size = float64(size * 0.8)
	}
	return size
}

// lift returns the height of the middle of an outline's letter. The wide part of a triangle is not in
// the middle.
func (c *canvas) lift(o features.Outline, height float64) float64 {
	switch legend.Turned(c.scene, o) {
	case features.ToGreaterY:
		return float64(height * 0.4)
	case features.ToLessY:
		return float64(height * 0.64)
	}
	return half(height)
}

// outline draws an outline in a rectangle.
func (c *canvas) outline(o features.Outline, x, y, width, height float64, look, dash string) {
	if legend.Turned(c.scene, o) == features.Round {
		fmt.Fprintf(c, `<ellipse cx="%s" cy="%s" rx="%s" ry="%s" %s`, points(x+half(width)), points(y+half(height)), points(half(width)), points(half(height)), look)
		c.dashed(dash)
		c.WriteString("/>")
		return
	}
	corners := c.corners(o, x, y, width, height)
	command := `<path d="M`
	for i := 0; i < len(corners); i += 2 {
		c.WriteString(command + points(corners[i]) + " " + points(corners[i+1]))
		command = "L"
	}
	fmt.Fprintf(c, `Z" stroke-linejoin="round" %s`, look)
	c.dashed(dash)
	c.WriteString("/>")
}

// corners returns the corners of an outline in a rectangle, x and y of each; of a disc those of its
// square.
func (c *canvas) corners(o features.Outline, x, y, width, height float64) []float64 {
	right, bottom, midX, midY := x+width, y+height, x+half(width), y+half(height)
	switch legend.Turned(c.scene, o) {
	case features.Diamond:
		return []float64{midX, y, right, midY, midX, bottom, x, midY}
	case features.ToRight:
		return []float64{x, y, right, midY, x, bottom}
	case features.ToLeft:
		return []float64{right, y, x, midY, right, bottom}
	case features.ToGreaterY:
		return []float64{x, y, right, y, midX, bottom}
	case features.ToLessY:
		return []float64{midX, y, right, bottom, x, bottom}
	}
	return []float64{x, y, right, y, right, bottom, x, bottom}
}
