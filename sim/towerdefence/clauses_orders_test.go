package towerdefence_test

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/internal/plain"
)

// Tests of the clauses of RULES.md, section 4.

func TestClause_4_1_Nothing(t *testing.T) {
	m := begin(t, "round 40\nA energy 0 fails 7\nB ready yes", nil)
	require.Equal(t, sim.Running, m.g.Play(&m.s, 0, 0), "the match is over")
	m.want("A energy 5 fails 7\nB ready yes fails 0")
	begin(t, "A fails 7", nil).play("", "No Command").play("anything", "").want("A fails 7\nB fails 0")
}

func TestClause_4_2_Building(t *testing.T) {
	for _, c := range []struct{ command, price, before, after, row string }{
		{"3,3,0", "30", "A energy 29", "A energy 30", "3 . . . d2 . . . . | . . . . . . . ."},
		{"3,3,1", "30", "A energy 29", "A energy 30", "3 . . . A . . . . | . . . . . . . ."},
		{"3,3,2", "20", "A energy 19", "A energy 20", "3 . . . E . . . . | . . . . . . . ."},
		{"3,3,4", "100", "A energy 99", "A energy 100", "3 . . . t9 . . . . | . . . . . . . ."},
	} {
		t.Run(c.command, func(t *testing.T) {
			begin(t, c.before, nil).play(c.command, "").want("A fails 1\n3 . . . . . . . . | . . . . . . . .")
			begin(t, c.after, nil).play(c.command, "").want("A energy 5 fails 0\n" + c.row)
			begin(t, "round 9\nA energy 500\n3 . . . D . . . . | . . . . . . . .", nil).play(c.command, "").
				want("A energy 505 score 5 fails 1\n3 . . . D . . . . | . . . . . . . .")
		})
	}
	begin(t, "round 9\nA energy 500\n3 . . . d2 . . . . | . . . . . . . .", nil).play("3,3,2", "").want("A energy 505 fails 1")
}

func TestClause_4_3_TwoTowers(t *testing.T) {
	begin(t, "A energy 900", nil).play("0,0,4", "").play("0,1,4", "").play("0,2,4", "").want(`
		A energy 715 fails 1
		0 t7 . . . . . . . | . . . . . . . .
		1 t8 . . . . . . . | . . . . . . . .
		2 . . . . . . . . | . . . . . . . .`).
		play("0,0,3", "").play("0,2,4", "").want("A fails 0\n2 t9 . . . . . . . | . . . . . . . .")
}

func TestClause_4_4_Deconstruct(t *testing.T) {
	begin(t, "round 9\nA energy 0\n0 D'' . d1 . .> . . . | . . . . . . . .", nil).
		play("0,0,3", "").want("A energy 10 score 5 fails 0\n0 . . D . . . .> . | . . . . . . . .").
		play("0,0,3", "").want("A energy 15 fails 1").
		play("2,0,3", "").want("A energy 25 score 15 fails 0\n0 . . . . . . . . | . . .> . . . . .")
	begin(t, "A energy 30", nil).play("0,0,0", "").play("0,0,3", "").want(`
		A energy 15 score 20
		0 . . . . . . . . | . . . . . . . .`).idle(5).want("0 . . . . . . . . | . . . . . . . .")
	begin(t, "round 40\nA energy 0\n0 T . . . . . . . | . . . . . . . .", nil).play("0,0,3", "").want("A energy 10")
}

func TestClause_4_5_Curtain(t *testing.T) {
	for board, want := range map[string]string{
		"round 40\nA energy 100 ready yes":            "A energy 5 score 25 curtain 5 ready no fails 0",
		"round 40\nA energy 99 ready yes":             "A energy 104 score 5 ready yes fails 1",
		"round 40\nA energy 100 ready no":             "A energy 105 score 5 ready no fails 1",
		"round 40\nA energy 100 ready yes curtain 1":  "A energy 105 score 5 curtain 0 ready yes fails 1",
		"round 40\nA energy 100 ready yes curtain 0":  "A energy 5 score 25 curtain 5 ready no fails 0",
		"round 40\nA energy 100 ready yes curtain -9": "A energy 5 score 25 curtain 5 ready no fails 0",
	} {
		t.Run(board, func(t *testing.T) {
			for _, command := range []string{"0,0,5", "-9,99,5", "2147483647,-2147483648,5"} {
				begin(t, board, nil).play(command, "").want(want)
			}
		})
	}
}

