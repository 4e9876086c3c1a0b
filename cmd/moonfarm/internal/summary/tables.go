// Package summary puts the summary of a dataset into words and tables: those that inspect prints, and those of the page.
package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/datasets"
	"moonfarm/sim/texts"
)

// Head returns lines on what a dataset is and how it was made.
func Head(dir string, o *datasets.Overview) []string {
	m, t := o.Manifest, o.Manifest.Totals
	var versions []string
	for _, r := range m.Rules {
		if !slices.Contains(versions, r.Version) {
			versions = append(versions, r.Version)
		}
	}
	size := fmt.Sprintf("%s, %s, %s in %s, %s", texts.Plural(t.Episodes, "episode"), texts.Plural(t.Turns, "turn"), texts.Plural(t.Rows, "row"), texts.Plural(t.Shards, "shard"), console.FormatSize(t.Bytes))
	if t.Rows > 0 {
		size += fmt.Sprintf(" (%.1f bytes a row)", float64(t.Bytes)/float64(t.Rows))
	}
	return []string{
		fmt.Sprintf("%s: %s, rules %s", dir, m.Game.Name, strings.Join(versions, ", ")),
		fmt.Sprintf("made by %s (moonfarm %s, format %d)", cmp.Or(m.Command, "a library"), m.Moonfarm, m.Format), // a library has no command line
		size,
		fmt.Sprintf("observations %s, codec %s, reward %s", m.Observation.Form, m.Job.Codec, m.Reward.Name),
	}
}

// Ends returns a sentence on how the episodes ended.
func Ends(o *datasets.Overview) string {
	t := o.Manifest.Totals
	return fmt.Sprintf("%s ended by the rules, %s cut; %s", texts.Plural(t.Over, "episode"), texts.Group(t.Cut), texts.Plural(o.Distinct, "different game"))
}

// seatName returns "A" for seat 0.
func seatName(seat int) string { return string(rune('A' + seat)) }

// outcomes lists the results of each pairing and seat.
func outcomes(o *datasets.Overview) (list []datasets.Outcome) {
	for i := range o.Manifest.Totals.Pairings {
		list = append(list, o.Manifest.Totals.Pairings[i].Outcomes()...)
	}
	return list
}

// Outcomes returns the shares of the results of each seat. As all tables it has the heads first.
func Outcomes(o *datasets.Overview) [][]string {
	rows := [][]string{{"seat", "policy", "episodes", "results"}}
	for _, x := range outcomes(o) {
		rows = append(rows, []string{seatName(x.Seat), cmp.Or(x.Policy, "all others"), texts.Group(x.Episodes), balance(x)})
	}
	return rows
}

// balance formats the shares of the results, the best first: "+1: 52.3 %, −1: 47.7 %".
func balance(o datasets.Outcome) string {
	var shares []string
	for _, r := range o.Results {
		text := strings.Replace(r.Result, "-", "−", 1)
		if text != "0" && text == r.Result {
			text = "+" + text
		}
		shares = append(shares, fmt.Sprintf("%s: %.1f %%", text, 100*float64(r.Episodes)/float64(o.Episodes)))
	}
	return strings.Join(shares, ", ")
}

// Networks returns the counts of the seats' networks, or only the heads.
func Networks(o *datasets.Overview) [][]string {
	rows := [][]string{{"network of", "evaluations", "not finite", "choices", "likeliest one illegal"}}
	for seat, n := range o.Manifest.Totals.Networks {
		if n.Evaluations == 0 {
			continue
		}
		illegal := texts.Group(n.Illegal)
		if n.Choices > 0 {
			illegal += fmt.Sprintf(" (%.2f %%)", 100*float64(n.Illegal)/float64(n.Choices))
		}
		rows = append(rows, []string{"seat " + seatName(seat), texts.Group(n.Evaluations), texts.Group(n.NotFinite), texts.Group(n.Choices), illegal})
	}
	return rows
}

// Columns returns a table for the columns of each table of the dataset. With sums, those of steps have them.
func Columns(o *datasets.Overview) (all [][][]string) {
	m, sums := o.Manifest, o.SHA256
	for _, t := range []struct {
		name    string
		columns []datasets.Column
	}{{"steps", m.Steps.Columns}, {"episodes", m.Episodes.Columns}, {"finals", m.Finals.Columns}} {
		if len(t.columns) == 0 {
			continue
		}
		rows := [][]string{{t.name, "type", "shape", "what"}}
		if t.name == "steps" && sums != nil {
			rows[0][3] = "sha256"
		}
		for _, c := range t.columns {
			what, sizes := c.Doc, strings.Trim(strings.ReplaceAll(fmt.Sprint(c.Shape), " ", "×"), "[]")
			if t.name == "steps" && sums != nil {
				what = sums[c.Name]
			}
			if c.List {
				sizes = "any number"
			}
			rows = append(rows, []string{c.Name, string(c.Type), sizes, what})
		}
		all = append(all, rows)
	}
	return all
}

// Labels returns the shares of the orders that the actions encode, or only the heads.
func Labels(o *datasets.Overview) [][]string {
	rows := [][]string{{"labels", "heads with orders", "with a choice", "rows", "said as a whole", "rows with orders", "said as a whole"}}
	for _, l := range o.Labels {
		row := []string{"seat " + seatName(l.Seat)}
		for _, s := range []datasets.Share{l.Heads, l.Rows, l.Told} {
			row = append(row, texts.Group(s.All), fmt.Sprintf("%.2f %%", 100*s.Share))
		}
		rows = append(rows, row)
	}
	return rows
}

// Read returns of which rows the statistics are.
func Read(o *datasets.Overview) string {
	return fmt.Sprintf("statistics of %s in %s", texts.Plural(o.Rows, "row"), texts.Plural(o.Shards, "shard"))
}

// Statistics returns the statistics of planes, scalars and other numbers.
func Statistics(o *datasets.Overview) [][]string {
	rows := [][]string{{"what", "unit", "mean", "min", "max", "not 0"}}
	add := func(kind string, list ...datasets.Summary) {
		for _, s := range list {
			rows = append(rows, []string{kind + s.Name, s.Unit, console.FormatFloat(s.Mean), console.FormatFloat(s.Min), console.FormatFloat(s.Max), fmt.Sprintf("%.2f %%", 100*s.Nonzero)})
		}
	}
	add("plane ", o.Planes...)
	add("scalar ", o.Scalars...)
	add("", o.Turns, o.Choices, o.Reward, o.Return)
	for _, s := range []*datasets.Summary{o.Moves, o.Value} {
		if s != nil {
			add("search ", *s)
		}
	}
	return rows
}
