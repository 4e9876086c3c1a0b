//go:build unix

package child

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSettle: after Settle the log has everything that the process printed before its answer, in order.
func TestSettle(t *testing.T) {
	var text bytes.Buffer // package Log writes to it with its lock held
	log := NewLog(&text, 1<<30)
	p := start(t, guard(t, Limits{}), Command{Program: self(t, "notes").Program, Input: true, Output: true, Log: log})
	for n := range 300 {
		require.NoError(t, p.Write(fmt.Appendf(nil, "%d\n", n), time.Time{}))
		_, err := p.ReadLine(time.Time{})
		require.NoError(t, err)
		p.Settle()
		log.Line("== %d", n)
	}
	r := p.End(time.Time{})
	require.Zero(t, r.Code)
	p.Settle() // of a process that has ended
	var want strings.Builder
	for n := range 300 {
		for k := range 1 + n%40 {
			fmt.Fprintln(&want, n, k, strings.Repeat("z", 500))
		}
		fmt.Fprintf(&want, "== %d\n", n)
	}
	assert.Equal(t, want.String(), text.String())
}

// TestSettleFlood: a process that never stops printing does not hold up Settle.
func TestSettleFlood(t *testing.T) {
	p := start(t, guard(t, Limits{}), self(t, "flood", "err", "\n"))
	for range 100 {
		p.Settle()
	}
	p.Kill()
}
