package serve_test

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/view"
	"moonfarm/rollout/view/serve"
)

// listen serves an empty game list.
func listen(t *testing.T) *serve.Server {
	t.Helper()
	responder := view.NewResponder(&view.List{Title: "none", Open: func(int) (*view.Film, error) { return nil, errors.New("none") }})
	s, err := serve.Listen("127.0.0.1:0", []byte("<!doctype html>"), func() (view.Answerer, int, error) { return responder, 7, nil })
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// get asks for a path, with a header if it is not empty.
func get(t *testing.T, s *serve.Server, path, header, value string) (code int, text string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, s.URL()+path, nil)
	require.NoError(t, err)
	if header == "Host" {
		r.Host = value
	} else if header != "" {
		r.Header.Set(header, value)
	}
	c := http.Client{Timeout: time.Minute}
	a, err := c.Do(r)
	require.NoError(t, err)
	defer a.Body.Close()
	body, err := io.ReadAll(io.LimitReader(a.Body, 1<<20))
	require.NoError(t, err)
	return a.StatusCode, string(body)
}

// TestServe: the page, the answers and errors; visitors from elsewhere get nothing.
func TestServe(t *testing.T) {
	s := listen(t)
	for _, c := range []struct {
		path, header, value string
		code                int
		text                string
	}{
		{"", "", "", 200, "<!doctype html>"},
		{"version.json", "", "", 200, `{"version":7}`},
		{"list.json", "", "", 200, `{"title":"none","kind":"games","total":0,"policies":[],"live":false}`},
		{"games.json?from=0&count=50", "", "", 200, `{"total":0,"games":[]}`},
		{"games.json?count=x", "", "", 400, "count=\"x\": expected a whole number\n"},
		{"film.json?game=1", "", "", 400, "none has no game 1\n"},
		{"nothing", "", "", 404, "nothing is called \"nothing?\"\n"},
		{"a/b", "", "", 404, "404 page not found\n"},
		{"list.json", "Host", "example.org", 421, "expected a Host of this machine, such as localhost\n"},
		{"list.json", "Host", "example.org:80", 421, "expected a Host of this machine, such as localhost\n"},
		{"list.json", "Origin", "http://example.org", 403, "expected no request from another site\n"},
	} {
		code, text := get(t, s, c.path, c.header, c.value)
		assert.Equal(t, c.code, code, "%+v", c)
		assert.Equal(t, c.text, text, "%+v", c)
	}
	a, err := http.Post(s.URL()+"list.json", "text/plain", nil)
	require.NoError(t, err)
	a.Body.Close()
	assert.Equal(t, http.StatusMethodNotAllowed, a.StatusCode)
}

// TestLoopback: only addresses of this machine are accepted.
func TestLoopback(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:80", "127.0.0.1", "example.org:0"} {
		s, err := serve.Listen(address, nil, nil)
		if err == nil {
			s.Close()
		}
		assert.Error(t, err, address)
	}
}
