package web

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPageFiles: without a browser, the page has every element that its script asks for, and no
// text of the page contains a part of a tag.
func TestPageFiles(t *testing.T) {
	html, err := page.Open("page.html")
	require.NoError(t, err)
	defer html.Close()
	d := xml.NewDecoder(html)
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
				if a.Name.Local == "id" {
					assert.False(t, ids[a.Value], "the id %q stands twice", a.Value)
					ids[a.Value] = true
				}
			}
		case xml.CharData:
			text := strings.TrimSpace(string(token))
			assert.NotRegexp(t, `[<>]|="`, text, "text of the page")
		}
	}
	script, err := page.ReadFile("page.js")
	require.NoError(t, err)
	asked := regexp.MustCompile(`\$\("([a-z-]+)"\)`).FindAllStringSubmatch(string(script), -1)
	require.NotEmpty(t, asked)
	for _, a := range asked {
		assert.True(t, ids[a[1]], "page.js asks for the element %q, page.html has none", a[1])
	}
}
