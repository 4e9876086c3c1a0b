package towerdefence_test

import (
	"encoding/binary"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/internal/plain"
)

// bytesOf packs orders as FuzzOrders reads them.
func bytesOf(orders ...sim.Order) (data []byte) {
	for _, o := range orders {
		data = binary.LittleEndian.AppendUint64(data, uint64(o))
	}
	return data
}

// FuzzOrders reads bytes as the orders of both players in turn, any 64 bits
// each, and plays them on the fast game and, as command texts, on the plain
// twin. energy is that of both players at the start.
func FuzzOrders(f *testing.F) {
	build, deconstruct := towerdefence.Build, towerdefence.Deconstruct
	f.Add(uint16(20), bytesOf(0, 0))
	f.Add(uint16(60), bytesOf(build(towerdefence.Attack, 7, 0), build(towerdefence.Energy, 7, 0), 1<<63, 0xffff_ffff_ffff_f000))
	f.Add(uint16(900), bytesOf(build(towerdefence.Tesla, 7, 3), build(towerdefence.Tesla, 0, 4), build(towerdefence.Tesla, 6, 3),
		build(towerdefence.Defense, 7, 4), deconstruct(7, 3), towerdefence.Failed(towerdefence.Nothing, 3), towerdefence.Curtain, towerdefence.Refused))
	f.Add(uint16(20), bytesOf(0, towerdefence.Aborted, 0, 0))
	f.Add(uint16(500), bytesOf(towerdefence.Failed(build(towerdefence.Attack, 3, 3), 1), towerdefence.Failed(towerdefence.Curtain, 2)))
	rules := towerdefence.DefaultRules()
	g, err := towerdefence.New(rules)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, energy uint16, data []byte) {
		m := &match{t: t, g: g}
		g.Reset(&m.s, 0)
		g.SetStart(&m.s, 0, int(energy), 100)
		g.SetStart(&m.s, 1, int(energy), 100)
		m.twin = twinOf(g, &m.s)
		for rest := 40; m.status == sim.Running && rest > 0; rest-- { // some rounds after the last order
			var orders [2]sim.Order
			for p := range orders {
				if len(data) >= 8 {
					orders[p] = sim.Order(binary.LittleEndian.Uint64(data))
					data, rest = data[8:], 40
				}
			}
			m.playOrders(orders)
		}
	})
}

// playOrders plays one round with any orders: each as the text that does the
// same, on the plain twin.
func (m *match) playOrders(orders [2]sim.Order) {
	m.t.Helper()
	before := m.s
	var texts [2]string
	for p, o := range orders {
		texts[p] = commandText(o & 0xfff) // the other bits mean nothing
		if op, _, _, failures := towerdefence.Decode(o); op == towerdefence.OpNothing && failures == 3 {
			if (orders[0]|orders[1])&towerdefence.Aborted == 0 {
				m.twin.Players[p].FailCount++ // no text costs three failures: "0,0" and one more
			}
		}
	}
	m.status = m.g.Play(&m.s, orders[0], orders[1])
	m.end = m.twin.Play(texts[0], texts[1])
	if m.end == plain.Aborted && m.s != before {
		m.t.Fatalf("orders %#x: an aborted match goes on\n%s", orders, boards(m.g, &m.s, m.twin))
	}
	if (m.status == sim.Running) != (m.end == plain.Running) || (m.status == sim.Cut) != (m.end == plain.Aborted) {
		m.t.Fatalf("orders %#x: status %v, of the plain twin %q", orders, m.status, m.end)
	}
	m.check()
}

// FuzzRules reads any text as rules and, if they can be played, plays some
// rounds by them on both games.
func FuzzRules(f *testing.F) {
	f.Add(uint64(1), "")
	f.Add(uint64(2), "game.config.max-rounds=7\ngame.config.attack.config.weapon-speed=5\n")
	f.Add(uint64(3), "game.config.attack.config.weapon-cooldown-period=0\ngame.config.defense.config.health=7\ngame.config.tesla.config.construction-time-left=1")
	f.Add(uint64(4), "game.config.ironcurtain.config.active-rounds=40\ngame.config.ironcurtain.config.reset-period=1\ngame.config.start-energy=900000")
	r := prng.New(5)
	f.Add(uint64(5), string(randomRules(&r).AppendText(nil)))
	f.Fuzz(func(t *testing.T, seed uint64, text string) {
		rules, err := towerdefence.ParseRules([]byte(text))
		if err != nil {
			return
		}
		if again, err := towerdefence.ParseRules(rules.AppendText(nil)); err != nil || again != rules {
			t.Fatalf("rules do not read back: %v\n%s", err, rules.AppendText(nil))
		}
		if (rules.Validate() == nil) != playable(rules) {
			t.Fatalf("Validate says %v, New something else", rules.Validate())
		}
		if playable(rules) {
			playTwins(t, rules, seed, 60)
		}
	})
}

func playable(rules towerdefence.Rules) bool {
	_, err := towerdefence.New(rules)
	return err == nil
}
