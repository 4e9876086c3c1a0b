package serve_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/features"
	"moonfarm/rollout"
	"moonfarm/rollout/browsertest"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/recordings"
	"moonfarm/rollout/view"
	"moonfarm/rollout/view/human"
	"moonfarm/rollout/view/serve"
	"moonfarm/sim"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// newSession serves a game with a person at seat 0, and opens its page.
func newSession(t *testing.T, game, rules, form, other string, change ...func(o *human.Setup)) (*human.Session, *browsertest.Browser) {
	t.Helper()
	entry, err := catalog.Find(game)
	require.NoError(t, err)
	watch := func() (env.Vector, error) { return entry.New(rules, env.Settings{N: 1, Form: form}) }
	v, err := watch()
	require.NoError(t, err)
	m, err := policy.New(game, other)
	require.NoError(t, err)
	o := human.Setup{Vector: v, Watch: watch, Seed: 3, Orders: func(list []sim.Order) []string { return recordings.OrderTexts(game, list) }}
	for p := range v.Spec().Info.Players {
		one, err := m(v.Spec())
		require.NoError(t, err)
		o.Seats, o.Names = append(o.Seats, one), append(o.Names, fmt.Sprint("player ", p))
	}
	o.Hint, o.Seats[0] = o.Seats[0], nil
	for _, f := range change {
		f(&o)
	}
	x, err := human.New(o)
	require.NoError(t, err)
	s, err := serve.ListenHuman("127.0.0.1:0", nil, x)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	b := browsertest.Open(t, s.URL())
	b.Becomes(`!!boards[0].frame && !document.getElementById("person-box").hidden && !person.busy && !!person.offer`, "true")
	return x, b
}

// press clicks on a button of the page.
func press(b *browsertest.Browser, id string) {
	b.Eval(fmt.Sprintf(`document.getElementById(%q).click()`, id))
}

// choose presses the button of a kind of orders.
func choose(b *browsertest.Browser, kind string) {
	b.Eval(fmt.Sprintf(`[...document.querySelectorAll("#person-kinds button")].find((k) => k.textContent === %q).click()`, kind))
	b.Becomes(`person.kind`, kind)
}

// clickCell clicks with the mouse on a cell of the board.
func clickCell(b *browsertest.Browser, x, y float64) {
	b.Becomes(`isFinite(boards[0].pointOf({ x: 0, y: 0, width: 1, height: 1 })[0])`, "true") // it is laid out
	at := b.Eval(fmt.Sprintf(`((b) => { const r = b.canvas.getBoundingClientRect(), p = b.pointOf({ x: %v, y: %v, width: 1, height: 1 }); return [r.x + p[0], r.y + p[1]].join(" ") })(boards[0])`, x, y))
	first, second, _ := strings.Cut(at, " ")
	px, _ := strconv.ParseFloat(first, 64)
	py, _ := strconv.ParseFloat(second, 64)
	b.Click(px, py)
}

// turns returns the expression for the number of turns that the page knows of.
const turns = `state.films[0].head.turns + " " + person.offer.turn + " " + person.busy`

// TestTowerDefence: a person builds with the mouse, takes it back, asks for a hint, and passes.
func TestTowerDefence(t *testing.T) {
	x, b := newSession(t, "towerdefence", "", "cells", "econ")
	choose(b, "energy")
	b.Becomes(`boards[0].cells.length`, "64")
	b.Picture("person-towerdefence")
	clickCell(b, 2, 3)
	b.Becomes(turns, "1 1 false")
	b.Becomes(`[...boards[0].frame.entities].some((e) => e.kind === "energy" && e.owner === 0 && e.x === 2 && e.y === 3)`, "true")
	press(b, "person-undo")
	b.Becomes(turns, "0 0 false")
	require.Zero(t, x.Episode().Turns)
	press(b, "person-hint")
	b.Becomes(`/^hint: /.test(document.getElementById("person-moves").innerText)`, "true")
	press(b, "person-end") // do nothing
	b.Becomes(turns, "1 1 false")
	b.Becomes(`boards[0].frame.entities.filter((e) => e.owner === 0).length`, "0")
	clickCell(b, 12, 3) // the other half: nothing happens
	b.Becomes(turns, "1 1 false")
	require.Equal(t, 1, x.Episode().Turns)
	b.Becomes(`boards[0].marks().length > 0`, "true")
	b.Eval(`(() => { stop(); return go(0) })()`) // looking back
	b.Becomes(`state.turn+" "+boards[0].marks().length`, "0 0")
	b.Becomes(`location.hash`, "#episode=0&turn=0")
	b.Eval(`go(1)`)
	b.Becomes(`location.hash`, "#episode=0")
	b.Eval(`globalThis.old = true; location.reload()`)
	b.Becomes(`globalThis.old ? "" : state.turn + " " + person.offer?.turn`, "1 1") // where the game is
	assert.Empty(t, b.Troubles())
}

