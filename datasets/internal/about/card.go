package about

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"moonfarm/datasets/internal/jsontext"
	"moonfarm/datasets/internal/stats"
	"moonfarm/datasets/internal/store"
)

// CardText returns README.md, the page that Hugging Face shows for a dataset. It
// follows from the manifest without its keys card and checksum.
func CardText(m *Manifest) []byte {
	c := &cardWriter{m: m}
	c.head()
	c.what()
	c.made()
	c.columns()
	c.sums()
	c.reading()
	return []byte(c.String())
}

type cardWriter struct {
	strings.Builder
	m *Manifest
}

func (c *cardWriter) printf(format string, args ...any) { fmt.Fprintf(c, format, args...) }

// plainYAML has the characters of texts that need no quotes in YAML …
const plainYAML = "abcdefghijklmnopqrstuvwxyz0123456789-."

// wordsYAML lists words of these characters that YAML 1.1 reads as a bool or null.
var wordsYAML = []string{"y", "yes", "n", "no", "true", "false", "on", "off", "null"}

// yaml quotes a text if needed. A JSON string is also a YAML string.
func yaml(s string) string {
	if s != "" && strings.Trim(s, plainYAML) == "" && unicode.IsLetter(rune(s[0])) && !slices.Contains(wordsYAML, s) {
		return s
	}
	text, _ := jsontext.Encode(s) // a string: cannot fail
	return string(bytes.TrimSpace(text))
}

