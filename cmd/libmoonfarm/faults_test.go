//go:build cgo

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout/stepper"
)

// thing is an object of handles that counts how often it was closed.
type thing struct {
	idle
	closed int
}

func (t *thing) Close() error { t.closed++; return nil }

// other is an object of another kind.
type other struct{ thing }

func TestRegistry(t *testing.T) {
	var r registry
	seen := map[handle]bool{0: true}
	var all []handle
	things := map[handle]*thing{}
	for i := range 200 {
		c := &thing{}
		h := r.add(c)
		require.Falsef(t, seen[h], "handle %#x again", h)
		seen[h], things[h] = true, c
		all = append(all, h)
		if i%3 == 0 { // close an open one
			gone := all[len(all)/2]
			all = append(all[:len(all)/2], all[len(all)/2+1:]...)
			if err := r.close(gone); err != nil || things[gone].closed != 1 {
				t.Errorf("closing %#x: %v, closed %d times", gone, err, things[gone].closed)
			}
			if err := r.close(gone); codeOf(err) != codeHandle || things[gone].closed != 1 {
				t.Errorf("closing %#x again: %v, closed %d times", gone, err, things[gone].closed)
			}
			delete(things, gone)
		}
	}
	assert.Len(t, r.objects, len(all), "objects of closed handles are kept")
	for h := range seen {
		var got *thing
		err := call(&r, h, func(v *thing) error { got = v; return io.EOF })
		want := things[h]
		assert.Truef(t, got == want && (want != nil || codeOf(err) == codeHandle) && (want == nil || codeOf(err) == codeEnd), "handle %#x: %p, want %p; error %v", h, got, want, err)
		for bit := range 64 {
			if made := h ^ 1<<bit; !seen[made] {
				if err := call(&r, made, func(*thing) error { return nil }); codeOf(err) != codeHandle {
					t.Errorf("handle %#x, made up: %v", made, err)
				}
			}
		}
	}
	err := call(&r, all[0], func(*other) error { return nil })
	assert.Truef(t, codeOf(err) == codeHandle && strings.Contains(err.Error(), "expected one of"), "a handle of another kind: %v", err)
}

// TestRegistryWaits: a call of a handle waits for the previous call, and close
// waits for both; later calls find no object.
func TestRegistryWaits(t *testing.T) {
	var r registry
	h := r.add(&thing{})
	inside, on := make(chan bool), make(chan bool)
	var wait sync.WaitGroup
	wait.Go(func() {
		err := call(&r, h, func(v *thing) error {
			inside <- true
			<-on
			if v.closed != 0 {
				return errors.New("it was closed meanwhile")
			}
			return nil
		})
		assert.NoError(t, err)
	})
	<-inside
	wait.Go(func() {
		assert.NoError(t, r.close(h))
	})
	require.Eventually(t, func() bool { return r.find(h) == nil }, time.Minute, time.Millisecond)
	err := call(&r, h, func(*thing) error { return nil })
	assert.Equalf(t, codeHandle, codeOf(err), "a handle that is being closed: %v", err)
	on <- true
	wait.Wait()
}

func TestCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		want code
	}{
		{nil, codeOK},
		{errors.New("a slab is short"), codeArgument},
		{fmt.Errorf("step: %w", stepper.StateError("not now")), codeState},
		{fmt.Errorf("step: %w", &stepper.PanicError{Games: 1, Value: "oh"}), codeInternal},
		{stepper.ErrTimeout, codeTimeout},
		{io.EOF, codeEnd},
		{fault{codeData, "torn"}, codeData},
		{protect(func() error { panic("oh") }), codeInternal},
		{protect(func() error { var v *thing; v.closed = 1; return nil }), codeInternal},
		{protect(func() error { return wrong("%d", 7) }), codeArgument},
	} {
		t.Run(fmt.Sprint(c.err), func(t *testing.T) {
			assert.Equalf(t, c.want, codeOf(c.err), "%v has code", c.err)
		})
	}
	err := protect(func() error { panic("oh") })
	assert.Containsf(t, err.Error(), "oh (faults_test.go:", "a panic does not tell where it was: %v", err)
}

func TestCopyText(t *testing.T) {
	for room := range 12 {
		dst := make([]byte, room)
		n := copyText(dst, "−1 … 7")
		got := string(dst[:n])
		assert.Truef(t, utf8.ValidString(got) && strings.HasPrefix("−1 … 7", got) && (n >= room-2 || n >= len("−1 … 7")), "%d bytes take %q", room, got)
	}
}

