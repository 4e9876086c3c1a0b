// Package redact keeps secrets in URLs out of messages, logs and stored texts. A URL
// may hold a name and a password before its host, and secret values in its query.
package redact

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Hidden replaces a secret.
const Hidden = "xxxxx"

// known are the query parameters that hold no secrets: those of package datasets/s3, and timeout. The values of all others
// are hidden.
var known = []string{
	"accelerate", "anonymous", "awssdk", "disable_https", "dualstack", "endpoint", "fips", "hostname_immutable", "kmskeyid", "profile", "rate_limiter_capacity", "region",
	"request_checksum_calculation", "response_checksum_validation", "role", "s3ForcePathStyle", "ssetype", "timeout", "use_path_style",
}

var (
	// scheme matches the beginning of a URL.
	scheme = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*(://|%3[Aa]%2[Ff]%2[Ff])`)
	// rest matches the remainder of a URL in a text.
	rest = regexp.MustCompile("^[^\\s\"'`<>]*")
	// parameter matches a parameter in the query of a URL.
	parameter = regexp.MustCompile(`([?&;])([^=&;?#]+)=([^&;#]*)`)
	port      = regexp.MustCompile(`^[^:]*(:[0-9]*)?[:,.;)]*$`)
)

// Text returns a text, such as a message, with Hidden in place of the names, passwords and values
// of unknown parameters in all of its URLs.
func Text(text string) string {
	return replace(text, func(s string) string { return rest.FindString(s) })
}

// replace is Text, but own decides how much of the text after a scheme belongs to the URL.
func replace(text string, own func(string) string) string {
	var b strings.Builder
	for {
		at := scheme.FindStringIndex(text)
		if at == nil {
			b.WriteString(text)
			return b.String()
		}
		escaped := text[at[1]-1] != '/'
		b.WriteString(text[:at[1]])
		text = text[at[1]:]
		url := own(text)
		text = text[len(url):]
		if next := scheme.FindStringIndex(url); next != nil { // a list of URLs, or one in the query of another
			url, text = url[:next[0]], url[next[0]:]+text
		}
		b.WriteString(hide(url, escaped))
	}
}

// hide hides the secrets of a URL without its scheme. An escaped URL is a value in the query of
// another one.
func hide(s string, escaped bool) string {
	ats, slashes := "@", "/?#"
	if escaped {
		ats, slashes = "%40", "%&"
	}
	s = strings.ReplaceAll(s, `\u0026`, "&")
	if end := userEnd(s, ats, slashes); end > 0 {
		s = Hidden + s[end:]
	}
	return parameter.ReplaceAllStringFunc(s, func(one string) string {
		p := parameter.FindStringSubmatch(one)
		if slices.Contains(known, p[2]) {
			return one
		}
		value := strings.TrimRight(p[3], ":,.)")
		return p[1] + p[2] + "=" + Hidden + p[3][len(value):]
	})
}

// userEnd returns where the user part of a URL without its scheme ends, 0 if it has none. A
// password may contain an unescaped slash; then no port follows the first colon.
func userEnd(s, at, slashes string) int {
	last := strings.LastIndex(s, at)
	if at != "@" {
		return max(last, strings.LastIndex(s, "@"), 0)
	}
	host := s
	if i := strings.IndexAny(s, slashes); i >= 0 {
		host = s[:i]
	}
	if i := strings.LastIndex(host, at); i >= 0 {
		return i
	}
	if strings.HasPrefix(host, "[") || port.MatchString(host) {
		return 0
	}
	return max(last, 0)
}

// Check fails if a place, which is a path or a URL, contains what must not be stored or printed: a
// user part, or query parameters that no store knows.
func Check(place string) error {
	if at := scheme.FindStringIndex(place); at == nil || at[0] != 0 {
		return nil
	}
	shown := replace(place, func(s string) string { return s }) // a secret may contain blanks
	open, err := url.QueryUnescape(place)
	if err != nil {
		open = place
	}
	for _, text := range []string{place, open} { // the endpoint in a query is a URL as well
		for at := scheme.FindStringIndex(text); at != nil; at = scheme.FindStringIndex(text) {
			text = text[at[1]:]
			one := text
			if next := scheme.FindStringIndex(one); next != nil {
				one = one[:next[0]]
			}
			if userEnd(one, "@", "/?#") > 0 {
				return fmt.Errorf("%s: a URL with a name or password; expected none: "+
					"credentials of a store belong in its environment variables (such as AWS_ACCESS_KEY_ID) or its files", shown)
			}
		}
	}
	_, query, _ := strings.Cut(place, "?")
	query, _, _ = strings.Cut(query, "#")
	for one := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		if name, _, _ := strings.Cut(one, "="); !slices.Contains(known, name) {
			return fmt.Errorf("%s: unknown query parameter %q", shown, name)
		}
	}
	return nil
}
