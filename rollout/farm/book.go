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

// book keeps the last failures and audits, here for status and in a stream for
// the next coordinator.
type book struct {
	log *slog.Logger
	js  jetstream.JetStream // nil: nothing outlives the book

	mu       sync.Mutex
	failures []Failure // oldest first
	audits   []Audit   // oldest first
}

// maxNotes is how many failures and audits a book keeps.
const maxNotes = 200

// fail notes a failure as one line. Equal ones of a worker and a run are counted, and
// logged as errors at the first and at each doubling of the count.
func (b *book) fail(run, worker, text string) {
	b.note(&Failure{Run: run, Worker: worker, Text: line(text)}, b.log.Error)
}

// warn is fail for what happens in a farm that is well, such as the end of a worker.
func (b *book) warn(run, worker, text string) {
	b.note(&Failure{Run: run, Worker: worker, Text: line(text)}, b.log.Warn)
}

// note is fail with a way to log; nil if it is logged already. Those of a kind count as
// equal.
func (b *book) note(f *Failure, log func(text string, args ...any)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	same := func(o Failure) bool {
		return o.Run == f.Run && o.Worker == f.Worker && (o.Text == f.Text || f.kind != "" && o.kind == f.kind)
	}
	f.First, f.Last = time.Now(), time.Now()
	if i := slices.IndexFunc(b.failures, same); i >= 0 {
		f.First, f.Count = b.failures[i].First, b.failures[i].Count
		b.failures = slices.Delete(b.failures, i, i+1)
	}
	f.Count++
	b.failures = last(append(b.failures, *f))
	if f.Count&(f.Count-1) == 0 {
		if log != nil {
			log(f.Text, "run", f.Run, "worker", f.Worker, "count", f.Count)
		}
		b.publish("moonfarm.failure", f)
	}
}

// has reports whether there is a failure with a text.
func (b *book) has(text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.failures, func(f Failure) bool { return f.Text == text })
}

// kindOf is what lines have in common that differ in numbers, sums and names of files alone.
func kindOf(text string) string { return numbers.ReplaceAllString(text, "#") }

var numbers = regexp.MustCompile(`\S*[0-9/\\]\S*`)

// audit notes an entry of the audit log.
func (b *book) audit(a Audit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.audits = last(append(b.audits, a))
	b.log.Error("a worker is quarantined: its shard is not what the coordinator makes", "worker", a.Worker, "run", a.Run,
		"shard", a.Shard, "sum", a.Sum, "right", a.Right, "row", a.Row, "returned", a.Returned)
	b.publish("moonfarm.audit", a)
}

func (b *book) publish(subject string, note any) {
	if b.js == nil {
		return
	}
	if data, err := json.Marshal(note); err == nil {
		if _, err := b.js.PublishAsync(subject, data); err != nil {
			b.log.Warn("a note is not kept", "err", err)
		}
	}
}

// newBook opens the book with what the stream has.
func newBook(ctx context.Context, st *store, log *slog.Logger) (*book, error) {
	b := &book{log: log}
	for _, subject := range []string{"moonfarm.failure", "moonfarm.audit"} {
		info, err := st.notes.Info(ctx, jetstream.WithSubjectFilter(subject))
		if err != nil {
			return nil, err
		}
		n := int(info.State.Subjects[subject])
		if n == 0 {
			continue
		}
		c, err := st.notes.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{FilterSubjects: []string{subject}})
		if err != nil {
			return nil, err
		}
		batch, err := c.Fetch(n, jetstream.FetchMaxWait(5*time.Second))
		if err != nil {
			return nil, err
		}
		for m := range batch.Messages() {
			b.replay(subject, m.Data())
		}
	}
	b.js = st.js
	return b, nil
}

// replay takes a note from the stream; one that is no note is passed over.
func (b *book) replay(subject string, data []byte) {
	var f Failure
	var a Audit
	if subject == "moonfarm.audit" {
		if json.Unmarshal(data, &a) == nil {
			b.audits = last(append(b.audits, a))
		}
	} else if json.Unmarshal(data, &f) == nil {
		b.failures = slices.DeleteFunc(b.failures, func(o Failure) bool { return o.Run == f.Run && o.Worker == f.Worker && o.Text == f.Text })
		b.failures = last(append(b.failures, f))
	}
}

// list returns copies, newest first.
func (b *book) list() ([]Failure, []Audit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f, a := slices.Clone(b.failures), slices.Clone(b.audits)
	slices.Reverse(f)
	slices.Reverse(a)
	return f, a
}

// last are the last notes of a list.
func last[T any](list []T) []T {
	if n := len(list) - maxNotes; n > 0 {
		list = slices.Delete(list, 0, n)
	}
	return list
}

// label is a short text from elsewhere, such as the name of a host, with so many
// characters at most.
func label(text string, most int) string {
	if r := []rune(line(text)); len(r) > most {
		return string(r[:most]) + "…"
	}
	return line(text)
}

// line is text as one line of bounded length.
func line(text string) string {
	out := make([]rune, 0, 200)
	for _, r := range redact.Text(text) {
		switch {
		case len(out) == 500:
			return string(out) + " …"
		case !unicode.IsPrint(r): // also what changes the direction of text
			r = ' '
		}
		out = append(out, r)
	}
	return string(out)
}
