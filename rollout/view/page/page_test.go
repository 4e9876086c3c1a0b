package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFiles: the page has every element that its script asks for, no text of the page contains a
// part of a tag, and the script inserts no markup.
func TestFiles(t *testing.T) {
	d := xml.NewDecoder(strings.NewReader(source("page.html")))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	ids := map[string]bool{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			for _, a := range token.Attr {
				assert.NotEqual(t, "style", a.Name.Local, "the policy forbids inline styles")
				assert.NotRegexp(t, "^on", a.Name.Local, "the policy forbids inline handlers")
				if a.Name.Local == "id" {
					assert.False(t, ids[a.Value], "the id %q stands twice", a.Value)
					ids[a.Value] = true
				}
			}
		case xml.CharData:
			assert.NotRegexp(t, `[<>]|="`, strings.TrimSpace(string(token)), "text of the page")
		}
	}
	for _, name := range scripts {
		script := source(name)
		assert.NotRegexp(t, `innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function|setAttribute\("(style|on|src)`, script, name)
		for _, a := range regexp.MustCompile(`\$\("([a-z-]+)"\)`).FindAllStringSubmatch(script, -1) {
			if a[1] != "moonfarm-data" {
				assert.True(t, ids[a[1]], "%s asks for the element %q, page.html has none", name, a[1])
			}
		}
	}
}

// TestHTML: the page is small, has a strict policy, and names no other host.
func TestHTML(t *testing.T) {
	served := string(HTML(nil))
	assert.Less(t, len(served), 160_000)
	assert.NotContains(t, served, "{{")
	assert.Contains(t, served, "--seat0: light-dark(#0072b2, #5eb8ec);", "owners have the colours of their pictures")
	assert.NotRegexp(t, `https?://|//[a-z]+\.`, served)
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`)
	served = policy.FindStringSubmatch(served)[1]
	assert.Regexp(t, `^default-src 'none'; base-uri 'none'; form-action 'none'; img-src data: blob:; script-src 'sha256-[^ ]+'; style-src 'sha256-[^ ]+'; connect-src 'self'$`, served)
	assert.Equal(t, strings.TrimSuffix(served, "; connect-src 'self'"), policy.FindStringSubmatch(string(HTML(map[string][]byte{})))[1], "an embedded page connects to nothing")
}

// TestData: the embedded data are those that were given, whatever is in them, and the page's
// bytes depend on nothing else.
func TestData(t *testing.T) {
	data := map[string][]byte{"film.json?game=1": []byte(`{"name":"</script>{{script}}"}`), "a</script><script>b{{data}}": []byte("x"), "empty": nil}
	html := HTML(data)
	assert.Equal(t, html, HTML(data))
	assert.Equal(t, 2, bytes.Count(html, []byte("</script>")))
	found := regexp.MustCompile(`(?s)<script type="application/json" id="moonfarm-data">(.*?)</script>`).FindSubmatch(html)
	require.NotNil(t, found)
	var packed map[string]string
	require.NoError(t, json.Unmarshal(found[1], &packed))
	assert.Len(t, packed, len(data))
	for name, want := range data {
		zipped, err := base64.StdEncoding.DecodeString(packed[name])
		require.NoError(t, err)
		r, err := gzip.NewReader(bytes.NewReader(zipped))
		require.NoError(t, err)
		got, err := io.ReadAll(r)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got))
	}
}
