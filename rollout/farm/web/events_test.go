package web

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/farm"
	"moonfarm/rollout/farm/farmtest"
)

// get asks a server for a path with its secret.
func get(c *http.Client, s *Server, path string) (*http.Response, error) {
	r, err := http.NewRequest("GET", s.origin()+path, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+s.o.Token)
	return c.Do(r)
}

// follow opens /events and returns a function that reads the next event.
func follow(t *testing.T, s *Server) func() *event {
	t.Helper()
	resp, err := get(http.DefaultClient, s, "events")
	require.NoError(t, err)
	t.Cleanup(func() { resp.Body.Close() })
	kind := resp.Header.Get("Content-Type")
	require.Truef(t, resp.StatusCode == 200 && kind == "text/event-stream", "status %d, type %q", resp.StatusCode, kind)
	in := bufio.NewReader(resp.Body)
	return func() *event {
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return nil
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				e := new(event)
				err = json.Unmarshal([]byte(data), e)
				require.NoErrorf(t, err, "%v: %s", err, data)
				return e
			}
		}
	}
}

// TestEvents: a page first gets the chart of the last minutes, then the changes; an error of the
// source is an event too, and closing the server ends the stream.
func TestEvents(t *testing.T) {
	f := example()
	s := serve(t, f, Options{})
	next := follow(t, s)
	farmtest.Until(t, "a second point", func() bool {
		e := next()
		return e.Status.Runs[0].Made == 50 && len(e.Chart) == 1 && e.Chart[0][1] == 4321 && func() bool {
			s.live.mu.Lock()
			defer s.live.mu.Unlock()
			return len(s.live.points) > 1
		}()
	})
	e := follow(t, s)()
	assert.GreaterOrEqualf(t, len(e.Chart), 2, "the first event of a later page has %d points", len(e.Chart))
	f.change(func(f *fake) { f.status.Runs = slices.Clone(f.status.Runs); f.status.Runs[0].Made = 51 })
	farmtest.Until(t, "51 shards", func() bool { return next().Status.Runs[0].Made == 51 })
	f.change(func(f *fake) { f.err = errors.New("no coordinator answers") })
	farmtest.Until(t, "trouble", func() bool { e := next(); return e.Status == nil && e.Trouble == "no coordinator answers" })
	f.change(func(f *fake) { f.err = nil })
	farmtest.Until(t, "recovery", func() bool { return next().Status != nil })
	s.Close()
	farmtest.Until(t, "the end", func() bool { return next() == nil })
}

// TestBounds: events of a large farm are small; the numbers of pages and connections are limited,
// and a closed page makes room; a page that does not read does not delay the others.
func TestBounds(t *testing.T) {
	f := example()
	for i := range 2000 {
		w := farm.WorkerStatus{Name: fmt.Sprintf("w%04d", i), Alive: true}
		if i == 1999 {
			w.Quarantined = "wrong"
		}
		f.status.Workers = append(f.status.Workers, w)
	}
	s := serve(t, f, Options{})
	e := follow(t, s)()
	assert.Truef(t, len(e.Status.Workers) == maxWorkers && e.More.Workers == 2002-maxWorkers, "%d workers and %d more", len(e.Status.Workers), e.More.Workers)
	w := e.Status.Workers
	assert.Truef(t, w[0].Name == "mallory" && w[1].Name == "w1999" && w[2].Name == "alpha", "first %s, %s, %s: want the quarantined first", w[0].Name, w[1].Name, w[2].Name)
	var pages []io.Closer
	for range maxStreams - 1 {
		resp, err := get(http.DefaultClient, s, "events")
		require.NoError(t, err)
		require.Equalf(t, 200, resp.StatusCode, "%v", resp)
		pages = append(pages, resp.Body)
	}
	resp, err := get(http.DefaultClient, s, "events")
	require.NoErrorf(t, err, "page %d: %v", maxStreams+1, resp)
	assert.Equalf(t, http.StatusServiceUnavailable, resp.StatusCode, "page %d: %v", maxStreams+1, resp)
	before := s.live.points
	farmtest.Until(t, "polls without a reading page", func() bool {
		s.live.mu.Lock()
		defer s.live.mu.Unlock()
		return len(s.live.points) > len(before)+1
	})
	for _, p := range pages {
		p.Close()
	}
	farmtest.Until(t, "room for a page", func() bool {
		resp, err := get(http.DefaultClient, s, "events")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == 200
	})
	requireBoundedConns(t, s)
}

// requireBoundedConns opens more connections than the limit, which send nothing or the beginning of
// a request; the page, the probes and the open streams continue to work.
func requireBoundedConns(t *testing.T, s *Server) {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	next := follow(t, s)
	for i := range maxConns + 50 {
		c, err := net.Dial("tcp", s.listen.Addr().String())
		require.NoError(t, err)
		defer c.Close()
		if i%2 == 0 {
			fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localh")
		}
	}
	for _, p := range []string{"healthz", "status.json", ""} {
		c := http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := get(&c, s, p)
		require.NoErrorf(t, err, "/%s beside idle connections", p)
		require.Equalf(t, 200, resp.StatusCode, "/%s beside idle connections", p)
		resp.Body.Close()
	}
	assert.NotNil(t, next(), "an open stream has ended")
	s.conns.mu.Lock()
	defer s.conns.mu.Unlock()
	n := len(s.conns.open)
	assert.LessOrEqualf(t, n, maxConns, "%d connections are open, the limit is %d", n, maxConns)
}

// TestSlowReader: a page that does not read its stream is disconnected.
func TestSlowReader(t *testing.T) {
	if os.Getenv("MOONFARM_LONG") == "" {
		t.Skip("MOONFARM_LONG is not set: takes as long as a page may be silent")
	}
	f := example()
	for i := range maxWorkers {
		f.status.Workers = append(f.status.Workers, farm.WorkerStatus{Name: fmt.Sprint(i), Host: strings.Repeat("h", 10_000)})
	}
	s := serve(t, f, Options{})
	c, err := net.Dial("tcp", s.listen.Addr().String())
	require.NoError(t, err)
	defer c.Close()
	fmt.Fprint(c, "GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+s.o.Token+"\r\n\r\n")
	pages := func() int {
		s.live.mu.Lock()
		defer s.live.mu.Unlock()
		return len(s.live.pages)
	}
	farmtest.Until(t, "a page", func() bool { return pages() == 1 })
	farmtest.Until(t, "no page", func() bool { return pages() == 0 })
}
