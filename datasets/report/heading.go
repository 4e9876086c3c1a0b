package report

import (
	"fmt"
	"strconv"
	"strings"

	"moonfarm/datasets"
	"moonfarm/rollout/redact"
	"moonfarm/sim/texts"
)

// title returns the names of the game and of the policies.
func (b *builder) title() string {
	if len(b.m.Job.Policies) == 0 {
		return b.m.Game.Name + ": recorded games"
	}
	return b.m.Game.Name + ": " + strings.Join(b.m.Job.Policies, " against ")
}

// facts returns the lines of the heading.
func (b *builder) facts() []fact {
	m, t := b.m, b.m.Totals
	size := fmt.Sprintf("%s, %s, %s in %s, %s", texts.Plural(t.Episodes, "episode"), texts.Plural(t.Turns, "turn"), texts.Plural(t.Rows, "row"),
		texts.Plural(t.Shards, "shard"), formatSize(t.Bytes))
	if t.Rows > 0 {
		size += fmt.Sprintf(" (%.1f bytes a row)", float64(t.Bytes)/float64(t.Rows))
	}
	list := []fact{{"Dataset", redact.Text(b.dir), false}, {"Game", fmt.Sprintf("%s, %s", m.Game.Name, texts.Plural(m.Game.Players, "seat")), false}, {"Size", size, false}}
	versions := map[string]bool{}
	var names []string
	for _, r := range m.Rules {
		if !versions[r.Version] {
			versions[r.Version] = true
			names = append(names, r.Version)
		}
	}
	list = append(list, fact{"Rules", firstOf(names, 10, "versions"), false})
	for seat, name := range m.Job.Policies {
		list = append(list, fact{"Policy of seat " + seatName(seat), name, false})
	}
	if m.Job.Source != "" {
		list = append(list, fact{"Imported from", m.Job.Source, false})
	} else {
		list = append(list, fact{"Seed", strconv.FormatUint(m.Job.Seed, 10), false})
	}
	list = append(list, fact{"Reward", fmt.Sprintf("%s: %s; discount %s", m.Reward.Name, m.Reward.Doc, strconv.FormatFloat(m.Reward.Gamma, 'g', -1, 64)), false},
		fact{"Observations", b.observed(), false})
	return list
}

// firstOf joins texts, and counts those after the first ones.
func firstOf(list []string, most int, what string) string {
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d %s more", strings.Join(list[:most], ", "), len(list)-most, what)
}

// observed describes the observations in a line.
func (b *builder) observed() string {
	o := &b.m.Observation
	text := ""
	switch o.Form {
	case datasets.ObsNone:
		return "none: the rows have orders alone"
	case datasets.ObsPacked:
		text = fmt.Sprintf("packed in %s of 64 bits, which unpack to planes [%d, %d, %d], and %s", texts.Plural(o.Words, "word"), o.Planes, o.Height, o.Width, texts.Plural(o.Scalars, "scalar"))
	default:
		text = fmt.Sprintf("planes [%d, %d, %d] and %s", o.Planes, o.Height, o.Width, texts.Plural(o.Scalars, "scalar"))
	}
	if b.m.Job.Form != "" {
		text = "form " + b.m.Job.Form + ": " + text
	}
	return text
}

// formatSize formats a number of bytes.
func formatSize(bytes uint64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	v, k := float64(bytes), 0
	for ; v >= 1024 && k < len(units)-1; k++ {
		v /= 1024
	}
	if k == 0 {
		return texts.Group(bytes) + " bytes"
	}
	return fmt.Sprintf("%.1f %s", v, units[k])
}

// mostListed bounds the rows of tables that could have many.
const mostListed = 200

// made shows how the dataset was made, and how to check it.
func (b *builder) made() []section {
	m := b.m
	t := table{Caption: "How the dataset was made", Head: heads("what", "value")}
	add := func(what, value string) {
		if value != "" {
			t.Rows = append(t.Rows, []cell{head(what), {Text: value, Long: true}})
		}
	}
	by := m.Command
	if by == "" {
		by = "a program, with the Go package datasets"
	}
	add("made by", by)
	add("moonfarm", m.Moonfarm)
	add("format", strconv.Itoa(m.Format))
	add("licence", m.Job.License)
	add("opening", m.Job.Opening)
	add("policy asked in every row", m.Job.Ask)
	if n := m.Job.MaxTurns; n > 0 {
		add("most turns", strconv.Itoa(n))
	}
	add("codec", string(m.Job.Codec))
	if names := m.Observation.Remembered; len(names) > 0 {
		add("planes with memory", strings.Join(names, ", "))
	}
	add("sha256 of the manifest, without this sum", m.Checksum)
	sums := table{Caption: "Sums (sha256)", Closed: true, Head: heads("of", "#bytes", "sha256")}
	sum := func(what string, bytes uint64, sha string) {
		size := ""
		if bytes > 0 {
			size = texts.Group(bytes)
		}
		sums.Rows = append(sums.Rows, []cell{head(what), number(size), {Text: sha, Long: true}})
	}
	for i, r := range m.Rules[:min(len(m.Rules), mostListed)] {
		sum(fmt.Sprintf("rules %d, version %s", i, r.Version), uint64(len(m.Job.Rules[i])), r.SHA256)
	}
	for _, p := range m.Index[:min(len(m.Index), mostListed)] {
		sum(p.Path, p.Bytes, p.SHA256)
	}
	for _, a := range append([]datasets.Attachment{m.Statistics, m.Card}, m.Job.Models...) {
		if a.Path != "" {
			sum(a.Path, a.Bytes, a.SHA256)
		}
	}
	s := section{ID: "made", Title: "How it was made", Tables: []table{t, sums}, Code: "moonfarm verify " + quote(redact.Text(b.dir)) + " --recompute all",
		Text: []string{"This command plays all episodes again and compares every bit; without --recompute it compares the checksums of all files. The index has the sums of the other files."}}
	for _, n := range []int{len(m.Rules), len(m.Index)} {
		if n > mostListed {
			s.Text = append(s.Text, fmt.Sprintf("The first %d of %d are listed.", mostListed, n))
		}
	}
	return []section{s}
}

// columns shows the columns of the tables.
func (b *builder) columns() []section {
	s := section{ID: "columns", Title: "Columns"}
	for _, t := range []struct {
		name, rows string
		info       datasets.TableInfo
	}{{"steps", "a row for each turn and seat", b.m.Steps}, {"episodes", "a row for each episode", b.m.Episodes}, {"finals", "a row for each episode and seat", b.m.Finals}} {
		if len(t.info.Columns) == 0 {
			continue
		}
		x := table{Caption: fmt.Sprintf("Columns of %s: %s", t.name, t.rows), Closed: true, Head: heads("column", "type", "shape", "what it is")}
		for _, c := range t.info.Columns {
			shape := strings.Trim(strings.ReplaceAll(fmt.Sprint(c.Shape), " ", "×"), "[]")
			if c.List {
				shape = "any number"
			}
			x.Rows = append(x.Rows, []cell{head(c.Name), {Text: string(c.Type)}, {Text: shape}, {Text: c.Doc, Long: true}})
		}
		s.Tables = append(s.Tables, x)
	}
	return []section{s}
}
