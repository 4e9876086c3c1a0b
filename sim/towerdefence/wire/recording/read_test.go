package recording

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/simtest"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/display"
)

const (
	okHeader = `{"game":"g","seed":"s","policy":["a","b"],"energy":[20,20],"health":[100,100]}`
	okRound  = `{"r":0,"c":["",""],"p":[[25,100,0,5,0,-1,0],[25,100,0,5,0,-1,0]],"b":[],"m":[]}`
	okEnd    = `{"end":"cut","round":1,"winner":"tie","dead":0}`
	okGame   = okHeader + "\n" + okRound + "\n" + okEnd + "\n"
)

// readAll reads a recording to its end or first error.
func readAll(name string, in io.Reader) (lines int, err error) {
	r, err := NewReader(name, in)
	if err != nil {
		return 0, err
	}
	for {
		if _, err = r.Next(); err == io.EOF {
			return r.Line(), nil
		} else if err != nil {
			if _, again := r.Next(); again != err {
				return r.Line(), errors.New("the error does not stick")
			}
			return r.Line(), err
		}
	}
}

// TestReadRecording reads valid recordings.
func TestReadRecording(t *testing.T) {
	long := `{"game":"` + strings.Repeat("x", 1<<19) + strings.TrimPrefix(okHeader, `{"game":"g`)
	for name, text := range map[string]string{
		"empty":              "",
		"two games":          okGame + okGame,
		"no end of line":     strings.TrimSuffix(okGame, "\n"),
		"carriage returns":   strings.ReplaceAll(okGame, "\n", "\r\n"),
		"blanks":             strings.NewReplacer(":", " : ", ",", " ,\t", "[", "[ ", "}", " } ").Replace(okGame),
		"other order":        strings.Replace(okGame, `"r":0,"c":["",""]`, `"c":["",""],"r":0`, 1),
		"a long line":        long + "\n" + okRound + "\n" + okEnd + "\n",
		"escapes":            strings.Replace(okGame, `["",""]`, `["\"\\\u0041","é"]`, 1),
		"empty displays":     strings.Replace(okGame, `"m":[]`, `"m":[],"th":[],"ih":[]`, 1),
		"no rounds":          okHeader + "\n" + okEnd,
		"everything at once": strings.Replace(okGame, `"b":[],"m":[]`, `"b":[[0,0,4,5,-1,10],[15,7,0,20,3,0]],"m":[[3,3,0,4],[3,3,1,1]],"th":[[[0,0,1],[7,7,0]],[[8,1,1]]],"ih":[[8,1,0]]`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			lines, err := readAll(name, strings.NewReader(text))
			want := strings.Count(strings.TrimSuffix(text, "\n")+"\n", "\n")
			require.NoErrorf(t, err, "%s: %d lines of %d", name, lines, want)
			assert.Truef(t, text == "" || lines == want, "%s: %d lines of %d", name, lines, want)
		})
	}
}

