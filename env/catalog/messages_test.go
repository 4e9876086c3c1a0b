package catalog_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
	"moonfarm/sim/terminal"
	tmconfig "moonfarm/sim/terminal/wire/config"
	tmreferee "moonfarm/sim/terminal/wire/referee"
)

// messages returns messages that bots are sent at the start or later, with
// their seats.
func messages(t *testing.T) map[string]catalog.Message {
	t.Helper()
	state, err := os.ReadFile(filepath.Join("..", "..", "sim", "towerdefence", "wire", "testdata", "stateB.json"))
	require.NoError(t, err)
	referee, err := tmreferee.New(terminal.DefaultRules())
	require.NoError(t, err)
	r, _ := codecraft.Preset("round2")
	g, err := codecraft.New(r)
	require.NoError(t, err)
	s := new(codecraft.State)
	g.Reset(s, 4)
	var m protocol.ServerMessage
	protocol.View(&m.View, g, s, 1)
	frame := referee.Frame().Append(nil, tmconfig.Local)
	return map[string]catalog.Message{
		"towerdefence": {Text: state, Seat: 1},
		"terminal":     {Text: frame, Seat: 1},
		"codecraft":    {Text: m.Append(nil), Seat: 1, Rules: "round2"},
	}
}

// TestShown makes games from messages: they can be played on, and have the seat
// of the bot.
func TestShown(t *testing.T) {
	all := messages(t)
	for _, g := range catalog.Games() {
		m, ok := all[g.Name]
		assert.Equalf(t, g.Shown != nil, ok, "%s: a message %v, a reader %v", g.Name, ok, g.Shown != nil)
		if !ok {
			continue
		}
		v, seat, err := g.Shown(m)
		if err != nil || seat != 1 {
			t.Errorf("%s: seat %d, error %v", g.Name, seat, err)
			continue
		}
		b := env.NewBatch(v.Spec(), 1, env.WantMask)
		v.Observe(b)
		before := bytes.Clone(v.AppendText(nil, 0))
		clear(b.OrderLen)
		v.Step(b)
		assert.Truef(t, b.Status[0] == sim.Running && !bytes.Equal(before, v.AppendText(nil, 0)), "%s: status %v after a turn of\n%s", g.Name, b.Status[0], before)
		if m.Seat = catalog.AnySeat; g.Name != "terminal" {
			if _, seat, err := g.Shown(m); err != nil || seat != 1 {
				t.Errorf("%s: seat %d from the message, error %v", g.Name, seat, err)
			}
		}
		for _, bad := range []int{-2, 0, sim.MaxPlayers} {
			if m.Seat = bad; bad == 0 && len(all[g.Name].Text) == len(all["terminal"].Text) {
				continue // a frame does not contain the seat
			}
			if _, _, err := g.Shown(m); err == nil {
				t.Errorf("%s: seat %d is accepted", g.Name, bad)
			}
		}
		m = all[g.Name]
		m.Text = m.Text[:len(m.Text)-7]
		_, _, err = g.Shown(m)
		assert.Errorf(t, err, "%s: the beginning of a message is accepted", g.Name)
	}
}
