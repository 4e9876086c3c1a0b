package serve_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/view"
	"moonfarm/rollout/view/human"
	"moonfarm/rollout/view/serve"
	"moonfarm/sim"
)

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
	s, err := serve.ListenHuman("127.0.0.1:0", nil, []byte("page"), x)
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
