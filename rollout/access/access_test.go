package access_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/access"
)

// ask sends a request, whose headers are pairs of name and value, to a guarded handler that answers "inside".
func ask(c *access.Control, method, target string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:8080"+target, nil)
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Add(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	w := httptest.NewRecorder()
	c.Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("inside")) })).ServeHTTP(w, r)
	return w
}

// TestGuard: nothing but an open path is answered without the secret, to another Host, or to a page of another site.
func TestGuard(t *testing.T) {
	c := &access.Control{Token: access.NewToken(), Hosts: []string{"Viewer.example"}, Open: []string{"/healthz"}, Policy: "default-src 'none'"}
	bearer := []string{"Authorization", "Bearer " + c.Token}
	with := func(more ...string) []string { return append(more, bearer...) }
	for _, k := range []struct {
		method, target string
		headers        []string
		code           int
		want           string
	}{
		{"GET", "/", nil, 401, "open the address with ?token=…"},
		{"GET", "/list.json", nil, 401, "Authorization: Bearer TOKEN"},
		{"POST", "/step", nil, 401, "expected the secret"},
		{"GET", "/healthz", nil, 200, "inside"},
		{"GET", "/healthz/x", nil, 401, ""},
		{"GET", "//healthz", nil, 401, ""},
		{"GET", "/list.json?token=" + c.Token, nil, 401, ""}, // the secret belongs into no other address
		{"GET", "/?token=x", nil, 401, ""},
		{"GET", "/?token=", nil, 401, ""},
		{"GET", "/", []string{"Authorization", "bearer " + c.Token}, 200, ""},
		{"GET", "/", []string{"Authorization", "Bearer "}, 401, ""},
		{"GET", "/", []string{"Authorization", "Bearer " + c.Token + "x"}, 401, ""},
		{"GET", "/", []string{"Authorization", "Basic " + c.Token}, 401, ""},
		{"GET", "/", []string{"Cookie", "moonfarm=" + c.Token}, 401, ""},
		{"GET", "/", bearer, 200, "inside"},
		{"POST", "/step", bearer, 200, "inside"},
		{"GET", "/", with("Host", "example.org"), 421, `"example.org" is no name of this machine: if a proxy forwards it here, start the command with --http-host "example.org"`},
		{"GET", "/", with("Host", ""), 421, ""},
		{"GET", "/healthz", []string{"Host", "example.org"}, 421, ""},
		{"GET", "/", with("Host", "viewer.example"), 200, ""},
		{"GET", "/", with("Host", "VIEWER.example:80"), 200, ""},
		{"GET", "/", with("Host", "viewer.example.org"), 421, ""},
		{"GET", "/", with("Host", "[::1]:9"), 200, ""},
		{"POST", "/", with("Origin", "http://example.org"), 403, "another site"},
		{"POST", "/", with("Origin", "null"), 403, ""},
		{"POST", "/", with("Origin", "http://127.0.0.1:8081"), 403, "--http-host"}, // another port
		{"POST", "/", with("Origin", "http://127.0.0.1:8080"), 200, ""},
		{"POST", "/", with("Origin", "https://viewer.example"), 200, ""}, // the proxy has TLS, and sends the Host of this machine
		{"POST", "/", with("Sec-Fetch-Site", "same-origin", "Origin", "https://viewer.example"), 200, ""},
		{"GET", "/", with("Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors"), 403, ""},
		{"GET", "/", with("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"), 200, ""},
		{"POST", "/", with("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"), 403, ""},
	} {
		w := ask(c, k.method, k.target, k.headers...)
		assert.Equal(t, k.code, w.Code, "%+v", k)
		assert.Contains(t, w.Body.String(), k.want, "%+v", k)
		for name, want := range map[string]string{"Referrer-Policy": "no-referrer", "Content-Security-Policy": c.Policy, "Access-Control-Allow-Origin": ""} {
			assert.Equal(t, want, w.Header().Get(name), "%+v", k)
		}
		assert.NotContains(t, w.Body.String()+w.Header().Get("Location"), c.Token, "%+v", k)
	}
}

// TestExchange: the printed address gives a browser a cookie, once for all its requests, and leaves the address without
// the secret. Two servers on one machine have cookies of different names.
func TestExchange(t *testing.T) {
	c, other := &access.Control{Token: access.NewToken()}, &access.Control{Token: access.NewToken()}
	cookies := ""
	for _, one := range []*access.Control{c, other} {
		printed := one.Address("http://127.0.0.1:8080/")
		target, found := strings.CutPrefix(printed, "http://127.0.0.1:8080")
		require.True(t, found, printed)
		require.Contains(t, printed, one.Token)
		w := ask(one, "GET", target, "Cookie", cookies)
		require.Equal(t, http.StatusSeeOther, w.Code)
		assert.Equal(t, "./", w.Header().Get("Location"))
		assert.Empty(t, w.Body.String())
		set := w.Result().Cookies()
		require.Len(t, set, 1)
		k := set[0]
		assert.True(t, k.HttpOnly && k.SameSite == http.SameSiteStrictMode && k.Path == "/" && k.Domain == "" && k.MaxAge == 0, "%v", k)
		cookies += k.Name + "=" + k.Value + "; "
		assert.Equal(t, http.StatusSeeOther, ask(one, "GET", target, "Cookie", cookies).Code, "opened again, the secret leaves the address, too")
	}
	for _, one := range []*access.Control{c, other} {
		assert.Equal(t, 200, ask(one, "GET", "/list.json", "Cookie", cookies).Code)
	}
	assert.Equal(t, 401, ask(&access.Control{Token: access.NewToken()}, "GET", "/list.json", "Cookie", cookies).Code)
	w := ask(c, "GET", "/", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate")
	assert.Equal(t, 401, w.Code)
	assert.NotEmpty(t, w.Header().Get("Refresh"), "a browser sends no cookie when a page of another site opens this one")
	assert.Empty(t, ask(c, "GET", "/", "Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "navigate").Header().Get("Refresh"))
}

// TestUser: with a user, the user and the password are needed instead of the secret.
func TestUser(t *testing.T) {
	c := &access.Control{Token: access.NewToken(), User: "u", Password: "p", Open: []string{"/healthz"}}
	assert.Equal(t, "https://farm.example/", c.Address("https://farm.example/"))
	for credentials, code := range map[string]int{"Basic dTpw": 200, "Basic dTpx": 401, "Basic eDpw": 401, "Bearer " + c.Token: 401, "": 401} {
		w := ask(c, "GET", "/", "Host", "farm.example", "Authorization", credentials)
		assert.Equal(t, code, w.Code, credentials)
	}
	assert.Equal(t, 401, ask(c, "GET", "/?token="+c.Token).Code)
	assert.Equal(t, 200, ask(c, "GET", "/healthz").Code)
}

// TestListen: only addresses of this machine are accepted.
func TestListen(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:80", "example.org:0", "[::]:0"} {
		l, err := access.Listen(address)
		if err == nil {
			l.Close()
		}
		assert.ErrorIs(t, err, access.ErrElsewhere, address)
	}
	_, err := access.Listen("127.0.0.1")
	assert.ErrorContains(t, err, "expected host:port")
}
