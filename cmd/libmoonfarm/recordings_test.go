//go:build cgo

package main

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/recordings"
)

// TestTask: a task times out while it runs, keeps its result, and ends when its handle is closed.
func TestTask(t *testing.T) {
	var r registry
	goOn := make(chan struct{})
	h, err := r.add(beginTask(func(ctx context.Context) (any, error) {
		<-goOn
		return verified(ctx, "../../sim/towerdefence/wire/testdata/game.jsonl", "")
	}))
	require.NoError(t, err)
	result := func(wait time.Duration) (text []byte, err error) {
		err = call(&r, h, func(v *task) error { text, err = v.wait(wait); return err })
		return text, err
	}
	_, err = result(0)
	assert.Equal(t, codeTimeout, codeOf(err))
	close(goOn)
	for range 2 {
		text, err := result(-1)
		require.NoError(t, err)
		var report recordings.Report
		require.NoError(t, json.Unmarshal(text, &report))
		assert.Equal(t, "towerdefence", report.Game)
		assert.Equal(t, 48, report.Counts["rounds"])
		assert.Zero(t, report.Different)
	}
	require.NoError(t, r.close(h))
	_, err = result(0)
	assert.Equal(t, codeHandle, codeOf(err))

	endless := beginTask(func(ctx context.Context) (any, error) {
		<-ctx.Done()
		return nil, fault{codeState, "the task was ended"}
	})
	h, err = r.add(endless)
	require.NoError(t, err)
	require.NoError(t, r.close(h), "close ends the task")
	_, err = endless.wait(-1)
	assert.Equal(t, codeState, codeOf(err))

	_, err = beginTask(func(context.Context) (any, error) { panic("out of order") }).wait(-1)
	assert.Equal(t, codeInternal, codeOf(err))
}
