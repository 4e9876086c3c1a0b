package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// box is a text with its bounds.
type box struct {
	text                     string
	left, right, top, bottom float64
}

// check reads an svg element as XML, and checks that its texts are inside the picture and do not
// overlap.
func check(t *testing.T, svg []byte) (boxes []box) {
	t.Helper()
	var root struct {
		ViewBox  string `xml:"viewBox,attr"`
		Role     string `xml:"role,attr"`
		Labelled string `xml:"aria-labelledby,attr"`
		Title    struct {
			ID string `xml:"id,attr"`
		} `xml:"title"`
		Desc struct {
			ID string `xml:"id,attr"`
		} `xml:"desc"`
		Texts []struct {
			X      float64 `xml:"x,attr"`
			Y      float64 `xml:"y,attr"`
			Anchor string  `xml:"text-anchor,attr"`
			Text   string  `xml:",chardata"`
		} `xml:"text"`
	}
	d := xml.NewDecoder(bytes.NewReader(svg))
	require.NoError(t, d.Decode(&root), "%s", svg)
	_, err := d.Token() // the line's end
	require.NoError(t, err)
	_, err = d.Token()
	require.ErrorIs(t, err, io.EOF, "after the element")
	assert.Equal(t, "img", root.Role)
	assert.Equal(t, root.Labelled, root.Title.ID+" "+root.Desc.ID)
	var width, height float64
	_, err = fmt.Sscanf(root.ViewBox, "0 0 %g %g", &width, &height)
	require.NoError(t, err)
	for _, e := range root.Texts {
		w := widthOfText(e.Text)
		left := e.X - map[string]float64{"middle": w / 2, "end": w}[e.Anchor]
		boxes = append(boxes, box{e.Text, left, left + w, e.Y - 4 - letters/2.0, e.Y - 4 + letters/2.0})
	}
	const least = 0.02 // coordinates are rounded
	for i, a := range boxes {
		assert.Truef(t, a.left >= -least && a.right <= width+least && a.top >= -least && a.bottom <= height+least, "%+v leaves the picture of %g × %g points", a, width, height)
		for _, b := range boxes[:i] {
			if min(a.right, b.right)-max(a.left, b.left) > least && min(a.bottom, b.bottom)-max(a.top, b.top) > least {
				t.Errorf("%+v overlaps %+v", a, b)
			}
		}
	}
	bad := regexp.MustCompile(`[ "](NaN|[+-]?Inf)[ "]`).Find(svg)
	assert.Nilf(t, bad, "a coordinate%sin\n%s", bad, svg)
	return boxes
}

// textsOf returns the texts of a picture.
func textsOf(boxes []box) (all []string) {
	for _, b := range boxes {
		all = append(all, b.text)
	}
	return all
}

func head(id string) Head {
	return Head{ID: id, Title: "A title of " + id, Description: "What " + id + " shows"}
}

var (
	inf  = math.Inf(1)
	nan  = math.NaN()
	long = strings.Repeat("a long name ", 40)
)

// walk returns points that go up and down.
func walk(n int, height, step float64) (points []Point) {
	for i := range n {
		points = append(points, Point{X: float64(10 * i), Y: height + step*float64(i*i%7)})
	}
	return points
}

// pictures returns charts of all kinds, of usual and of odd input.
func pictures() map[string][]byte {
	elo, games, turns := Axis{Label: "elo", Whole: true, Signed: true}, Axis{Label: "games", Whole: true}, Axis{Label: "turns", Whole: true}
	var many []Line
	for i := range 20 {
		many = append(many, Line{Label: strconv.Itoa(i + 1), Name: fmt.Sprintf("python3 bots/player-%d/main.py", i), Points: walk(5, float64(i%3), 0.01)})
	}
	return map[string][]byte{
		"lines": Lines(head("lines"), games, elo, []Line{{"1", "econ", walk(12, 300, 9)}, {"2", "turtle", walk(12, 290, 8)},
			{"3", long, walk(9, -100, -20)}, {"4", "came late", nil}}),
		"lines-gap":   Lines(head("lines-gap"), Axis{Label: "x"}, Axis{Label: long}, []Line{{"", "without label", []Point{{0, 0.1}, {1, 0.2}, {2, nan}, {3, 0.3}, {inf, 1}, {4, 0.25}, {5, 0.35}}}}),
		"lines-many":  Lines(head("lines-many"), games, Axis{Label: "score"}, many),
		"lines-point": Lines(head("lines-point"), games, elo, []Line{{"1", "one game", []Point{{1, 0}}}}),
		"lines-empty": Lines(head("lines-empty"), games, elo, []Line{{"1", "econ", []Point{{nan, 1}}}}),
		"lines-large": Lines(head("lines-large"), Axis{}, Axis{Signed: true}, []Line{{"1", "far", []Point{{-1e300, 1e300}, {1e300, -1e300}}}, {"2", "farther", []Point{{2e300, 0}}}}),
		"lines-near":  Lines(head("lines-near"), Axis{}, Axis{}, []Line{{"1", "near", []Point{{1e9, 1e-300}, {1e9 + 1, 2e-300}}}}),
		"histogram":   Histogram(head("histogram"), turns, games, []Bar{{19.5, 29.5, 3}, {29.5, 39.5, 12}, {39.5, 49.5, 0}, {49.5, 59.5, 7}}),
		"histogram-odd": Histogram(head("histogram-odd"), Axis{Label: "value"}, Axis{Label: "rows"}, []Bar{{0, 0.25, 1.5e6}, {0.25, 0.5, 3e6}, {0.5, 0.75, -1}, {0.75, 0.75, 9},
			{1, 2, inf}, {nan, 3, 1}}),
		"histogram-empty": Histogram(head("histogram-empty"), turns, games, nil),
	}
}

