package analysis

import (
	"bytes"
	"fmt"
	"strings"
)

// The size of a chart in characters, without its scale.
const (
	chartWidth  = 64
	chartHeight = 11
)

// AppendChart appends a chart of the values before the turns, from left to right, 1 at the top and
// −1 at the bottom. A letter stands for each seat, * for several at one place. If there are more
// turns than columns, a column shows the mean of several turns.
func AppendChart(dst []byte, turns []TurnAnalysis) []byte {
	if len(turns) == 0 {
		return dst
	}
	width := min(chartWidth, len(turns))
	var rows [chartHeight][]byte
	for y := range rows {
		rows[y] = bytes.Repeat([]byte{' '}, width)
	}
	copy(rows[chartHeight/2], bytes.Repeat([]byte{'-'}, width))
	for p := range turns[0].Seats {
		letter := byte('A' + p)
		for x := range width {
			at := &rows[height(meanValue(turns[x*len(turns)/width:(x+1)*len(turns)/width], p))][x]
			if *at != ' ' && *at != '-' {
				*at = '*'
			} else {
				*at = letter
			}
		}
	}
	for y, row := range rows {
		scale := ""
		switch y {
		case 0:
			scale = "+1"
		case chartHeight / 2:
			scale = "0"
		case chartHeight - 1:
			scale = "-1"
		}
		dst = append(bytes.TrimRight(fmt.Appendf(dst, "%4s | %s", scale, row), " "), '\n')
	}
	first, last := fmt.Sprint(turns[0].Turn), ""
	if len(turns) > 1 {
		last = fmt.Sprint(turns[len(turns)-1].Turn)
	}
	gap := strings.Repeat(" ", max(1, width-len(first)-len(last)))
	return append(dst, strings.TrimRight("turn   "+first+gap+last, " ")+"\n"...)
}

// meanValue returns the mean of the values of a seat.
func meanValue(turns []TurnAnalysis, p int) float64 {
	sum := 0.0
	for _, t := range turns {
		sum += t.Seats[p].Value
	}
	return sum / float64(len(turns))
}

// height returns the row of a value.
func height(value float64) int {
	y := int(float64((1-value)/2*(chartHeight-1)) + 0.5)
	return min(max(y, 0), chartHeight-1)
}
