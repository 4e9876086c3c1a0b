package farm

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/nats-io/nats.go/micro"
)

// requests receives the requests of workers and clients, and passes them to their handlers.
type requests struct {
	*term
	assigner  *assigner
	committer *committer
	runs      *runs
	busy      chan struct{} // holds a token for each request in the background

	entry  sync.Mutex // guards closed
	closed bool       // no further request is accepted
}

// handler answers a request. It returns nil if it answers by later.
type handler func(from string, q *request, later func(*answer)) *answer

// maxBusy is how many requests run in the background at once.
const maxBusy = 256

// actions maps the names of requests to their handlers. Handlers that write to the store
// run in the background.
func (x *requests) actions() map[string]micro.HandlerFunc {
	all := map[string]micro.HandlerFunc{}
	for name, h := range map[string]handler{"w.claim": x.assigner.claim, "w.beat": x.assigner.beat, "w.back": x.assigner.back, "w.spec": x.assigner.spec} {
		all[name] = x.action(name, h)
	}
	for name, h := range map[string]handler{"w.commit": x.committer.commit, "submit": x.runs.submit, "cancel": x.runs.cancel, "retry": x.runs.retry} {
		all[name] = x.background(x.action(name, x.writing(h)))
	}
	all["status"] = x.background(x.action("status", x.status))
	return all
}

// serve registers all actions; stop ends the service.
func (x *requests) serve() (stop func() error, err error) {
	service, err := micro.AddService(x.conn.nc, micro.Config{Name: "moonfarm", Version: "1.0.0", Description: "the farm's coordinator"})
	if err != nil {
		return nil, err
	}
	for name, handle := range x.actions() {
		subject := clientSubject + name
		if strings.HasPrefix(name, "w.") {
			subject += ".*"
		}
		if err := service.AddEndpoint(strings.ReplaceAll(name, ".", "-"), x.admit(handle), micro.WithEndpointSubject(subject)); err != nil {
			_ = service.Stop() // the first error counts
			return nil, err
		}
	}
	return service.Stop, nil
}

// ending is the answer to requests that come after the end of the term.
var ending = &answer{Error: "the coordinator restarts", Retry: true}

// admit runs a handler unless the term has ended: NATS still delivers the requests that it
// has after the service has stopped.
func (x *requests) admit(h micro.HandlerFunc) micro.HandlerFunc {
	return func(m micro.Request) {
		x.entry.Lock()
		closed := x.closed
		if !closed {
			x.wg.Add(1)
			defer x.wg.Done()
		}
		x.entry.Unlock()
		if closed {
			x.reply(m, ending)
			return
		}
		h(m)
	}
}

// close stops accepting requests and waits for all goroutines of the term.
func (x *requests) close() {
	x.entry.Lock()
	x.closed = true
	x.entry.Unlock()
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
func (x *requests) background(h micro.HandlerFunc) micro.HandlerFunc {
	return func(m micro.Request) {
		select {
		case x.busy <- struct{}{}:
		case <-x.ctx.Done():
			x.reply(m, ending)
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
func (x *requests) action(name string, h handler) micro.HandlerFunc {
	return func(m micro.Request) {
		from := ""
		if strings.HasPrefix(name, "w.") {
			from = m.Subject()[strings.LastIndexByte(m.Subject(), '.')+1:]
			if err := checkName(from); err != nil {
				x.reply(m, &answer{Error: err.Error()})
				return
			}
		}
		q := new(request)
		if err := json.Unmarshal(m.Data(), q); err != nil {
			text := name + ": a request is not the JSON of this protocol"
			x.events.fail("", from, text)
			x.reply(m, &answer{Error: text})
			return
		}
		later := func(a *answer) { x.reply(m, a) }
		if a := h(from, q, later); a != nil {
			later(a)
		}
	}
}

// reply answers a request; a client that has disconnected retries. It may be called after
// the handler's end, when the request's own methods may not be used. It answers to an inbox
// only: otherwise a client could make the coordinator send messages to JetStream.
func (x *requests) reply(m micro.Request, a *answer) {
	data, err := json.Marshal(a)
	if err == nil && len(data) > maxPayload-4096 {
		data, err = json.Marshal(&answer{Error: fmt.Sprintf("the answer has %d bytes, the limit is %d", len(data), maxPayload-4096)})
	}
	if err == nil && strings.HasPrefix(m.Reply(), "_INBOX") {
		_ = x.conn.nc.Publish(m.Reply(), data)
	}
}
