package datasets

import (
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
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

// TestOtherEncoding: manifests of another format or encoding are refused, with the command that makes
// the episodes again.
func TestOtherEncoding(t *testing.T) {
	dir := generateToy(t, toyJob(2, 1), Options{})
	good, err := manifestIn(dir)
	require.NoError(t, err)
	for want, change := range map[string]func(*Manifest){
		"format 2, encoding 3;": func(m *Manifest) { m.Format = 2 },
		"format 3, encoding 1;": func(m *Manifest) { m.Encoding = 0 }, // as before it was numbered
		"format 3, encoding 2;": func(m *Manifest) { m.Encoding = 2 },
		"format 3, encoding 4;": func(m *Manifest) { m.Encoding = about.Encoding + 1 },
	} {
		m := *good
		m.Command = "moonfarm generate toy"
		change(&m)
		rewrite(t, dir, &m)
		_, err := Open(dir)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, `expected format 3, encoding 3: its command in the manifest, "moonfarm generate toy", makes the episodes again`)
	}
}

// TestOtherGamma: the discount is also in the job, which must have the same.
func TestOtherGamma(t *testing.T) {
	dir := generateToy(t, toyJob(2, 1), Options{})
	edit(t, dir, func(m *Manifest) { m.Reward.Gamma = 0.5 })
	_, err := Verify(t.Context(), dir, toyMakers(), VerifyOptions{Recompute: -1})
	require.ErrorContains(t, err, "discount")
}
