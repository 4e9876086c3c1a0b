package farm

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/farm/internal/tracker"
)

// figures are the costs of a farm. They were measured (TestSpeed, TestMemory, and a beat and a
// restart by hand) and rounded up; the time and the size of a shard are assumptions.
type figures struct {
	perClaim    time.Duration // processor time of the coordinator for a claim and its commit
	perBeat     time.Duration
	perLoad     time.Duration // time in which a new coordinator reads a record
	perRecord   float64       // bytes of the server's memory
	diskRecord  float64       // bytes on the server's disk
	perWorker   float64       // bytes of memory for its connection and its record
	perMessage  float64       // bytes on the wire for a claim and a commit
	beats       time.Duration
	rate        float64
	episodes    float64 // of a shard
	shard       time.Duration
	perShardOut float64 // bytes of a shard's files
}

var paper = figures{
	perClaim: 250 * time.Microsecond, perBeat: 60 * time.Microsecond, perLoad: 6 * time.Microsecond, perRecord: 250, diskRecord: 400, perWorker: 100 << 10,
	perMessage: 2500, beats: 10 * time.Second, rate: 0.01, episodes: 50, shard: 60 * time.Second, perShardOut: 5 << 20,
}

// load is a farm's load, hour by hour.
type load struct {
	workers, shards        float64
	hours, audits          float64 // duration of the run; number of audits
	claims, beats          float64 // per second
	cores                  float64 // used by the server's process
	load                   time.Duration
	memory, disk, wire     float64 // bytes; bytes; bytes per second
	stored                 float64 // bytes per second into the store of files
	firstAudits, auditRate float64 // share of audits in the first hour, and at the end
}

// simulate computes the audits over one worker's history with the coordinator's own probabilities;
// all workers are alike.
func (p *figures) simulate(workers, shards float64) load {
	l := load{workers: workers, shards: shards}
	s := &tracker.Sampler{Rate: p.rate}
	perHour := float64(time.Hour / p.shard)
	each := shards / workers
	var made, done, hour float64 // of one worker: own shards, and including audits of others' shards
	for n := uint64(1); made < each; n++ {
		chance := s.Chance(n, p.episodes, false)
		step := min(1, each-made)
		made += step
		done += step * (1 + chance)
		l.audits += step * chance
		if l.hours = done / perHour; l.hours <= 1 {
			l.firstAudits = l.audits / done
		}
		hour = chance
	}
	l.audits *= workers
	l.auditRate = hour / (1 + hour)
	l.claims = workers / p.shard.Seconds()
	l.beats = workers / p.beats.Seconds()
	l.cores = l.claims*p.perClaim.Seconds() + l.beats*p.perBeat.Seconds()
	l.load = time.Duration(shards) * p.perLoad
	l.memory = shards*p.perRecord + workers*p.perWorker
	l.disk = shards * p.diskRecord
	l.wire = l.claims * p.perMessage
	l.stored = l.claims * (1 - l.auditRate) * p.perShardOut
	return l
}

// amount formats a number with an SI prefix.
func amount(v float64, unit string) string {
	for _, prefix := range []string{"", "k", "M", "G", "T"} {
		if v < 1000 || prefix == "T" {
			digits := max(0, 2-int(math.Floor(math.Log10(max(v, 1)))))
			return strings.TrimSpace(fmt.Sprintf("%.*f %s%s", digits, v, prefix, unit))
		}
		v /= 1000
	}
	return ""
}

// table returns the table of SCALE.md.
func (p *figures) table() string {
	var b strings.Builder
	b.WriteString("| workers | shards | hours | claims a second | beats a second | server, cores | takeover, seconds | server, memory | server, disk | network a second | files a second | audits | in the first hour | at the end |\n")
	b.WriteString("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, c := range [][2]float64{{100, 1e5}, {1000, 1e6}, {10_000, 1e7}, {100_000, 1e8}, {100_000, 1e9}} {
		l := p.simulate(c[0], c[1])
		fmt.Fprintf(&b, "| %s | %s | %.1f | %s | %s | %.2f | %.1f | %s | %s | %s | %s | %.1f %% | %.1f %% | %.1f %% |\n",
			amount(l.workers, ""), amount(l.shards, ""), l.hours, amount(l.claims, ""), amount(l.beats, ""), l.cores, l.load.Seconds(),
			amount(l.memory, "B"), amount(l.disk, "B"), amount(l.wire, "B"), amount(l.stored, "B"),
			100*l.audits/l.shards, 100*l.firstAudits, 100*l.auditRate)
	}
	return b.String()
}

// TestScale: SCALE.md has the table that follows from the figures.
func TestScale(t *testing.T) {
	page, err := os.ReadFile("SCALE.md")
	require.NoError(t, err)
	table := paper.table()
	t.Logf("\n%s", table)
	assert.Contains(t, string(page), table, "SCALE.md lacks this table")
	l := paper.simulate(100_000, 1e8)
	if l.cores < 1 || l.memory < 16<<30 || l.load < 5*time.Minute || l.stored < 1e9 {
		t.Errorf("SCALE.md says that one core, 16 GB, five minutes and 1 GB/s do not suffice, the figures say %.2f cores, %s, %v and %s/s",
			l.cores, amount(l.memory, "B"), l.load, amount(l.stored, "B"))
	}
	bigger := paper
	bigger.episodes, bigger.shard, bigger.perShardOut = 10*paper.episodes, 10*paper.shard, 10*paper.perShardOut
	l = bigger.simulate(100_000, 1e7)
	assert.Truef(t, l.claims <= 200 && l.memory <= 16e9 && l.load <= 2*time.Minute, "SCALE.md says that shards ten times as large suffice: %+v", l)
}
