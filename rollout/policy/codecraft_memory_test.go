package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	ccfeatures "moonfarm/features/codecraft"
	"moonfarm/rollout/policy"
)

// TestMemory plays CodeCraft under fog and follows every cell of every
// remembered plane beside the layer, over a restart too.
func TestMemory(t *testing.T) {
	g, err := catalog.Find("codecraft")
	require.NoError(t, err)
	make2 := func() env.Vector {
		v, err := g.New("finals", env.Config{N: 2})
		require.NoError(t, err)
		return v
	}
	bare := make2()
	memory, err := env.NewMemory(make2(), "visible", ccfeatures.Remembered())
	require.NoError(t, err)
	s := bare.Spec()
	maker, err := policy.New("codecraft", "econ")
	require.NoError(t, err)
	p, err := maker(s)
	require.NoError(t, err)
	a, b := env.NewBatch(s, 2, env.WantPlanes), env.NewBatch(s, 2, env.WantPlanes)
	cells, size := s.Shape.Height*s.Shape.Width, s.Shape.PlaneBytes()
	known := make([]uint8, a.Rows*size) // what was last seen, of all planes
	kept := map[int]bool{}
	visible := -1
	for k, f := range s.Table.Planes {
		for _, name := range ccfeatures.Remembered() {
			kept[k] = kept[k] || f.Name == name
		}
		if f.Name == "visible" {
			visible = k
		}
	}
	recalled := 0
	for turn := range 260 {
		if turn == 200 { // game 1 begins anew
			bare.Reset(1, 5)
			memory.Reset(1, 5)
			clear(known[2*size:])
		}
		bare.Observe(a)
		memory.Observe(b)
		for row := range a.Rows {
			at := row * size
			for k := range s.Shape.Planes {
				for c := range cells {
					i := at + k*cells + c
					want := a.Planes[i]
					if a.Planes[at+visible*cells+c] != 0 {
						known[i] = want
					} else if kept[k] && known[i] != want {
						want = known[i]
						recalled++
					}
					if b.Planes[i] != want {
						t.Fatalf("turn %d, row %d, plane %s, cell %d: %d, want %d", turn, row, s.Table.Planes[k].Name, c, b.Planes[i], want)
					}
				}
			}
		}
		p.Act(bare, a, []int32{0, 1, 2, 3})
		copy(b.Orders, a.Orders)
		copy(b.OrderLen, a.OrderLen)
		bare.Step(a)
		memory.Step(b)
	}
	require.Greater(t, recalled, 1000)
	require.Zero(t, testing.AllocsPerRun(5, func() { memory.Observe(b) }))

	for _, names := range [][]string{{"glory"}, {"resource", "resource"}, {"visible"}} {
		_, err = env.NewMemory(make2(), "visible", names)
		require.Error(t, err)
	}
	_, err = env.NewMemory(make2(), "glory", nil)
	require.ErrorContains(t, err, `no plane "glory"`)
}
