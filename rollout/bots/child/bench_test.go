package child

import (
	"context"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// medians measures functions in turn and reports the median time of each in microseconds.
func medians(b *testing.B, names []string, do ...func()) {
	times := make([][]time.Duration, len(do))
	for b.Loop() {
		for i, f := range do {
			begin := time.Now()
			f()
			times[i] = append(times[i], time.Since(begin))
		}
	}
	for i, t := range times {
		slices.Sort(t)
		b.ReportMetric(float64(t[len(t)/2].Nanoseconds())/1e3, names[i]+"-µs")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkRun starts /bin/true in a guard, and with os/exec, in turn.
func BenchmarkRun(b *testing.B) {
	g := guard(b, Limits{})
	limited := guard(b, Limits{AddressSpace: 1 << 30})
	run := func(g *Guard) func() {
		return func() {
			p, err := g.Run(Command{Args: []string{"/bin/true"}})
			if err != nil {
				b.Fatal(err)
			}
			if r := p.End(soon()); r.Code != 0 {
				b.Fatal(r)
			}
		}
	}
	medians(b, []string{"exec", "guard", "guard+rlimit"}, func() {
		if err := exec.Command("/bin/true").Run(); err != nil {
			b.Fatal(err)
		}
	}, run(g), run(limited))
}

// BenchmarkStart starts guards and closes them.
func BenchmarkStart(b *testing.B) {
	var g *Guard
	medians(b, []string{"start", "close"}, func() {
		var err error
		if g, err = Start(context.Background(), Limits{}); err != nil {
			b.Fatal(err)
		}
	}, func() {
		if err := g.Close(); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkLine sends a line to a bot that sends it back.
func BenchmarkLine(b *testing.B) {
	p := start(b, guard(b, Limits{}), talks(b, "echo"))
	line := []byte("[[0,0,0]]\n")
	medians(b, []string{"line"}, func() {
		if err := p.Write(line, soon()); err != nil {
			b.Fatal(err)
		}
		if _, err := p.ReadLine(soon()); err != nil {
			b.Fatal(err)
		}
	})
}
