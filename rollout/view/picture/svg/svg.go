// Package svg draws a scene as SVG with the standard library alone. It knows no game.
//
// Pointing at a thing shows its owner, health and note. Each look is drawn once, and used wherever a thing looks so. The same scene gives
// the same bytes on every machine. Texts may contain any characters: they are escaped, and characters that XML forbids are replaced. If
// the board has no size, the picture says "nothing to draw".
package svg

import (
	"bytes"
	"fmt"
	"html"
	"image"
	"math"
	"strconv"

	"moonfarm/features"
	"moonfarm/rollout/view/picture"
	"moonfarm/sim/texts"
)

// Sizes in points.
const (
	letters   = 12  // the usual font size
	boardSide = 720 // largest side of the board, unless its cells were too small then
	leastCell = 14  // smallest side of a cell of a board that fits into the next
	mostSide  = 1200
	mostCell  = 56
	edges     = 48  // beside the board
	leastWide = 560 // smallest width of a picture
)

// drawing is an svg element under construction, a picture.Surface.
type drawing struct {
	bytes.Buffer
	id      string // escaped
	named   string // the words of the group that is open
	clipped bool
	looks   map[look]int // the numbers of looks that are defined
	points  []picture.Point
}

// look is a look in a size.
type look struct {
	*picture.Look
	size image.Point
}

// Draw returns a scene as one svg element. id is the prefix of the ids in it, unique on the page; the title is also drawn above the board,
// before the title of the scene.
func Draw(s *features.Scene, id, title string) []byte {
	d := &drawing{id: html.EscapeString(texts.OneLine(id)), looks: map[look]int{}}
	cell := cellSide(float64(max(s.Width, s.Height)))
	sheet := picture.Sheet{Settings: picture.Settings{Stats: true, Legend: true, Names: true, Cell: cell}}
	sheet.Width = max(leastWide, int(min(max(math.Ceil(float64(s.Width)), 0), 1<<14))*cell+edges)
	height, err := sheet.Lay(s)
	if err != nil {
		d.begin(s, title, leastWide, letters*5)
		d.Text(&picture.Text{At: picture.Point{X: edges / 2 * picture.Unit, Y: edges * picture.Unit}, Size: letters * picture.Unit, Words: "nothing to draw"})
	} else {
		d.begin(s, title, sheet.Width, height+letters)
		sheet.Draw(d, title)
	}
	d.WriteString("</svg>\n")
	return d.Bytes()
}

// cellSide returns the side of a cell in points, for the larger side of the board in cells.
func cellSide(cells float64) int {
	if fits := mostSide / cells; !(fits >= leastCell) {
		return int(max(fits, 1))
	}
	return int(min(max(boardSide/cells, leastCell), mostCell))
}

func (d *drawing) begin(s *features.Scene, title string, width, height int) {
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img" aria-labelledby="%s-title %[3]s-description" `,
		width, height, d.id)
	fmt.Fprintf(d, `font-family="Arial, 'Liberation Sans', Helvetica, sans-serif" font-size="%d" fill="%s">`+"\n", letters, ink(picture.Ink))
	fmt.Fprintf(d, "<title id=\"%s-title\">%s</title>\n", d.id, escaped(title))
	fmt.Fprintf(d, "<desc id=\"%s-description\">%s</desc>\n", d.id, escaped("The board, the numbers of the players, and a legend. "+picture.InWords(s)))
	d.Rect(image.Rect(0, 0, width, height), picture.Paper)
}

// ink returns the colour of a role. Pictures have light paper.
func ink(r picture.Role) string { return r.Colour().Light }

// escaped returns a text as one line that is safe in SVG.
func escaped(text string) string { return html.EscapeString(texts.OneLine(text)) }

// pt formats a length in points, rounded to hundredths.
func pt(units int64) string {
	return strconv.FormatFloat(math.Round(float64(units*100)/picture.Unit)/100+0, 'f', -1, 64) // + 0: no −0
}

// Clip implements picture.Surface: the first call is for the board, the next one ends it.
func (d *drawing) Clip(r image.Rectangle) {
	if d.clipped {
		d.clipped = false
		d.WriteString("</g>\n")
		return
	}
	d.clipped = true
	fmt.Fprintf(d, `<clipPath id="%s-board"><rect x="%d" y="%d" width="%d" height="%d"/></clipPath>`+"\n"+`<g clip-path="url(#%[1]s-board)">`+"\n",
		d.id, r.Min.X, r.Min.Y, r.Dx(), r.Dy())
}

// Name implements picture.Surface. Things of one name that follow each other are one group.
func (d *drawing) Name(words string) {
	if words == d.named {
		return
	}
	if d.named != "" {
		d.WriteString("</g>\n")
	}
	if d.named = words; words != "" {
		fmt.Fprintf(d, "<g><title>%s</title>", escaped(words))
	}
}

