package recording

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/simtest"
	"moonfarm/sim/towerdefence"
)

// TestVerifyDifference changes digits of a recorded game, one at a time: every
// third, or every one if MOONFARM_LONG is set. Each change must be found in its
// line.
func TestVerifyDifference(t *testing.T) {
	text, err := os.ReadFile(goldenGame)
	require.NoError(t, err)
	verify := func(text []byte) (Report, error) {
		return Verify("golden", bytes.NewReader(text), towerdefence.DefaultRules())
	}
	report, err := verify(text)
	want := (Report{Games: 1, Rounds: goldenRounds})
	require.NoError(t, err)
	require.Truef(t, report == want, "error, report %+v, want %+v", report, want)
	line, changes, refused, digits, each := 1, 0, 0, 0, 3
	if os.Getenv("MOONFARM_LONG") != "" {
		each = 1
	}
	inText := false
	for i, c := range text {
		switch {
		case c == '\n':
			line++
		case c == '"':
			inText = !inText
		}
		if c < '0' || c > '9' || inText || line == 1 {
			continue
		}
		if digits++; digits%each != 0 {
			continue
		}
		changed := bytes.Clone(text)
		changed[i] = '0' + (c-'0'+1)%10
		changes++
		report, err := verify(changed)
		switch {
		case err != nil: // out of range or order, which also finds the change
			refused++
			assert.Truef(t, strings.HasPrefix(err.Error(), fmt.Sprintf("recording golden: line %d:", line)), "line %d byte %d: error %v", line, i, err)
		case report.First == nil || report.First.Line != line || report.Different != 1 || report.First.Game != "golden":
			t.Errorf("line %d byte %d: difference %v", line, i, report.First)
		}
	}
	t.Logf("%d changes found, %d of them as lines that cannot be", changes, refused)
	assert.Truef(t, refused*2 <= changes && changes != 0, "%d changes, %d refused", changes, refused)
}

// TestVerifyFields checks the names of fields in differences.
func TestVerifyFields(t *testing.T) {
	game := func(round, end string) string { return okHeader + "\n" + round + "\n" + end + "\n" }
	played := `{"r":0,"c":["3,3,2",""],"p":[[5,100,0,8,0,-1,0],[25,100,0,5,0,-1,0]],"b":[[3,3,2,5,0,0]],"m":[]}`
	aWins := strings.Replace(okEnd, "tie", "A", 1)
	for _, c := range []struct{ round, end, want string }{
		{okRound, okEnd, ""},
		{played, okEnd, "winner: recorded tie, played A"},
		{played, aWins, ""},
		{strings.Replace(okRound, "[25,", "[24,", 1), okEnd, "line 2: game g, round 0: p[0].energy: recorded 24, played 25"},
		{strings.Replace(okRound, "0,-1,0],[", "1,-1,0],[", 1), okEnd, "p[0].curtainAvailable: recorded true, played false"},
		{strings.Replace(okRound, "-1,0]]", "-1,1]]", 1), okEnd, "p[1].failCount: recorded 1, played 0"},
		{strings.Replace(okRound, `"b":[]`, `"b":[[3,0,1,5,0,0]]`, 1), okEnd, "b[3,0]: recorded ATTACK, played nothing"},
		{strings.Replace(played, `[[3,3,2,5,0,0]]`, `[]`, 1), okEnd, "b[3,3]: recorded nothing, played ENERGY"},
		{strings.Replace(played, `[[3,3,2`, `[[3,3,1`, 1), okEnd, "b[3,3].type: recorded ATTACK, played ENERGY"},
		{strings.Replace(played, `2,5,0,0]]`, `2,4,0,0]]`, 1), okEnd, "b[3,3].health: recorded 4, played 5"},
		{strings.Replace(played, `2,5,0,0]]`, `2,5,1,0]]`, 1), okEnd, "b[3,3].buildTime: recorded 1, played 0"},
		{strings.Replace(played, `2,5,0,0]]`, `2,5,0,3]]`, 1), okEnd, "b[3,3].cooldown: recorded 3, played 0"},
		{strings.Replace(played, `[[3,3`, `[[3,2`, 1), okEnd, "b[3,2]: recorded ENERGY, played nothing"},
		{strings.Replace(played, `[[3,3`, `[[3,4`, 1), okEnd, "b[3,3]: recorded nothing, played ENERGY"},
		{strings.Replace(okRound, `"m":[]`, `"m":[[3,0,0,1]]`, 1), okEnd, "m[3,0,0]: recorded 1, played 0"},
		{strings.Replace(okRound, `"m":[]`, `"m":[],"th":[[[0,0,0]]]`, 1), okEnd, "th: recorded [[{0 0 0}]], played []"},
		{strings.Replace(okRound, `"m":[]`, `"m":[],"ih":[[8,0,0]]`, 1), okEnd, "ih: recorded [{8 0 0}], played []"},
		{okRound, strings.Replace(okEnd, "cut", "dead", 1), "line 3: game g, round 0: end: recorded dead, played cut"},
		{okRound, strings.Replace(okEnd, `"round":1`, `"round":2`, 1), "round: recorded 2, played 1"},
		{okRound, strings.Replace(okEnd, "tie", "B", 1), "winner: recorded B, played tie"},
		{okRound, strings.Replace(okEnd, `"dead":0`, `"dead":1`, 1), "dead: recorded 1, played 0"},
	} {
		t.Run(fmt.Sprintf("%q", c.want), func(t *testing.T) {
			report, err := Verify("g", strings.NewReader(game(c.round, c.end)), towerdefence.DefaultRules())
			switch {
			case err != nil:
				t.Error(err)
			case c.want == "" && report.First != nil:
				t.Errorf("%s: difference %v", c.round, report.First)
			case c.want != "" && (report.First == nil || !strings.Contains(report.First.Error(), c.want)):
				t.Errorf("%s: difference %v, want %q", c.round, report.First, c.want)
			}
		})
	}
}