// TestAnalysis: a click takes what an analysis of the recorded game suggests, on its button and on its cell.
func TestAnalysis(t *testing.T) {
	x, b := newSession(t, "terminal", "", "orders", "maze", func(o *human.Setup) {
		o.Begin, o.Analysis = &rollout.Episode{Seed: 3, Players: 2, Turns: 1, Ends: []int32{0, 0}}, func(turn, seat int) []string { return []string{"turret 13,12", "wall 14,12", "another"} }
	})
	b.Becomes(`document.getElementById("person-moves").innerText`, "analysis: turret 13,12, wall 14,12, another")
	b.Becomes(`boards[0].hints.length`, "2")
	choose(b, "wall")
	clickCell(b, 13, 12) // the turret, not a wall
	b.Becomes(`document.getElementById("person-list").innerText + person.busy`, "turret 13,12false")
	press(b, "person-undo")
	b.Becomes(`person.offer.chosen.length + " " + person.busy`, "0 false")
	press(b, "person-hint")
	b.Becomes(`person.moves.length + " " + person.busy`, "2 false")
	b.Eval(`document.querySelector("#person-moves li:last-child button").click()`)
	b.Becomes(`person.offer.chosen.map((o) => o.text).join("; ") + person.busy`, "turret 13,12; wall 14,12false")
	press(b, "person-end")
	b.Becomes(turns, "1 1 false")
	require.Equal(t, 1, x.Episode().Turns)
	b.Becomes(`person.moves.length`, "0")
	assert.Empty(t, b.Troubles())
}

// TestTerminal: a person gives several orders in a turn, by mouse and by keyboard, and sees the action phase.
func TestTerminal(t *testing.T) {
	x, b := newSession(t, "terminal", "", "orders", "maze")
	choose(b, "wall")
	clickCell(b, 13, 12)
	b.Becomes(`person.offer.step + " " + person.busy`, "1 false")
	b.Becomes(`document.getElementById("person-list").innerText`, "wall 13,12")
	b.Becomes(`document.getElementById("person-left").innerText`, "After these orders: cores 7, cores next turn 11.")
	b.Becomes(`person.draft.entities.map((e) => [e.kind, e.x, e.y].join()).join("; ")`, "wall,13,12") // a ghost
	choose(b, "scout")
	press(b, "person-do")
	b.Becomes(`person.offer.chosen.length`, "2")
	b.Picture("person-terminal")
	require.Zero(t, x.Episode().Turns)
	press(b, "person-end")
	b.Becomes(turns, "1 1 false")
	texts := recordings.OrderTexts("terminal", x.Episode().OrdersOf(0, 0))
	require.Len(t, texts, 2)
	assert.Equal(t, "wall 13,12", texts[0])
	assert.Contains(t, texts[1], "1 scout")
	b.Becomes(`state.frames > 10`, "true") // the action phase
	b.Becomes(`String(person.draft)`, "null")
	press(b, "person-hint")
	b.Becomes(`document.querySelectorAll("#person-moves button").length+" "+person.busy`, "1 false")
	b.Becomes(`boards[0].hints.length > 0`, "true")
	b.Eval(`document.querySelector("#person-moves button").click()`) // takes it
	b.Becomes(`person.busy+" "+person.offer.chosen.length+" "+person.hinted().length`, "false "+b.Eval(`person.moves[0].options.length`)+" 0")
	for b.Eval(`person.offer.chosen.length`) != "0" {
		press(b, "person-undo")
		b.Becomes(`person.busy`, "false")
	}
	for n := 2; n <= 4; n++ {
		press(b, "person-end")
		b.Becomes(turns, fmt.Sprintf("%d %[1]d false", n))
	}
	choose(b, "scout")
	b.Becomes(`document.getElementById("person-number").parentElement.hidden`, "false")
	b.Becomes(`document.getElementById("person-number").options.length > 1`, "true")
	assert.Empty(t, b.Troubles())
}

