package matchlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/display"
	"moonfarm/sim/towerdefence/wire/internal/wiretest"
	"moonfarm/sim/towerdefence/wire/recording"
	"moonfarm/sim/towerdefence/wire/referee"
)

// files collects the files of a Writer.
type files fstest.MapFS

type file struct {
	bytes.Buffer
	done func([]byte)
}

func (f *file) Close() error { f.done(f.Bytes()); return nil }

func (f files) create(name string) (io.WriteCloser, error) {
	return &file{done: func(b []byte) { f[name] = &fstest.MapFile{Data: b} }}, nil
}

// matchLog returns the log of a match under the default rules.
func matchLog(t *testing.T, names [2]string, commands [][2]string) files {
	t.Helper()
	return playedLog(t, names, towerdefence.DefaultRules(), display.SeatA, commands)
}

// TestMatchLog writes a log and reads it back.
func TestMatchLog(t *testing.T) {
	names := [2]string{"Ann - the first", "Bo"}
	commands := [][2]string{{"0,0,2", "No Command"}, {"", "x,y,z"}, {"1,1,3", ""}}
	m := matchLog(t, names, commands)
	assert.Equalf(t, 4*10+2, len(m), "%d files, want 42", len(m))
	got, err := Read(fstest.MapFS(m))
	require.NoError(t, err)
	rules := got.Rules.Over(towerdefence.Rules{})
	assert.Truef(t, rules.StartEnergy == 20 && rules.StartHealth == 100 && rules.Handicap == (towerdefence.Handicap{}), "rules %+v", rules)
	want := &Log{Names: names, Rules: got.Rules, First: "A", Commands: commands,
		Final: &Final{Winner: referee.WinnerA, Score: [2]int{24, 15}, Health: [2]int{100, 100}}}
	assert.Equalf(t, want, got, "got %+v %+v\nwant %+v %+v", got, got.Final, want, want.Final)
	end := string(m["Round 003/"+logEnd].Data)
	if want := "The winner is: A - Ann - the first\n\nA - Ann - the first- score:24 health:100\nB - Bo- score:15 health:100\n"; end != want {
		t.Errorf("%s: %q, want %q", logEnd, end, want)
	}
}

// TestMatchLogFiles writes output of bots, and nick names that cannot be names
// of folders.
func TestMatchLogFiles(t *testing.T) {
	m := files{}
	w := NewWriter([2]string{"../a\\b:\n\xff", strings.Repeat("é", 100)}, m.create)
	r := referee.New(towerdefence.DefaultRules())
	require.NoError(t, w.Round(r.Position(), [2]string{"0,0,2"}, [2][]byte{[]byte("thinking"), nil}))
	r.Play("0,0,2", "")
	require.NoError(t, w.Round(r.Position(), [2]string{}, [2][]byte{nil, []byte("x")}))
	a, b := "/A - .._a_b___/", "/B - "+strings.Repeat("é", 60)+"/"
	for name, want := range map[string]string{
		"Round 000" + a + logOutput: "thinking", "Round 000" + b + logOutput: "",
		"Round 001" + a + logOutput: "", "Round 001" + b + logOutput: "x", "Round 000" + a + logCommand: "0,0,2",
	} {
		f := m[name]
		assert.Truef(t, f != nil && string(f.Data) == want, "%s: %v, want %q", name, f, want)
	}
	log, err := Read(fstest.MapFS(m))
	require.NoErrorf(t, err, "%+v", log)
	assert.Truef(t, log.Names[0] == ".._a_b___" && log.Commands[0][0] == "0,0,2", "%+v", log)
}

// TestMatchLogEnds covers the forms of the final result and a log without one.
func TestMatchLogEnds(t *testing.T) {
	lines := "\n\nA - a- score:1 health:2\r\nB - b- score:-3 health:0 \n"
	for _, c := range []struct {
		end  string
		want *Final
	}{
		{"The game ended in a tie" + lines, &Final{Winner: referee.Tie, Score: [2]int{1, -3}, Health: [2]int{2, 0}}},
		{"\nsome words\nThe winner is: B - b" + lines, &Final{Winner: referee.WinnerB, Failed: true, Score: [2]int{1, -3}, Health: [2]int{2, 0}}},
		{"", nil},
	} {
		t.Run(fmt.Sprintf("%.30q", c.end), func(t *testing.T) {
			m := matchLog(t, [2]string{"a", "b"}, [][2]string{{"1,1,2\r\n", "2,2,2\nmore"}})
			delete(m, "Round 001/"+logEnd)
			rounds := 2
			if c.want != nil {
				m["Round 001/"+logEnd] = &fstest.MapFile{Data: []byte(c.end)}
				rounds = 1
			}
			got, err := Read(fstest.MapFS(m))
			require.NoErrorf(t, err, "%q: %+v", c.end, got)
			require.Truef(t, len(got.Commands) == rounds && reflect.DeepEqual(got.Final, c.want), "%q: %+v", c.end, got)
			assert.Truef(t, got.Commands[0] == [2]string{"1,1,2", "2,2,2"}, "commands %q", got.Commands[0])
		})
	}
}