// TestOpen opens every game, and refuses invalid settings.
func TestOpen(t *testing.T) {
	for _, g := range catalog.Games() {
		v, err := openEnvironments(settings{game: g.Name, envs: 2, opponents: "random\n\n empty \n", autoreset: int(env.SameStep)})
		require.NoError(t, err)
		text, err := v.AppendText(nil, 1)
		require.NoErrorf(t, err, "%s: %d rows, text %q", g.Name, v.Rows(), text)
		assert.Truef(t, len(text) != 0 && v.Rows() == 2, "%s: %d rows, text %q", g.Name, v.Rows(), text)
		checkDescription(t, g, v)
		assert.NoError(t, v.Close())
	}
	for want, s := range map[string]settings{
		`no game "chess"`:           {game: "chess", envs: 1},
		"num_envs is 0":             {game: "tron"},
		"num_envs is 2000000000":    {game: "codecraft", envs: 2_000_000_000},
		"workers is -1":             {game: "tron", envs: 1, workers: -1},
		"autoreset is 3":            {game: "tron", envs: 1, autoreset: 3},
		`opponents: policy "ecom"`:  {game: "towerdefence", envs: 1, opponents: "econ\necom"},
		`input "planes"`:            {game: "tron", envs: 1, opponents: "../../rollout/policy/models/towerdefence.onnx"},
		"missing.onnx":              {game: "tron", envs: 1, opponents: "missing.onnx"},
		"my nets, é.onnx: no such":  {game: "tron", envs: 1, opponents: `"my nets, é.onnx"(greedy)`},
		"no opponents":              {game: "tron", envs: 1},
		"seat 2":                    {game: "tron", envs: 1, seat: 2, opponents: "random"},
		"blocks of 3 games":         {game: "tron", envs: 4, batch: 3, seat: stepper.AllSeats},
		`no form "words"`:           {game: "tron", envs: 1, form: "words", seat: stepper.AllSeats},
		`"points"`:                  {game: "tron", envs: 1, reward: "points", seat: stepper.AllSeats},
		"nothing to remember":       {game: "tron", envs: 1, memory: true, seat: stepper.AllSeats},
		"a limit of -1 turns":       {game: "tron", envs: 1, turns: -1, seat: stepper.AllSeats},
		"opponents, but the caller": {game: "tron", envs: 1, opponents: "random", seat: stepper.AllSeats},
	} {
		t.Run(want, func(t *testing.T) {
			v, err := openEnvironments(s)
			expected := codeArgument
			if s.envs == 2_000_000_000 {
				expected = codeMemory
			}
			assert.Truef(t, codeOf(err) == expected && strings.Contains(err.Error(), want), "%+v: %v, %v, want %q", s, v, err, want)
		})
	}
}

// TestAsk: mf_ask answers as the policy plays, in the background too, and a policy that takes long
// is interrupted. A step and a question are not taken for each other.
func TestAsk(t *testing.T) {
	v, err := openEnvironments(settings{game: "towerdefence", envs: 2, opponents: "random", workers: 2})
	require.NoError(t, err)
	defer v.Close()
	require.NoError(t, errors.Join(v.Bind(&stepper.Slabs{Action: make([]int32, 2)}), v.Reset(nil, nil)))
	maker, err := v.maker("mcts(sims=1000000)")
	require.NoError(t, err)
	to := make([]int32, 2)
	for range 2 {
		ask := func() (func() error, error) {
			return func() error { return v.Ask("long", maker, to, nil) }, nil
		}
		require.NoError(t, v.resume("mf_ask", ask))
		for range 2 {
			err = v.await(time.Millisecond)
			require.Equal(t, codeTimeout, codeOf(err))
			err = v.resume("mf_step_for", ask)
			assert.Equalf(t, codeState, codeOf(err), "a step while a policy is asked: %v", err)
			assert.NoError(t, v.resume("mf_ask", ask))
		}
		require.Eventually(t, func() bool { v.Interrupt(); return codeOf(v.await(10*time.Millisecond)) == codeState }, time.Minute, time.Millisecond)
	}
	econ, err := v.maker("econ")
	require.NoError(t, err)
	again, _ := v.maker("econ")
	assert.NotNil(t, again)
	require.NoError(t, v.Ask("econ", econ, to, []bool{true, false}))
	assert.True(t, to[0] >= 0 && to[1] == -1, to)
	for text, want := range map[string]string{"ecom": "ecom", "mcts(ms=5)": "ms", "": ""} {
		_, err := v.maker(text)
		assert.Equalf(t, codeArgument, codeOf(err), "%q: %v", text, err)
		assert.ErrorContains(t, err, want)
	}
}

func checkDescription(t *testing.T, g catalog.Entry, v *environments) {
	t.Helper()
	d, s := describe(g.Doc, v.Spec(), true), v.Spec()
	text, err := json.Marshal(d)
	require.NoError(t, err)
	assert.Truef(t, d.Game == g.Name && d.Rules == s.Info.Config && len(d.Planes) == s.Shape.Planes && len(d.Scalars) == s.Shape.Scalars && len(d.Heads) == len(s.Heads) && len(d.MaskOffsets) == len(s.Heads), "%s is described as %.300s", g.Name, text)
	assert.Truef(t, d.Form == s.Forms[0].Form && !d.Sequential && len(d.Forms) == len(s.Forms) && d.Forms[0].Name == d.Form && d.Forms[0].Doc != "", "%s is described as %.300s", g.Name, text)
	assert.NotContainsf(t, string(text), ":null", "%s: a list is null: %.300s", g.Name, text)
}