// markdown escapes a text for one line of Markdown.
func markdown(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case unicode.IsControl(r):
			r = ' '
		case strings.ContainsRune("\\`*_{}[]<>#|~", r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// head writes the YAML that Hugging Face reads.
func (c *cardWriter) head() {
	c.printf("---\n")
	if c.m.Job.License != "" {
		c.printf("license: %s\n", yaml(c.m.Job.License))
	}
	c.printf("pretty_name: %s\n", yaml(c.m.Title()))
	c.printf("task_categories:\n- reinforcement-learning\ntags:\n- moonfarm\n- games\n- %s\n", yaml(c.m.Game.Name))
	c.printf("size_categories:\n- %s\nconfigs:\n", yaml(sizeCategory(c.m.Totals.Rows)))
	for i, table := range c.tables() {
		c.printf("- config_name: %s\n", table.name)
		if i == 0 {
			c.printf("  default: true\n")
		}
		c.printf("  data_files: %s/*.arrow\n", table.name)
	}
	c.printf("---\n\n")
}

// sizeCategory returns Hugging Face's word for a number of rows.
func sizeCategory(rows uint64) string {
	bounds := []string{"1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B", "100B", "1T"}
	for i, at := 0, uint64(1000); i < len(bounds); i, at = i+1, at*10 {
		if rows < at {
			if i == 0 {
				return "n<1K"
			}
			return bounds[i-1] + "<n<" + bounds[i]
		}
	}
	return "n>1T"
}

type cardTable struct {
	name, what string
	table      TableInfo
}

// tables returns the tables of the dataset, with a description of their rows.
func (c *cardWriter) tables() []cardTable {
	list := []cardTable{
		{StepsDir, "one row for each turn and seat of every episode", c.m.Steps},
		{EpisodesDir, "one row for each episode, with all orders: it can be played again", c.m.Episodes},
	}
	if c.m.HasFinals() {
		list = append(list, cardTable{FinalsDir, "one row for each episode and seat: what is seen after the last turn", c.m.Finals})
	}
	return list
}

func (c *cardWriter) what() {
	m, t := c.m, c.m.Totals
	c.printf("# %s\n\n", markdown(c.m.Title()))
	c.printf("%d episodes of %s for %d seats, %d turns in all: %d step rows, %d bytes of Arrow files.\n", t.Episodes, markdown(m.Game.Name),
		m.Game.Players, t.Turns, t.Rows, t.Bytes)
	c.printf("Ended by the rules: %d, cut by a limit: %d.\n", t.Over, t.Cut)
	c.distinct()
	switch o := m.Observation; o.Form {
	case ObsNone:
		c.printf("There are no observations, masks and actions: orders only.\n")
	case ObsPacked:
		c.printf("Observations are packed in %d words, which unpack to planes [%d, %d, %d], and %d scalars.\n", o.Words, o.Planes, o.Height, o.Width, o.Scalars)
	default:
		c.printf("Observations are planes [%d, %d, %d] and %d scalars.\n", o.Planes, o.Height, o.Width, o.Scalars)
	}
	if names := m.Observation.Remembered; len(names) > 0 {
		c.printf("Out of sight these planes show what was last seen: %s.\n", markdown(strings.Join(names, ", ")))
	}
	c.printf("The reward is `%s`: %s. Returns are discounted by %s.\n\n", m.Reward.Name, markdown(m.Reward.Doc),
		strconv.FormatFloat(m.Reward.Gamma, 'g', -1, 64))
}

// distinct writes the number of different games.
func (c *cardWriter) distinct() {
	t := c.m.Totals
	if t.Distinct == t.Episodes {
		c.printf("No two episodes are the same game.\n\n")
		return
	}
	c.printf("Different games, by their start and all orders: %d. The others repeat one of these; the split into training and validation\n"+
		"puts equal games on one side.\n\n", t.Distinct)
}

// networks writes how often the networks of policies gave logits that are not finite,
// or an illegal choice.
func (c *cardWriter) networks() {
	for seat, n := range c.m.Totals.Networks {
		if n.Evaluations == 0 {
			continue
		}
		name := ""
		if seat < len(c.m.Job.Policies) {
			name = ", " + markdown(c.m.Job.Policies[seat]) + ","
		}
		c.printf("The network at seat %d%s gave NaN or infinite logits or values in %d of %d evaluations.\n", seat, name, n.NotFinite, n.Evaluations)
		if n.Choices > 0 {
			c.printf("Its likeliest choice was illegal in %d of %d choices: there the mask alone kept it from it.\n", n.Illegal, n.Choices)
		}
		c.printf("\n")
	}
}

// maxCardLines bounds the lines of tables that could have many.
const maxCardLines = 50

func (c *cardWriter) made() {
	m := c.m
	c.printf("## How it was made\n\n")
	if m.Command != "" {
		c.printf("By moonfarm %s:\n\n```sh\n%s\n```\n\n", m.Moonfarm, strings.ReplaceAll(m.Command, "```", "` ` `"))
	} else {
		c.printf("By a program, with the Go package of moonfarm %s.\n\n", m.Moonfarm)
	}
	for i, r := range m.Rules {
		if i == maxCardLines {
			c.printf("- and %d rules more\n", len(m.Rules)-i)
			break
		}
		c.printf("- rules %s, sha256 of their text %s\n", markdown(r.Version), r.SHA256)
	}
	if m.Job.Ask != "" {
		c.printf("\nThe column `asked` has what `%s` would choose in each row, whoever plays.\n", m.Job.Ask)
	}
	if turns, _ := OpeningTurns(m.Job.Opening); turns > 0 {
		c.printf("\nThe first %d turns of every seat were drawn by `%s`, not chosen by its policy: leave them out to learn from that.\n", turns, openingPolicy)
	}
	c.printf("\n| who played, seat by seat | episodes | results, seat by seat |\n|---|---|---|\n")
	for i, p := range m.Totals.Pairings {
		if i == maxCardLines {
			c.printf("| and %d pairings more | | |\n", len(m.Totals.Pairings)-i)
			break
		}
		var names, results []string
		for _, name := range p.Policies {
			names = append(names, markdown(name))
		}
		if len(names) == 0 {
			names = []string{"all others"}
		}
		for _, o := range p.Outcomes() {
			var counts []string
			for _, r := range o.Results {
				counts = append(counts, fmt.Sprintf("%s: %d", markdown(r.Result), r.Episodes))
			}
			results = append(results, strings.Join(counts, ", "))
		}
		c.printf("| %s | %d | %s |\n", strings.Join(names, ", "), p.Episodes, strings.Join(results, "; "))
	}
	c.printf("\n")
	c.networks()
}

func (c *cardWriter) columns() {
	for _, t := range c.tables() {
		c.printf("## %s\n\n%s.\n\n| column | type | what it is |\n|---|---|---|\n", t.name, strings.ToUpper(t.what[:1])+t.what[1:])
		for _, col := range t.table.Columns {
			shape := ""
			if col.List {
				shape = ", any number"
			} else if len(col.Shape) > 0 {
				shape = " " + strings.ReplaceAll(fmt.Sprint(col.Shape), " ", ", ")
			}
			c.printf("| `%s` | %s%s | %s |\n", col.Name, col.Type, shape, markdown(col.Doc))
		}
		c.printf("\n")
	}
}

func (c *cardWriter) sums() {
	m := c.m
	c.printf("## Sums\n\n`manifest.json` tells all of the above to programs, and what planes, scalars and choices mean. It has the sha256 of the\n")
	c.printf("parts of the index, and they have those of all Arrow files.\n\n| file | bytes | sha256 |\n|---|---|---|\n")
	for i, p := range m.Index {
		if i == maxCardLines {
			c.printf("| and %d parts of the index more | | |\n", len(m.Index)-i)
			break
		}
		c.printf("| %s | %d | %s |\n", p.Path, p.Bytes, p.SHA256)
	}
	if s := m.Statistics; s.Path != "" {
		c.printf("| %s | %d | %s |\n", s.Path, s.Bytes, s.SHA256)
		c.printf("\n`%s` has mean, deviation and range of every plane and scalar.\n", s.Path)
	}
	c.printf("\n")
}

func (c *cardWriter) reading() {
	c.printf(`## How to read it

In Python:

` + "```" + `python
import pyarrow as pa

steps = pa.ipc.open_file(pa.memory_map("steps/00000.arrow")).read_all()
` + "```" + `

`)
	if c.m.Job.TensorMetadata == TensorsPlain {
		c.printf(`With Hugging Face datasets:

` + "```" + `python
from datasets import load_dataset

steps = load_dataset(".", split="train")
` + "```" + `

A row of a column with a shape is a list of its values, row-major. The metadata of its field has the shape, too, as ` + "`moonfarm.shape`" + `.

`)
	}
	c.printf(`The page datasets/FORMAT.md of moonfarm describes every column and key; readers in Python, JavaScript and Go, unpackers and the split
into training and validation are beside it. Anybody can play the games again and compare every bit:

` + "```" + `sh
moonfarm verify . --recompute all
` + "```" + `
`)
}

// AttachmentOf describes a text beside the manifest.
func AttachmentOf(name string, text []byte) Attachment {
	return Attachment{Path: name, SHA256: store.SHA256(text), Bytes: uint64(len(text))}
}

// StatisticsOf returns the Statistics of the sums of all shards.
func (m *Manifest) StatisticsOf(sum *stats.Sums) *stats.Statistics {
	o := m.Observation
	return sum.Statistics(o.PlaneFields, o.ScalarFields, o.Height*o.Width)
}

// Attachments lists the texts beside the manifest.
func (m *Manifest) Attachments() []Attachment {
	return slices.DeleteFunc([]Attachment{m.Statistics, m.Card}, func(a Attachment) bool { return a.Path == "" })
}
