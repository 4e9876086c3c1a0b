package plain_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/internal/plain"
)

// TestRecordings plays every turn of the official recordings of 2020 to 2026
// from its spawn events and compares every frame: units in order with their
// ids and healths bit by bit, marks, upgrades, resources, every event list,
// the restore and the winner. What the original does not reproduce itself is
// compared as a multiset: see rows.
func TestRecordings(t *testing.T) {
	var sum tally
	files := 0
	for _, file := range recordings(t, "202*") {
		r := open(t, file)
		if d := r.run(); d != "" {
			t.Errorf("%s: %s", filepath.Base(file), d)
		}
		sum.add(r.tally)
		files++
	}
	t.Logf("%d files, %+v", files, sum)
	if want := (tally{turns: 2544, frames: 105190}); files != 102 || sum.turns != want.turns || sum.frames != want.frames {
		t.Errorf("played %d files, %d turns, %d frames; the recordings hold 102, %d, %d", files, sum.turns, sum.frames, want.turns, want.frames)
	}
}

// TestRecording2019 does the same with the one recording of the engine before.
// All of it holds if a unit with 1.2e-5 of health left is dead; if it lives,
// the last turn fails.
func TestRecording2019(t *testing.T) {
	file := recordings(t, "2019-*")[0]
	r := open(t, file)
	if d := r.run(); d != "" || r.turns != 32 || r.frames != 1682 {
		t.Errorf("%s: %q after %+v, want 32 turns and 1682 frames", file, d, r.tally)
	}
	t.Logf("%+v", r.tally)
	r = open(t, file)
	r.game.Rules.DeadAt = 0
	if d := r.run(); d == "" || r.turns != 31 {
		t.Errorf("%s, dead at 0: %q after %+v, want a difference after 31 turns", file, d, r.tally)
	}
}

func recordings(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(simtest.Shared(t, "replays", "terminal"), pattern+".replay.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings %s: %v", pattern, err)
	}
	return files
}

// tally counts what was compared.
type tally struct {
	turns, frames, moves, shots, shields, breaches, explosions, deaths, removed, upgrades int
}

func (a *tally) add(b tally) {
	a.turns += b.turns
	a.frames += b.frames
	a.moves += b.moves
	a.shots += b.shots
	a.shields += b.shields
	a.breaches += b.breaches
	a.explosions += b.explosions
	a.deaths += b.deaths
	a.removed += b.removed
	a.upgrades += b.upgrades
}

// recording is a file with the game that follows it.
type recording struct {
	file   *bufio.Scanner
	game   *plain.Game
	frame  recorded // the current one
	old    bool     // before 2020
	status sim.Status
	tally
}

func open(t *testing.T, name string) *recording {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	text, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	label, _, _ := strings.Cut(filepath.Base(name), "-")
	rules, ok := terminal.RuleSet(label)
	if !ok {
		t.Fatalf("%s: no rule set %s", name, label)
	}
	r := &recording{file: bufio.NewScanner(text), game: plain.New(rules), old: rules.OldIDs}
	r.file.Buffer(nil, 1<<24)
	for _, line := range []string{"config", "frame"} {
		if !r.advance() {
			t.Fatalf("%s: there is no %s", name, line)
		}
	}
	return r
}

// recorded is a frame of a file.
type recorded struct {
	phase, turn int
	stats       [2][]float32 // health, cores, bits, milliseconds
	units       [2][]value
	events      map[string]value
	winner      int
}

// advance reads the next frame.
func (r *recording) advance() bool {
	for r.file.Scan() {
		line := strings.TrimSpace(r.file.Text())
		if line == "" {
			continue
		}
		v, _ := parseJSON(line)
		o := v.object
		r.frame = recorded{winner: int(o["endStats"].object["winner"].number)}
		if info := o["turnInfo"].list; info != nil {
			r.frame.phase, r.frame.turn = int(info[0].number), int(info[1].number)
		}
		for p, name := range []string{"p1", "p2"} {
			r.frame.stats[p] = o[name+"Stats"].flat()
			r.frame.units[p] = o[name+"Units"].list
		}
		r.frame.events = o["events"].object
		return true
	}
	return false
}

// run plays the recording, to the end or the first difference.
func (r *recording) run() (difference string) {
	for r.status == sim.Running && r.frame.phase == 0 {
		if d := r.compareRestore(); d != "" {
			return fmt.Sprintf("turn %d, restore before it: %s", r.frame.turn, d)
		}
		before := r.frame.stats
		if !r.advance() || r.frame.phase != 1 {
			return "" // the last turn was not recorded
		}
		turn := r.frame.turn
		if d := r.playTurn(before); d != "" {
			return fmt.Sprintf("turn %d, %s", turn, d)
		}
		r.turns++
	}
	switch {
	case r.frame.phase == 2:
		return r.compareEnd()
	case r.status != sim.Running:
		return "the game is over, the recording goes on"
	}
	return ""
}

// playTurn plays the action phase that begins with the current frame, and the
// restore after it.
func (r *recording) playTurn(before [2][]float32) (difference string) {
	r.game.Deploy(r.orders(before))
	for number, more := 0, true; r.frame.phase == 1; number++ {
		if !more {
			return fmt.Sprintf("frame %d: the game does not have it", number)
		}
		more = r.game.Frame()
		if d := r.compareFrame(); d != "" {
			return fmt.Sprintf("frame %d: %s", number, d)
		}
		r.count()
		if !r.advance() {
			return ""
		}
		if more && r.frame.phase != 1 {
			return fmt.Sprintf("frame %d: the recording does not have it", number+1)
		}
	}
	r.status = r.game.Restore()
	return ""
}

