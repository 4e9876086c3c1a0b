package wire

import (
	"bytes"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/simtest"
)

// viewFiles lists the recordings of views.
func viewFiles(t testing.TB) []string {
	t.Helper()
	all := simtest.SharedFiles(t, "traces", "codecraft", "view-*.jsonl.gz")
	for i := range all {
		all[i] = filepath.Base(all[i])
	}
	return all
}

// TestRecordedViews makes states of all recorded views and messages: their
// players see the same of them.
func TestRecordedViews(t *testing.T) {
	views, entities, messages := 0, 0, 0
	for _, file := range append(viewFiles(t), "raw-getaction-messages.jsonl.gz") {
		r, err := Verify(file, bytes.NewReader(unpack(t, file)), round1())
		if err != nil || r.First != nil {
			t.Errorf("%s: error %v, %d different, first %v", file, err, r.Different, r.First)
		}
		views, entities, messages = views+r.Views, entities+r.Entities, messages+r.Messages
	}
	t.Logf("%d views, %d entities; %d messages", views, entities, messages)
	if views != 92 || messages != 6 {
		t.Errorf("%d views and %d messages, want 92 and 6", views, messages)
	}
}

// distance is that of two squares, as the rules' text has it.
func distance(r *codecraft.Rules, a, b *Entity) int32 {
	d := func(a, b, asize, bsize int32) int32 {
		switch {
		case b >= a+asize:
			return b - (a + asize - 1)
		case a >= b+bsize:
			return a - (b + bsize - 1)
		}
		return 0
	}
	as, bs := r.Types[a.Type].Size, r.Types[b.Type].Size
	return d(a.X, b.X, as, bs) + d(a.Y, b.Y, as, bs)
}

// TestViewsAreTight measures how far the seen entities of the recorded fogged
// views are: none farther than the sight of an own entity, and many just as
// far. And views of our own states hold all that is near enough, and no more.
func TestViewsAreTight(t *testing.T) {
	var view PlayerView
	seen, tight := 0, 0
	for _, file := range viewFiles(t) {
		r := NewViewReader(file, bytes.NewReader(unpack(t, file)))
		for view = (PlayerView{}); r.Next(&view) == nil; {
			rules, err := view.Rules(round1())
			if err != nil || !view.FogOfWar {
				continue
			}
			for i := range view.Entities {
				spare := slack(&rules, view.Entities, &view.Entities[i], view.MyID)
				if spare < 0 {
					t.Fatalf("%s tick %d: %+v is %d too far", file, view.CurrentTick, view.Entities[i], -spare)
				}
				seen++
				if spare == 0 {
					tight++
				}
			}
		}
	}
	t.Logf("%d entities seen, %d of them barely", seen, tight)
	if seen != 26272 || tight != 2256 {
		t.Error("want 26272 and 2256")
	}
}

// slack is by how much entity e is nearer than the farthest place that an
// entity of player id could see; below 0 if none sees it.
func slack(r *codecraft.Rules, list []Entity, e *Entity, id int32) int32 {
	most := int32(-1 << 20)
	for i := range list {
		if f := &list[i]; f.PlayerID == Some(id) {
			most = max(most, r.Types[f.Type].Sight-distance(r, f, e))
		}
	}
	return most
}

// TestView turns states of all presets round and back, and looks at what the
// players see under fog.
func TestView(t *testing.T) {
	for seed, name := range []string{"round1-3", "round2", "round2-3", "finals"} {
		rules, _ := codecraft.Preset(name)
		g, s := battle(t, rules, uint64(seed))
		var whole, again World
		var view PlayerView
		whole.Fill(g, s)
		for p := range sim.Player(rules.Players) {
			View(&view, g, s, p)
			if view.MyID != int32(p)+1 || view.FogOfWar != rules.Fog || view.CurrentTick != s.Tick || len(view.Players) != int(rules.Players) {
				t.Errorf("%s: %+v", name, view)
			}
			want := 0
			for i := range whole.Entities {
				if !rules.Fog || slack(&rules, whole.Entities, &whole.Entities[i], view.MyID) >= 0 {
					if want < len(view.Entities) && view.Entities[want].ID != whole.Entities[i].ID {
						t.Fatalf("%s, player %d: entity %d is %d, want %d", name, p+1, want, view.Entities[want].ID, whole.Entities[i].ID)
					}
					want++
				}
			}
			if want != len(view.Entities) {
				t.Errorf("%s, player %d: %d entities, want %d", name, p+1, len(view.Entities), want)
			}
			var pos codecraft.Position
			if err := view.Position(&pos, &rules); err != nil {
				t.Fatal(err)
			}
			back := new(codecraft.State)
			if err := g.Restore(back, &pos); err != nil {
				t.Fatal(err)
			}
			again.Fill(g, back)
			for i := range again.Entities {
				if e, ok := find(whole.Entities, again.Entities[i].ID); !ok || *e != again.Entities[i] {
					t.Fatalf("%s, player %d: back in the world there is %+v", name, p+1, again.Entities[i])
				}
			}
		}
	}
}