// TestMatchLogErrors breaks a log in each of its parts.
func TestMatchLogErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(m files)
		want   string
	}{
		{"empty", func(m files) { clear(m) }, `expected folders "Round 000", "Round 001", …, found none`},
		{"round missing", func(m files) { remove(m, "Round 001/") }, `expected a folder "Round 001", found none among 2`},
		{"round twice", func(m files) { m["Round 1/x"] = &fstest.MapFile{} }, `expected one folder for round 1, found`},
		{"player missing", func(m files) { remove(m, "Round 001/B") }, `Round 001: expected a folder "B - NAME", found none`},
		{"player twice", func(m files) { m["Round 001/A - x/y"] = &fstest.MapFile{} }, `Round 001: expected one folder "A - NAME", found "A - a" and "A - x"`},
		{"other name", func(m files) { remove(m, "Round 001/A"); m["Round 001/A - x/y"] = &fstest.MapFile{} },
			`Round 001: expected the folder "A - a" as in the first round, found "A - x"`},
		{"command missing", func(m files) { delete(m, "Round 001/B - b/"+logCommand) }, `Round 001/B - b: expected a readable PlayerCommand.txt`},
		{"long command", func(m files) { m["Round 001/B - b/"+logCommand].Data = make([]byte, 1<<17) }, `expected at most 65536 bytes`},
		{"end too early", func(m files) { m["Round 001/"+logEnd] = m["Round 002/"+logEnd] }, `Round 001: expected nothing after the folder with endGameState.txt, found Round 002`},
		{"no winner", func(m files) { m["Round 002/"+logEnd].Data = nil }, `Round 002/endGameState.txt: expected a line "The winner is: NAME"`},
		{"other winner", func(m files) { m["Round 002/"+logEnd].Data = []byte("The winner is: C") }, `expected the winner to be "A - a" or "B - b", found "C"`},
		{"no scores", func(m files) { m["Round 002/"+logEnd].Data = []byte(logTie) }, `expected a line "A - a- score:S health:H", found none`},
		{"no order", func(m files) { m[OrderFile].Data = []byte("C first") }, `CommandOrder.txt: expected "A is carried out first" or the same of B, found "C first"`},
		{"bad scores", func(m files) { m["Round 002/"+logEnd].Data = []byte(logTie + "\nA - a- score:x health:1") }, `with two numbers, found "A - a- score:x health:1"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := matchLog(t, [2]string{"a", "b"}, make([][2]string, 2))
			c.damage(m)
			_, err := Read(fstest.MapFS(m))
			assert.Truef(t, err != nil && strings.Contains(err.Error(), c.want) && strings.HasPrefix(err.Error(), "match log: "), "%s: error %v, want one with %q", c.name, err, c.want)
		})
	}
}

func remove(m files, prefix string) {
	for name := range m {
		if strings.HasPrefix(name, prefix) {
			delete(m, name)
		}
	}
}

// TestMatchLogWriterStops checks that the first error sticks.
func TestMatchLogWriterStops(t *testing.T) {
	calls := 0
	w := NewWriter([2]string{"a", "b"}, func(string) (io.WriteCloser, error) { calls++; return nil, fs.ErrPermission })
	r := referee.New(towerdefence.DefaultRules())
	err := w.Round(r.Position(), [2]string{}, [2][]byte{})
	err2 := w.End(r.Position(), r.Result())
	assert.Truef(t, errors.Is(err, fs.ErrPermission) && err2 == err && calls == 1, "errors %v and %v after %d calls", err, err2, calls)
}

// FuzzReadMatchLog: any files are read or refused.
func FuzzReadMatchLog(f *testing.F) {
	f.Add("Round 000", "A - a", "1,2,3", "The winner is: A - a\n\nA - a- score:1 health:2\nB - b- score:1 health:2\n")
	f.Add("Round 1", "B - ", "\n", "The game ended in a tie")
	f.Fuzz(func(t *testing.T, round, player, command, end string) {
		m := fstest.MapFS{}
		for _, name := range []string{round + "/" + player + "/" + logCommand, round + "/B - b/" + logCommand, "Round 000/A - a/" + logCommand} {
			if fs.ValidPath(name) {
				m[name] = &fstest.MapFile{Data: []byte(command)}
			}
		}
		m["Round 001/A - a/x"], m["Round 001/B - b/x"] = &fstest.MapFile{}, &fstest.MapFile{}
		m["Round 001/"+logEnd] = &fstest.MapFile{Data: []byte(end)}
		log, err := Read(m)
		if (log == nil) == (err == nil) {
			t.Errorf("log %v, error %v", log, err)
		}
	})
}

// written returns the log of a match with these commands, which ends as its
// recording does.
func written(t *testing.T, rules towerdefence.Rules, commands [][2]string) files {
	t.Helper()
	h := recording.Header{Game: "one", Policy: [2]string{"a", "b"}}
	r, err := recording.WriteMatch(recording.NewWriter(io.Discard), h, rules, commands)
	require.NoError(t, err)
	m := files{}
	log, err := Write(NewWriter(h.Policy, m.create), rules, commands)
	require.NoErrorf(t, err, "log %+v, recording %+v", log, r)
	require.Truef(t, log == r, "log %+v, recording %+v", log, r)
	return m
}

// TestVerifyMatchLog writes a log, verifies it, and finds changes.
func TestVerifyMatchLog(t *testing.T) {
	rules := towerdefence.DefaultRules()
	rules.SetStart([2]int{300, 20}, [2]int{100, 90})
	log := written(t, rules, wiretest.LateMatch())
	m, r, err := Verify(fstest.MapFS(log), towerdefence.DefaultRules())
	require.NoErrorf(t, err, "%+v %+v, first %v", m.Result, r, r.First)
	require.Truef(t, r.First == nil && r.Rounds == 52 && m.Same == 52 && m.Rules == rules && m.Result.End == referee.EndTimeout && len(m.Orders) == 52, "%+v %+v, first %v", m.Result, r, r.First)
	for _, c := range []struct {
		file, old, new string
		same           int
		want           string
	}{
		{"Round 007/A - a/JsonMap.json", `"round":7`, `"round":8`, 6, "round 7: A - a/JsonMap.json: recorded "},
		{"Round 000/B - b/TextMap.txt", "20", "21", 0, "round 0: B - b/TextMap.txt: recorded "},
		{"Round 052/A - a/Console/Console.txt", "Health", "health", 51, "round 52: A - a/Console/Console.txt: recorded "},
		{"Round 002/B - b/PlayerCommand.txt", "0,1,2", "0,1,1", 2, "round 3: A - a/JsonMap.json: recorded "},
		{"Round 052/endGameState.txt", "A - a\n\n", "B - b\n\n", 52, "round 52: winner: recorded B, played A"},
		{"Round 052/endGameState.txt", "score:", "score:1", 52, "round 52: A - a: recorded score 1"},
		{"Round 052/endGameState.txt", logFailed, "", 52, "round 52: end: recorded not failed, played timeout"},
	} {
		t.Run(c.want, func(t *testing.T) {
			changed := files{}
			for name, f := range log {
				changed[name] = f
			}
			text := strings.Replace(string(log[c.file].Data), c.old, c.new, 1)
			require.NotEqualf(t, string(log[c.file].Data), text, "%s has no %q", c.file, c.old)
			changed[c.file] = &fstest.MapFile{Data: []byte(text)}
			m, r, err := Verify(fstest.MapFS(changed), towerdefence.DefaultRules())
			require.NoErrorf(t, err, "%s: %+v, first %v", c.file, r, r.First)
			assert.Truef(t, r.Different == 1 && strings.Contains(r.First.Error(), c.want) && m.Same == c.same, "%s: %+v, first %v", c.file, r, r.First)
		})
	}
	for name := range log { // without displays the commands and the end remain
		if !strings.HasSuffix(name, logCommand) && !strings.HasSuffix(name, logEnd) {
			delete(log, name)
		}
	}
	m, r, err = Verify(fstest.MapFS(log), rules)
	require.NoErrorf(t, err, "%+v, %v", r, r.First)
	assert.Truef(t, r.First == nil && m.Rules == rules, "%+v, %v", r, r.First)
	_, r, err = Verify(fstest.MapFS(log), towerdefence.DefaultRules())
	require.NoErrorf(t, err, "other rules: %+v", r)
	assert.NotNilf(t, r.First, "other rules: %+v", r)
}

// TestEachOutput reads what the bots printed, of logs with and without such files.
func TestEachOutput(t *testing.T) {
	m := files{}
	w := NewWriter([2]string{"a", "b"}, m.create)
	r := referee.New(towerdefence.DefaultRules())
	for _, printed := range [][2]string{{"one\ntwo", ""}, {"", "<b>"}, {strings.Repeat("x", maxFile), strings.Repeat("y", maxFile+1)}} {
		require.NoError(t, w.Round(r.Position(), [2]string{}, [2][]byte{[]byte(printed[0]), []byte(printed[1])}))
		r.Play("", "")
	}
	require.NoError(t, w.End(r.Position(), r.Result()))
	read := func() (list []string) {
		require.NoError(t, EachOutput(fstest.MapFS(m), func(round, player int, text []byte, cut bool) {
			list = append(list, fmt.Sprintf("%d %d %.7s %d %v", round, player, text, len(text), cut))
		}))
		return list
	}
	assert.Equal(t, []string{"0 0 one\ntwo 7 false", "1 1 <b> 3 false", "2 0 xxxxxxx 65536 false", "2 1 yyyyyyy 65536 true"}, read())
	for name := range m {
		if strings.HasSuffix(name, logOutput) {
			delete(m, name)
		}
	}
	assert.Empty(t, read())
	m["Round 000/A - a/"+logOutput] = &fstest.MapFile{Mode: fs.ModeDir}
	assert.Empty(t, read(), "a folder in place of the file")
	remove(m, "Round 001/")
	assert.ErrorContains(t, EachOutput(fstest.MapFS(m), nil), `match log: expected a folder "Round 001", found none`)
}
