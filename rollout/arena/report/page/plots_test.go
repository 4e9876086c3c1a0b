package page

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"moonfarm/rollout/arena"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		axis      whole
		low, high float64
		want      string
	}{
		{whole{5, false}, 0, 1, "0 1"},
		{whole{5, false}, -0.2, 4.7, "0 1 2 3 4"},
		{whole{5, true}, -1210, 882, "-1000 -500 0 +500"},
		{whole{5, true}, -0.4, 0.4, "0"},
		{whole{6, false}, 0, 33000, "0 10000 20000 30000"},
		{whole{6, false}, 100, 101, "100 101"},
		{whole{5, true}, 3.2, 3.4, ""},
	} {
		var got []string
		for _, tick := range c.axis.Ticks(c.low, c.high) {
			got = append(got, tick.Label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v from %g to %g: %q, want %s", c.axis, c.low, c.high, got, c.want)
		}
	}
}

func TestParts(t *testing.T) {
	games := make([]arena.Played, 25)
	tell := func() string {
		ends, rounds := parts(games)
		return fmt.Sprint(ends, rounds)
	}
	if got := tell(); got != "[3 5 8 10 13 15 18 20 23 25] false" {
		t.Error(got)
	}
	for i := range games {
		games[i].Round = i / 10
	}
	if got := tell(); got != "[10 20 25] true" {
		t.Error(got)
	}
	games[24].Stage = 1
	if got := tell(); got != "[10 20 24 25] true" {
		t.Error(got)
	}
	for i := range games {
		games[i].Round = i // more rounds than are shown
	}
	if got := tell(); got != "[3 5 8 10 13 15 18 20 23 25] false" {
		t.Error(got)
	}
	games = games[:2]
	games[1].Round = games[0].Round
	if got := tell(); got != "[1 2] false" {
		t.Error(got)
	}
	games = nil
	if got := tell(); got != "[] false" {
		t.Error(got)
	}
}

// TestLengths: the description of the histogram tells its bars, and there are not
// too many.
func TestLengths(t *testing.T) {
	for _, c := range []struct {
		turns []int
		want  string
		bars  int
	}{
		{[]int{5, 5, 6}, "Each bar is 1 turn wide. The highest is from 5 on, with 2 games.", 2},
		{[]int{0}, "Each bar is 1 turn wide. The highest is from 0 on, with 1 game.", 1},
		{[]int{29, 30, 58, 59, 401}, "Each bar is 20 turns wide. The highest is from 20 on, with 2 games.", 20},
		{[]int{1, 25_000, 25_001, 25_500}, "Each bar is 2000 turns wide. The highest is from 24000 on, with 3 games.", 13},
	} {
		svg := string(plotLengths(c.turns))
		if !strings.Contains(svg, c.want) {
			t.Errorf("%v: %.300s, want %s", c.turns, svg, c.want)
		}
		if got := strings.Count(svg, "fill:#56B4E9"); got != c.bars {
			t.Errorf("%v: %d bars, want %d", c.turns, got, c.bars)
		}
	}
}

// TestRanksBeside: numbers at the ends of lines do not lie on each other.
func TestRanksBeside(t *testing.T) {
	labels := ranksBeside([]float64{300, 299, 298, -100, -100}, 50, 400)
	last := 301.0
	for i, p := range labels.XYs {
		if p.X != 50 || last-p.Y < 1 || i > 0 && i != 3 && last-p.Y < 20 {
			t.Errorf("label %s at %v below %v", labels.Labels[i], p, last)
		}
		last = p.Y
	}
	if !slices.Equal(labels.Labels, []string{"1", "2", "3", "4", "5"}) {
		t.Errorf("labels %q", labels.Labels)
	}
}

func TestShort(t *testing.T) {
	for name, want := range map[string]string{
		"econ":                "econ",
		"a\nb \x1b c":         "a b \ufffd c",
		"eighteen letters..":  "eighteen letters..",
		"nineteen letters...": "nineteen letters.…",
		"名前名前名前名前名前名前名前名前名前名前": "名前名前名前名前名前名前名前名前名…",
	} {
		if got := short(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}
