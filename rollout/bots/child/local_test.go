package child

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// localGuard returns a Guard as it is on systems other than Linux.
func localGuard(t *testing.T, limits Limits) *Guard {
	t.Helper()
	g := &Guard{limits: limits, ctx: t.Context()}
	g.starts = &local{guard: g}
	g.stopWatching = context.AfterFunc(g.ctx, g.starts.end)
	t.Cleanup(func() {
		assert.NoError(t, g.Close())
	})
	return g
}

func TestWithoutGuardProcess(t *testing.T) {
	g := localGuard(t, Limits{})
	p := start(t, g, talks(t, "echo"))
	require.NoError(t, p.Write([]byte("hello\n"), soon()))
	assert.Equal(t, "hello", readLine(t, p))
	if r := p.End(soon()); r.Code != 0 || r.Fault != nil {
		t.Errorf("%+v", r)
	}
	p = start(t, g, talks(t, "sleep"))
	readLine(t, p)
	if r := p.End(time.Now()); r.Fault == nil || r.Fault.Kind != Time {
		t.Errorf("%+v", r)
	}
	if _, err := g.Run(Command{Program: Program{Args: []string{"no-such-program-here"}}}); err == nil {
		t.Error("started what is not there")
	}
	start(t, g, talks(t, "sleep")) // ended by Close

	g = localGuard(t, Limits{CPU: 50 * time.Millisecond})
	var err error
	for k := 0; err == nil && k < 1000; k++ {
		if p, err = g.Run(self(t, "spin", "30")); err == nil {
			p.End(soon())
		}
	}
	assert.Equal(t, CPU, kindOf(t, err), err)
}
