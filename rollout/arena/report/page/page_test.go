package page

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/arena"
	"moonfarm/rollout/arena/schedule"
	"moonfarm/rollout/arena/sprt"
	"moonfarm/sim/prng"
)

// element is an element of a page.
type element struct {
	name     string
	attrs    map[string]string
	children []*element
	text     string // includes the text of all descendants
}

// parse reads a page as XML, which finds unclosed elements and unquoted attributes.
func parse(t *testing.T, page []byte) *element {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(page))
	root := &element{}
	open := []*element{root}
	var text []byte
	starts := []int{0}
	for {
		token, err := d.Token()
		if err == io.EOF {
			return root
		}
		require.NoErrorf(t, err, "%v in\n%.3000s", err, page)
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			top := open[len(open)-1]
			top.children = append(top.children, e)
			open, starts = append(open, e), append(starts, len(text))
		case xml.EndElement:
			open[len(open)-1].text = string(text[starts[len(open)-1]:])
			open, starts = open[:len(open)-1], starts[:len(open)-1]
		case xml.CharData:
			text = append(text, token...)
		}
	}
}

// all returns the descendants of e with the given name.
func (e *element) all(name string) (list []*element) {
	for _, c := range e.children {
		if c.name == name {
			list = append(list, c)
		}
		list = append(list, c.all(name)...)
	}
	return list
}

// section returns the section with the given id.
func (e *element) section(t *testing.T, id string) *element {
	t.Helper()
	for _, s := range e.all("section") {
		if s.attrs["aria-labelledby"] == id {
			return s
		}
	}
	t.Fatalf("no section %s", id)
	return nil
}

