package plain_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/internal/plain"
	"moonfarm/sim/terminal/wire/frame"
	"moonfarm/sim/terminal/wire/replay"
)

// TestRecordings plays every turn of the official recordings of 2020 to 2026 from its spawn events
// and compares every frame: units in order with their ids and health bit by bit, marks, upgrades,
// resources, every event list, the restore and the winner. Lists that the original writes in random
// order are sorted first: see settle.
func TestRecordings(t *testing.T) {
	turns, frames := 0, 0
	files := simtest.SharedFiles(t, "replays", "terminal", "202*.replay.gz")
	for _, file := range files {
		r := open(t, file)
		assert.Equal(t, "", r.run(), filepath.Base(file))
		turns += r.match.Turns
		frames += r.frames
	}
	assert.Truef(t, len(files) == 102 && turns == 2544 && frames == 105190, "played %d files, %d turns, %d frames; the recordings hold 102, 2544, 105190", len(files), turns, frames)
}

// TestRecording2019 does the same with the recording of the engine before 2020. A unit with 1.2e-5
// health must be dead in it; if it were alive, the last turn would differ.
func TestRecording2019(t *testing.T) {
	holdsOnlyIf(t, simtest.Shared(t, "replays", "terminal", "2019-001.replay.gz"), 32, func(r *terminal.Rules) { r.DeadAt = 1.2e-5 }, 31)
}

// TestEdgeRecordings does the same with recordings of rare events, and checks which rules they
// confirm.
func TestEdgeRecordings(t *testing.T) {
	files := simtest.SharedFiles(t, "replays", "terminal-edge", "2022-*.replay.gz")
	require.Lenf(t, files, 4, "%d recordings, want 4", len(files))
	for _, file := range files {
		assert.Equal(t, "", open(t, file).run(), filepath.Base(file))
	}
	// A demolisher is left 9.5e-7 of its health.
	holdsOnlyIf(t, simtest.Shared(t, "replays", "terminal-edge", "2022-order-of-deaths.replay.gz"), 38, func(r *terminal.Rules) { r.DeadAt = 9e-7 }, 34)
}

// TestEarlierRecordings does the same with recordings of 2018 to February 2020 and two of 2023. It
// leaves out recordings whose rules are not known: see RULES.md, 6.
func TestEarlierRecordings(t *testing.T) {
	files := simtest.SharedFiles(t, "replays", "terminal-more", "*.replay.gz")
	files = slices.DeleteFunc(files, func(file string) bool {
		return slices.Contains([]string{"2018-10-005.replay.gz", "2018-10-006.replay.gz", "2018-10-007.replay.gz", "2018-10-009.replay.gz"}, filepath.Base(file))
	})
	for _, file := range files {
		assert.Equal(t, "", open(t, file).run(), filepath.Base(file))
	}
	// Each of these rules is confirmed by a recording that differs under other rules.
	for name, change := range map[string]func(r *terminal.Rules){
		"2019-01.replay.gz":                                  func(r *terminal.Rules) { r.BareWeakest = false },
		"2019-09-004.replay.gz":                              func(r *terminal.Rules) { r.DoomedTargets = false },
		"2019-crash-without-core.replay.gz":                  func(r *terminal.Rules) { r.FreePenalties = false },
		"2020-02-001.replay.gz":                              func(r *terminal.Rules) { r.BareWeakest = false },
		"2020-02-tie-by-id-text.replay.gz":                   func(r *terminal.Rules) { r.TiesByText = false },
		"2020-02-upgrade-event.replay.gz":                    func(r *terminal.Rules) { r.UpgradeAsKind = false },
		"2023-doomed-unit-explodes-and-dies-twice.replay.gz": func(r *terminal.Rules) { r.DoomedExplode = false },
		"2023-equal-times-winner-1.replay.gz":                func(r *terminal.Rules) { r.FirstWins = false },
	} {
		t.Run(name, func(t *testing.T) {
			r := open(t, simtest.Shared(t, "replays", "terminal-more", name))
			change(&r.game.Rules)
			require.NotEmpty(t, r.run(), "no difference under other rules")
		})
	}
}

