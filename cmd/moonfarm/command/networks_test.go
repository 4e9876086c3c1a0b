package command

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/rollout/network"
)

// TestNetworksOnAllPaths: datasets of networks have the same bytes on all arithmetic paths
// of this machine. It compares manifests, which have the sums of all files.
func TestNetworksOnAllPaths(t *testing.T) {
	var first []byte
	for _, path := range []string{"portable", "avx2", "avx512", "neon"} {
		restore, err := network.UsePath(path)
		if err != nil {
			continue
		}
		dir := filepath.Join(t.TempDir(), path)
		said(t, console.ExitOK, "generate", "towerdefence", "--policy", "net,mcts(sims=4,model=net)", "--max-turns", "6", "--episodes", "2", "--out", dir)
		restore()
		manifest, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
		require.NoError(t, err)
		if first == nil {
			first = manifest
		}
		assert.Equalf(t, string(first), string(manifest), "on %s: %s\nwant %s", path, manifest, first)
	}
	assert.NotNil(t, first, "no path ran")
}
