package bots

import (
	"testing"

	"github.com/stretchr/testify/require"
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
		{"  ", nil, "expected the name of a program"},
		{`"" x`, nil, "expected the name of a program"},
	} {
		t.Run(c.line, func(t *testing.T) {
			got, err := SplitCommand(c.line)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}
