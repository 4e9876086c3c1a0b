package datasets

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"moonfarm/datasets/internal/disk"
)

// TestManifestIsMadeAnew changes keys of a manifest that no file speaks of, with
// a checksum that fits: playing again names them.
func TestManifestIsMadeAnew(t *testing.T) {
	changes := map[string]func(*Manifest){
		"moonfarm":                          func(m *Manifest) { m.Moonfarm = "0.1.9" },
		"command":                           func(m *Manifest) { m.Command += " --workers 2" },
		"game.max_orders":                   func(m *Manifest) { m.Game.MaxOrders++ },
		"game.max_turns":                    func(m *Manifest) { m.Game.MaxTurns++ },
		"observation.plane_fields[0].name":  func(m *Manifest) { m.Observation.PlaneFields[0].Name = "gold" },
		"observation.plane_fields[0].doc":   func(m *Manifest) { m.Observation.PlaneFields[0].Doc += "." },
		"observation.plane_fields":          func(m *Manifest) { m.Observation.PlaneFields = m.Observation.PlaneFields[1:] },
		"observation.scalar_fields[0].unit": func(m *Manifest) { m.Observation.ScalarFields[0].Unit = "miles" },
		"observation.packed":                func(m *Manifest) { m.Observation.Packed += "!" },
		"action.doc":                        func(m *Manifest) { m.Action.Doc = "choices" },
		"reward.doc":                        func(m *Manifest) { m.Reward.Doc = "gold" },
	}
	dir := generateToy(t, toyJob(2, 1), Options{Workers: 2})
	for key, change := range changes {
		m, err := manifestIn(dir)
		require.NoError(t, err)
		good := *m
		good.Observation.PlaneFields = append(good.Observation.PlaneFields[:0:0], m.Observation.PlaneFields...)
		good.Observation.ScalarFields = append(good.Observation.ScalarFields[:0:0], m.Observation.ScalarFields...)
		change(m)
		rewrite(t, dir, m)
		requireProblem(t, dir, toyMakers(), VerifyOptions{Workers: 2, Recompute: -1}, "manifest.json: "+key+" is ", ", made anew it is ")
		rewrite(t, dir, &good)
	}
	requireSound(t, dir, toyMakers(), VerifyOptions{Workers: 2, Recompute: -1})
}

// TestOtherGamma: the discount is also in the job, and must be the same there.
func TestOtherGamma(t *testing.T) {
	dir := generateToy(t, toyJob(2, 1), Options{})
	edit(t, dir, func(m *Manifest) { m.Reward.Gamma = 0.5 })
	_, err := Verify(t.Context(), dir, toyMakers(), VerifyOptions{Recompute: -1})
	require.ErrorContains(t, err, "discount")
}

// TestFormat1IsMadeAnew: what a manifest of format 1 says is compared too, but
// for prose.
func TestFormat1IsMadeAnew(t *testing.T) {
	m, err := manifestIn(filepath.Join(format1Dir, "toy"))
	require.NoError(t, err)
	for key, change := range map[string]func(*Manifest){
		"game.max_orders":                  func(m *Manifest) { m.Game.MaxOrders++ },
		"observation.plane_fields[0].name": func(m *Manifest) { m.Observation.PlaneFields[0].Name = "gold" },
		"moonfarm":                         func(m *Manifest) { m.Moonfarm = Version },
		"":                                 func(m *Manifest) { m.Observation.PlaneFields[0].Doc = "prose" },
	} {
		m := *m
		m.Observation.PlaneFields = append(m.Observation.PlaneFields[:0:0], m.Observation.PlaneFields...)
		change(&m)
		v := &verifier{d: newDataset(t.Context(), format1Dir, disk.Folder(filepath.Join(format1Dir, "toy")), &m), o: VerifyOptions{Recompute: -1}}
		_, err := v.recompute(toyMakers())
		require.NoError(t, err)
		if key == "" {
			require.Empty(t, v.report.Problems)
			continue
		}
		require.Len(t, v.report.Problems, 1, key)
		require.Contains(t, v.report.Problems[0], key+" is ")
	}
}
