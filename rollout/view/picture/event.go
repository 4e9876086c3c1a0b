package picture

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"moonfarm/features"
	"moonfarm/rollout/view/picture/internal/legend"
)

// events draws the events: an arrow from one place to another, or a ring around one.
func (c *canvas) events() {
	if len(c.scene.Events) == 0 {
		return
	}
	c.beginEvents()
	for i := range c.scene.Events {
		e := &c.scene.Events[i]
		if c.near(e.X1, e.Y1, e.X2, e.Y2) {
			x1, y1 := c.at(e.X1, e.Y1)
			x2, y2 := c.at(e.X2, e.Y2)
			c.event(e, x1, y1, x2, y2)
		}
	}
	c.WriteString("</g>\n")
}

// beginEvents begins the group of events, whose lines have the same look.
func (c *canvas) beginEvents() {
	fmt.Fprintf(c, `<g fill="none" stroke="%s" stroke-width="%s" stroke-linejoin="round" stroke-opacity="0.8">`+"\n", legend.Strong, points(min(max(c.cell/14, 1.2), 2.5)))
}

// event draws an event between two points of the picture.
func (c *canvas) event(e *features.Event, x1, y1, x2, y2 float64) {
	dx, dy := x2-x1, y2-y1
	length := math.Sqrt(float64(dx*dx) + float64(dy*dy))
	size := min(max(float64(c.cell*0.3), 4), 12)
	if length == 0 {
		fmt.Fprintf(c, `<circle cx="%s" cy="%s" r="%s">`, points(x1), points(y1), points(size))
		c.eventTitle(e)
		c.WriteString("</circle>\n")
		return
	}
	dx, dy = dx/length, dy/length
	back, side := float64(size*0.8), float64(size*0.45)
	bx, by := x2-float64(dx*back), y2-float64(dy*back)
	fmt.Fprintf(c, `<path d="M%s %sL%s %sM%s %sL%[3]s %[4]sL%[7]s %[8]s">`, points(x1), points(y1), points(x2), points(y2),
		points(bx-float64(dy*side)), points(by+float64(dx*side)), points(bx+float64(dy*side)), points(by-float64(dx*side)))
	c.eventTitle(e)
	c.WriteString("</path>\n")
}

// eventTitle writes what an event is, for people who point at it.
func (c *canvas) eventTitle(e *features.Event) {
	amount := ""
	if e.Amount != 0 {
		amount = legend.Number(float64(e.Amount))
	}
	c.title(legend.SeatName(e.Owner)+" "+e.Kind, amount, e.Note)
}

// eventsInWords returns the numbers of the events by kind: "Events: 2 attack, 1 death.", or "".
func (c *canvas) eventsInWords() string {
	var kinds, words []string
	n := map[string]int{}
	for i := range c.scene.Events {
		kind := c.scene.Events[i].Kind
		if n[kind]++; n[kind] == 1 {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	for _, kind := range kinds {
		words = append(words, strconv.Itoa(n[kind])+" "+kind)
	}
	if len(words) == 0 {
		return ""
	}
	return "Events: " + strings.Join(words, ", ") + "."
}