// TestVerifyGoesOn finds the first difference of a game and compares the other
// games.
func TestVerifyGoesOn(t *testing.T) {
	bad := strings.Replace(okGame, "[25,", "[26,", 1)
	report, err := Verify("g", strings.NewReader(okGame+bad+okGame+bad), towerdefence.DefaultRules())
	require.NoError(t, err)
	assert.Truef(t, report.Games == 4 && report.Rounds == 4 && report.Different == 2 && report.First != nil && report.First.Line == 5, "error, report %+v", report)
}

// TestVerifyBeyondTheEnd has a round after the last one.
func TestVerifyBeyondTheEnd(t *testing.T) {
	rules := towerdefence.DefaultRules()
	rules.MaxRounds = 1
	text := okHeader + "\n" + okRound + "\n"
	for i, p := range []string{"[30,100,0,10,0,-2,0]", "[35,100,0,15,0,-3,0]"} {
		next := strings.Replace(okRound, `"r":0`, fmt.Sprintf(`"r":%d`, i+1), 1)
		text += strings.ReplaceAll(next, "[25,100,0,5,0,-1,0]", p) + "\n"
	}
	text += okEnd + "\n"
	report, err := Verify("g", strings.NewReader(text), rules)
	want := "line 4: game g, round 2: r: recorded a further round, played the end: maxrounds"
	require.NoError(t, err)
	assert.Truef(t, report.First != nil && report.First.Error() == want, "error, difference %v, want %s", report.First, want)
}

// verifyText returns the error of Verify for a text.
func verifyText(text string) error {
	_, err := Verify("x", strings.NewReader(text), towerdefence.DefaultRules())
	return err
}

// TestVerifyErrors checks the errors of impossible recordings.
func TestVerifyErrors(t *testing.T) {
	with := func(old, new string) string { return strings.Replace(okGame, old, new, 1) }
	simtest.Refuses(t, strings.HasPrefix, verifyText, map[string]string{
		with(`"energy":[20,`, `"energy":[-1,`): "recording x: line 1: expected a start energy from 0 to 1000000, found -1",
		with(`"health":[100,`, `"health":[0,`): "recording x: line 1: expected a base health from 1 to 1000, found 0",
		with(`"r":0`, `"r":1`):                 "recording x: line 2: expected round 0, found round 1",
		with(okEnd, ""):                        "recording x: line 3:",
	})
}
