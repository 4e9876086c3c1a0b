//go:build cgo

package main

/*
#define MF_TYPES_ONLY
#include "moonfarm.h"
*/
import "C"

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"moonfarm/datasets"
	"moonfarm/datasets/imports"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout/recordings"
)

// task is the object of a handle of mf_verify_recording or
// mf_import_recordings: work in the background, and its result.
type task struct {
	cancel context.CancelFunc
	done   chan struct{} // closed at the end
	result any           // valid after done
	err    error
}

// beginTask begins a task.
func beginTask(work func(ctx context.Context) (any, error)) *task {
	ctx, cancel := context.WithCancel(context.Background())
	t := &task{cancel: cancel, done: make(chan struct{})}
	go func() {
		debug.SetPanicOnFault(true)
		defer close(t.done)
		t.err = protect(func() (err error) {
			t.result, err = work(ctx)
			return err
		})
	}()
	return t
}

// String names the kind of handle.
func (t *task) String() string { return "a task" }

// Abandon implements value.
func (t *task) Abandon() { t.cancel() }

// busy implements value.
func (t *task) busy() error { return nil }

// Close implements io.Closer: it waits for the end of the task.
func (t *task) Close() error {
	t.cancel()
	<-t.done
	return nil
}

// wait waits for the result. It fails with codeTimeout if the task is not over
// in time. A negative wait waits for ever.
func (t *task) wait(wait time.Duration) ([]byte, error) {
	var late <-chan time.Time
	if wait >= 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-t.done:
	case <-late:
		select { // the task may have ended at the same time
		case <-t.done:
		default:
			return nil, fault{codeTimeout, "the task is not over in time: it is under way"}
		}
	}
	if t.err != nil {
		return nil, t.err
	}
	return json.Marshal(t.result)
}

//export mf_verify_recording
func mf_verify_recording(file, rules address, out, e address) C.int32_t {
	return guard(e, func() error {
		if file == 0 {
			return wrong("file is NULL")
		}
		var path, given string
		if err := texts([]text{{"file", file, &path}, {"rules", rules, &given}}); err != nil {
			return err
		}
		if path == "" {
			return wrong("the path of the recording is empty")
		}
		return newHandle(beginTask(func(ctx context.Context) (any, error) { return verified(ctx, path, given) }), out)
	})
}

// verified returns the result of mf_verify_recording. An unreadable recording
// is not an error.
func verified(ctx context.Context, file, rules string) (any, error) {
	report, err := recordings.Verify(ctx, file, rules)
	switch {
	case ctx.Err() != nil:
		return nil, fault{codeState, "the task was ended"}
	case errors.As(err, new(*recordings.OptionError)):
		return nil, wrong("%v", err)
	}
	return report, nil
}

//export mf_import_recordings
func mf_import_recordings(c, out, e address) C.int32_t {
	return guard(e, func() error {
		from, err := structAt[C.mf_import]("mf_import", c)
		if err != nil {
			return err
		}
		i, err := readImport(from)
		if err != nil {
			return err
		}
		return newHandle(beginTask(func(ctx context.Context) (any, error) { return i.run(ctx) }), out)
	})
}

// importing holds the fields of an mf_import in Go.
type importing struct {
	engine  recordings.Engine
	game    catalog.Entry
	files   []string
	job     datasets.Job
	options imports.Options
}

// readImport reads an mf_import.
func readImport(c *C.mf_import) (*importing, error) {
	var game, files, out, rules, reward, obs, license string
	if err := texts([]text{
		{"game", field(&c.game), &game}, {"files", field(&c.files), &files}, {"out", field(&c.out), &out}, {"rules", field(&c.rules), &rules},
		{"reward", field(&c.reward), &reward}, {"obs", field(&c.obs), &obs}, {"license", field(&c.license), &license},
	}); err != nil {
		return nil, err
	}
	i := &importing{files: slices.DeleteFunc(strings.Split(files, "\n"), func(line string) bool { return line == "" })}
	var err error
	if i.game, err = catalog.Find(game); err != nil {
		return nil, wrong("game: %v", err)
	}
	var ok bool
	if i.engine, ok = recordings.Of(game); !ok {
		return nil, wrong("game: %s has no original engine, and so no recordings", game)
	}
	switch {
	case len(i.files) == 0:
		return nil, wrong("files: the list is empty")
	case out == "":
		return nil, wrong("out: the path of the dataset is empty")
	case c.workers < 0 || c.workers > maxWorkers:
		return nil, wrong("workers is %d: want 1 to %d, or 0 for as many as there are cores", c.workers, maxWorkers)
	case c.shard_episodes < 0 || c.shard_episodes > math.MaxInt32:
		return nil, wrong("shard_episodes is %d: want 1 to %d, or 0 for the default", c.shard_episodes, math.MaxInt32)
	}
	if err := recordings.CheckRules(i.engine.Info(), rules); err != nil {
		return nil, wrong("%v", err)
	}
	i.job = datasets.Job{
		Program: datasets.ProgramMoonfarm, License: license, Reward: cmp.Or(reward, env.ResultReward), Discount: cmp.Or(float64(c.discount), 1),
		Obs: cmp.Or(datasets.Obs(obs), datasets.ObsPlanes), Memory: c.memory != 0, Codec: datasets.Zstd, TensorMetadata: datasets.TensorsPlain,
	}
	if _, err := i.game.New("", env.Settings{N: 1, Reward: i.job.Reward}); err != nil {
		return nil, wrong("reward: %v", err)
	}
	workers := cmp.Or(int(c.workers), runtime.GOMAXPROCS(0))
	i.options = imports.Options{
		ReadOptions: recordings.ReadOptions{Rules: rules, Keep: c.keep != 0}, Dir: out,
		ShardEpisodes: cmp.Or(uint64(c.shard_episodes), i.game.ShardEpisodes), Workers: workers, Dataset: datasets.Options{Workers: workers},
	}
	return i, nil
}

// run does the work of mf_import_recordings. It is not an error if all files are
// skipped.
func (i *importing) run(ctx context.Context) (any, error) {
	r, err := imports.Run(ctx, i.engine, i.files, i.job, datasets.Makers{Vector: i.game.New, Recorded: i.game.Recorded}, i.options)
	switch {
	case ctx.Err() != nil:
		return nil, fault{codeState, "the task was ended"}
	case err != nil && !errors.Is(err, imports.ErrNothing):
		return nil, wrong("%v", err)
	}
	for _, x := range r.Skipped {
		if errors.As(x.Err, new(*recordings.OptionError)) {
			return nil, wrong("%v", x.Err)
		}
	}
	return r, nil
}

//export mf_task_result
func mf_task_result(h C.mf_handle, wait C.int32_t, buf address, room C.size_t, need, e address) C.int32_t {
	return guard(e, func() error {
		return call(&handles, handle(h), func(t *task) error {
			text, err := t.wait(time.Duration(wait) * time.Millisecond)
			if err != nil {
				return err
			}
			return copyOut(text, true, buf, room, need)
		})
	})
}
