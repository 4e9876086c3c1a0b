package page

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"

	"moonfarm/rollout/arena/report/chart"
)

// plotRatings draws ratings with their intervals, the best on top.
func (b *builder) plotRatings() template.HTML {
	var rows []chart.Row
	var said []string
	for rank := range min(len(b.order), mostShown) {
		r := &b.r.Players[b.order[rank]]
		rows = append(rows, chart.Row{Name: b.ranked(rank), Value: r.Elo, Low: r.Low, High: r.High})
		words := fmt.Sprintf("%s %+.0f", r.Player, r.Elo)
		if r.EloLow != nil && r.EloHigh != nil {
			words += fmt.Sprintf(" (%+.0f to %+.0f)", *r.EloLow, *r.EloHigh)
		}
		said = append(said, words)
	}
	head := chart.Head{ID: "plot-ratings", Title: "Ratings with 95 % intervals", Description: strings.Join(said, "; ")}
	return template.HTML(chart.Rows(head, chart.Axis{Label: "elo", Whole: true, Signed: true}, rows))
}

// plotCourse draws the ratings of the best players after each part of the games. The label at the
// end of a line is its player's rank.
func (b *builder) plotCourse(ends []int, course [][]float64) template.HTML {
	var lines []chart.Line
	var said []string
	for rank := range min(len(b.order), mostLines) {
		l := chart.Line{Label: strconv.Itoa(rank + 1), Name: b.name(b.order[rank])}
		for k, end := range ends {
			if elo := course[k][b.order[rank]]; !math.IsNaN(elo) {
				l.Points = append(l.Points, chart.Point{X: float64(end), Y: elo})
			}
		}
		if n := len(l.Points); n > 0 {
			said = append(said, fmt.Sprintf("%s from %+.0f to %+.0f", l.Name, l.Points[0].Y, l.Points[n-1].Y))
		}
		lines = append(lines, l)
	}
	head := chart.Head{ID: "plot-course", Title: "Ratings over the games", Description: cmp.Or(strings.Join(said, "; "), "No games.")}
	return template.HTML(chart.Lines(head, chart.Axis{Label: "games", Whole: true}, chart.Axis{Label: "elo", Whole: true, Signed: true}, lines))
}

// mostBars is the largest number of bars of a histogram.
const mostBars = 24

// bars counts games by their turns, which must be sorted, in bars of equal width.
func bars(turns []int) (bars []chart.Bar, width int) {
	low, high := turns[0], turns[len(turns)-1]
	width = 1
	for k := 0; high/width-low/width >= mostBars; k++ {
		width = []int{2, 5, 10}[k%3] * int(math.Pow10(k/3))
	}
	for at := low / width * width; at <= high; at += width {
		bars = append(bars, chart.Bar{From: float64(at) - 0.5, To: float64(at+width) - 0.5})
	}
	for _, n := range turns {
		bars[n/width-low/width].Height++
	}
	return bars, width
}

// plotLengths draws a histogram of the games' turns, which must be sorted.
func plotLengths(turns []int) template.HTML {
	all, width := bars(turns)
	highest := all[0]
	for _, bar := range all {
		if bar.Height > highest.Height {
			highest = bar
		}
	}
	said := fmt.Sprintf("Each bar is %s wide. The highest is from %.0f on, with %s.", count(width, "turn"), highest.From+0.5, count(int(highest.Height), "game"))
	head := chart.Head{ID: "plot-lengths", Title: "Lengths of games in turns", Description: said}
	return template.HTML(chart.Histogram(head, chart.Axis{Label: "turns", Whole: true}, chart.Axis{Label: "games", Whole: true}, all))
}
