package replay

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/internal/wiretest"
)

// inexact lists the recordings that are not played exactly, with the field that differs first
// and the reason: see RULES.md, 6.
var inexact = map[string]string{
	"2018-10-006.replay.gz": "events.move",   // an interceptor takes another path
	"2018-10-007.replay.gz": "events.damage", // another of several equal targets
	"2018-10-009.replay.gz": "events.damage", // the same
}

// TestVerifyEarlierRecordings checks that recordings of 2019 and of February 2020 are played
// exactly, also two of 2023, in which doomed units die twice and equal times decide, and all but three of October 2018,
// whose configs are Inexact.
func TestVerifyEarlierRecordings(t *testing.T) {
	exact := 0
	for _, name := range simtest.SharedFiles(t, "replays", "terminal-more", "*.replay.gz") {
		base, text := filepath.Base(name), simtest.Text(t, name)
		if len(bytes.TrimSpace(text)) == 0 { // 2018-10-005
			continue
		}
		m, report, err := Verify(base, bytes.NewReader(text), nil)
		field, different := inexact[base]
		switch {
		case err != nil:
			t.Error(err)
		case different && (report.First == nil || !strings.HasPrefix(report.First.Field, field)):
			t.Errorf("%s: %v, expected a difference in %s", base, report.First, field)
		case !different && report.First != nil:
			t.Errorf("%s: %d of %d turns differ: %v", base, report.Different, report.Turns, report.First)
		case (m.Config.Inexact() != "") != strings.HasPrefix(base, "2018"):
			t.Errorf("%s: inexact because %q", base, m.Config.Inexact())
		case m.Config.Rules.FirstWins != (base == "2023-equal-times-winner-1.replay.gz"):
			t.Errorf("%s: firstWins %v", base, m.Config.Rules.FirstWins)
		case strings.HasPrefix(base, "2020-02") && m.Config.Generation != "2020-02":
			t.Errorf("%s: rules of %q", base, m.Config.Generation)
		case !different:
			exact++
		}
	}
	assert.Equal(t, 38, exact, "recordings that are equal")
}

// TestUpgradeAsKind checks upgrades under the rules of February 2020. Their spawn event has the
// kind of the structure, readMatch returns upgrades, and the totals count the cost of the
// upgrade alone.
func TestUpgradeAsKind(t *testing.T) {
	place, up := terminal.Place, terminal.UpgradeAt
	turns := [][2][]sim.Order{
		{{place(terminal.Wall, 3, 13), up(3, 13), place(terminal.Wall, 4, 13), place(terminal.Turret, 13, 5)}, {place(terminal.Support, 14, 15)}},
		{{up(4, 13)}, {up(14, 15), place(terminal.Wall, 13, 15)}},
		{{terminal.Penalty(31)}, nil},
	}
	for _, name := range []string{"2020-02", "2022"} {
		m := matchOf(wiretest.RuleSet(t, name), turns...)
		m.Complete = true
		text, read := roundTrip(t, name, m)
		assert.Truef(t, slices.Equal(read.Orders, m.Orders), "%s: read", name)
		asKind := strings.Contains(text, `"spawn":[[[3,13],0,"1",1],[[3,13],0,"2",1],`)
		left, spent := [2]float32{10, 6.5}, [2]float32{10, 6.5} // walls 0.5 and 1.5, a turret 6; a support 4 and 2, a wall 0.5
		if name == "2020-02" {
			left = [2]float32{9, 2.5}
		}
		for p := range left {
			if got := &read.End.Players[p]; got.StructureLeft != left[p] || got.StructureSpent != spent[p] || asKind != (name == "2020-02") {
				t.Errorf("%s: player %d spent %v, left %v, expected %v, %v; as kind: %v", name, p+1, got.StructureSpent, got.StructureLeft, spent[p], left[p], asKind)
			}
		}
	}
}

// TestDoomedDieTwice checks a unit that another explosion kills before it explodes itself: it has
// two death events and counts as lost once.
func TestDoomedDieTwice(t *testing.T) {
	r := wiretest.RuleSet(t, "2022")
	r.Units[terminal.Interceptor].BlastRange = 40
	// Both interceptors are shut in, and explode in frame 3.
	m := matchOf(r, [2][]sim.Order{
		{terminal.Place(terminal.Wall, 13, 1), terminal.Place(terminal.Wall, 14, 0), terminal.Spawn(terminal.Interceptor, 13, 0, 1)},
		{terminal.Place(terminal.Wall, 14, 26), terminal.Place(terminal.Wall, 13, 27), terminal.Spawn(terminal.Interceptor, 14, 27, 1)},
	}, [2][]sim.Order{{terminal.Penalty(31)}})
	m.Complete = true
	text, read := roundTrip(t, "twice", m)
	const twice = `"death":[[[14,27],5,"6",2,false],[[13,0],5,"5",1,false],[[14,27],5,"6",2,false]]`
	assert.Containsf(t, text, twice, "no %s in\n%s", twice, text)
	for p := range read.End.Players {
		assert.Equalf(t, float32(1), read.End.Players[p].MobileLost, "player %d lost", p+1)
	}
	once := strings.Replace(text, twice, strings.Replace(twice, `,[[14,27],5,"6",2,false]]`, `]`, 1), 1)
	_, report, err := Verify("once", strings.NewReader(once), nil)
	require.NoErrorf(t, err, "%v", report.First)
	assert.Truef(t, report.First != nil && report.First.Field == "events.death[2]", "%v: expected a difference in events.death[2]", report.First)
}

// TestDeathsOf2019 checks that the deaths of a frame may have any order in 2019, but not later.
func TestDeathsOf2019(t *testing.T) {
	for _, name := range []string{"2019", "2025b"} {
		r := wiretest.RuleSet(t, name)
		r.Units[terminal.Demolisher].DamageMobile, r.Units[terminal.Demolisher].AttackRange, r.Units[terminal.Demolisher].Speed = 30, 40, 0.01
		m := matchOf(r, [2][]sim.Order{{terminal.Spawn(terminal.Demolisher, 13, 0, 1)}, {terminal.Spawn(terminal.Demolisher, 14, 27, 1)}}, [2][]sim.Order{{terminal.Penalty(31)}})
		text := written(t, m)
		const deaths, turned = `[[14,27],4,"2",2,false],[[13,0],4,"1",1,false]`, `[[13,0],4,"1",1,false],[[14,27],4,"2",2,false]`
		changed := strings.Replace(text, deaths, turned, 1)
		_, report, err := Verify(name, strings.NewReader(changed), nil)
		same := report.First == nil
		require.NoErrorf(t, err, "%s: %v", name, report.First)
		assert.Truef(t, changed != text && same == (name == "2019"), "%s: %v", name, report.First)
	}
}