// orders are what the players must have sent for the spawns of frame 0: what
// stands after a player's mobile units was in the other line. What health is
// missing beyond the breaches of the frame was a penalty.
func (r *recording) orders(before [2][]float32) (orders [2][]sim.Order) {
	for p := range orders {
		health := before[p][0] - r.frame.stats[p][0]
		for _, b := range r.recordedEvents("breach") {
			if int(b[5]) == 2-p {
				health -= b[2]
			}
		}
		orders[p] = append(orders[p], terminal.Clock(uint32(r.frame.stats[p][3])), terminal.Penalty(health))
	}
	var mobile [2]bool
	for _, e := range r.recordedEvents("spawn") {
		x, y, k, p := int(e[0]), int(e[1]), terminal.Kind(e[2]), int(e[4])-1
		o := terminal.Place(k, x, y)
		switch {
		case k == terminal.Removal:
			o = terminal.RemoveAt(x, y)
		case k == terminal.Upgrade:
			o = terminal.UpgradeAt(x, y)
			r.upgrades++
		case k.Mobile():
			o = terminal.Spawn(k, x, y, 1)
		}
		if mobile[p] = mobile[p] || k.Mobile(); mobile[p] && !k.Mobile() {
			o = terminal.Swap(o)
		}
		orders[p] = append(orders[p], o)
	}
	return orders
}

// count adds what the latest frame held.
func (r *recording) count() {
	e := &r.game.Events
	r.frames++
	r.moves += len(e.Moves)
	r.shots += len(e.Attacks)
	r.shields += len(e.Shields)
	r.breaches += len(e.Breaches)
	r.explosions += len(e.SelfDestructs)
	r.deaths += len(e.Deaths)
	for _, s := range e.Spawns {
		if s.Kind == terminal.Removal {
			r.removed++
		}
	}
}

// compareRestore compares the current frame, the first of a turn, with the
// game between two turns.
func (r *recording) compareRestore() string {
	if d := r.compareBoard(); d != "" {
		return d
	}
	want, have := r.recordedEvents("death"), deathRows(r.game.Removed)
	if r.old { // in the order of the removals' ids
		sortRows(want)
		sortRows(have)
	}
	return compareRows("removed", want, have)
}

// compareEnd compares the last frame of a match.
func (r *recording) compareEnd() string {
	if r.status != sim.Over {
		return "the game goes on"
	}
	if a, b := r.game.Outcome(0), r.game.Outcome(1); a.Result != float32(3-2*r.frame.winner) || b.Result != -a.Result {
		return fmt.Sprintf("outcomes %v, %v; player %d won", a, b, r.frame.winner)
	}
	return r.compareBoard()
}

// compareBoard compares the units and resources of both players.
func (r *recording) compareBoard() string {
	for p := range sim.Player(2) {
		player := r.game.Players[p]
		if have, want := []float32{player.Health, player.Cores, player.Bits}, r.frame.stats[p][:3]; !slices.Equal(have, want) {
			return fmt.Sprintf("player %d: health, cores, bits %v, recorded %v", p, have, want)
		}
		have := r.unitRows(p)
		for list, units := range r.frame.units[p] {
			var want [][]float32
			for _, u := range units.list {
				row := u.flat()
				if r.old && list == int(terminal.Removal) {
					row = row[:2] // its id is that of the removal
				}
				want = append(want, row)
			}
			if r.old && list == int(terminal.Removal) { // and so is its order
				sortRows(want)
				sortRows(have[list])
			}
			if d := compareRows(fmt.Sprintf("player %d: %v units", p, terminal.Kind(list)), want, have[list]); d != "" {
				return d
			}
		}
	}
	return ""
}

// unitRows are the unit lists of a player as the recordings have them.
func (r *recording) unitRows(p sim.Player) (rows [8][][]float32) {
	for _, u := range append(r.game.Pieces(p), r.game.MobilePieces(p)...) {
		row := []float32{float32(u.At.X), float32(u.At.Y), u.Health, float32(u.ID)}
		rows[u.Kind] = append(rows[u.Kind], row)
		if u.RemoveIn > 0 {
			marked := []float32{row[0], row[1], float32(u.RemoveIn), row[3]}
			if r.old {
				marked = marked[:2]
			}
			rows[terminal.Removal] = append(rows[terminal.Removal], marked)
		}
		if u.Upgraded {
			rows[terminal.Upgrade] = append(rows[terminal.Upgrade], []float32{row[0], row[1], 0, row[3]})
		}
	}
	return rows
}

// compareRows returns the first difference between two lists.
func compareRows(name string, want, have [][]float32) string {
	for i := range max(len(want), len(have)) {
		switch {
		case i >= len(have):
			return fmt.Sprintf("%s: entry %d is missing, recorded %v", name, i, want[i])
		case i >= len(want):
			return fmt.Sprintf("%s: entry %d is %v, recorded none", name, i, have[i])
		case !slices.Equal(want[i], have[i]):
			return fmt.Sprintf("%s: entry %d is %v, recorded %v", name, i, have[i], want[i])
		}
	}
	return ""
}

func sortRows(rows [][]float32) {
	slices.SortFunc(rows, func(a, b []float32) int { return slices.CompareFunc(a, b, cmp.Compare[float32]) })
}