// TestReadRecordingErrors checks the errors of invalid recordings.
func TestReadRecordingErrors(t *testing.T) {
	round := func(old, new string) string {
		return okHeader + "\n" + strings.Replace(okRound, old, new, 1) + "\n" + okEnd + "\n"
	}
	says := func(fault, want string) bool {
		return strings.HasPrefix(fault, "recording rec: ") && strings.Contains(fault, want)
	}
	read := func(text string) error { _, err := readAll("rec", strings.NewReader(text)); return err }
	simtest.Refuses(t, says, read, map[string]string{
		"\n":                       `line 1: column 1: expected '{', found the end of the text`,
		"nonsense":                 `line 1: column 1: expected '{', found "nonsense"`,
		"{}":                       `line 1: expected a header, round or end line, found an object without keys`,
		okRound:                    `line 1: expected a header line, found a round line`,
		okHeader + "\n" + okHeader: `line 2: expected a round line or an end line, found a header line`,
		okGame + okEnd:             `line 4: expected a header line, found an end line`,
		okHeader + "\n" + okRound:  `line 3: expected the rest of game "g", found the end of the file: unexpected EOF`,
		okHeader + "\n" + okRound + "\n" + okRound: `line 3: expected round 1, found round 0`,
		okHeader + " x":           `line 1: column 80: expected the end of the text, found "x"`,
		`{"render":"g0"}`:         `expected a key of a recording, found "render"`,
		`{"game":"g"}`:            `line 1: expected the key "seed" in a header line, found none`,
		`{"game":"g","game":"g"}`: `expected no key twice, found "game"`,
		`{"game":"g","r":0}`:      `expected a key of a header line, found "r"`,
		`{"game":"g`:              `column 11: expected the end of a string, found the end of the text`,
		`{"game":"\`:              `expected an escape, found "\\"`,
		`{"game":"\x"}`:           `expected an escape, found "\\x"`,
		`{"game":7}`:              `column 9: expected "\"", found "7"`,
		strings.Replace(okHeader, "[20,20]", "[20]", 1):                     `expected energies of 2 numbers, found 1`,
		strings.Replace(okHeader, "[20,20]", "[20,20,20]", 1):               `expected energies of 2 numbers, found 3`,
		strings.Replace(okHeader, "[20,20]", "[20,1.5]", 1):                 `expected ',' or ']', found ".5"`,
		strings.Replace(okHeader, "20]", "2147483648]", 1):                  `expected an integer of 32 bits, found "2147483648"`,
		strings.Replace(okHeader, `"b"]`, `"b","c"]`, 1):                    `expected two policies, found 3`,
		round(`["",""]`, `[""]`):                                            `line 2: column 16: expected two commands, found 1`,
		round(`,[25,100,0,5,0,-1,0]]`, `]`):                                 `expected two players, found 1`,
		round(`5,0,-1,0]`, `5,2,-1,0]`):                                     `expected 0 or 1 for the curtain's availability, found 2`,
		round(`"b":[]`, `"b":[[0,0,3,5,0,0]]`):                              `expected a building of type 0, 1, 2 or 4, found 3`,
		round(`"b":[]`, `"b":[[16,0,0,5,0,0]]`):                             `expected a column below 16, a row below 8 and an owner 0 or 1, found 16, 0 and 0`,
		round(`"b":[]`, `"b":[[1,0,0,5,0,0],[1,0,0,5,0,0]]`):                `expected cells sorted by row, column and owner, found [1,0] behind a later one or itself`,
		round(`"m":[]`, `"m":[[1,0,2,1]]`):                                  `found 1, 0 and 2`,
		round(`"m":[]`, `"m":[[1,0,1,0]]`):                                  `expected from 1 to 255 missiles, found 0`,
		round(`"m":[]`, `"m":[[1,0,1,999999999]]`):                          `expected from 1 to 255 missiles, found 999999999`,
		round(`"m":[]`, `"m":[],"ih":[[0,-1,0]]`):                           `found 0, -1 and 0`,
		round(`"m":[]`, `"m":[[`):                                           `expected an integer of 32 bits, found "}"`,
		okHeader + "\n" + strings.Replace(okEnd, "cut", "bored", 1):         `expected one of ["dead" "maxrounds" "timeout" "cut" "aborted"], found "\"bored\"`,
		okHeader + "\n" + strings.Replace(okEnd, `"dead":0`, `"dead":3`, 1): `expected dead bases from 0 to 2, found "3"`,
		`{"game":"` + strings.Repeat("x", maxLine):                          `line 1: expected at most 1048576 bytes in a line, found more`,
		"\x1f\x8b": `gzip: unexpected EOF`,
	})
}

// TestReadRecordingGzip reads compressed text, and readers that fail.
func TestReadRecordingGzip(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, okGame)
	z.Close()
	lines, err := readAll("rec", bytes.NewReader(packed.Bytes()))
	assert.Truef(t, lines == 3 && err == nil, "%d lines, error %v", lines, err)
	_, err = readAll("rec", bytes.NewReader(packed.Bytes()[:packed.Len()/2]))
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	broken := io.MultiReader(strings.NewReader(okHeader+"\n"), iotest.ErrReader(io.ErrClosedPipe))
	_, err = readAll("rec", broken)
	assert.Truef(t, errors.Is(err, io.ErrClosedPipe) && strings.Contains(err.Error(), "line 2: reading"), "error %v", err)
}

// FuzzReadRecording: any bytes are read or refused, and recordings that are
// read have a text that reads back the same.
func FuzzReadRecording(f *testing.F) {
	f.Add([]byte(okGame))
	f.Add([]byte(strings.Replace(okGame, `"b":[],"m":[]`, `"b":[[0,0,4,5,-1,10],[15,7,0,20,3,0]],"m":[[3,3,0,4],[3,3,1,1]],"th":[[[0,0,1],[7,7,0]],[[8,1,1]]],"ih":[[8,1,0]]`, 1)))
	f.Add([]byte(strings.Replace(okGame, `["",""]`, `["\"\\\u0041","é"]`, 1)))
	f.Add([]byte(strings.Replace(okGame, `["",""]`, "[\"\x80\",\"\\u0001\x7f\"]", 1)))
	f.Fuzz(func(t *testing.T, text []byte) {
		once, err := rewrite(text)
		if err != nil {
			return
		}
		twice, err := rewrite(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Errorf("written %q, read and written again %q, error %v", once, twice, err)
		}
	})
}

// rewrite reads a recording and writes it in its canonical form, via positions
// and displays.
func rewrite(text []byte) ([]byte, error) {
	r, err := NewReader("rec", bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := NewWriter(&out)
	for {
		kind, err := r.Next()
		switch {
		case err == io.EOF:
			return out.Bytes(), nil
		case err != nil:
			return nil, err
		case kind == HeaderLine:
			w.Header(r.Header)
		case kind == ResultLine:
			w.Result(r.Result)
		default:
			p := r.Round.Position(towerdefence.DefaultRules(), display.SeatA)
			line := RoundOf(p, r.Round.Commands)
			w.Round(&line)
			p.AppendState(nil, display.SeatB)
			p.AppendTextMap(nil, display.SeatA)
			p.AppendConsole(nil)
		}
	}
}
