package serve_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/view"
	"moonfarm/rollout/view/human"
	"moonfarm/rollout/view/serve"
)

// post sends a request that changes something.
func post(t *testing.T, s *serve.Server, path, token, body string) (code int, text string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, s.URL()+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Moonfarm-Token", token)
	c := http.Client{Timeout: time.Minute}
	a, err := c.Do(r)
	require.NoError(t, err)
	defer a.Body.Close()
	all, err := io.ReadAll(io.LimitReader(a.Body, 1<<20))
	require.NoError(t, err)
	return a.StatusCode, string(all)
}

// TestTable: a person plays over HTTP; without the token nothing changes.
func TestTable(t *testing.T) {
	entry, err := catalog.Find("tron")
	require.NoError(t, err)
	watch := func() (env.Vector, error) { return entry.New("", env.Settings{N: 1}) }
	v, err := watch()
	require.NoError(t, err)
	m, err := policy.New("tron", "territory")
	require.NoError(t, err)
	p, err := m(v.Spec())
	require.NoError(t, err)
	x, err := human.New(human.Setup{Vector: v, Watch: watch, Seats: []rollout.Policy{nil, p}, Names: []string{"human", "territory"}, Hint: p})
	require.NoError(t, err)
	s, err := serve.ListenHuman("127.0.0.1:0", []byte("page"), x)
	require.NoError(t, err)
	defer s.Close()
	var shelf view.ListHead
	_, text := get(t, s, "list.json", "", "")
	require.NoError(t, json.Unmarshal([]byte(text), &shelf))
	require.Equal(t, 0, shelf.Person.Seat)
	token := shelf.Token
	for _, path := range []string{"choose", "undo", "hint", "draft"} {
		code, text := post(t, s, path, "x", "{}")
		assert.Equal(t, http.StatusForbidden, code, "%s: %s", path, text)
		code, _ = get(t, s, path, "", "")
		assert.NotEqual(t, http.StatusOK, code, path)
	}
	require.Zero(t, x.Episode().Turns)
	_, text = get(t, s, "offer.json?head=0", "", "")
	var offer human.Offer
	require.NoError(t, json.Unmarshal([]byte(text), &offer))
	require.Len(t, offer.Heads, 1)
	code, text := post(t, s, "hint", token, "")
	require.Equal(t, 200, code, text)
	require.Contains(t, text, `"kind":"`)
	code, text = post(t, s, "choose", token, `{"turn":0,"step":0,"picks":[{"head":0,"choice":0}]}`)
	require.Equal(t, 200, code, text)
	require.Equal(t, 1, x.Episode().Turns)
	_, text = get(t, s, "film.json?game=0", "", "")
	require.Contains(t, text, `"turns":1,`)
	for body, want := range map[string]int{
		`{"turn":0,"step":0}`: http.StatusConflict, `{"turn":1,"step":1,"picks":[{"head":7,"choice":0}]}`: http.StatusBadRequest, `[`: http.StatusBadRequest,
		strings.Repeat(" ", 2<<20): http.StatusBadRequest,
	} {
		code, text := post(t, s, "choose", token, body)
		assert.Equal(t, want, code, "%.40s: %s", body, text)
	}
	code, text = post(t, s, "undo", token, "")
	require.Equal(t, 200, code, text)
	require.Zero(t, x.Episode().Turns)
	code, _ = get(t, s, "offer.json?head=x", "", "")
	require.Equal(t, http.StatusBadRequest, code)
}
