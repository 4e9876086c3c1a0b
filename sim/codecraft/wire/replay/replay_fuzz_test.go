package replay

import (
	"bytes"
	"testing"

	"moonfarm/sim/codecraft"
)

// FuzzReplay reads any bytes as a replay, plays it, checks it, and goes through its recorded
// states. The states must be the same when the replay is written and read again.
func FuzzReplay(f *testing.F) {
	rules, _ := codecraft.Preset("round1-2")
	g, file := playedReplay(f, "round1-2", 3, 2)
	f.Add(file)
	f.Add([]byte(`{"kind":"initial","next_id":5,"map_size":80,"fog_of_war":false,"max_tick_count":9,"max_pathfind_nodes":9,"tick":0,"properties":{},"players":[{"id":1,"index":0,"score":0,"resource":0}],"entities":[],"actions":{}}
{"kind":"tick","tick":1,"next_id":5,"players":[],"events":[],"actions_set":{},"entities_updated":[]}
`))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := Read("fuzz", bytes.NewReader(file))
		if r == nil {
			if err == nil {
				t.Fatal("no replay and no error")
			}
			return
		}
		again, err := Read("again", bytes.NewReader(r.File))
		if err != nil || again.Ticks() != r.Ticks() || !bytes.Equal(again.File, r.File) {
			t.Fatalf("%d ticks, written and read again %d, error %v", r.Ticks(), again.Ticks(), err)
		}
		if seed, ok := r.Start.Seed(g); ok {
			r.PlayAgain(g, seed)
		}
		checked, good, err := r.Check(rules)
		if err != nil {
			if good > r.Ticks() {
				t.Fatalf("%d ticks of %d are good", good, r.Ticks())
			}
			return
		}
		s := new(codecraft.State)
		checked.Reset(s, 0)
		for range r.Ticks() {
			checked.Step(s, nil)
		}
		if checked.Hash(s) != checked.Hash(&checked.Last) {
			t.Error("it ends in another state")
		}
	})
}
