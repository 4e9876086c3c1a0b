package wire

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"moonfarm/sim/towerdefence"
)

// files collects what a MatchLogWriter makes.
type files fstest.MapFS

type file struct {
	bytes.Buffer
	done func([]byte)
}

func (f *file) Close() error { f.done(f.Bytes()); return nil }

func (m files) create(name string) (io.WriteCloser, error) {
	return &file{done: func(b []byte) { m[name] = &fstest.MapFile{Data: b} }}, nil
}

// matchLog plays the commands and writes the log of it.
func matchLog(t *testing.T, names [2]string, commands [][2]string) files {
	t.Helper()
	m := files{}
	w := NewMatchLogWriter(names, m.create)
	r := NewReferee(towerdefence.DefaultRules())
	for _, c := range commands {
		if err := w.Round(r.Position(), c); err != nil {
			t.Fatal(err)
		}
		r.Play(c[0], c[1])
	}
	if err := w.End(r.Position(), r.Result()); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestMatchLog writes a log and reads it back.
func TestMatchLog(t *testing.T) {
	names := [2]string{"Ann - the first", "Bo"}
	commands := [][2]string{{"0,0,2", "No Command"}, {"", "x,y,z"}, {"1,1,3", ""}}
	m := matchLog(t, names, commands)
	if len(m) != 4*10+1 {
		t.Errorf("%d files, want 41", len(m))
	}
	got, err := ReadMatchLog(fstest.MapFS(m))
	if err != nil {
		t.Fatal(err)
	}
	want := &MatchLog{Names: names, Commands: commands,
		Final: &Final{Winner: WinnerA, Score: [2]int{24, 15}, Health: [2]int{100, 100}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v %+v\nwant %+v %+v", got, got.Final, want, want.Final)
	}
	end := string(m["Round 003/"+logEnd].Data)
	if want := "The winner is: A - Ann - the first\n\nA - Ann - the first- score:24 health:100\nB - Bo- score:15 health:100\n"; end != want {
		t.Errorf("%s: %q, want %q", logEnd, end, want)
	}
}

// TestMatchLogEnds covers the forms of the final result and a log without one.
func TestMatchLogEnds(t *testing.T) {
	lines := "\n\nA - a- score:1 health:2\r\nB - b- score:-3 health:0 \n"
	for _, c := range []struct {
		end  string
		want *Final
	}{
		{"The game ended in a tie" + lines, &Final{Winner: Tie, Score: [2]int{1, -3}, Health: [2]int{2, 0}}},
		{"\nsome words\nThe winner is: B - b" + lines, &Final{Winner: WinnerB, Failed: true, Score: [2]int{1, -3}, Health: [2]int{2, 0}}},
		{"", nil},
	} {
		m := matchLog(t, [2]string{"a", "b"}, [][2]string{{"1,1,2\r\n", "2,2,2\nmore"}})
		delete(m, "Round 001/"+logEnd)
		rounds := 2
		if c.want != nil {
			m["Round 001/"+logEnd] = &fstest.MapFile{Data: []byte(c.end)}
			rounds = 1
		}
		got, err := ReadMatchLog(fstest.MapFS(m))
		if err != nil || len(got.Commands) != rounds || !reflect.DeepEqual(got.Final, c.want) {
			t.Fatalf("%q: %+v, error %v", c.end, got, err)
		}
		if got.Commands[0] != [2]string{"1,1,2", "2,2,2"} {
			t.Errorf("commands %q", got.Commands[0])
		}
	}
}

// TestMatchLogErrors breaks a log in all its places.
func TestMatchLogErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(m files)
		want   string
	}{
		{"empty", func(m files) { clear(m) }, `want folders "Round 000", "Round 001", …, found none`},
		{"round missing", func(m files) { remove(m, "Round 001/") }, `want a folder "Round 001", found none among 2`},
		{"round twice", func(m files) { m["Round 1/x"] = &fstest.MapFile{} }, `want one folder for round 1, found`},
		{"player missing", func(m files) { remove(m, "Round 001/B") }, `Round 001: want a folder "B - NAME", found none`},
		{"player twice", func(m files) { m["Round 001/A - x/y"] = &fstest.MapFile{} }, `Round 001: want one folder "A - NAME", found "A - a" and "A - x"`},
		{"other name", func(m files) { remove(m, "Round 001/A"); m["Round 001/A - x/y"] = &fstest.MapFile{} },
			`Round 001: want the folder "A - a" as in the first round, found "A - x"`},
		{"command missing", func(m files) { delete(m, "Round 001/B - b/"+logCommand) }, `Round 001/B - b: want a readable PlayerCommand.txt`},
		{"long command", func(m files) { m["Round 001/B - b/"+logCommand].Data = make([]byte, 1<<17) }, `want at most 65536 bytes`},
		{"end too early", func(m files) { m["Round 001/"+logEnd] = m["Round 002/"+logEnd] }, `Round 001: want nothing after the folder with endGameState.txt, found Round 002`},
		{"no winner", func(m files) { m["Round 002/"+logEnd].Data = nil }, `Round 002/endGameState.txt: want a line "The winner is: NAME"`},
		{"other winner", func(m files) { m["Round 002/"+logEnd].Data = []byte("The winner is: C") }, `want the winner to be "A - a" or "B - b", found "C"`},
		{"no scores", func(m files) { m["Round 002/"+logEnd].Data = []byte(logTie) }, `want a line "A - a- score:S health:H", found none`},
		{"bad scores", func(m files) { m["Round 002/"+logEnd].Data = []byte(logTie + "\nA - a- score:x health:1") }, `with two numbers, found "A - a- score:x health:1"`},
	} {
		m := matchLog(t, [2]string{"a", "b"}, make([][2]string, 2))
		c.damage(m)
		_, err := ReadMatchLog(fstest.MapFS(m))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "match log: ") {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
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
	w := NewMatchLogWriter([2]string{"a", "b"}, func(string) (io.WriteCloser, error) { calls++; return nil, fs.ErrPermission })
	r := NewReferee(towerdefence.DefaultRules())
	err := w.Round(r.Position(), [2]string{})
	if err2 := w.End(r.Position(), r.Result()); !errors.Is(err, fs.ErrPermission) || err2 != err || calls != 1 {
		t.Errorf("errors %v and %v after %d calls", err, err2, calls)
	}
}

// FuzzReadMatchLog: whatever the files hold, the log is read or refused.
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
		log, err := ReadMatchLog(m)
		if (log == nil) == (err == nil) {
			t.Errorf("log %v, error %v", log, err)
		}
	})
}