// holdsOnlyIf plays a recording, and again under other rules, under which one of its turns must
// differ.
func holdsOnlyIf(t *testing.T, file string, turns int, change func(r *terminal.Rules), differs int) {
	t.Helper()
	r := open(t, file)
	d := r.run()
	assert.Truef(t, d == "" && r.match.Turns == turns, "%s: %q after %d turns, want %d", file, d, r.match.Turns, turns)
	r = open(t, file)
	change(&r.game.Rules)
	d = r.run()
	assert.Truef(t, d != "" && r.frame.Turn == differs, "%s, by other rules: %q in turn %d, want a difference in turn %d", file, d, r.frame.Turn, differs)
}

// recording is a file and the game that plays its orders.
type recording struct {
	in     *replay.Reader
	match  *replay.Match // the orders
	frame  frame.Frame   // the current one
	frames int           // of action phases
	game   *plain.Game
	more   bool // the game has another frame in this action phase
}

func open(t *testing.T, name string) *recording {
	t.Helper()
	text := simtest.Text(t, name)
	match, _, err := replay.Verify(name, bytes.NewReader(text), nil)
	require.NoError(t, err)
	in, err := replay.NewReader(name, bytes.NewReader(text))
	require.NoError(t, err)
	rules := in.Config.Rules
	rules.FirstWins = true // as in the original
	return &recording{in: in, match: match, game: plain.New(rules)}
}

// run plays the recording, to the end or the first difference.
func (r *recording) run() (difference string) {
	for {
		switch err := r.in.Next(&r.frame); {
		case err == io.EOF:
			return ""
		case err != nil:
			return err.Error()
		}
		if d := r.next(); d != "" {
			return fmt.Sprintf("turn %d, frame %d: %s", r.frame.Turn, r.frame.Number, d)
		}
	}
}

// next plays up to the current frame and compares it.
func (r *recording) next() string {
	f := &r.frame
	if f.Phase == frame.PhaseAction {
		if f.Number == 0 {
			r.game.Deploy([2][]sim.Order{r.match.OrdersOf(f.Turn, 0), r.match.OrdersOf(f.Turn, 1)})
			r.more = true
		}
		if !r.more {
			return "the game does not have it"
		}
		r.frames++
		r.more = r.game.Frame()
		return cmp.Or(r.compareEvents(), r.compareBoard())
	}
	if r.more {
		return "the game has another frame before"
	}
	status := sim.Running
	if r.frames > 0 {
		status = r.game.Restore()
	}
	if f.Phase == frame.PhaseEnd {
		if a, b := r.game.Outcome(0), r.game.Outcome(1); status != sim.Over || a.Result != float32(3-2*f.End.Winner) || b.Result != -a.Result {
			return fmt.Sprintf("the game is %v, outcomes %v, %v; player %d won", status, a, b, f.End.Winner)
		}
		return r.compareBoard()
	}
	if status != sim.Running {
		return "the game is over, the recording goes on"
	}
	if r.game.Rules.OldIDs { // in the order of the removals' ids
		sorted(f.Events.Deaths)
		sorted(r.game.Removed)
	}
	return cmp.Or(r.compareBoard(), differ("removed", r.game.Removed, f.Events.Deaths))
}

