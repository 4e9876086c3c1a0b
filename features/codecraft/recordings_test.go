package codecraft

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire"
	"moonfarm/sim/simtest"
)

// open opens a compressed recording.
func open(t *testing.T, name string) io.Reader {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// viewPlanes writes the planes from a view as its player got it.
func viewPlanes(v *wire.PlayerView, r *cc.Rules) []uint8 {
	dst := make([]uint8, boardBytes)
	for i := range v.Entities {
		e := &v.Entities[i]
		n := &r.Types[e.Type]
		size, health, plane := int(n.Size), e.Health, planeResource
		if n.MaxHealth > 255 {
			health = (health*255 + n.MaxHealth - 1) / n.MaxHealth
		}
		owner := 0
		if e.PlayerID.Given {
			plane = slices.Index([]cc.Type{0, 1, 2, 3, 4, 5, 6, 7, 9}, e.Type)
			if owner = rival(sim.Player(e.PlayerID.Value-1), sim.Player(v.MyID-1)); owner != 0 {
				plane += 9
			}
		}
		own := e.PlayerID.Given && owner == 0
		reach := 0
		if own {
			reach = int(n.Sight)
		}
		for y := max(int(e.Y)-reach, 0); y < min(int(e.Y)+size+reach, side); y++ {
			for x := max(int(e.X)-reach, 0); x < min(int(e.X)+size+reach, side); x++ {
				at := y*side + x
				away := gap(int(e.X), int(e.Y), size, x, y, 1)
				if own && away <= reach {
					dst[planeVisible*planeBytes+at] = 1
				}
				if away > 0 {
					continue
				}
				dst[plane*planeBytes+at] = uint8(health)
				dst[planeRival*planeBytes+at] = uint8(owner)
				if !e.Active {
					dst[planeInactive*planeBytes+at] = 1
				}
			}
		}
	}
	if !v.FogOfWar {
		for at := range planeBytes {
			dst[planeVisible*planeBytes+at] = 1
		}
	}
	return dst
}

// TestRecordedViews restores what players saw in recorded games: their
// observations show it as they got it, turned in no other way.
func TestRecordedViews(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(simtest.Shared(t, "traces", "codecraft"), "view-*.jsonl.gz"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no recordings (%v)", err)
	}
	views, planes, fromView := 0, make([]uint8, boardBytes), [sim.MaxPlayers]int{}
	for _, name := range names {
		var v wire.PlayerView
		s := new(cc.State)
		for r := wire.NewViewReader(filepath.Base(name), open(t, name)); ; {
			if err := r.Next(&v); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			var p cc.Position
			given, err := v.Rules(cc.DefaultRules())
			if err == nil {
				err = v.Position(&p, &given)
			}
			if err != nil {
				t.Fatalf("%s line %d: %v", name, r.Line(), err)
			}
			g := newGame(t, given)
			if err := g.Restore(s, &p); err != nil {
				t.Fatalf("%s line %d: %v", name, r.Line(), err)
			}
			NewEncoder(g).Planes(planes, s, sim.Player(v.MyID-1))
			want := viewPlanes(&v, &given)
			for i := range want {
				if planes[i] != want[i] {
					t.Fatalf("%s line %d: plane %d x %d y %d is %d, want %d", name, r.Line(), i/planeBytes, i%side, i%planeBytes/side, planes[i], want[i])
				}
			}
			views++
			fromView[v.MyID-1]++
		}
	}
	t.Logf("%d views, by seat %v", views, fromView)
	if views < 30 || fromView[1] == 0 {
		t.Error("that is too few, or of too few seats")
	}
}

// TestRecordedActions finds the choices for what players ordered in the recorded
// game. Its players are programs that order what no choice says, such as moves to
// single cells; what is found must do the same.
func TestRecordedActions(t *testing.T) {
	file := filepath.Join(simtest.Shared(t, "traces", "codecraft"), "replay-round1-3p-ticks0-106.jsonl.gz")
	r, err := wire.NewRecording(filepath.Base(file), open(t, file))
	if err != nil {
		t.Fatal(err)
	}
	given, err := r.World.Rules(cc.DefaultRules())
	if err != nil {
		t.Fatal(err)
	}
	g := newGame(t, given)
	a, s := NewActions(g), new(cc.State)
	action := make([]int32, heads)
	all, found, kinds := 0, 0, map[string]int{}
	for {
		if err := r.Next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		var before cc.Position
		if err := r.World.Position(&before, &given); err != nil {
			t.Fatal(err)
		}
		if err := g.Restore(s, &before); err != nil {
			t.Fatal(err)
		}
		for _, list := range [][]wire.EntityOrder{r.Delta.Actions.New, r.Delta.Actions.Changed} {
			for _, o := range list {
				i := s.Find(uint32(o.ID))
				if i < 0 {
					continue
				}
				p := s.Units[i].Owner
				told := wire.ActionOf(&o.EntityAction, 0, &given)
				orders := told.AppendOrders(nil, uint32(o.ID))
				all++
				if !a.Action(action, orders, s, p) {
					continue
				}
				found++
				after := a.AppendOrders(nil, action, s, p)
				if got, want := acts(s, p, after), acts(s, p, orders); !slices.Equal(got, want) {
					t.Fatalf("tick %d entity %d: the choices do not what %+v does", s.Tick, o.ID, o.EntityAction)
				}
				kinds[s.Units[i].Type.String()]++
			}
		}
	}
	t.Logf("%d of %d actions given to entities are choices: %v", found, all, kinds)
	if all < 600 || found < 50 {
		t.Error("that is too few")
	}
}
