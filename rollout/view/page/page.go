// Package page has the page that plays films of games: the board, the numbers of the seats, the
// list of games. It is one HTML file without external scripts, styles or pictures.
//
// The page asks for JSON by name, of the data embedded in it or of the server that it came from:
// list.json, games.json, film.json, frames.json, and optionally stats.json, paths.json, version.json and overview.json;
// for a game with a person offer.json, and it sends choose, draft, undo and hint; for a game
// that is being played it sends hold, go and step.
package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"moonfarm/features"
	"moonfarm/rollout/view/picture"
)

//go:embed page.html page.css *.js
var files embed.FS

// scripts are the parts of the script, in the order in which they run.
var scripts = []string{"data.js", "board.js", "drawing.js", "chart.js", "panel.js", "gamelist.js", "overview.js", "play.js", "person.js", "paths.js", "save.js", "main.js"}

// HTML returns the page. data has the JSON texts to embed by name, such as "film.json?game=3"; the
// page then asks no server. With nil it asks the server that it came from. The same data give the
// same bytes.
func HTML(data map[string][]byte) []byte {
	script := looks()
	for _, name := range scripts {
		script += compact(source(name))
	}
	style := string(Style())
	policy := "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data: blob:; " +
		"script-src " + hash(script) + "; style-src " + hash(style)
	if data == nil {
		policy += "; connect-src 'self'"
	}
	replace := strings.NewReplacer("{{policy}}", policy, "{{style}}", style, "{{script}}", script, "{{data}}", embedded(data))
	return []byte(replace.Replace(compact(source("page.html"))))
}

// Style returns the style sheet of the page, for other pages that look like it.
func Style() []byte {
	return []byte(strings.Replace(compact(source("page.css")), "{{seats}}", seatColours(), 1))
}

// owners are all owners with colours of their own, nobody first.
var owners = [...]int8{features.Nobody, 0, 1, 2, 3}

// looks returns the beginning of the script: it has what package picture says of looks.
func looks() string {
	colours := func(of func(picture.Colour) string) map[string]any {
		group := func(role func(owner int8) picture.Role) (list []string) {
			for _, owner := range owners {
				list = append(list, of(role(owner).Colour()))
			}
			return list
		}
		roles := make([]string, picture.Roles)
		for r := range roles {
			roles[r] = of(picture.Role(r).Colour())
		}
		return map[string]any{"paper": roles[picture.Paper], "dark": roles[picture.Ink], "axis": roles[picture.Axis], "grid": roles[picture.Grid], "fog": roles[picture.Fog],
			"mark": roles[picture.Chosen], "edge": group(picture.Edge), "fill": group(picture.Fill), "area": group(picture.AreaOf), "roles": roles}
	}
	dashes := make([][]float32, picture.Kinds)
	for kind := range dashes {
		dashes[kind] = append([]float32{}, picture.Dashes(kind)...)
	}
	text, err := json.Marshal(map[string]any{
		"light": colours(func(c picture.Colour) string { return c.Light }), "dark": colours(func(c picture.Colour) string { return c.Dark }), "roles": picture.Roles,
		"dashes": dashes, "unfinished": picture.Unfinished, "margin": picture.Margin.List(), "cross": picture.Cross.List(),
	})
	must(err)
	return "\"use strict\";\nconst scheme = " + string(text) + ";\n"
}

// seatColours returns the variables of the style for the colours of owners.
func seatColours() (style string) {
	for _, owner := range owners {
		c := picture.Edge(owner).Colour()
		style += fmt.Sprintf("--seat%d: light-dark(%s, %s); ", owner, c.Light, c.Dark)
	}
	return style
}

func source(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // the compiler has embedded it
	}
	return string(text)
}

// compact removes indents, and lines that are comments. No text of the files spans lines.
func compact(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// hash returns the source expression of a Content-Security-Policy that allows an inline text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// embedded returns the element with the data, or "" for nil.
func embedded(data map[string][]byte) string {
	if data == nil {
		return ""
	}
	packed := map[string][]byte{} // []byte becomes base64
	for name, text := range data {
		packed[name] = zip(text)
	}
	var b bytes.Buffer
	must(json.NewEncoder(&b).Encode(packed)) // it sorts the names, and escapes "<"
	return `<script type="application/json" id="moonfarm-data">` + b.String() + "</script>\n"
}

func zip(text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(text)
	must(err)
	must(w.Close())
	return b.Bytes()
}

// must panics at an error of a writer to memory, which returns none.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
