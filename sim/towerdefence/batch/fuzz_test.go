package batch_test

import (
	"encoding/binary"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/batch"
)

// FuzzOrders reads bytes as orders of both players in all games, any 16 bits each, and compares a
// block with the scalar game. Game i has i times the start energy, and begins again after the end
// of its match.
func FuzzOrders(f *testing.F) {
	build := towerdefence.Build
	list := []sim.Order{
		build(towerdefence.Attack, 7, 0), build(towerdefence.Tesla, 7, 3), build(towerdefence.Defense, 6, 0), towerdefence.Curtain,
		towerdefence.Deconstruct(7, 0), towerdefence.Failed(build(towerdefence.Energy, 0, 0), 1), towerdefence.Refused, towerdefence.Aborted,
	}
	var seed []byte
	for i := range 4 * len(list) {
		seed = binary.LittleEndian.AppendUint16(seed, uint16(list[(i*i+i/8)%len(list)]))
	}
	f.Add(uint16(20), seed[:8])
	f.Add(uint16(900), seed)
	f.Add(uint16(400), append(seed, seed...))
	f.Fuzz(func(t *testing.T, energy uint16, data []byte) {
		w := newTwins(t, towerdefence.DefaultRules())
		start := func(i int) { w.begin(i, [2]int{int(energy) * i, int(energy)}, [2]int{100, 100}) }
		for i := range batch.Games {
			start(i)
		}
		for rest := 40; rest > 0 && w.played < 1000; rest-- { // some rounds after the last order
			for n := range 2 * batch.Games {
				o := &w.orders[n%2][n/2]
				*o = towerdefence.Nothing
				if len(data) >= 2 {
					*o = sim.Order(binary.LittleEndian.Uint16(data))
					data, rest = data[2:], 40
				}
			}
			running := w.play()
			for i := range batch.Games {
				if running>>i&1 == 0 {
					start(i)
				}
			}
		}
	})
}
