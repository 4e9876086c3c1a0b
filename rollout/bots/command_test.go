package bots

import (
	"slices"
	"strings"
	"testing"
)

func TestSplitCommand(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
		err  string
	}{
		{"./bot", []string{"./bot"}, ""},
		{"  python3\tmain.py  {host} ", []string{"python3", "main.py", "{host}"}, ""},
		{`sh -c 'exec "./my bot" $@' ""`, []string{"sh", "-c", `exec "./my bot" $@`, ""}, ""},
		{`a"b c"d`, []string{"ab cd"}, ""},
		{`a 'b`, nil, "a quote ' is not closed"},
		{"  ", nil, "want the name of a program"},
		{`"" x`, nil, "want the name of a program"},
	} {
		got, err := SplitCommand(c.line)
		if c.err == "" && (err != nil || !slices.Equal(got, c.want)) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %q, %v; want %q, %q", c.line, got, err, c.want, c.err)
		}
	}
}