func TestClause_4_6_FailuresOfReadableCommands(t *testing.T) {
	begin(t, "A fails 9\nB fails 9", nil).play("0,0,2", "0,0,1").want("A fails 0\nB fails 1").
		play("0,0,2", "0,0,3").want("A fails 1\nB fails 1").play("8,0,2", "0,8,3").want("A fails 1 energy 21\nB fails 1 energy 35")
	m := begin(t, "", nil) // refused commands never end the match
	for range 120 {
		m.play("9,9,0", "0,0,5").ended(sim.Running)
	}
}

func TestClause_4_7_FailuresOfUnreadableCommands(t *testing.T) {
	for command, want := range map[string]string{
		"":               "fails 3 energy 65",
		"No Command":     "fails 3 energy 65",
		"exception":      "fails 3 energy 65",
		"1":              "fails 3 energy 65",
		"Exception":      "fails 4 energy 65",
		"Exception,":     "fails 4 energy 65",
		"Exception, ":    "fails 5 energy 65",
		"1,2":            "fails 5 energy 65",
		"1,2,":           "fails 5 energy 65",
		"1,2,x":          "fails 4 energy 65",
		"1,,2":           "fails 4 energy 65",
		" 1,2,0":         "fails 4 energy 65",
		"1,2,6":          "fails 4 energy 65",
		"1,2,-1":         "fails 4 energy 65",
		"1,2147483648,":  "fails 5 energy 65",
		"1,2,2147483648": "fails 4 energy 65",
		"1,2,x,4":        "fails 5 energy 65",
		"1,2,9,4,5":      "fails 5 energy 65",
		"1,2,2,4":        "fails 0 energy 45",
		"1,2,2,,":        "fails 0 energy 45",
		"+1,-0,02":       "fails 0 energy 45",
		"1,2,3,4":        "fails 1 energy 65",
		"1,2,4,x":        "fails 1 energy 65",
	} {
		t.Run(command, func(t *testing.T) {
			begin(t, "A energy 60 fails 3\nB energy 60 fails 3", nil).play(command, command).want("A " + want + "\nB " + want)
		})
	}
}

//go:embed testdata/commands.tsv
var originalCommands string

// TestClause_4_7_AsTheOriginal plays the commands of a table that was filled by
// the original engine. Empty fields at the end of a text split at commas do not
// count, so "Exception," is "Exception".
func TestClause_4_7_AsTheOriginal(t *testing.T) {
	rows := 0
	for line := range strings.Lines(originalCommands) {
		command, want, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			continue
		}
		rows++
		got := "aborted"
		m := begin(t, "A energy 1000 ready yes fails 7", nil).play(command, "")
		if h := &m.s.Half[0]; m.status != sim.Cut {
			got = strconv.Itoa(int(h.Failures))
			for _, b := range m.twin.Buildings {
				got += fmt.Sprintf(" %d@%d,%d", b.Kind, b.X, b.Y)
			}
			if !h.Available {
				got += " curtain"
			}
		}
		assert.Equalf(t, want, got, "%q: %s, of the original %s", command, got, want)
	}
	assert.Equalf(t, 392, rows, "read %d rows, want 392", rows)
}

func TestClause_4_8_OnlyCommas(t *testing.T) {
	for _, command := range []string{",", ",,", ",,,,"} {
		m := begin(t, "round 9\nA energy 50\n0 A . . . . . . . | . . . . . . . .", nil)
		before := m.s
		m.play("0,1,2", command).ended(sim.Cut)
		assert.Truef(t, m.s == before && m.end == plain.Aborted, "%q: the position has changed, or the end is %q", command, m.end)
	}
}

func TestClause_4_9_OneOrderARound(t *testing.T) {
	g, _ := towerdefence.New(towerdefence.DefaultRules())
	var one, many towerdefence.State
	g.Reset(&one, 0)
	g.Reset(&many, 0)
	turn := sim.NewTurn(4)
	turn.Add(0, towerdefence.Build(towerdefence.Energy, 1, 1))
	turn.Add(0, towerdefence.Build(towerdefence.Attack, 2, 2))
	turn.Add(0, towerdefence.Aborted)
	g.Step(&many, turn)
	g.Play(&one, towerdefence.Build(towerdefence.Energy, 1, 1)|0xffff_ffff_ffff_f000, 0)
	if one != many {
		t.Errorf("one order and several:\n%s%s", fastText(g, &one), fastText(g, &many))
	}
	for op := range towerdefence.Op(8) { // a well-formed command resets the failures
		for n := range 4 {
			if op == towerdefence.OpNothing {
				continue
			}
			one, many := one, one
			g.Play(&one, towerdefence.OrderAt(op, 12), 0)
			g.Play(&many, towerdefence.Failed(towerdefence.OrderAt(op, 12), n), 0)
			if one != many {
				t.Errorf("op %d with %d failures is not the op", op, n)
			}
		}
	}
}
