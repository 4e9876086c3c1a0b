package farm

import (
	"context"
	"encoding/json"
	"log/slog"
	"regexp"
	"slices"
	"sync"
	"time"
	"unicode"

	"github.com/nats-io/nats.go/jetstream"

	"moonfarm/rollout/redact"
)

// eventLog keeps the last failures and entries of the audit log, in memory for the status
// and in a stream for the next coordinator.
type eventLog struct {
	log *slog.Logger
	js  jetstream.JetStream // nil: events stay in memory

	mu       sync.Mutex   // guards the lists
	failures []Failure    // oldest first
	audits   []Quarantine // oldest first
}

// maxEvents is how many failures and how many audits a log keeps.
const maxEvents = 200

// fail adds a failure as one line. Equal failures of a worker and a run are kept as one with a
// count; they are logged as errors at the first and at each doubling of the count.
func (e *eventLog) fail(run, worker, text string) {
	e.add(&Failure{Run: run, Worker: worker, Text: line(text)}, e.log.Error)
}

// warn is fail for events of a healthy farm, such as the end of a worker.
func (e *eventLog) warn(run, worker, text string) {
	e.add(&Failure{Run: run, Worker: worker, Text: line(text)}, e.log.Warn)
}

// add adds a failure, and logs it with the function, which is nil if it is logged already. Failures
// of one kind count as equal.
func (e *eventLog) add(f *Failure, log func(text string, args ...any)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	same := func(o Failure) bool {
		return o.Run == f.Run && o.Worker == f.Worker && (o.Text == f.Text || f.kind != "" && o.kind == f.kind)
	}
	f.First, f.Last = time.Now(), time.Now()
	if i := slices.IndexFunc(e.failures, same); i >= 0 {
		f.First, f.Count = e.failures[i].First, e.failures[i].Count
		e.failures = slices.Delete(e.failures, i, i+1)
	}
	f.Count++
	e.failures = last(append(e.failures, *f))
	if f.Count&(f.Count-1) == 0 {
		if log != nil {
			log(f.Text, "run", f.Run, "worker", f.Worker, "count", f.Count)
		}
		e.publish("moonfarm.failure", f)
	}
}

// has reports whether there is a failure with a text.
func (e *eventLog) has(text string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.ContainsFunc(e.failures, func(f Failure) bool { return f.Text == text })
}

// kindOf replaces numbers, checksums and file names by #.
func kindOf(text string) string { return numbers.ReplaceAllString(text, "#") }

var numbers = regexp.MustCompile(`\S*[0-9/\\]\S*`)

// quarantined adds an entry of the audit log.
func (e *eventLog) quarantined(a Quarantine) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.audits = last(append(e.audits, a))
	e.log.Error("a worker is quarantined: its shard differs from the coordinator's", "worker", a.Worker, "run", a.Run,
		"shard", a.Shard, "sum", a.Sum, "right", a.Right, "row", a.Row, "returned", a.Returned)
	e.publish("moonfarm.audit", a)
}

func (e *eventLog) publish(subject string, event any) {
	if e.js == nil {
		return
	}
	if data, err := json.Marshal(event); err == nil {
		if _, err := e.js.PublishAsync(subject, data); err != nil {
			e.log.Warn("an event is not stored", "err", err)
		}
	}
}

// newEventLog opens the log with the events of the stream.
func newEventLog(ctx context.Context, st *store, log *slog.Logger) (*eventLog, error) {
	e := &eventLog{log: log}
	info, err := st.events.Info(ctx)
	if err != nil {
		return nil, err
	}
	if n := int(info.State.Msgs); n > 0 {
		c, err := st.events.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
		if err != nil {
			return nil, err
		}
		batch, err := c.Fetch(n, jetstream.FetchMaxWait(10*time.Second))
		if err != nil {
			return nil, err
		}
		for m := range batch.Messages() {
			e.replay(m.Subject(), m.Data())
		}
	}
	e.js = st.js
	return e, nil
}

// replay takes an event from the stream, and ignores a message that is not an event.
func (e *eventLog) replay(subject string, data []byte) {
	var f Failure
	var a Quarantine
	if subject == "moonfarm.audit" {
		if json.Unmarshal(data, &a) == nil {
			e.audits = last(append(e.audits, a))
		}
	} else if json.Unmarshal(data, &f) == nil {
		e.failures = slices.DeleteFunc(e.failures, func(o Failure) bool { return o.Run == f.Run && o.Worker == f.Worker && o.Text == f.Text })
		e.failures = last(append(e.failures, f))
	}
}

// list returns copies, newest first.
func (e *eventLog) list() ([]Failure, []Quarantine) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f, a := slices.Clone(e.failures), slices.Clone(e.audits)
	slices.Reverse(f)
	slices.Reverse(a)
	return f, a
}

// last returns the last events of a list.
func last[T any](list []T) []T {
	if n := len(list) - maxEvents; n > 0 {
		list = slices.Delete(list, 0, n)
	}
	return list
}

// label returns a short text from elsewhere, such as the name of a host, cut to at most most
// characters.
func label(text string, most int) string {
	if r := []rune(line(text)); len(r) > most {
		return string(r[:most]) + "…"
	}
	return line(text)
}

// maxRead is the number of bytes of a text from elsewhere, which may have megabytes, that line looks at.
const maxRead = 64 << 10

// line returns a text as one line of bounded length, without secrets.
func line(text string) string {
	out := make([]rune, 0, 200)
	for _, r := range redact.Text(text[:min(len(text), maxRead)]) {
		switch {
		case len(out) == 500:
			return string(out) + " …"
		case !unicode.IsPrint(r): // also marks of the direction of text
			r = ' '
		}
		out = append(out, r)
	}
	return string(out)
}
