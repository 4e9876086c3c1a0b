package web

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"moonfarm/rollout/farm"
)

const (
	every      = time.Second // between two polls of the farm
	idle       = 5           // while no page is open and the farm answers, only every idle-th poll is made
	maxPoints  = 600         // points of the chart
	maxStreams = 64          // most open pages
	maxRuns    = 50          // most runs in an event; /status.json has all
	maxWorkers = 200
	maxNotes   = 50
)

// event is a message to a page.
type event struct {
	Status  *farm.Status `json:"status,omitempty"`
	More    more         `json:"more"`
	Chart   []point      `json:"chart"`             // in the first event of a page the last minutes, later the new points
	Trouble string       `json:"trouble,omitempty"` // why the status is missing
}

// more counts the entries that an event leaves out.
type more struct {
	Runs     int `json:"runs"`
	Workers  int `json:"workers"`
	Failures int `json:"failures"`
	Audits   int `json:"audits"`
}

// point is a moment, in seconds since 1970, and rows per second.
type point [2]float64

// live polls the farm and sends events to all pages.
type live struct {
	source Source

	mu     sync.Mutex
	last   *event  // contains only its own point; nil before the first poll
	points []point // oldest first
	ok     time.Time
	pages  map[chan []byte]bool
}

func newLive(source Source) *live { return &live{source: source, pages: map[chan []byte]bool{}} }

// ready reports whether the farm has sent its status recently.
func (l *live) ready() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Since(l.ok) < 2*idle*every+patience
}

// follow polls until ctx is done.
func (l *live) follow(ctx context.Context) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n := 0; ; n++ {
		l.mu.Lock()
		often := len(l.pages) > 0 || l.last == nil || l.last.Status == nil
		l.mu.Unlock()
		if often || n%idle == 0 {
			l.look(ctx)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// look polls once and sends the event to all pages.
func (l *live) look(ctx context.Context) {
	ask, cancel := context.WithTimeout(ctx, patience/2)
	defer cancel()
	status, err := l.source.Status(ask)
	if ctx.Err() != nil {
		return
	}
	e := &event{Chart: []point{}}
	now := time.Now()
	if err != nil {
		e.Trouble = err.Error()
	} else {
		e.Status, e.More = brief(status)
		rows := 0.0
		for _, r := range status.Runs {
			if r.State == farm.Running {
				rows += r.RowRate
			}
		}
		e.Chart = append(e.Chart, point{float64(now.UnixMilli()) / 1000, rows})
	}
	data, err := json.Marshal(e)
	if err != nil { // a rate that is not finite
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Status != nil {
		l.ok = now
	}
	l.last = e
	l.points = append(l.points, e.Chart...)
	l.points = l.points[max(0, len(l.points)-maxPoints):]
	for page := range l.pages {
		select {
		case <-page: // replaces an event that the page has not read
		default:
		}
		page <- data
	}
}

// brief shortens a status: quarantined workers and workers with trouble come first.
func brief(s *farm.Status) (*farm.Status, more) {
	b := *s
	b.Workers = slices.Clone(s.Workers)
	rank := func(w farm.WorkerStatus) int {
		switch {
		case w.Quarantined != "":
			return 0
		case w.Trouble != "":
			return 1
		case w.Alive:
			return 2
		}
		return 3
	}
	slices.SortStableFunc(b.Workers, func(x, y farm.WorkerStatus) int { return cmp.Compare(rank(x), rank(y)) })
	var m more
	b.Runs, m.Runs = first(b.Runs, maxRuns)
	b.Workers, m.Workers = first(b.Workers, maxWorkers)
	b.Failures, m.Failures = first(b.Failures, maxNotes)
	b.Audits, m.Audits = first(b.Audits, maxNotes)
	return &b, m
}

// first returns the first elements of a list, never nil, and the number left out.
func first[T any](list []T, most int) ([]T, int) {
	if list == nil {
		list = []T{}
	}
	n := min(len(list), most)
	return list[:n], len(list) - n
}

// join adds a page with its first event, or returns nil if there are too many.
func (l *live) join() chan []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pages) >= maxStreams {
		return nil
	}
	page := make(chan []byte, 1)
	if l.last != nil {
		e := *l.last
		e.Chart = l.points
		if data, err := json.Marshal(e); err == nil {
			page <- data
		}
	}
	l.pages[page] = true
	return page
}

func (l *live) leave(page chan []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pages, page)
}

// serve sends events to one page until it disconnects or no longer reads.
func (l *live) serve(w http.ResponseWriter, r *http.Request) {
	page := l.join()
	if page == nil {
		w.Header().Set("Retry-After", "10")
		say(w, http.StatusServiceUnavailable, "too many pages follow the farm")
		return
	}
	defer l.leave(page)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	c := http.NewResponseController(w)
	send := func(parts ...[]byte) bool {
		err := c.SetWriteDeadline(time.Now().Add(patience))
		for _, p := range parts {
			if err == nil {
				_, err = w.Write(p)
			}
		}
		return err == nil && c.Flush() == nil
	}
	if !send([]byte("retry: 2000\n\n")) {
		return
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case data := <-page:
			if !send([]byte("data: "), data, []byte("\n\n")) {
				return
			}
		}
	}
}
