package wire

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"moonfarm/sim/simtest"
	"moonfarm/sim/towerdefence"
)

// recordings lists the recorded games of the original engine.
func recordings(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(simtest.Shared(t, "traces", "towerdefence"), "*.jsonl.gz"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	var files []string
	for _, file := range all {
		if filepath.Base(file) != "renders.jsonl.gz" {
			files = append(files, file)
		}
	}
	return files
}

// unpack reads a gzip file whole.
func unpack(t *testing.T, file string) []byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// replay reads a recording, plays its commands and writes a recording of
// that, which must have the bytes of the original.
func replay(t *testing.T, name string, text []byte) (games, rounds, exact int) {
	t.Helper()
	in, err := NewRecordingReader(name, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := NewRecordingWriter(&out)
	var referee *Referee
	for {
		kind, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		out.Reset()
		switch kind {
		case HeaderLine:
			games++
			referee = NewReferee(towerdefence.DefaultRules())
			referee.Handicap(in.Header.Energy, in.Header.Health)
			err = w.Header(in.Header)
		case RoundLine:
			rounds++
			referee.Play(in.Round.Commands[0], in.Round.Commands[1])
			p := referee.Position()
			r := RoundOf(p, in.Round.Commands)
			err = w.Round(&r)
			exact += compareInferred(t, name, in.Line(), p, in.Round.Position(p.Rules))
		case ResultLine:
			err = w.Result(referee.Result())
		}
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		if err != nil || out.String() != string(line)+"\n" {
			t.Fatalf("%s line %d (error %v)\n got %swant %s", name, in.Line(), err, out.String(), line)
		}
	}
	return games, rounds, exact
}

// compareInferred holds the order of lists worked out from a recorded round
// against the true one, and returns 1 if all of it is equal. The order of
// buildings must be.
func compareInferred(t *testing.T, name string, line int, want, got *Position) int {
	t.Helper()
	for i, b := range want.Buildings {
		if got.Buildings[i] != b {
			t.Fatalf("%s line %d: building %d is %+v, want %+v", name, line, i, got.Buildings[i], b)
		}
	}
	if len(got.Missiles) != len(want.Missiles) {
		t.Fatalf("%s line %d: %d missiles, want %d", name, line, len(got.Missiles), len(want.Missiles))
	}
	for i, m := range want.Missiles {
		m.ID = got.Missiles[i].ID
		if got.Missiles[i] != m {
			return 0
		}
	}
	return 1
}

// TestRecordings reads every recording of the original engine, plays its
// commands, and writes the same bytes.
func TestRecordings(t *testing.T) {
	var games, rounds, exact int
	for _, file := range recordings(t) {
		g, r, e := replay(t, filepath.Base(file), unpack(t, file))
		games, rounds, exact = games+g, rounds+r, exact+e
	}
	t.Logf("%d games, %d rounds written as recorded; missile order worked out in %d", games, rounds, exact)
	if games != 603 || rounds != 42607 {
		t.Errorf("the recordings hold 603 games and 42607 rounds")
	}
}
