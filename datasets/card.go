package datasets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
)

// cardText is README.md: the page that Hugging Face shows of a dataset. It follows
// from the manifest without its keys card and checksum.
func cardText(m *Manifest) []byte {
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

// plainYAML are the characters of texts that need no quotes in YAML …
const plainYAML = "abcdefghijklmnopqrstuvwxyz0123456789-."

// wordsYAML are … but for those that YAML 1.1 reads as a bool or null.
var wordsYAML = []string{"y", "yes", "n", "no", "true", "false", "on", "off", "null"}

// yaml quotes a text if need be. A string of JSON is one of YAML too.
func yaml(s string) string {
	if s != "" && strings.Trim(s, plainYAML) == "" && unicode.IsLetter(rune(s[0])) && !slices.Contains(wordsYAML, s) {
		return s
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string: cannot fail
	return strings.TrimSpace(b.String())
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

// title names the game and the policies.
func (c *cardWriter) title() string {
	if len(c.m.Job.Policies) == 0 {
		return c.m.Game.Name + ", recorded games"
	}
	return c.m.Game.Name + ": " + strings.Join(c.m.Job.Policies, " against ")
}

// head is the YAML that Hugging Face reads.
func (c *cardWriter) head() {
	c.printf("---\n")
	if c.m.Job.License != "" {
		c.printf("license: %s\n", yaml(c.m.Job.License))
	}
	c.printf("pretty_name: %s\n", yaml(c.title()))
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

// sizeCategory is Hugging Face's word for a number of rows.
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
	table      Table
}

// tables are the tables of the dataset, with what their rows are.
func (c *cardWriter) tables() []cardTable {
	list := []cardTable{
		{stepsDir, "one row for each turn and seat of every episode", c.m.Steps},
		{episodesDir, "one row for each episode, with all orders: it can be played again", c.m.Episodes},
	}
	if c.m.hasFinals() {
		list = append(list, cardTable{finalsDir, "one row for each episode and seat: what is seen after the last turn", c.m.Finals})
	}
	return list
}

func (c *cardWriter) what() {
	m, t := c.m, c.m.Totals
	c.printf("# %s\n\n", markdown(c.title()))
	c.printf("%d episodes of %s for %d seats, %d turns in all: %d step rows, %d bytes of Arrow files.\n", t.Episodes, markdown(m.Game.Name),
		m.Game.Players, t.Turns, t.Rows, t.Bytes)
	c.printf("Ended by the rules: %d, cut by a limit: %d.\n\n", t.Over, t.Cut)
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

// maxCardLines is the most lines of a table that could have many.
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
		for _, r := range p.Results {
			results = append(results, resultsText(r))
		}
		c.printf("| %s | %d | %s |\n", strings.Join(names, ", "), p.Episodes, strings.Join(results, "; "))
	}
	c.printf("\n")
}

// resultsText lists how often there was each result, the best first.
func resultsText(counts map[string]uint64) string {
	var keys []string
	for k := range counts {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		a, _ := strconv.ParseFloat(keys[i], 64) // the keys are numbers
		b, _ := strconv.ParseFloat(keys[j], 64)
		return a > b || a == b && keys[i] < keys[j]
	})
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%s: %d", markdown(k), counts[k])
	}
	return strings.Join(keys, ", ")
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

The page datasets/FORMAT.md of moonfarm describes every column and key; readers in Python, JavaScript and Go, unpackers and the split
into training and validation are beside it. Anybody can play the games again and compare every bit:

` + "```" + `sh
moonfarm verify . --recompute all
` + "```" + `
`)
}
