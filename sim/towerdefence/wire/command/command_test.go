package command

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/internal/plain"
)

// TestParseCommand has the order of each text.
func TestParseCommand(t *testing.T) {
	fail := func(n int) sim.Order { return towerdefence.Failed(towerdefence.Nothing, n) }
	build := towerdefence.Build
	for _, c := range []struct {
		text string
		want sim.Order
	}{
		{"", towerdefence.Nothing},
		{"No Command", towerdefence.Nothing},
		{"nothing,", towerdefence.Nothing},
		{"Exception", fail(1)},
		{"Exception,", fail(1)},
		{"Exception,,,", fail(1)},
		{"Exception, ", fail(2)},
		{",Exception", fail(2)},
		{"exception", towerdefence.Nothing},
		{",", towerdefence.Aborted},
		{",,,,", towerdefence.Aborted},
		{"1,2", fail(2)},
		{"1,2,", fail(2)},
		{",2", fail(2)},
		{"a,b", fail(2)},
		{"1,2,0", build(towerdefence.Defense, 1, 2)},
		{"7,7,1", build(towerdefence.Attack, 7, 7)},
		{"0,7,2,", build(towerdefence.Energy, 0, 7)},
		{"7,0,4,,,", build(towerdefence.Tesla, 7, 0)},
		{"3,4,3", towerdefence.Deconstruct(3, 4)},
		{"3,4,5", towerdefence.Curtain},
		{"-7,99,5", towerdefence.Curtain},
		{"2147483647,-2147483648,5", towerdefence.Curtain},
		{"2147483648,0,5", fail(1)},
		{"0,-2147483649,5", fail(1)},
		{"00000000000000000007,+1,-0", build(towerdefence.Defense, 7, 1)},
		{"8,0,0", towerdefence.Refused},
		{"0,8,1", towerdefence.Refused},
		{"-1,0,3", towerdefence.Refused},
		{"1,1,6", fail(1)},
		{"1,1,-1", fail(1)},
		{"1,1,", fail(2)},
		{",1,1", fail(1)},
		{",,1", fail(1)},
		{" 1,1,1", fail(1)},
		{"1,1,1\r", fail(1)},
		{"1,1,1 ", fail(1)},
		{"+,1,1", fail(1)},
		{"+-1,1,1", fail(1)},
		{"1.0,1,1", fail(1)},
		{"0x1,1,1", fail(1)},
		{"1_0,1,1", fail(1)},
		{"1,2,0,5", towerdefence.Failed(build(towerdefence.Defense, 1, 2), 1)},
		{"1,2,5,,x", towerdefence.Failed(towerdefence.Curtain, 1)},
		{"9,2,0,5", towerdefence.Failed(towerdefence.Refused, 1)},
		{"1,2,x,5", fail(2)},
		{"1,2,9,5", fail(2)},
		{"\u0661,\u096b,\uff12", build(towerdefence.Energy, 1, 5)},
		{"\U0001d7ce,1,1", fail(1)},
		{"\u00b2,1,1", fail(1)}, // superscript two is not a decimal digit
		{"\xff,1,1", fail(1)},
	} {
		t.Run(c.text, func(t *testing.T) {
			assert.Equalf(t, c.want, Parse(c.text), "%q: order", c.text)
		})
	}
}

// TestDigits checks the assumptions of digit about the table of digits.
func TestDigits(t *testing.T) {
	for _, span := range unicode.Nd.R16 {
		assert.Truef(t, span.Stride == 1 && (span.Hi-span.Lo+1)%10 == 0, "digits %#x–%#x by %d are not in runs of ten", span.Lo, span.Hi, span.Stride)
	}
}