// TestGolden compares the charts with files; MOONFARM_UPDATE regenerates the files.
func TestGolden(t *testing.T) {
	again := pictures()
	for name, got := range pictures() {
		t.Run(name, func(t *testing.T) {
			check(t, got)
			assert.Equal(t, string(got), string(again[name]), "the same input made two pictures")
			file := filepath.Join("testdata", name+".svg")
			if os.Getenv("MOONFARM_UPDATE") != "" {
				require.NoError(t, os.WriteFile(file, got, 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, string(want), string(got))
		})
	}
}

// TestTexts checks the texts in pictures.
func TestTexts(t *testing.T) {
	all := pictures()
	for _, c := range []struct {
		name string
		want []string
	}{
		{"lines", []string{"elo", "games", "1", "2", "3", "1 econ", "2 turtle", "4 came late"}},
		{"lines-empty", []string{"no data", "1 econ"}},
		{"lines-large", []string{"1e300", "-1e300", "+1e300"}},
		{"lines-near", []string{"999999999", "1000000001"}},
		{"histogram", []string{"turns", "games", "0", "20", "12"}},
		{"histogram-empty", []string{"no data"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Subset(t, textsOf(check(t, all[c.name])), c.want)
		})
	}
	assert.Contains(t, string(all["lines"]), "<title id=\"lines-title\">A title of lines</title>\n<desc id=\"lines-description\">What lines shows</desc>")
	assert.NotContains(t, string(all["histogram"]), "no data")
	assert.Equal(t, 3, strings.Count(string(all["histogram"]), colours[4]), "bars")
	assert.Equal(t, 2, strings.Count(string(all["histogram-odd"]), colours[4]), "bars")
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		axis      Axis
		low, high float64
		most      int
		want      string
	}{
		{Axis{}, 0, 1, 5, "0.0 0.5 1.0"},
		{Axis{}, 0, 1, 6, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{Axis{}, 0.2, 0.6, 5, "0.2 0.3 0.4 0.5 0.6"},
		{Axis{}, -0.3, 0.3, 3, "-0.2 0 0.2"},
		{Axis{}, 0, 0.00003, 4, "0 0.00001 0.00002 0.00003"},
		{Axis{}, 0, 3e12, 4, "0 1e12 2e12 3e12"},
		{Axis{}, 12345678.25, 12345678.75, 3, "12345678.4 12345678.6"},
		{Axis{Whole: true}, 0, 1, 5, "0 1"},
		{Axis{Whole: true}, -0.2, 4.7, 5, "0 1 2 3 4"},
		{Axis{Whole: true, Signed: true}, -1210, 882, 5, "-1000 -500 0 +500"},
		{Axis{Whole: true, Signed: true}, -0.4, 0.4, 5, "0"},
		{Axis{Whole: true}, 0, 33000, 6, "0 10000 20000 30000"},
		{Axis{Whole: true}, 100, 101, 6, "100 101"},
		{Axis{Whole: true}, 0, 4e9, 5, "0 1e9 2e9 3e9 4e9"},
	} {
		t.Run(fmt.Sprintf("%v from %g to %g", c.axis, c.low, c.high), func(t *testing.T) {
			var got []string
			for _, tick := range c.axis.ticks(c.low, c.high, c.most) {
				got = append(got, tick.label)
			}
			assert.Equal(t, strings.ReplaceAll(c.want, "0.0 ", "0 "), strings.Join(got, " "))
		})
	}
}

func TestSpan(t *testing.T) {
	for _, c := range []struct {
		name      string
		axis      Axis
		values    []float64
		low, high float64
	}{
		{"nothing", Axis{}, nil, 0, 1},
		{"no numbers", Axis{}, []float64{nan, inf, -inf, 2e300}, 0, 1},
		{"zero", Axis{}, []float64{0, 0}, -1, 1},
		{"tiny", Axis{}, []float64{5e-324}, -1, 1},
		{"one number", Axis{}, []float64{2e9}, 2e9 - 2, 2e9 + 2},
		{"two numbers", Axis{}, []float64{3.4, nan, 3.2}, 3.2, 3.4},
		{"no whole number inside", Axis{Whole: true}, []float64{3.4, 3.2}, 3, 4},
		{"the largest range", Axis{}, []float64{-1e300, 1e300}, -1e300, 1e300},
	} {
		t.Run(c.name, func(t *testing.T) {
			var e extent
			for _, v := range c.values {
				e.add(v)
			}
			low, high := c.axis.span(e)
			assert.Equal(t, [2]float64{c.low, c.high}, [2]float64{low, high})
		})
	}
}

func TestShorten(t *testing.T) {
	for text, want := range map[string]string{
		"econ":                                  "econ",
		"a\nb \x1b c":                           "a b \ufffd c",
		"":                                      "",
		"mcts(sims=100,model=a.onnx,threads=1)": "mcts(sim…reads=1)",
		"bots/x/run.sh":                         "bots/x/run.sh",
		strings.Repeat("名前", 30):                "名前名前…名前名前",
		strings.Repeat("W", 30):                 "WWWW…WWWW",
	} {
		t.Run(fmt.Sprintf("%.20q", text), func(t *testing.T) {
			got := shorten(text, 110)
			assert.Equal(t, want, got)
			assert.LessOrEqual(t, widthOfText(got), 110.0)
		})
	}
	assert.Equal(t, "…", shorten("wide", 13))
}

// TestSpread: labels at the ends of lines do not overlap, and stay in the plot and near their line
// if possible.
func TestSpread(t *testing.T) {
	for _, ys := range [][]float64{{}, {50}, {0}, {100, 99, 101, 10}, {0, 0, 0}, {200, 200, 200}, {30, 40, 50, 60, 70}, {200, 190, 5, 5, 180, 100, 100, 100}} {
		t.Run(fmt.Sprint(ys), func(t *testing.T) {
			var ends []end
			for _, y := range ys {
				ends = append(ends, end{y: y})
			}
			spread(ends, 0, 200)
			for i, e := range ends {
				assert.GreaterOrEqual(t, e.labelY, letters/2.0)
				assert.LessOrEqual(t, e.labelY, 200-letters/2.0)
				if i > 0 {
					assert.GreaterOrEqual(t, e.y, ends[i-1].y)
					assert.GreaterOrEqual(t, e.labelY, ends[i-1].labelY+letters)
				}
			}
			if len(ys) == 4 {
				assert.Equal(t, []float64{10, 89, 100, 111}, []float64{ends[0].labelY, ends[1].labelY, ends[2].labelY, ends[3].labelY})
			}
		})
	}
}

// FuzzCharts: for any texts and numbers, the texts of the picture are readable.
func FuzzCharts(f *testing.F) {
	f.Add("econ", "games", 1.0, 2.0, 3.0, uint8(3), uint8(3))
	f.Add("\x00</svg><script>", "\u202e名前\xff", -1e308, 5e-324, math.MaxFloat64, uint8(12), uint8(0))
	f.Add(long, long, 1e9, 1e9+1e-3, inf, uint8(30), uint8(255))
	f.Fuzz(func(t *testing.T, name, label string, a, b, c float64, n, flags uint8) {
		name, label = name[:min(len(name), 2000)], label[:min(len(label), 2000)]
		x, y := Axis{label, flags&1 != 0, flags&2 != 0}, Axis{name, flags&4 != 0, flags&8 != 0}
		h := Head{ID: "fuzz", Title: label, Description: name}
		var lines []Line
		var bars []Bar
		for i := range int(n % 40) {
			k := float64(i)
			lines = append(lines, Line{Label: label, Name: name, Points: []Point{{a, b * k}, {b, c}, {c + k, a}}})
			bars = append(bars, Bar{a + k*b, a + (k+1)*b, c})
		}
		check(t, Lines(h, x, y, lines))
		check(t, Histogram(h, x, y, bars))
	})
}
