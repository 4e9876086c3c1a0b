package towerdefence_test

import (
	"encoding/binary"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
)

// bytesOf packs orders as FuzzOrders reads them.
func bytesOf(orders ...sim.Order) (data []byte) {
	for _, o := range orders {
		data = binary.LittleEndian.AppendUint64(data, uint64(o))
	}
	return data
}

// FuzzOrders reads bytes as orders of both players, any 64 bits each, and plays
// them on the fast game and, as command texts, on the plain twin. energy is the
// start energy of both players.
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
		m := start(t, g, [2]int{int(energy), 100}, [2]int{int(energy), 100})
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

// playOrders plays one round with any orders, and with equivalent texts on the
// plain twin.
func (m *match) playOrders(orders [2]sim.Order) {
	m.t.Helper()
	var texts [2]string
	for p, o := range orders {
		texts[p] = commandText(o & 0xfff) // the other bits are ignored
		if c := towerdefence.Decode(o); c.Op == towerdefence.OpNothing && c.Failures == 3 {
			if (orders[0]|orders[1])&towerdefence.Aborted == 0 {
				m.twin.Players[p].FailCount++ // no text costs three failures: "0,0" costs two
			}
		}
	}
	m.round(orders, texts)
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
		g, err := towerdefence.New(rules)
		if (rules.Validate() == nil) != (err == nil) {
			t.Fatalf("Validate says %v, New %v", rules.Validate(), err)
		}
		if err == nil {
			playTwins(t, g, seed, 60)
		}
	})
}