func TestGames(t *testing.T) {
	cards, err := gameCards()
	require.NoError(t, err)
	for i, g := range catalog.Games() {
		c := cards[i]
		assert.Truef(t, c.Forms[0].Name != "" && slices.Equal(c.Forms[0].Heads, c.Heads) && slices.Equal(c.Forms[0].Shapes["planes"], c.Shapes["planes"]), "%s: %+v", g.Name, c.Forms)
		assert.Truef(t, c.Name == g.Name && len(c.Policies) >= 2 && len(c.Rules) != 0, "%s: %+v", g.Name, c)
		assert.Truef(t, c.Players >= 2 && c.MaxTurns != 0 && len(c.Heads) != 0 && c.Rewards[0].Name == "result" && len(c.Shapes["planes"]) == 3 && c.Shapes["mask"][0] != 0, "%s: players %d, turns %d, heads %d, rewards %v, shapes %v", g.Name, c.Players, c.MaxTurns, c.Heads, c.Rewards, c.Shapes)
	}
}

// TestSlabsApart: slabs that share a byte are refused, adjacent slabs are not.
func TestSlabsApart(t *testing.T) {
	memory := make([]float32, 12)
	at := func(from int) address { return address(uintptr(unsafe.Pointer(&memory[from]))) }
	for from, want := range map[int]string{7: "reward and final_score overlap", 4: "overlap", 1: "overlap", 0: "", 8: ""} {
		c := &checker{}
		own[float32](c, "reward", at(4), 4)
		own[float32](c, "final_score", at(from), 4)
		if want == "" {
			assert.NoError(t, c.first, "from %d", from)
			continue
		}
		assert.ErrorContains(t, c.first, want, "from %d", from)
		assert.Equal(t, codeArgument, codeOf(c.first), "from %d", from)
	}
	written := []span{spanOf("reward", memory[:4])}
	for from, want := range map[int]code{0: codeArgument, 4: codeOK} {
		actions := unsafe.Slice((*int32)(unsafe.Pointer(&memory[from])), 4)
		err := spanOf("action", actions).apartFrom(written)
		assert.Equalf(t, want, codeOf(err), "actions in a slab that is written: %v", err)
	}
}

// TestInterrupt: a step against an endless search is awaited in pieces, refuses
// other calls meanwhile, and is ended by Interrupt and by close.
func TestInterrupt(t *testing.T) {
	v, err := openEnvironments(settings{game: "towerdefence", envs: 2, opponents: "mcts(sims=1000000)", workers: 1})
	require.NoError(t, err)
	h := handles.add(v)
	turn := make([]int32, 2)
	require.NoError(t, errors.Join(v.Bind(&stepper.Slabs{Action: make([]int32, 2), Turn: turn}), v.Reset(nil, nil)))
	for range 2 {
		v.begin("mf_step_for", v.Step)
		for range 2 {
			if err := v.await(time.Millisecond); codeOf(err) != codeTimeout {
				t.Fatalf("await: %v", err)
			}
			if c := step(mf_step, h); c != codeState {
				t.Errorf("a step beside another: code %d", c)
			}
		}
		v.Interrupt()
		err = v.await(time.Minute)
		assert.Truef(t, codeOf(err) == codeState && turn[0] == 0, "the interrupted step: %v, turn %d", err, turn[0])
	}
	done := make(chan error, 1)
	go func() { done <- call(&handles, h, func(v *environments) error { return v.Step() }) }()
	require.Eventually(t, func() bool { // until the step holds the lock
		mu := &handles.find(h).mu
		if mu.TryLock() {
			mu.Unlock()
			return false
		}
		return true
	}, time.Minute, time.Millisecond)
	assert.NoError(t, handles.close(h))
	err = <-done
	assert.Equalf(t, codeState, codeOf(err), "the step that was under way at close: %v", err)
}

// step calls mf_step, whose C types a test cannot name.
func step[H ~uint64, E ~uintptr | ~uint64, R ~int32](f func(H, E) R, h handle) code {
	return code(f(H(h), 0))
}

// TestNoAllocations steps by the exported function.
func TestNoAllocations(t *testing.T) {
	for _, workers := range []int{1, 2} {
		v, err := openEnvironments(settings{game: "tron", envs: 64, opponents: "random", workers: workers})
		require.NoError(t, err)
		h := handles.add(v)
		b := &stepper.Slabs{Planes: make([]uint8, 64*v.Spec().Shape.PlaneBytes()), Action: make([]int32, 64)}
		require.NoError(t, errors.Join(v.Bind(b), v.Reset(nil, nil)))
		n := testing.AllocsPerRun(200, func() {
			if c := step(mf_step, h); c != codeOK {
				t.Errorf("code %d", c)
			}
		})
		assert.Zerof(t, n, "%d workers: %v allocations in a step", workers, n)
		assert.NoError(t, handles.close(h))
		assert.Equal(t, codeHandle, step(mf_step, h), "a step of closed environments: code")
	}
}
