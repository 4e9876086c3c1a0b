package write

import (
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/rollout"
)

// TestStrictAtOne: with Options.Strict a single evaluation that is not finite fails the shard.
func TestStrictAtOne(t *testing.T) {
	w := &shardWriter{run: &run{options: Options{Strict: true}}}
	err := w.Episode(&rollout.Episode{Policies: []string{"a", "net"}, Networks: []rollout.NetworkCounts{{}, {Evaluations: 5, NotFinite: 1}}})
	require.ErrorContains(t, err, "the network of net at seat 1 gave NaN or infinite logits or values in 1 of 5 evaluations")
}
