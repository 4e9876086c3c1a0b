package datasets

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// FuzzEpisodeRows: a row of the episodes with any content is refused, or can be taken
// apart and played, or differs when it is played.
func FuzzEpisodeRows(f *testing.F) {
	dir := generateToy(f, mixed(toyJob(2, 1)), Options{})
	d := opened(f, dir)
	m := d.Manifest()
	schema := arrowfile.Schema{Columns: about.EpisodeColumns(m.Spec(), about.Extras{Mixed: true, Imported: true}), Stride: 1}
	for e := range each(f, d.Episodes()) {
		orders, ends := []byte{}, []byte{}
		for _, o := range e.Orders {
			orders = binary.LittleEndian.AppendUint64(orders, uint64(o))
		}
		for _, k := range e.Ends {
			ends = binary.LittleEndian.AppendUint32(ends, uint32(k))
		}
		f.Add(e.Seed, int32(e.Rules), int32(e.Turns), byte(e.Status), orders, ends, e.Chosen, "", []byte{})
		if e.ID == 0 {
			f.Add(e.Seed, int32(-1), int32(1<<30), byte(2), orders, ends, e.Chosen, "broke off", []byte("x"))
		}
		if e.ID == 3 {
			break
		}
	}
	v, err := toyMakers().Vector(m.Job.Rules[0], env.Settings{N: 1, MaxTurns: m.Game.MaxTurns})
	require.NoError(f, err)
	b := env.NewBatch(v.Spec(), 1, env.WantPlanes|env.WantAction|env.WantPlayed)
	f.Fuzz(func(t *testing.T, seed uint64, rules, turns int32, status byte, orders, ends, chosen []byte, stopped string, recording []byte) {
		row, err := arrowfile.NewRecordBatch(schema, 1, nil)
		require.NoError(t, err)
		row.Rows = 1
		binary.LittleEndian.PutUint64(row.Col(about.ColSeed).Fixed, seed)
		binary.LittleEndian.PutUint32(row.Col(about.ColRules).Fixed, uint32(rules))
		binary.LittleEndian.PutUint32(row.Col(about.ColTurns).Fixed, uint32(turns))
		row.Col(about.ColStatus).Fixed[0] = status
		for range m.Game.Players {
			row.Col(about.ColPolicies).AppendText("random")
		}
		row.Col(about.ColSource).AppendText("x")
		row.Col(about.ColStopped).AppendText(stopped)
		arrowfile.AppendList(row.Col(ColOrders), arrowfile.View[uint64](orders[:len(orders)/8*8]))
		arrowfile.AppendList(row.Col(about.ColEnds), arrowfile.View[int32](ends[:len(ends)/4*4]))
		arrowfile.AppendList(row.Col(about.ColChosen), chosen)
		arrowfile.AppendList(row.Col(about.ColRecording), recording)
		var e Episode
		if e.Set(row, 0, m) != nil {
			return
		}
		n := 0
		for turn := range e.Turns {
			for p := range e.Players {
				n += len(e.OrdersOf(turn, sim.Player(p)))
			}
		}
		require.Len(t, e.Orders, n)
		if len(e.Recording) == 0 && e.Turns <= v.Spec().MaxTurns {
			_ = rollout.Replay(v, &e.Episode, b, nil)
		}
	})
}