func (d *drawing) Rect(r image.Rectangle, fill picture.Role) {
	fmt.Fprintf(d, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", r.Min.X, r.Min.Y, r.Dx(), r.Dy(), ink(fill))
}

func (d *drawing) Cells(r image.Rectangle, side int) {
	d.WriteString(`<path d="`)
	for x := r.Min.X; x <= r.Max.X; x += side {
		fmt.Fprintf(d, "M%d.5 %dv%d", x, r.Min.Y, r.Dy())
	}
	for y := r.Min.Y; y <= r.Max.Y; y += side {
		fmt.Fprintf(d, "M%d %d.5h%d", r.Min.X, y, r.Dx())
	}
	fmt.Fprintf(d, `" fill="none" stroke="%s"/>`+"\n", ink(picture.Grid))
}

func (d *drawing) Mark(l *picture.Look, r image.Rectangle) {
	key := look{l, r.Size()}
	n, known := d.looks[key]
	if !known {
		n = len(d.looks) + 1
		d.looks[key] = n
		fmt.Fprintf(d, `<defs><g id="%s-l%d">`, d.id, n)
		d.define(l, image.Rectangle{Max: r.Size()})
		d.WriteString("</g></defs>")
	}
	fmt.Fprintf(d, `<use href="#%s-l%d" x="%d" y="%d"/>`+"\n", d.id, n, r.Min.X, r.Min.Y)
}

func (d *drawing) define(l *picture.Look, r image.Rectangle) {
	box := picture.Inner(r)
	stroke := l.Stroke.In(box.Small())
	in := box.Inside(stroke / 2)
	if l.Corners == nil {
		fmt.Fprintf(d, `<ellipse cx="%s" cy="%s" rx="%s" ry="%s"`, pt(in.X+in.Width/2), pt(in.Y+in.Height/2), pt(in.Width/2), pt(in.Height/2))
	} else {
		d.points = l.Trace(d.points[:0], in)
		d.path(d.points)
		d.WriteString(`Z" stroke-linejoin="round"`)
	}
	fmt.Fprintf(d, ` fill="%s" stroke="%s" stroke-width="%s"`, ink(l.Fill), ink(l.Edge), pt(stroke))
	if l.Unfinished {
		d.dashed(picture.Unfinished)
	}
	d.WriteString("/>\n")
	if t := l.LetterIn(r); t.Words != "" {
		d.Text(&t)
	}
	if l.Leaving {
		ends, width := l.Crossed(in)
		d.Lines(ends[:2], picture.Pen{Width: width, Ink: picture.Ink, Share: 256})
		d.Lines(ends[2:], picture.Pen{Width: width, Ink: picture.Ink, Share: 256})
	}
}

// path begins a path that leads from point to point.
func (d *drawing) path(points []picture.Point) {
	command := `<path d="M`
	for _, p := range points {
		d.WriteString(command + pt(p.X) + " " + pt(p.Y))
		command = "L"
	}
}

func (d *drawing) dashed(dashes []float32) {
	if len(dashes) > 0 {
		text := fmt.Sprint(dashes)
		d.WriteString(` stroke-dasharray="` + text[1:len(text)-1] + ` "`)
	}
}

func (d *drawing) stroked(p *picture.Pen) {
	fmt.Fprintf(d, ` fill="none" stroke="%s" stroke-width="%s"`, ink(p.Ink), pt(p.Width))
	if p.Share < 256 {
		fmt.Fprintf(d, ` stroke-opacity="%s"`, pt(int64(p.Share)))
	}
	d.dashed(picture.Dashes(p.Kind))
	d.WriteString("/>\n")
}

func (d *drawing) Ring(middle picture.Point, radius int64, p picture.Pen) {
	fmt.Fprintf(d, `<circle cx="%s" cy="%s" r="%s"`, pt(middle.X), pt(middle.Y), pt(radius))
	d.stroked(&p)
}

func (d *drawing) Lines(ends []picture.Point, p picture.Pen) {
	d.path(ends)
	d.WriteString(`"`)
	d.stroked(&p)
}

func (d *drawing) Triangle(corners [3]picture.Point, fill picture.Role) {
	d.path(corners[:])
	fmt.Fprintf(d, `Z" fill="%s"/>`+"\n", ink(fill))
}

// anchors are the names of the anchors of texts.
var anchors = [...]string{picture.Start: "start", picture.Middle: "middle", picture.End: "end"}

func (d *drawing) Text(t *picture.Text) {
	if t.Words == "" {
		return
	}
	fmt.Fprintf(d, `<text x="%s" y="%s"`, pt(t.At.X), pt(t.At.Y+t.Size*36/100))
	if t.Anchor != picture.Start {
		fmt.Fprintf(d, ` text-anchor="%s"`, anchors[t.Anchor])
	}
	if t.Size != letters*picture.Unit {
		fmt.Fprintf(d, ` font-size="%s"`, pt(t.Size))
	}
	if t.Ink != picture.Ink {
		fmt.Fprintf(d, ` fill="%s"`, ink(t.Ink))
	}
	if t.Rim {
		fmt.Fprintf(d, ` paint-order="stroke" stroke="%s" stroke-width="2"`, ink(picture.Paper))
	}
	fmt.Fprintf(d, ">%s</text>\n", escaped(t.Words))
}
