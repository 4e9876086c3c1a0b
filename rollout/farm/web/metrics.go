package web

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"moonfarm/rollout/farm"
)

// metrics serves the farm's status and this process's own metrics in the Prometheus format.
func (s *Server) metrics() http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collector{s.latest})
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(s.o.Log.Handler(), slog.LevelWarn), MaxRequestsInFlight: 4, Timeout: patience / 2,
	})
}

// collector requests the status at every scrape.
type collector struct{ latest *latest }

// describe defines a metric and its labels.
func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("moonfarm_"+name, help, labels, nil)
}

var (
	up            = describe("up", "1 if a coordinator answers.")
	runInfo       = describe("run_info", "1 for the current state of each run.", "run", "name", "state")
	runShards     = describe("run_shards", "Shards of a run by progress: all, made, held.", "run", "name", "shards")
	runRows       = describe("run_rows", "Rows in the committed shards of a run.", "run", "name")
	runBytes      = describe("run_bytes", "Bytes in the committed shards of a run.", "run", "name")
	runRate       = describe("run_rows_per_second", "Rows per second of a run over the last half minute.", "run", "name")
	runLeft       = describe("run_seconds_left", "Seconds to the last commit at this rate; 0 if unknown.", "run", "name")
	runAudits     = describe("run_audits", "Audits of a run by result: due, passed, failed, waived.", "run", "name", "result")
	runDuplicates = describe("run_shards_again", "Shards given to a second worker because they took long.", "run", "name")
	runReverted   = describe("run_shards_remade", "Shards whose commits were reverted.", "run", "name")

	workerAlive  = describe("worker_alive", "1 if the worker sent a beat recently.", "worker", "version")
	workerBeat   = describe("worker_last_heartbeat_seconds", "Time of the last beat of the worker, in seconds since 1970.", "worker")
	workerHeld   = describe("worker_shards_held", "Shards leased to the worker.", "worker")
	workerShards = describe("worker_shards_total", "Shards that the worker committed.", "worker")
	workerRows   = describe("worker_rows_total", "Rows that the worker committed.", "worker")
	workerLapsed = describe("worker_claims_lapsed_total", "Claims that the worker neither finished nor gave back.", "worker")
	workerOut    = describe("worker_quarantined", "1 if the worker is quarantined.", "worker")
)

// Describe implements prometheus.Collector: the set of metrics depends on the runs.
func (c collector) Describe(to chan<- *prometheus.Desc) { to <- up }

// Collect implements prometheus.Collector.
func (c collector) Collect(to chan<- prometheus.Metric) {
	tell := func(kind prometheus.ValueType, d *prometheus.Desc, v float64, labels ...string) {
		for i, l := range labels {
			labels[i] = strings.ToValidUTF8(l, "?")
		}
		to <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) { tell(prometheus.GaugeValue, d, v, labels...) }
	counter := func(d *prometheus.Desc, v float64, labels ...string) {
		tell(prometheus.CounterValue, d, v, labels...)
	}
	s, err := c.latest.Status(context.Background())
	if err != nil {
		gauge(up, 0)
		return
	}
	gauge(up, 1)
	for _, r := range s.Runs {
		runMetrics(gauge, &r)
	}
	for _, w := range s.Workers {
		gauge(workerAlive, bit(w.Alive), w.Name, w.Version)
		gauge(workerBeat, float64(w.Beat.UnixMilli())/1000, w.Name)
		gauge(workerHeld, float64(w.Held), w.Name)
		gauge(workerOut, bit(w.Quarantined != ""), w.Name)
		counter(workerShards, float64(w.Shards), w.Name)
		counter(workerRows, float64(w.Rows), w.Name)
		counter(workerLapsed, float64(w.Lapsed), w.Name)
	}
}

func runMetrics(gauge func(d *prometheus.Desc, v float64, labels ...string), r *farm.RunStatus) {
	gauge(runInfo, 1, r.ID, r.Name, string(r.State))
	for _, n := range []struct {
		what string
		n    int
	}{{"all", r.Shards}, {"made", r.Made}, {"held", r.Held}} {
		gauge(runShards, float64(n.n), r.ID, r.Name, n.what)
	}
	for _, n := range []struct {
		result string
		n      int
	}{{"due", r.Audits.Pending}, {"passed", r.Audits.Passed}, {"failed", r.Audits.Failed}, {"waived", r.Audits.Waived}} {
		gauge(runAudits, float64(n.n), r.ID, r.Name, n.result)
	}
	gauge(runRows, float64(r.Rows), r.ID, r.Name)
	gauge(runBytes, float64(r.Bytes), r.ID, r.Name)
	gauge(runRate, r.RowRate, r.ID, r.Name)
	gauge(runLeft, r.Left, r.ID, r.Name)
	gauge(runDuplicates, float64(r.Duplicates), r.ID, r.Name)
	gauge(runReverted, float64(r.Reverted), r.ID, r.Name)
}

func bit(on bool) float64 {
	if on {
		return 1
	}
	return 0
}