// rows returns the texts of the cells of a table's body.
func (e *element) rows() (rows [][]string) {
	for _, body := range e.all("tbody") {
		for _, tr := range body.all("tr") {
			var row []string
			for _, c := range tr.children {
				row = append(row, c.text)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// tournament returns a round robin with the given number of seats and seeds: the player with the
// smaller number wins, except in three games of eleven.
func tournament(players, seats, seeds int) (names []string, games []arena.Played) {
	for i := range players {
		names = append(names, fmt.Sprintf("player-%c", 'a'+i))
	}
	for seed := range seeds {
		for first := range players {
			g := arena.Played{Fixture: schedule.Fixture{Number: int64(len(games)), Seed: seed}, Turns: 20 + 7*(len(games)%9), Cut: len(games)%10 == 9, Sum: prng.Digest(len(games))}
			for seat := range seats {
				g.Players = append(g.Players, (first+seat*(1+seed%(players-1)/max(1, seats-1)))%players)
				strength := float32(-g.Players[seat])
				if len(games)*37%11 < 3 {
					strength = -strength
				}
				g.Results, g.Scores = append(g.Results, strength), append(g.Scores, float64(10*strength))
			}
			games = append(games, g)
		}
	}
	return names, games
}

// write writes the page of games, and checks properties of every page.
func write(t *testing.T, names []string, games []arena.Played, change func(r *arena.Report)) (*element, []byte) {
	t.Helper()
	r, err := arena.Evaluate(names, games, -1)
	require.NoError(t, err)
	r.Game, r.Rules, r.Seed, r.Schedule = "chess", "1.2", 7, "round-robin"
	if change != nil {
		change(r)
	}
	var pages [2]bytes.Buffer
	for i := range pages {
		require.NoError(t, Write(&pages[i], r, games))
	}
	assert.True(t, bytes.Equal(pages[0].Bytes(), pages[1].Bytes()), "the same games made two pages")
	page := parse(t, pages[0].Bytes())
	checkContained(t, page)
	checkAccessible(t, page)
	return page, pages[0].Bytes()
}

// checkContained: a page loads nothing and runs nothing.
func checkContained(t *testing.T, page *element) {
	t.Helper()
	allowed := strings.Fields("html head meta title style body header main nav section h1 h2 p dl dt dd ul li a figure svg desc rect circle path text div table caption thead tbody tr th td bdi small")
	var visit func(e *element)
	visit = func(e *element) {
		assert.Containsf(t, allowed, e.name, "an element %s: %.80s", e.name, e.text)
		for name, value := range e.attrs {
			assert.Truef(t, name != "src" && !strings.HasPrefix(name, "on") && (name != "href" || e.name == "a" && !strings.Contains(value, "//") && !strings.Contains(strings.SplitN(value, "/", 2)[0], ":")), "%s has %s=%q", e.name, name, value)
		}
		for _, c := range e.children {
			visit(c)
		}
	}
	visit(page.children[0])
	for _, s := range page.all("style") {
		assert.True(t, !strings.Contains(s.text, "url(") && !strings.Contains(s.text, "@import"), "the style loads something")
	}
}

// checkAccessible: tables have captions and heads, plots have titles and descriptions, and the
// links to sections have targets.
func checkAccessible(t *testing.T, page *element) {
	t.Helper()
	ids := map[string]string{}
	var visit func(e *element)
	visit = func(e *element) {
		if id := e.attrs["id"]; id != "" {
			_, twice := ids[id]
			assert.Falsef(t, twice, "id %s occurs twice", id)
			ids[id] = e.text
		}
		for _, c := range e.children {
			visit(c)
		}
	}
	visit(page)
	for _, svg := range page.all("svg") {
		labels := strings.Fields(svg.attrs["aria-labelledby"])
		assert.Truef(t, svg.attrs["role"] == "img" && svg.attrs["viewBox"] != "" && len(labels) == 2 && ids[labels[0]] != "" && ids[labels[1]] != "", "a plot with %v", svg.attrs)
	}
	for _, table := range page.all("table") {
		assert.Truef(t, len(table.all("caption")) == 1 && len(table.all("th")) >= 2, "a table without caption or heads: %.100s", table.text)
		columns := len(table.all("thead")[0].all("th"))
		for _, row := range table.rows() {
			if len(row) != columns {
				t.Errorf("%d cells in %d columns: %q", len(row), columns, row)
			}
		}
		for _, th := range table.all("th") {
			if th.attrs["scope"] != "col" && th.attrs["scope"] != "row" {
				t.Errorf("a head %q without scope", th.text)
			}
		}
	}
	for _, a := range page.all("nav")[0].all("a") {
		assert.Equalf(t, a.text, ids[strings.TrimPrefix(a.attrs["href"], "#")], "the link %q has the target %q", a.text, a.attrs["href"])
	}
}

// outline returns the structure of a page.
func outline(page *element) string {
	var lines []string
	for _, s := range page.all("section") {
		lines = append(lines, s.all("h2")[0].text)
		for _, svg := range s.all("svg") {
			lines = append(lines, "  plot: "+svg.all("title")[0].text)
		}
		for _, table := range s.all("table") {
			var heads []string
			for _, th := range table.all("thead")[0].all("th") {
				heads = append(heads, th.text)
			}
			lines = append(lines, fmt.Sprintf("  %d × %s", len(table.rows()), strings.Join(heads, " | ")))
		}
	}
	return strings.Join(lines, "\n")
}

func TestOutline(t *testing.T) {
	names, games := tournament(3, 2, 20)
	for i := range games {
		games[i].Round = i / 12
	}
	games[5].Files = []string{"replays/5.replay"}
	games[5].Faults = []arena.Fault{{Seat: 1, Turn: 3, Kind: "timeout", Times: 2, Text: "late"}}
	page, _ := write(t, names, games, nil)
	const want = `Ratings
  plot: Ratings with 95 % intervals
  3 × # | player | elo | 95 % | games | score | 95 % | wins | draws | losses | at seat 0 | faults
Scores against each other
  3 × player | 1 | 2 | 3
Ratings over the games
  plot: Ratings over the games
  3 × player | 12 | 24 | 36 | 48 | 60
Lengths of games
  plot: Lengths of games in turns
Faults
  1 × player | kind | times | in games | the last one | files
Games that repeat
Pairs of players
  3 × player | against | score | 95 % | elo | 95 % | superior | elo by fit | 95 % | wins | draws | losses | turns | games
Games
  60 × game | round | seed | seat 0 | seat 1 | turns | end | faults | files`
	assert.Equal(t, want, outline(page), "outline")
}

func TestHeading(t *testing.T) {
	names, games := tournament(3, 2, 4)
	yes, no := true, false
	for _, c := range []struct {
		complete *bool
		want     string
	}{{nil, "not known"}, {&yes, "yes: all"}, {&no, "no: interrupted"}} {
		t.Run(c.want, func(t *testing.T) {
			page, _ := write(t, names, games, func(r *arena.Report) { r.Complete = c.complete })
			facts := map[string]string{}
			for i, dt := range page.all("dt") {
				facts[dt.text] = page.all("dd")[i].text
			}
			assert.Truef(t, facts["Game"] == "chess" && facts["Rules"] == "1.2" && facts["Seed"] == "7" && facts["Schedule"] == "round-robin" && facts["Games"] == "12" && facts["Players"] == "3, 2 in a game" && facts["Game seeds"] == "4" && strings.HasPrefix(facts["Complete"], c.want), "facts %v, want %s", facts, c.want)
			title := page.all("h1")[0].text
			assert.Truef(t, title == "chess: 3 players, 12 games" && page.all("title")[0].text == title, "title %q", title)
		})
	}
}

// TestSizes writes pages of few and many players, of one game and of games for four.
func TestSizes(t *testing.T) {
	for _, c := range []struct{ players, seats, seeds int }{{2, 2, 1}, {2, 2, 30}, {12, 2, 22}, {5, 4, 10}, {4, 4, 1}} {
		t.Run(fmt.Sprintf("%d players, %d seats, %d seeds", c.players, c.seats, c.seeds), func(t *testing.T) {
			names, games := tournament(c.players, c.seats, c.seeds)
			page, _ := write(t, names, games, nil)
			for _, id := range []string{"ratings", "scores", "course", "pairs", "games"} {
				assert.NotEmptyf(t, page.section(t, id).rows(), "%v: no rows of %s", c, id)
			}
			heat := page.section(t, "scores").rows()
			assert.Truef(t, len(heat) == c.players && len(heat[0]) == c.players+1, "%v: the matrix is %q", c, heat)
			for k, text := range page.section(t, "course").all("text") { // the legend comes last
				assert.Truef(t, (len(page.section(t, "course").all("text"))-k) > min(c.players, mostLines) || strings.Contains(text.text, " player-"), "%v: %q in the legend", c, text.text)
			}
			assert.Containsf(t, page.section(t, "faults").text, "None.", "%v: faults", c)
			seats := strings.Count(page.section(t, "games").all("thead")[0].text, "seat ")
			assert.Equalf(t, c.seats, seats, "%v: games of %d seats", c, seats)
		})
	}
	names, games := tournament(2, 2, 1)
	page, _ := write(t, names, games[:1], nil)
	row := page.section(t, "games").rows()
	assert.Truef(t, len(row) == 1 && row[0][0] == "0" && row[0][2] == "player-a place 2, score 0" && row[0][3] == "player-b place 1, score 10", "one game: %q", row)
	page, _ = write(t, names, nil, nil)
	got := len(page.section(t, "games").rows())
	assert.Zerof(t, got, "no games: %d rows", got)
}

// TestBounds: the page leaves out what exceeds its bounds, and says so.
func TestBounds(t *testing.T) {
	names, games := tournament(mostShown+5, 2, 14)
	page, _ := write(t, names, games, nil)
	all := len(games)
	rows := page.section(t, "games").rows()
	assert.Truef(t, len(rows) == mostGames && rows[mostGames-1][0] == strconv.Itoa(all-1) && strings.Contains(page.section(t, "games").text, fmt.Sprintf("The last 500 of %d are shown.", all)), "%d rows of %d games", len(rows), all)
	for _, id := range []string{"scores", "course"} {
		if s := page.section(t, id); len(s.rows()) != mostShown || !strings.Contains(s.text, "he best 40 of 45 are shown.") {
			t.Errorf("%s: %d rows", id, len(s.rows()))
		}
	}
	if s := page.section(t, "ratings"); len(s.rows()) != len(names) || !strings.Contains(s.text, "In the plot the best 40 of 45 are shown.") {
		t.Errorf("ratings of %d players", len(s.rows()))
	}
	if s := page.section(t, "pairs"); len(s.rows()) != mostPairs || !strings.Contains(s.text, "The first 500 of ") {
		t.Errorf("%d pairs", len(s.rows()))
	}
}

// hostile are texts that must not become markup.
var hostile = []string{
	`<script>alert(1)</script>`,
	`"><img src=x onerror=alert(1)>`,
	`' onmouseover='alert(1)`,
	`</style></title></svg><svg onload=alert(1)>`,
	`--><!-- ]]> {{.Title}} &lt;b&gt; &amp;`,
	"\x1b[31mred\x00\u202etxt.exe\ufffe\xff\r\nline\ttab",
	`python3 "C:\my bots\main.py" --level=3 && rm -rf "$HOME" | tee`,
	"😀 名前 " + "long-" + strings.Repeat("x", 300),
}

// TestEscapes: names of players, faults and the terms of a tournament are shown unchanged, and do
// not become markup.
func TestEscapes(t *testing.T) {
	names, games := tournament(len(hostile), 2, 14)
	for i := range games {
		games[i].Faults = []arena.Fault{{Seat: i % 2, Kind: hostile[i%len(hostile)], Text: hostile[(i/3)%len(hostile)]}}
	}
	page, text := write(t, hostile, games, func(r *arena.Report) {
		r.Game, r.Rules, r.Schedule = hostile[0], hostile[1], hostile[3]
	})
	plain, _ := write(t, names, games, nil)
	for _, name := range []string{"svg", "title", "desc", "circle", "section", "table", "style"} {
		got, want := len(page.all(name)), len(plain.all(name))
		assert.Equalf(t, want, got, "%d elements %s, want %d", got, name, want)
	}
	var shown []string
	for _, row := range page.section(t, "ratings").rows() {
		shown = append(shown, row[1])
	}
	for i, want := range hostile {
		if i == 5 {
			want = "\ufffd[31mred\ufffd\ufffdtxt.exe\ufffd\ufffd\ufffd\nline\ttab"
		}
		assert.Containsf(t, shown, want, "%q is not among the players %q", want, shown)
	}
	h1 := page.all("h1")[0].text
	assert.Truef(t, strings.HasPrefix(h1, hostile[0]+": "), "the title is %q", h1)
	for _, bad := range []string{"<script", "<img", "\x1b", "\x00", "\u202e"} {
		assert.Falsef(t, bytes.Contains(text, []byte(bad)), "the page has %q", bad)
	}
	if faults := page.section(t, "faults"); !strings.Contains(faults.text, hostile[1]) || len(faults.rows()) < len(hostile) {
		t.Errorf("%d rows of faults", len(faults.rows()))
	}
}

func TestLinks(t *testing.T) {
	names, games := tournament(2, 2, 1)
	games[0].Files = []string{"replays/7.replay", "a b/#1?x=%2e&y", "javascript:alert(1)", "../up", "/etc/passwd", "http://x/y", "logs\\x", ""}
	games[0].Faults = []arena.Fault{{Turn: -1, Kind: "crash"}}
	page, _ := write(t, names, games, nil)
	want := []string{"replays/7.replay", "a%20b/%231%3Fx=%252e&y", "./javascript:alert%281%29", "logs%5Cx"}
	for _, id := range []string{"games", "faults"} {
		s := page.section(t, id)
		var got []string
		for _, a := range s.all("a") {
			got = append(got, a.attrs["href"])
		}
		assert.Truef(t, slices.Equal(got, want), "%s: links", id)
		assert.Contains(t, s.text, "../up, /etc/passwd, http://x/y", id)
	}
	row := page.section(t, "faults").rows()[0]
	assert.Truef(t, row[1] == "crash" && row[2] == "1" && row[4] == "game 0, before the first turn", "faults %q", row)
}

func TestFaults(t *testing.T) {
	names, games := tournament(2, 2, 3)
	games[1].Faults = []arena.Fault{{Seat: 0, Turn: 4, Kind: "timeout", Times: 2, Text: "first"}, {Seat: 0, Turn: 9, Kind: "timeout", Times: 3, Text: "second"}}
	games[4].Faults = []arena.Fault{{Seat: 1, Turn: 1, Kind: "timeout", Times: 1, Text: "third", Output: "I think"}, {Seat: 0, Turn: 5, Kind: "crash", Text: "fourth", Output: "out of\nideas"}}
	page, _ := write(t, names, games, nil)
	got := fmt.Sprintf("%q", page.section(t, "faults").rows())
	want := `[["player-a" "crash" "1" "1" "game 4, turn 5: fourth it printed last: out of\nideas" ""] ["player-b" "timeout" "6" "2" "game 4, turn 1: third it printed last: I think" ""]]`
	assert.Equal(t, want, got, "faults")
	row := page.section(t, "games").rows()[1]
	assert.Equalf(t, "seat 0: 2 timeout, seat 0: 3 timeout", row[len(row)-1], "game 1: %q", row)
}

// TestMatrix: the matrix shows both sides of a pair, and pairs that did not meet.
func TestMatrix(t *testing.T) {
	names, games := tournament(3, 2, 8)
	games = slices.DeleteFunc(games, func(g arena.Played) bool { return slices.Contains(g.Players, 2) && slices.Contains(g.Players, 0) })
	page, _ := write(t, names, games, nil)
	got := fmt.Sprintf("%q", page.section(t, "scores").rows())
	want := `[["1 player-a" "–" "0.62" "–"] ["2 player-b" "0.38" "–" "0.75"] ["3 player-c" "–" "0.25" "–"]]`
	assert.Equal(t, want, got, "scores")
	var classes, hints []string
	for _, td := range page.section(t, "scores").all("td") {
		if class := td.attrs["class"]; class != "" {
			classes, hints = append(classes, class), append(hints, td.attrs["title"])
		}
	}
	want = "h6 h4 h8 h2"
	assert.Truef(t, strings.Join(classes, " ") == want && strings.HasPrefix(hints[1], "player-b against player-a: 0.375 (") && strings.HasSuffix(hints[1], ", 8 games"), "classes %q, want %s; %q", classes, want, hints)
	for score, want := range map[float64]string{0: "h0", 0.5: "h5", 1: "h10", 0.51: "h6", 0.49: "h4"} {
		t.Run(fmt.Sprint(score), func(t *testing.T) {
			assert.Equalf(t, want, heat("a", "b", 1, score, 0, 1).Class, "score %v", score)
		})
	}
}

func TestRepeats(t *testing.T) {
	names, games := tournament(3, 2, 4)
	page, _ := write(t, names, games, nil)
	s := page.section(t, "repeats")
	assert.Truef(t, strings.Contains(s.text, "None:") && len(s.all("li")) == 0, "repeats: %s", s.text)
	for i := range games {
		games[i].Sum = prng.Digest(0)
	}
	page, _ = write(t, names, games, nil)
	s = page.section(t, "repeats")
	assert.Truef(t, strings.Contains(s.text, "have the weight of one game.") && len(s.all("li")) == 4, "repeats: %s", s.text)
}

func TestSequentialTest(t *testing.T) {
	names, games := tournament(2, 2, 4)
	test, err := sprt.Parse("0,50")
	require.NoError(t, err)
	s, err := sprt.New(test)
	require.NoError(t, err)
	page, _ := write(t, names, games, func(r *arena.Report) { r.Test = s })
	section := page.section(t, "test")
	rows := section.rows()
	assert.Truef(t, strings.Contains(section.text, "undecided") && rows[0][1] == "0 or 50 (logistic)" && rows[2][1] == "0.000", "the test is %q in %s", rows, section.text)
}

// TestStages: a contest shows its stages, the last one first, and games with different numbers of
// seats.
func TestStages(t *testing.T) {
	names, games := tournament(4, 4, 3)
	_, finals := tournament(2, 2, 3)
	for i := range finals {
		finals[i].Number, finals[i].Stage, finals[i].Sum = int64(100+i), 1, prng.Digest(100+i)
	}
	page, _ := write(t, names, append(games, finals...), func(r *arena.Report) {
		r.Stages = []arena.StageReport{{Stage: "sandbox", Seats: 4, Games: 12, Standings: []arena.StageStanding{{Player: "player-b", Games: 3, Points: 1215.4}, {Player: "player-a"}}},
			{Stage: "finals", Seats: 2, Games: 6, Standings: []arena.StageStanding{{Player: "player-a", Games: 6, Points: 10}}}}
	})
	assert.Equal(t, `[["finals" "1" "player-a" "10" "6"] ["sandbox" "1" "player-b" "1215" "3"] ["sandbox" "2" "player-a" "0" "0"]]`, fmt.Sprintf("%q", page.section(t, "stages").rows()), "stages")
	assert.Equal(t, "4, 2 to 4 in a game", page.all("dd")[4].text, "players")
	row := page.section(t, "games").rows()[12]
	assert.Truef(t, row[1] == "1.0" && row[3] != "" && row[5] == "", "a final is %q", row)
}

// TestCaveats: the page names ratings that the games do not bound, and players whom they do not
// connect.
func TestCaveats(t *testing.T) {
	_, games := tournament(2, 2, 8)
	others := slices.Clone(games)
	for i := range others {
		players := []int{2 + others[i].Players[0], 2 + others[i].Players[1]}
		others[i].Number += 100
		others[i].Players, others[i].Results = players, []float32{float32(-players[0]), float32(-players[1])}
	}
	page, _ := write(t, []string{"a", "b", "c", "d"}, append(games, others...), nil)
	var notes []string
	for _, li := range page.section(t, "ratings").all("li") {
		notes = append(notes, li.text)
	}
	assert.Truef(t, len(notes) == 4 && strings.HasPrefix(notes[0], "A player won or lost everything") && strings.HasPrefix(notes[1], "No games connect") && (notes[2] == "c, d" || notes[3] == "c, d"), "notes %q", notes)
	page, _ = write(t, []string{"a", "b"}, games, nil)
	s := page.section(t, "ratings")
	assert.Emptyf(t, s.all("li"), "notes of a tournament without caveats: %s", s.text)
}

// failing is a writer that fails.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestWriteFails(t *testing.T) {
	names, games := tournament(2, 2, 1)
	r, err := arena.Evaluate(names, games, -1)
	require.NoError(t, err)
	err = Write(failing{}, r, games)
	assert.EqualError(t, err, "no space")
}

// TestMeetings: a cell of the matrix links to the row of its pair, which lists their games; a game
// links to its replay or to its row.
func TestMeetings(t *testing.T) {
	names, games := tournament(3, 2, 8)
	games[0].Files = []string{"replays/0.replay"}
	page, _ := write(t, names, games, nil)
	ids := map[string]string{}
	for _, th := range page.all("th") {
		ids[th.attrs["id"]] = th.text
	}
	cells := page.section(t, "scores").all("a")
	require.Lenf(t, cells, 6, "%d cells of the matrix link to games, want 6", len(cells))
	for _, a := range cells {
		to := strings.TrimPrefix(a.attrs["href"], "#")
		assert.Truef(t, strings.HasPrefix(to, "pair-") && ids[to] != "", "%q leads to %q", a.text, a.attrs["href"])
	}
	var got []string
	for _, a := range page.section(t, "pairs").all("a") {
		to := a.attrs["href"]
		id, inside := strings.CutPrefix(to, "#")
		assert.Truef(t, (!inside || ids[id] == a.text) && (inside || to == "replays/0.replay"), "game %s leads to %q", a.text, to)
		got = append(got, a.text)
	}
	if slices.Sort(got); len(got) != len(games) || len(slices.Compact(got)) != len(games) {
		t.Errorf("the games of pairs are %q, want each of %d", got, len(games))
	}
}
