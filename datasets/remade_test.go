package datasets

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestManifestIsMadeAnew changes keys of a manifest that no other file holds, with a
// checksum that fits: verify with Recompute names them.
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
		requireProblem(t, dir, toyMakers(), VerifyOptions{Workers: 2, Recompute: -1}, "manifest.json: "+key+" is ", ", made again it is ")
		rewrite(t, dir, &good)
	}
	requireSound(t, dir, toyMakers(), VerifyOptions{Workers: 2, Recompute: -1})
}
