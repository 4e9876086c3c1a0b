package serve_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/browsertest"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/view"
	"moonfarm/rollout/view/human"
	"moonfarm/rollout/view/page"
	"moonfarm/rollout/view/serve"
	"moonfarm/sim"
)

// listen serves an empty game list.
func listen(t *testing.T) *serve.Server {
	t.Helper()
	responder := view.NewResponder(&view.List{Title: "none", Open: func(int) (*view.Film, error) { return nil, errors.New("none") }})
	s, err := serve.Listen("127.0.0.1:0", nil, func() (view.Answerer, int, error) { return responder, 7, nil })
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// ask sends a request for a path of a server, with a secret if it is not empty.
func ask(t *testing.T, s *serve.Server, method, path, token, body string) (code int, text string) {
	t.Helper()
	address, _, _ := strings.Cut(s.URL(), "?")
	r, err := http.NewRequest(method, address+path, strings.NewReader(body))
	require.NoError(t, err)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	c := http.Client{Timeout: time.Minute}
	a, err := c.Do(r)
	require.NoError(t, err)
	defer a.Body.Close()
	all, err := io.ReadAll(io.LimitReader(a.Body, 1<<20))
	require.NoError(t, err)
	return a.StatusCode, string(all)
}

// secret returns the secret of a server.
func secret(s *serve.Server) string {
	_, token, _ := strings.Cut(s.URL(), "?token=")
	return token
}

// TestServe: the page, the answers and errors; visitors without the secret get nothing.
func TestServe(t *testing.T) {
	s := listen(t)
	for _, c := range []struct {
		path string
		code int
		text string
	}{
		{"", 200, string(page.HTML(nil))},
		{"version.json", 200, `{"version":7}`},
		{"list.json", 200, `{"title":"none","kind":"games","total":0,"policies":[],"live":false}`},
		{"games.json?from=0&count=50", 200, `{"total":0,"games":[]}`},
		{"games.json?count=x", 400, "count=\"x\": expected a whole number\n"},
		{"film.json?game=1", 400, "none has no game 1\n"},
		{"nothing", 404, "nothing is called \"nothing?\"\n"},
		{"a/b", 404, "404 page not found\n"},
	} {
		code, text := ask(t, s, http.MethodGet, c.path, secret(s), "")
		assert.Equal(t, c.code, code, "%+v", c)
		assert.Equal(t, c.text, text, "%+v", c)
		for _, wrong := range []string{"", "x"} {
			code, text = ask(t, s, http.MethodGet, c.path, wrong, "")
			assert.Equal(t, http.StatusUnauthorized, code, "%+v", c)
			assert.Contains(t, text, "expected the secret of this server", "%+v", c)
		}
	}
	code, _ := ask(t, s, http.MethodPost, "list.json", secret(s), "")
	assert.Equal(t, http.StatusMethodNotAllowed, code)
}

// TestAddressBar: the secret leaves the address bar, and no script sees it, also where a page of another site has the
// address as a link, and where two servers of this machine are open in one browser.
func TestAddressBar(t *testing.T) {
	one, two := listen(t), listen(t)
	links := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<a id="link" href="%s">link</a>`, one.URL())
	}))
	defer links.Close()
	elsewhere := strings.Replace(links.URL, "127.0.0.1", "localhost", 1)
	b := browsertest.Open(t, elsewhere)
	shows := func(s *serve.Server) {
		t.Helper()
		address, _, _ := strings.Cut(s.URL(), "?")
		b.Becomes(`location.href + document.cookie + document.referrer`, address)
		b.Becomes(`document.title`, "none")
		b.Becomes(`document.body.innerText.includes("The server answers")`, "false")
	}
	b.Becomes(`document.getElementById("link") !== null`, "true")
	b.Eval(`document.getElementById("link").click()`)
	shows(one)
	b.Navigate(two.URL())
	shows(two)
	address, _, _ := strings.Cut(one.URL(), "?")
	b.Navigate(address)
	shows(one)
	b.Navigate(one.URL())
	shows(one)
}

// TestHuman: a person plays over HTTP; without the secret nothing changes.
func TestHuman(t *testing.T) {
	entry, err := catalog.Find("tron")
	require.NoError(t, err)
	watch := func() (env.Vector, error) { return entry.New("", env.Settings{N: 1}) }
	v, err := watch()
	require.NoError(t, err)
	m, err := policy.New("tron", "territory")
	require.NoError(t, err)
	p, err := m(v.Spec())
	require.NoError(t, err)
	x, err := human.New(human.Setup{Vector: v, Watch: watch, Seats: []rollout.Policy{nil, p}, Names: []string{"human", "territory"}, Hint: p,
		Orders: func([]sim.Order) []string { return nil }})
	require.NoError(t, err)
	s, err := serve.ListenHuman("127.0.0.1:0", nil, x)
	require.NoError(t, err)
	defer s.Close()
	get := func(path string) (int, string) { return ask(t, s, http.MethodGet, path, secret(s), "") }
	post := func(path, body string) (int, string) { return ask(t, s, http.MethodPost, path, secret(s), body) }
	var list view.ListHead
	_, text := get("list.json")
	require.NoError(t, json.Unmarshal([]byte(text), &list))
	require.Equal(t, 0, list.Person.Seat)
	require.NotContains(t, text, secret(s))
	for _, path := range []string{"choose", "undo", "hint", "draft"} {
		for _, wrong := range []string{"", "x"} {
			code, text := ask(t, s, http.MethodPost, path, wrong, "{}")
			assert.Equal(t, http.StatusUnauthorized, code, "%s: %s", path, text)
		}
		code, _ := get(path)
		assert.NotEqual(t, http.StatusOK, code, path)
	}
	require.Zero(t, x.Episode().Turns)
	_, text = get("offer.json?head=0")
	var offer human.Offer
	require.NoError(t, json.Unmarshal([]byte(text), &offer))
	require.Len(t, offer.Heads, 1)
	code, text := post("hint", "")
	require.Equal(t, 200, code, text)
	require.Contains(t, text, `"kind":"`)
	code, text = post("choose", `{"turn":0,"step":0,"picks":[{"head":0,"choice":0}]}`)
	require.Equal(t, 200, code, text)
	require.Equal(t, 1, x.Episode().Turns)
	_, text = get("film.json?game=0")
	require.Contains(t, text, `"turns":1,`)
	for body, want := range map[string]int{
		`{"turn":0,"step":0}`: http.StatusConflict, `{"turn":1,"step":1,"picks":[{"head":7,"choice":0}]}`: http.StatusBadRequest, `[`: http.StatusBadRequest,
		strings.Repeat(" ", 2<<20): http.StatusBadRequest,
	} {
		code, text := post("choose", body)
		assert.Equal(t, want, code, "%.40s: %s", body, text)
	}
	code, text = post("undo", "")
	require.Equal(t, 200, code, text)
	require.Zero(t, x.Episode().Turns)
	code, _ = get("offer.json?head=x")
	require.Equal(t, http.StatusBadRequest, code)
}