// TestAppendCommand writes every order that a text can mean and reads it back.
func TestAppendCommand(t *testing.T) {
	orders := []sim.Order{towerdefence.Nothing, towerdefence.Curtain, towerdefence.Refused}
	for y := range towerdefence.Height {
		for x := range towerdefence.Width {
			orders = append(orders, towerdefence.Deconstruct(x, y))
			for _, k := range towerdefence.Kinds {
				orders = append(orders, towerdefence.Build(k, x, y))
			}
		}
	}
	for _, o := range orders {
		if text := Append(nil, o); Parse(string(text)) != o {
			t.Errorf("order %#x: %q reads back as %#x", o, text, Parse(string(text)))
		}
		if o == towerdefence.Nothing {
			continue
		}
		once := towerdefence.Failed(o, 1)
		if text := Append(nil, once); Parse(string(text)) != once {
			t.Errorf("order %#x: %q reads back as %#x", once, text, Parse(string(text)))
		}
	}
	for _, o := range []sim.Order{towerdefence.Aborted, towerdefence.Failed(0, 1), towerdefence.Failed(0, 2)} {
		if text := Append(nil, o); Parse(string(text)) != o {
			t.Errorf("order %#x: %q reads back as %#x", o, text, Parse(string(text)))
		}
	}
	assert.Equal(t, "> 7,3,4", string(Append([]byte("> "), towerdefence.Build(towerdefence.Tesla, 7, 3))))
}

// FuzzParseCommand compares the order of a text with the effect of the text on
// the plain game, in a position where most commands are accepted, and the text
// of the order with the text.
func FuzzParseCommand(f *testing.F) {
	for _, text := range []string{"", ",", "1,2", "1,2,3", "1,2,0,5", "Exception", "Exception,", "+1,-0,5", "\u0661,1,4", "1,1,1\r", "8,0,0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o := Parse(text)
		again := Parse(string(Append(nil, o)))
		if again != o {
			t.Errorf("%q is order %#x, written and read it is %#x", text, o, again)
		}
		g := rich()
		end := g.Play(text, "")
		if (end == plain.Aborted) != (o == towerdefence.Aborted) {
			t.Fatalf("%q: order %#x, the plain game ends with %v", text, o, end)
		}
		if end == plain.Aborted {
			return
		}
		want := rich()
		want.Play(string(Append(nil, o)), "")
		if !reflect.DeepEqual(g, want) {
			t.Errorf("%q is order %#x\n text %+v\norder %+v", text, o, g, want)
		}
	})
}

// rich returns a position in which A has a curtain, energy, buildings and a
// count of failures.
func rich() *plain.Game {
	g := plain.New(towerdefence.DefaultRules())
	g.Players[0].Energy, g.Players[0].CurtainAvailable = 1000, true
	g.Play("1,2,0", "")
	g.Play("3,4,1", "")
	g.Players[0].FailCount = 7
	return g
}

// TestCommandOf reads files as Java's Scanner does.
func TestCommandOf(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      None,
		" \t\r\n\v\f\x1c\x1f\u2003\u3000\u2028": None,
		"\u00a0":                                "\u00a0", // a blank that does not break a line is text to Java
		"\u2007\n":                              "\u2007",
		"\u202f":                                "\u202f",
		"\u0085":                                "", // an end of line, but not a blank
		"\x00":                                  "\x00",
		"\n1,2,0\n":                             "",
		"  \n1,2,0":                             "  ",
		"1,2,0":                                 "1,2,0",
		"1,2,0\r\n3,4,1":                        "1,2,0",
		"1,2,0\u20283,4,1":                      "1,2,0",
		"1,2,0 ":                                "1,2,0 ",
		"0,0,2\n\xff":                           None, // a read that meets a bad byte returns nothing
		"0,0,2" + strings.Repeat(" ", 1018) + "\xff":   None,
		"0,0,2" + strings.Repeat(" ", 1020) + "\n\xff": "0,0,2" + strings.Repeat(" ", 1019),
		"0,0,2" + strings.Repeat("é", 3000) + "\xff":   "0,0,2" + strings.Repeat("é", 2043),
		"0,0,2\n" + strings.Repeat("7", 1018) + "\xff": None, // also if it is the first byte of the next read
		"0,0,2\n" + strings.Repeat("7", 1018) + "\xe2": "0,0,2",
		strings.Repeat(" ", 1024) + "0,0,2\xff":        None,
		"\xff\xfe,2,0\n":                               None,
		"\ufeff1,2,0":                                  "\ufeff1,2,0",
	} {
		t.Run(fmt.Sprintf("%.40q", text), func(t *testing.T) {
			got, found := FromFile(text)
			assert.Truef(t, got == want && found == (want != None), "%q: command %q, want %q", text, got, want)
		})
	}
}
