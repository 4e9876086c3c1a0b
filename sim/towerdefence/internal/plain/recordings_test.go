package plain_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"moonfarm/sim/simtest"
	"moonfarm/sim/towerdefence"
	. "moonfarm/sim/towerdefence/internal/plain"
)

// line is any line of a recording.
type line struct {
	Game   string   `json:"game"`
	Energy [2]int   `json:"energy"`
	Health [2]int   `json:"health"`
	Rounds *int     `json:"r"`
	C      []string `json:"c"`
	P      [2][]int `json:"p"`
	B      [][]int  `json:"b"`
	M      [][]int  `json:"m"`
	TH     [][][]int
	IH     [][]int
	End    string `json:"end"`
	Round  int    `json:"round"`
	Winner string `json:"winner"`
	Dead   int    `json:"dead"`
}

// TestRecordings replays all games recorded from the official engine and
// compares every field of every round and of every end.
func TestRecordings(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(simtest.Shared(t, "traces", "towerdefence"), "*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	games, rounds := 0, 0
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "renders.") {
			continue
		}
		g, r := replayFile(t, file)
		games, rounds = games+g, rounds+r
	}
	t.Logf("%d games, %d rounds, every field equal", games, rounds)
	if games != 603 || rounds != 42607 {
		t.Errorf("replayed %d games and %d rounds; the recordings hold 603 and 42607", games, rounds)
	}
}

// TestGoldenGame replays the small game kept with the wire formats, so that
// something is replayed where the recordings are not.
func TestGoldenGame(t *testing.T) {
	if games, rounds := replayFile(t, "../../wire/testdata/game.jsonl"); games != 1 || rounds != 48 {
		t.Errorf("replayed %d games and %d rounds, want 1 and 48", games, rounds)
	}
}

// replayFile replays all games of one file and stops at the first difference.
func replayFile(t *testing.T, file string) (games, rounds int) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var text io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if text, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	var g *Game
	var end End
	var name string
	in := bufio.NewScanner(text)
	in.Buffer(nil, 1<<20)
	for n := 1; in.Scan(); n++ {
		var l line
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			t.Fatalf("%s:%d: %v", file, n, err)
		}
		switch {
		case l.Game != "":
			games++
			name, end = l.Game, Running
			g = New(towerdefence.DefaultRules())
			for p := range g.Players {
				g.Players[p].Energy, g.Players[p].Health = l.Energy[p], l.Health[p]
			}
		case l.Rounds != nil:
			rounds++
			if end != Running {
				t.Fatalf("%s:%d: %s goes on after %v", file, n, name, end)
			}
			end = g.Play(l.C[0], l.C[1])
			compare(t, fmt.Sprintf("%s:%d: %s round %d commands %q", filepath.Base(file), n, name, *l.Rounds, l.C), g, l)
		default:
			compareEnd(t, fmt.Sprintf("%s:%d: %s", filepath.Base(file), n, name), g, end, l)
		}
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return games, rounds
}

// compare holds the position against a recorded round.
func compare(t *testing.T, where string, g *Game, l line) {
	t.Helper()
	var got line
	for i, p := range g.Players {
		available := 0
		if p.CurtainAvailable {
			available = 1
		}
		got.P[i] = []int{p.Energy, p.Health, p.HitsTaken, p.Score, available, p.CurtainTime, p.FailCount}
	}
	got.B, got.M = sortedBuildings(g), countedMissiles(g)
	for _, shot := range g.TeslaHits {
		got.TH = append(got.TH, cells(shot))
	}
	got.IH = cells(g.CurtainHits)
	check := func(what string, got, want any) {
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%s: %s\n got %v\nwant %v", where, what, got, want)
		}
	}
	check("round", g.Round-1, *l.Rounds)
	check("players", got.P, l.P)
	check("buildings", got.B, l.B)
	check("missiles", got.M, l.M)
	check("tesla hits", got.TH, l.TH)
	check("curtain hits", got.IH, l.IH)
}

func sortedBuildings(g *Game) [][]int {
	var rows [][]int
	for _, b := range g.Buildings {
		if (b.X >= 8) != (b.Owner == B) {
			panic("a building on the other half")
		}
		rows = append(rows, []int{b.X, b.Y, int(b.Kind), b.Health, b.BuildTime, b.Cooldown})
	}
	slices.SortFunc(rows, func(a, b []int) int { return (a[1]*16 + a[0]) - (b[1]*16 + b[0]) })
	return rows
}

func countedMissiles(g *Game) [][]int {
	count := map[Missile]int{}
	for _, m := range g.Missiles {
		m.ID = 0
		count[m]++
	}
	var rows [][]int
	for m, n := range count {
		rows = append(rows, []int{m.X, m.Y, int(m.Owner), n})
	}
	key := func(r []int) int { return (r[1]*16+r[0])*2 + r[2] }
	slices.SortFunc(rows, func(a, b []int) int { return key(a) - key(b) })
	return rows
}

func cells(list []Cell) [][]int {
	var rows [][]int
	for _, c := range list {
		rows = append(rows, []int{c.X, c.Y, int(c.Owner)})
	}
	return rows
}

// compareEnd holds the end of a match against the recorded one.
func compareEnd(t *testing.T, where string, g *Game, end End, l line) {
	t.Helper()
	winner := "tie"
	if p, ok := g.Winner(); ok {
		winner = string('A' + rune(p))
	}
	why := end.String()
	if end == Running {
		why = "cut"
	}
	got := line{End: why, Round: g.Round, Winner: winner, Dead: g.DeadBases()}
	want := line{End: l.End, Round: l.Round, Winner: l.Winner, Dead: l.Dead}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: end\n got %+v\nwant %+v", where, got, want)
	}
}
