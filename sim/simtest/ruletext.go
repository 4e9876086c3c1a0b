package simtest

import (
	"strings"
	"testing"

	"moonfarm/sim/texts"
)

// RuleText is a function that reads the text of a game's rules, such as its
// ParseRules.
type RuleText[R comparable, P interface {
	*R
	Table() []texts.Rule
	AppendText(dst []byte) []byte
}] func(text []byte) (R, error)

// Is checks that each of the texts, and the canonical text, is read as r.
func (p RuleText[R, P]) Is(t testing.TB, r R, all ...string) {
	t.Helper()
	for _, text := range append(all, string(P(&r).AppendText(nil))) {
		if got, err := p([]byte(text)); err != nil || got != r {
			t.Errorf("%.80q: error %v, rules %+v, want %+v", text, err, got, r)
		}
	}
}

// Named checks that the name of a rule set is read as its rules, also with
// blanks and comments around it, and with the rules' own lines after it.
func (p RuleText[R, P]) Named(t *testing.T, name string, r R) {
	t.Helper()
	lines := strings.SplitAfter(string(P(&r).AppendText(nil)), "\n")
	p.Is(t, r, name, "  "+name+"\r\n\n", "# ours\n"+name+"\n"+strings.Join(lines, ""), name+"\n"+lines[0])
}

// EveryField sets all values of r that have a key to other values and reads its
// text back: a field without a key would be lost or keep its zero. set sets a
// value of the game's own kinds to the i-th of its kind.
func (p RuleText[R, P]) EveryField(t *testing.T, r R, set func(i int, value any)) {
	t.Helper()
	keys := map[string]bool{}
	for i, rule := range P(&r).Table() {
		if keys[rule.Key] {
			t.Errorf("key %s twice", rule.Key)
		}
		keys[rule.Key] = true
		switch v := rule.Value.(type) {
		case *int:
			*v = 1000 + i
		case *int32:
			*v = 1000 + int32(i)
		case *float32:
			*v = 1000.5 + float32(i)
		case *bool:
			*v = true
		default:
			set(i, v)
		}
	}
	text := string(P(&r).AppendText(nil))
	if strings.Contains(text, "=0\n") || strings.Contains(text, "=false\n") || strings.Contains(text, "=\n") {
		t.Errorf("a value kept its zero:\n%s", text)
	}
	if n := strings.Count(text, "\n"); n != len(keys) {
		t.Errorf("%d lines for %d keys", n, len(keys))
	}
	p.Is(t, r)
}

// Fuzz checks that any text is refused, or that its rules survive their
// canonical text. more may check the rules further.
func (p RuleText[R, P]) Fuzz(f *testing.F, more func(t *testing.T, r R), seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if r, err := p(text); err == nil {
			if p.Is(t, r); more != nil {
				more(t, r)
			}
		}
	})
}