// compareBoard compares the units and resources of both players.
func (r *recording) compareBoard() (difference string) {
	old, last := r.game.Rules.OldIDs, 0
	if r.frame.Phase == frame.PhaseEnd && r.game.Turn == uint32(r.game.Rules.MaxTurns) {
		last = 1 // recordings count all marks down once more
	}
	for p := range sim.Player(2) {
		player, stats := r.game.Players[p], r.frame.Stats[p]
		difference = cmp.Or(difference, differ(fmt.Sprintf("player %d: health, cores, bits", p),
			[]float32{player.Health, player.Cores, player.Bits}, []float32{stats.Health, stats.Cores, stats.Bits}))
		var units frame.Units
		for _, u := range append(r.game.Pieces(p), r.game.MobilePieces(p)...) {
			units[u.Kind] = append(units[u.Kind], frame.Unit{At: u.At, Value: u.Health, ID: u.ID})
			if u.RemoveIn > 0 {
				units[terminal.Removal] = append(units[terminal.Removal], frame.Unit{At: u.At, Value: float32(int(u.RemoveIn) - last), ID: u.ID})
			}
			if u.Upgraded {
				units[terminal.Upgrade] = append(units[terminal.Upgrade], frame.Unit{At: u.At, ID: u.ID})
			}
		}
		if old { // the ids of marks, and their order, are those of the removals
			for _, marks := range [][]frame.Unit{units[terminal.Removal], r.frame.Units[p][terminal.Removal]} {
				for i := range marks {
					marks[i] = frame.Unit{At: marks[i].At}
				}
				sorted(marks)
			}
		}
		for k, recorded := range r.frame.Units[p] {
			difference = cmp.Or(difference, differ(fmt.Sprintf("player %d: %v units", p, terminal.Kind(k)), units[k], recorded))
		}
	}
	return difference
}

// compareEvents compares the current frame with what the game has just played.
func (r *recording) compareEvents() string {
	have, want := &frame.Events{Events: r.game.Events}, &r.frame.Events
	old := r.game.Rules.OldIDs
	if old { // events of units close to each other, which have no effect
		want.Damages = slices.DeleteFunc(want.Damages, func(e terminal.DamageEvent) bool { return e.Damage == 0 })
	}
	settle(have, old)
	settle(want, old)
	return cmp.Or(differ("spawn", have.Spawns, want.Spawns), differ("move", have.Moves, want.Moves), differ("breach", have.Breaches, want.Breaches),
		differ("shield", have.Shields, want.Shields), differ("selfDestruct", have.SelfDestructs, want.SelfDestructs),
		differ("targets", have.Targets, want.Targets), differ("damage", have.Damages, want.Damages),
		differ("death", have.Deaths, want.Deaths), differ("attack", have.Attacks, want.Attacks))
}

// settle sorts the lists that the original writes in random order: the units shielded by one
// support, the targets of an explosion, and the damage and deaths that explosions cause. Before 2020
// it sorts all shields and deaths.
func settle(e *frame.Events, old bool) {
	for list := e.Shields; len(list) > 0; {
		n := slices.IndexFunc(list, func(s terminal.ShieldEvent) bool { return !old && s.ID != list[0].ID })
		if n < 0 {
			n = len(list)
		}
		sorted(list[:n])
		list = list[n:]
	}
	for i := range e.Deaths {
		e.Deaths[i].Repeated = false // files do not have it
	}
	for _, x := range e.SelfDestructs {
		sorted(e.Targets[x.First:][:x.Count])
	}
	sorted(e.Damages[:min(len(e.Targets), len(e.Damages))])
	// The deaths of breaches come first, then those of explosions, then those of shots. No unit
	// shoots at a dead one.
	deaths := e.Deaths[min(len(e.Breaches), len(e.Deaths)):]
	n := slices.IndexFunc(deaths, func(d terminal.DeathEvent) bool {
		return slices.ContainsFunc(e.Attacks, func(a terminal.AttackEvent) bool { return a.Target == d.ID })
	})
	if n < 0 || old { // deaths of 2019 have no fixed order
		n = len(deaths)
	}
	sorted(deaths[:n])
}

// sorted sorts a list in some fixed order.
func sorted[E any](list []E) {
	slices.SortFunc(list, func(a, b E) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}

func differ[E comparable](name string, have, recorded []E) string {
	if slices.Equal(have, recorded) {
		return ""
	}
	return fmt.Sprintf("%s %+v, recorded %+v", name, have, recorded)
}
