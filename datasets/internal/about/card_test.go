package about

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCardWords: texts that YAML reads otherwise are quoted, and sizes have Hugging Face's words.
func TestCardWords(t *testing.T) {
	for _, word := range []string{"no", "true", "null", ""} { // words that YAML does not read as text
		require.Equal(t, strconv.Quote(word), yaml(word))
	}
	require.Equal(t, "none", yaml("none"))
	for rows, want := range map[uint64]string{0: "n<1K", 999: "n<1K", 1000: "1K<n<10K", 1e6: "1M<n<10M", 999_999_999_999: "100B<n<1T", 1e12: "n>1T"} {
		require.Equal(t, want, sizeCategory(rows))
	}
}