// TestViewOfStart sees one's own start at the lower left, whoever one is.
func TestViewOfStart(t *testing.T) {
	rules, _ := codecraft.Preset("round1")
	g, s := newGame(t, rules), new(codecraft.State)
	g.Reset(s, 3)
	var view PlayerView
	for p := range sim.Player(4) {
		View(&view, g, s, p)
		places := map[codecraft.Type][2]int32{
			codecraft.BuilderBase: {5, 5}, codecraft.BuilderUnit: {4, 4}, codecraft.MeleeBase: {5, 15}, codecraft.MeleeUnit: {4, 14},
			codecraft.RangedBase: {15, 5}, codecraft.RangedUnit: {14, 4}, codecraft.Turret: {15, 15},
		}
		for _, e := range view.Entities {
			if want, ok := places[e.Type]; ok && e.PlayerID == Some(int32(p)+1) {
				if e.X != want[0] || e.Y != want[1] {
					t.Errorf("player %d: %s at (%d, %d), want %v", p+1, e.Type, e.X, e.Y, want)
				}
				delete(places, e.Type)
			}
		}
		if len(places) > 0 {
			t.Errorf("player %d does not see %v", p+1, places)
		}
		if n := testing.AllocsPerRun(10, func() { View(&view, g, s, p) }); n > 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

// TestViewErrors has views that cannot be.
func TestViewErrors(t *testing.T) {
	house := Entity{5, Some(int32(1)), codecraft.House, 4, 4, 50, true}
	for want, change := range map[string]func(v *PlayerView){
		"my_id is 3, want 1 to 2":           func(v *PlayerView) { v.MyID = 3 },
		"my_id is 0, want 1 to 2":           func(v *PlayerView) { v.MyID = 0 },
		"map_size is 40, want 80":           func(v *PlayerView) { v.MapSize = 40 },
		"player 2 of the list has id 3":     func(v *PlayerView) { v.Players[1].ID = 3 },
		"(90, 4) lies outside of the map":   func(v *PlayerView) { v.Entities[0].X = 90 },
		"House at (78, 4) reaches out of":   func(v *PlayerView) { v.Entities[0].X = 78 },
		"resources, and only they, have no": func(v *PlayerView) { v.Entities[0].PlayerID.Given = false },
	} {
		v := PlayerView{MyID: 1, Header: Header{MapSize: 80}, Players: []Player{{1, 0, 0}, {2, 0, 0}}, Entities: []Entity{house}}
		rules := round1()
		var p codecraft.Position
		if err := v.Position(&p, &rules); err != nil {
			t.Fatal(err)
		}
		change(&v)
		if err := v.Position(&p, &rules); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// BenchmarkPlayerView makes the views of two players of a battle under fog.
func BenchmarkPlayerView(b *testing.B) {
	rules, _ := codecraft.Preset("finals")
	g, s := battle(b, rules, 1)
	var view PlayerView
	n := 0
	for b.Loop() {
		for p := range sim.Player(2) {
			View(&view, g, s, p)
			n = len(view.Entities)
		}
	}
	b.ReportMetric(float64(n), "entities")
}

// TestViewLines writes recorded views as lines and reads them again.
func TestViewLines(t *testing.T) {
	for _, file := range []string{"view-round3-sample14.jsonl.gz", "view-round1-sample01.jsonl.gz"} {
		var view, again PlayerView
		for r := NewViewReader(file, bytes.NewReader(unpack(t, file))); r.Next(&view) == nil; {
			line := view.AppendLine(nil)
			if err := NewViewReader(file, bytes.NewReader(line)).Next(&again); err != nil || !reflect.DeepEqual(view, again) {
				t.Fatalf("%s tick %d: error %v, not the same", file, view.CurrentTick, err)
			}
		}
	}
}
