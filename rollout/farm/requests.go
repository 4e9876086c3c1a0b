package farm

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
)

// requests receives the requests of workers and clients, and passes them to their handlers.
type requests struct {
	*term
	assigner  *assigner
	committer *committer
	runs      *runs
	busy      chan struct{} // holds a token for each request in the background
}

// handler answers a request. It returns nil if it answers by later.
type handler func(from string, q *request, later func(*answer)) *answer

// maxBusy is how many requests run in the background at once.
const maxBusy = 256

// actions maps the names of requests to their handlers. Handlers that write to the store
// run in the background.
func (x *requests) actions() map[string]nats.MsgHandler {
	all := map[string]nats.MsgHandler{}
	for name, h := range map[string]handler{"w.claim": x.assigner.claim, "w.beat": x.assigner.beat, "w.back": x.assigner.back, "w.spec": x.assigner.spec} {
		all[name] = x.action(name, h)
	}
	for name, h := range map[string]handler{"w.commit": x.committer.commit, "submit": x.runs.submit, "cancel": x.runs.cancel, "retry": x.runs.retry} {
		all[name] = x.background(x.action(name, x.writing(h)))
	}
	all["status"] = x.background(x.action("status", x.status))
	return all
}

// serve begins to receive all requests, until stop is called.
func (x *requests) serve() (stop func(), err error) {
	var all []*nats.Subscription
	stop = func() {
		for _, s := range all {
			_ = s.Drain() // the requests that have come are answered; the connection may be closed
		}
	}
	for name, handle := range x.actions() {
		subject := clientSubject + name
		if strings.HasPrefix(name, "w.") {
			subject += ".*"
		}
		s, err := x.conn.nc.QueueSubscribe(subject, "coordinator", x.admit(handle))
		if err != nil {
			stop()
			return nil, err
		}
		all = append(all, s)
	}
	return stop, nil
}

// ending is the answer to requests that come after the end of the term.
var ending = &answer{Error: "the coordinator restarts", Retry: true}

// admit runs a handler unless the term has ended: NATS still delivers the requests that it
// has after the service has stopped.
func (x *requests) admit(h nats.MsgHandler) nats.MsgHandler {
	return func(m *nats.Msg) {
		closed := false
		x.do(func(s *state) {
			if closed = s.closed; !closed {
				x.wg.Add(1)
			}
		})
		if closed {
			x.conn.reply(m, ending)
			return
		}
		defer x.wg.Done()
		h(m)
	}
}

// close stops accepting requests and waits for all goroutines of the term.
func (x *requests) close() {
	x.do(func(s *state) { s.closed = true })
	x.wg.Wait()
}

// writing answers in place of a handler while the store cannot be written.
func (x *requests) writing(h handler) handler {
	return func(from string, q *request, later func(*answer)) *answer {
		if text := x.o.Server.trouble(); text != "" {
			return &answer{Error: text}
		}
		return h(from, q, later)
	}
}

// background runs a handler in a goroutine of its own, when fewer than maxBusy run.
func (x *requests) background(h nats.MsgHandler) nats.MsgHandler {
	return func(m *nats.Msg) {
		select {
		case x.busy <- struct{}{}:
		case <-x.ctx.Done():
			x.conn.reply(m, ending)
			return
		}
		x.wg.Go(func() {
			defer func() { <-x.busy }()
			h(m)
		})
	}
}

// action reads a request and runs its handler. A message that is not a valid request gets
// an error reply and is logged without a run.
func (x *requests) action(name string, h handler) nats.MsgHandler {
	return func(m *nats.Msg) {
		from := ""
		if strings.HasPrefix(name, "w.") {
			from = m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
			if err := checkName(from); err != nil {
				x.conn.reply(m, &answer{Error: err.Error()})
				return
			}
		}
		q := new(request)
		if err := json.Unmarshal(m.Data, q); err != nil {
			text := name + ": a request is not the JSON of this protocol"
			x.events.fail("", from, text)
			x.conn.reply(m, &answer{Error: text})
			return
		}
		later := func(a *answer) { x.conn.reply(m, a) }
		if a := h(from, q, later); a != nil {
			later(a)
		}
	}
}

// reply answers a request; a client that has disconnected retries. It answers to an inbox only:
// otherwise a client could make the coordinator send messages to JetStream.
func (c *Conn) reply(m *nats.Msg, a *answer) {
	data, err := json.Marshal(a)
	if err == nil && len(data) > maxPayload-4096 {
		data, err = json.Marshal(&answer{Error: fmt.Sprintf("the answer has %d bytes, the limit is %d", len(data), maxPayload-4096)})
	}
	if err == nil && strings.HasPrefix(m.Reply, "_INBOX") {
		_ = c.nc.Publish(m.Reply, data)
	}
}
