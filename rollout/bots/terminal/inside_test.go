package terminal

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout"
	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
	"moonfarm/rollout/policy"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/terminal/wire/frame"
	"moonfarm/sim/terminal/wire/replay"
)

// ample is a time within which all that behaves answers, on a busy machine too.
const ample = time.Minute

// inside is a bot in this process: a function that reads lines and prints its
// answers, over pipes of the system.
type inside struct {
	in, out *os.File
	lines   *bufio.Reader
	over    chan struct{}
}

// bot makes a seat of a function. After the game its writes fail, so that it returns.
func bot(play func(in *bufio.Reader, out io.Writer) error) Seat {
	return Seat{begin: func(context.Context, child.Limits) (player, error) {
		p := &inside{over: make(chan struct{})}
		stdin, in, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		out, stdout, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		p.in, p.out, p.lines = in, out, bufio.NewReaderSize(out, 1<<20)
		go func() {
			defer close(p.over)
			_ = play(bufio.NewReaderSize(stdin, 1<<16), stdout)
			stdin.Close()
			stdout.Close()
		}()
		return p, nil
	}}
}

// Write implements player.
func (i *inside) Write(b []byte, deadline time.Time) error {
	_ = i.in.SetWriteDeadline(deadline)
	_, err := i.in.Write(b)
	return fault(err)
}

// ReadLine implements player.
func (i *inside) ReadLine(deadline time.Time) ([]byte, error) {
	_ = i.out.SetReadDeadline(deadline)
	line, err := i.lines.ReadSlice('\n')
	return bytes.TrimSuffix(line, []byte("\n")), fault(err)
}

// fault returns an error as child.Process would.
func fault(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &child.Fault{Kind: child.Time, Text: "did not answer"}
	}
	return &child.Fault{Kind: child.Exited, Text: "the program has ended: exit status 7"}
}

// stop implements player.
func (i *inside) stop(deadline time.Time) bots.Ended {
	i.in.Close()
	if deadline.IsZero() {
		i.out.Close()
	}
	<-i.over
	i.out.Close()
	return bots.Ended{Exit: "exit status 0"}
}

// phase returns the phase of a frame from its line.
func phase(line []byte) (byte, bool) {
	const key = `"turnInfo":[`
	if i := bytes.Index(line, []byte(key)); i >= 0 && i+len(key) < len(line) {
		return line[i+len(key)] - '0', true
	}
	return 0, false
}

// serve is a bot that behaves: it passes every line to see, if that is not nil, and
// answers each deploy frame with the next of the answers, and later ones with empty answers.
func serve(in *bufio.Reader, out io.Writer, see func(line []byte), answers ...string) error {
	for {
		line, err := in.ReadSlice('\n')
		for err == bufio.ErrBufferFull {
			var more []byte
			line = append([]byte(nil), line...)
			more, err = in.ReadSlice('\n')
			line = append(line, more...)
		}
		if err != nil {
			return err
		}
		if see != nil {
			see(line)
		}
		p, ok := phase(line)
		switch {
		case ok && p == frame.PhaseEnd:
			return nil
		case !ok || p != frame.PhaseDeploy:
			continue
		}
		answer := "[]\n[]\n"
		if len(answers) > 0 {
			answer, answers = answers[0], answers[1:]
		}
		if _, err := io.WriteString(out, answer); err != nil {
			return err
		}
	}
}

// answering returns a bot that gives these answers.
func answering(answers ...string) Seat {
	return bot(func(in *bufio.Reader, out io.Writer) error { return serve(in, out, nil, answers...) })
}

// ruled returns a match by a rule set with a limit of turns and generous limits.
func ruled(t testing.TB, rules string, turns int32, seats ...Seat) *Match {
	t.Helper()
	r, ok := terminal.RuleSet(rules)
	require.Truef(t, ok, "no rules %q", rules)
	r.MaxTurns = turns
	m := &Match{Config: config.Of(r)}
	m.Limits = LocalLimits(&m.Config)
	m.Limits.Start = 0
	copy(m.Seats[:], seats)
	return m
}

func maker(t testing.TB, spec string) rollout.Maker {
	t.Helper()
	m, err := policy.New("terminal", spec)
	require.NoError(t, err)
	return m
}

// played plays a match that must not fail, and checks that its replay verifies.
func played(t testing.TB, m *Match) (*Result, []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), ample)
	defer cancel()
	var file bytes.Buffer
	m.Replay = &file
	r, err := m.Play(ctx)
	require.NoError(t, err)
	verified(t, r, file.Bytes())
	return r, file.Bytes()
}

// verified checks that the game plays as the replay says, to the same result.
func verified(t testing.TB, r *Result, file []byte) {
	t.Helper()
	read, report, err := replay.Verify("match", bytes.NewReader(file), nil)
	require.NoError(t, err, "replay")
	require.Truef(t, report.First == nil && report.Different <= 0 && report.Complete, "replay, %+v, %v", report, report.First)
	a, b := fmt.Sprintf("%+v", read.End), fmt.Sprintf("%+v", r.End)
	assert.Truef(t, a == b && r.Turns == report.Turns, "the replay's end is %s, the result's %s; %d and %d turns", a, b, report.Turns, r.Turns)
}
