// Package access admits visitors to the HTTP servers that commands start. A server on loopback alone still answers every
// account of the machine. Therefore each visitor needs the secret of the printed address, or a user and a password.
package access

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Control decides which requests are answered.
//
// A browser opens the printed address, which has the secret as ?token=…, once: it gets a cookie for it, and is sent on to
// the address without the secret. A program sends the secret in the header Authorization: Bearer.
type Control struct {
	Token          string   // the secret
	User, Password string   // of HTTP Basic; with a User they are needed instead of the Token
	Hosts          []string // names under which a proxy forwards visitors, besides those of this machine
	Open           []string // paths that are answered without the secret
	Policy         string   // Content-Security-Policy of all answers
}

// NewToken returns a secret with 130 random bits.
func NewToken() string { return rand.Text() }

// ErrElsewhere is the error of Listen for an address that other machines reach.
var ErrElsewhere = errors.New("expected an address of this machine, such as 127.0.0.1:8080")

// Listen listens at a host:port of this machine alone.
func Listen(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q: expected host:port: %w", address, err)
	}
	if !Loopback(host) {
		return nil, fmt.Errorf("%q: %w", address, ErrElsewhere)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() { // a name may stand for any address
		l.Close()
		return nil, fmt.Errorf("%q is %s: %w", address, l.Addr(), ErrElsewhere)
	}
	return l, nil
}

// Loopback reports whether a host is this machine.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Address returns the address to print for the page at a URL, with the secret if visitors need it.
func (c *Control) Address(page string) string {
	if c.User != "" {
		return page
	}
	return page + "?token=" + c.Token
}

// Guard answers only requests that are admitted, and sets the headers of every answer.
func (c *Control) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for k, v := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-store",
			"Content-Security-Policy": c.Policy,
		} {
			w.Header().Set(k, v)
		}
		host := hostOf(r.Host)
		switch {
		case c.User == "" && !Loopback(host) && !c.forwards(host):
			http.Error(w, fmt.Sprintf("%.100q is no name of this machine: if a proxy forwards it here, start the command with --http-host %[1]q", host), http.StatusMisdirectedRequest)
		case c.foreign(r):
			http.Error(w, "expected no request from a page of another site; if a proxy forwards a name here, start the command with --http-host NAME", http.StatusForbidden)
		case slices.Contains(c.Open, r.URL.Path):
			next.ServeHTTP(w, r)
		case c.User != "":
			c.basic(next, w, r)
		case r.URL.Path == "/" && r.URL.Query().Has("token"):
			c.exchange(w, r)
		case c.knows(r):
			next.ServeHTTP(w, r)
		default:
			refuse(w, r)
		}
	})
}

// hostOf returns a Host without its port.
func hostOf(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		return h
	}
	return strings.Trim(host, "[]")
}

// forwards reports whether a proxy forwards a host's visitors.
func (c *Control) forwards(host string) bool {
	return slices.ContainsFunc(c.Hosts, func(name string) bool { return strings.EqualFold(name, host) })
}

// foreign reports whether a page of another site sends a request. A browser may open a page from there, but nothing else.
func (c *Control) foreign(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		opens := r.Header.Get("Sec-Fetch-Mode") == "navigate" && (r.Method == http.MethodGet || r.Method == http.MethodHead)
		return site != "same-origin" && site != "none" && !opens
	}
	origin := r.Header.Get("Origin")
	u, err := url.Parse(origin) // "null" has no host
	return origin != "" && (err != nil || u.Host != r.Host && !c.forwards(u.Hostname()))
}

// same compares two texts in constant time.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// basic answers visitors with the user and the password.
func (c *Control) basic(next http.Handler, w http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	if known := same(user, c.User); !same(password, c.Password) || !known {
		w.Header().Set("WWW-Authenticate", `Basic realm="moonfarm", charset="UTF-8"`)
		http.Error(w, "expected the user and the password of this server", http.StatusUnauthorized)
		return
	}
	next.ServeHTTP(w, r)
}

// cookie returns the name of the cookie. Browsers send cookies to all ports of a machine, so each secret has its own name.
func (c *Control) cookie() string {
	sum := sha256.Sum256([]byte("cookie " + c.Token))
	return "moonfarm-" + hex.EncodeToString(sum[:4])
}

// knows reports whether a request has the secret.
func (c *Control) knows(r *http.Request) bool {
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return same(token, c.Token)
	}
	k, err := r.Cookie(c.cookie())
	return err == nil && same(k.Value, c.Token)
}

// exchange gives a browser with the secret in its address a cookie, and sends it to the address without the secret.
func (c *Control) exchange(w http.ResponseWriter, r *http.Request) {
	if !same(r.URL.Query().Get("token"), c.Token) {
		refuse(w, r)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: c.cookie(), Value: c.Token, Path: "/", HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode})
	w.Header().Set("Location", "./") // relative: a proxy may have put a folder in front
	w.WriteHeader(http.StatusSeeOther)
}

// refuse says how to get an answer.
func refuse(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="moonfarm"`)
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" { // the browser holds the cookie back; it sends it when this answer opens the page
		w.Header().Set("Refresh", "0; url=./")
	}
	http.Error(w, "expected the secret of this server: open the address with ?token=… that the command printed; a program sends the header Authorization: Bearer TOKEN", http.StatusUnauthorized)
}
