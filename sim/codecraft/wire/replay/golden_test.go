package replay

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/internal/wiretest"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
)

// golden is a compressed replay file of a small battle.
const golden = "battle.replay.gz"

// TestGoldenReplay verifies a replay file in the repository, and checks that the battle still plays
// as in the file. With MOONFARM_UPDATE it writes the file again, after a change of the rules.
func TestGoldenReplay(t *testing.T) {
	file := filepath.Join("..", "testdata", golden)
	rules, played := smallBattle(t)
	if os.Getenv("MOONFARM_UPDATE") != "" {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		z.Write(played)
		z.Close()
		require.NoError(t, os.WriteFile(file, packed.Bytes(), 0o666))
	}
	want := simtest.Text(t, file)
	r, err := Verify(golden, bytes.NewReader(want), rules)
	require.NoError(t, err)
	assert.Truef(t, r.First == nil && r.Ticks == 20 && r.Counts[CountAttacks] >= 50 && r.Counts[CountMoves] >= 100, "error, first %v, %+v", r.First, r)
	assert.True(t, bytes.Equal(played, want), "the battle is not as recorded")
}

// smallBattle plays a battle under fog on a map with few resources.
func smallBattle(t *testing.T) (codecraft.Rules, []byte) {
	t.Helper()
	rules := codecraft.DefaultRules()
	rules.Generator.MinShare, rules.Generator.MaxShare = 20, 20
	g, s := wiretest.Battle(t, rules, 9)
	random := prng.New(9)
	return rules, recorded(t, g, s, &random, 20)
}