// TestCodeCraft: a person chooses an entity, gives it an order, and ends the turn.
func TestCodeCraft(t *testing.T) {
	x, b := newSession(t, "codecraft", "round2-2", "entities", "econ")
	b.Becomes(`document.getElementById("person-say").innerText`, "Choose one of your own on the board.")
	b.Becomes(`(() => { const e = boards[0].frame.entities.find((e) => e.owner === 0 && e.kind === "builder unit"); pin(0, e); return !!e.id })()`, "true")
	b.Becomes(`person.options.length > 1 && !person.busy`, "true")
	b.Picture("person-codecraft")
	b.Becomes(`(() => { const o = person.options.find((o) => o.kind === "move"); person.kind = o.kind; person.fill(); person.order(o); return person.picks.size })()`, "1")
	b.Becomes(`person.busy+" "+person.draft?.lines.filter((l) => l.kind === "move").length`, "false 1") // its way
	press(b, "person-undo")
	b.Becomes(`person.busy+" "+person.picks.size+" "+person.draft`, "false 0 null")
	b.Eval(`person.order(person.options.find((o) => o.kind === "move"))`)
	b.Becomes(`person.busy+" "+person.picks.size`, "false 1")
	press(b, "person-end")
	b.Becomes(turns, "1 1 false")
	texts := recordings.OrderTexts("codecraft", x.Episode().OrdersOf(0, 0))
	require.NotEmpty(t, texts)
	assert.Contains(t, texts[0], " move ")
	assert.Empty(t, b.Troubles())
}

// TestTronPerson: a game without places is played by its buttons.
func TestTronPerson(t *testing.T) {
	x, b := newSession(t, "tron", "", "cells", "random")
	b.Becomes(`person.options.length`, "3")
	press(b, "person-do")
	b.Becomes(`person.offer.turn > 0 && !person.busy`, "true")
	require.NotZero(t, x.Episode().Turns)
	assert.Empty(t, b.Troubles())
}

// TestLivePage: the page follows a game that is being played, holds it and lets one turn through.
func TestLivePage(t *testing.T) {
	entry, err := catalog.Find("tron")
	require.NoError(t, err)
	v, err := entry.New("", env.Settings{N: 1})
	require.NoError(t, err)
	l := view.NewLive("tron", "", []string{"a", "b"}, true)
	s, err := serve.ListenLive("127.0.0.1:0", nil, l)
	require.NoError(t, err)
	defer s.Close()
	show := func() {
		l.Show(func(dst *features.Scene, seat int) { v.Scene(dst, 0, seat) })
	}
	show()
	played := make(chan struct{})
	go func() {
		defer close(played)
		b := env.NewBatch(v.Spec(), 1, 0)
		for range 3 {
			if l.Wait(t.Context()) != nil {
				return
			}
			v.Observe(b)
			b.OrderLen[0], b.OrderLen[1] = 0, 0
			v.Step(b)
			show()
		}
	}()
	b := browsertest.Open(t, s.URL())
	b.Becomes(`document.getElementById("hold").innerText`, "Go on")
	press(b, "step")
	b.Becomes(`state.films[0].head.turns + " " + state.turn`, "1 1")
	press(b, "hold")
	b.Becomes(`state.films[0].head.turns`, "3")
	b.Becomes(`document.getElementById("hold").innerText`, "Hold")
	<-played
	assert.Empty(t, b.Troubles())
}
