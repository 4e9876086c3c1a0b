package picture

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"moonfarm/features"
)

// seatName returns "A" for seat 0.
func seatName(owner int8) string {
	if owner < 0 {
		return "nobody"
	}
	return string('A' + rune(owner))
}

// numberOf formats a value with one decimal at most. A value that is no number has a dash.
func numberOf(v float64) string {
	if v-v != 0 || v > 1e12 || v < -1e12 {
		return "–"
	}
	return strings.TrimSuffix(strconv.FormatFloat(v+0, 'f', 1, 64), ".0")
}

// joined joins the parts that are not empty.
func joined(with string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), with)
}

// entityWords returns what is to be said of an entity.
func entityWords(e *features.Entity) string {
	health := ""
	if e.Health > 0 {
		health = fmt.Sprintf("health %d %%", int(math.Ceil(min(float64(e.Health), 1)*100)))
	}
	mark := func(applies bool, word string) string {
		if applies {
			return word
		}
		return ""
	}
	return joined(", ", seatName(e.Owner)+" "+e.Kind, health, mark(e.Unfinished, "unfinished"), mark(e.Upgraded, "upgraded"), e.Note)
}

// eventWords returns what is to be said of an event.
func eventWords(e *features.Event) string {
	amount := ""
	if e.Amount != 0 {
		amount = numberOf(float64(e.Amount))
	}
	return joined(", ", seatName(e.Owner)+" "+e.Kind, amount, e.Note)
}

// InWords returns the numbers of the seats, of their entities and of the events: "A: health 100; 2 energy. Events: 1 death."
func InWords(s *features.Scene) string {
	var words []string
	for owner := int8(features.Nobody); owner < mostSeats; owner++ {
		var stats []string
		for _, n := range s.Stats {
			if n.Seat == owner && owner >= 0 {
				stats = append(stats, labelOf(n.Name)+" "+numberOf(n.Value))
			}
		}
		kinds := counted(len(s.Entities), func(i int) (string, bool) { return s.Entities[i].Kind, s.Entities[i].Owner == owner })
		if all := joined("; ", strings.Join(stats, ", "), kinds); all != "" {
			words = append(words, seatName(owner)+": "+all+".")
		}
	}
	if events := counted(len(s.Events), func(i int) (string, bool) { return s.Events[i].Kind, true }); events != "" {
		words = append(words, "Events: "+events+".")
	}
	return strings.Join(words, " ")
}

// counted returns the numbers of those of n things that count, by kind: "2 energy, 1 tesla".
func counted(n int, kindOf func(i int) (kind string, counts bool)) string {
	counts := map[string]int{}
	for i := range n {
		if kind, ok := kindOf(i); ok {
			counts[kind]++
		}
	}
	var words []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		words = append(words, strconv.Itoa(counts[kind])+" "+kind)
	}
	return strings.Join(words, ", ")
}

// labelOf returns the name of a stat in words.
func labelOf(name string) string { return strings.ReplaceAll(name, "_", " ") }

// ArrowEnd returns where a line is drawn to. A long arrow only shows its direction: the orders of all units of an army would
// hide the board.
func ArrowEnd(l *features.Line) (x, y float32) {
	const long, short = 12, 4 // cells
	dx, dy := float64(l.X2-l.X1), float64(l.Y2-l.Y1)
	length := math.Sqrt(float64(dx*dx) + float64(dy*dy))
	if !l.Arrow || !(length > long) {
		return l.X2, l.Y2
	}
	return l.X1 + float32(dx*short/length), l.Y1 + float32(dy*short/length)
}
