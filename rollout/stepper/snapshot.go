package stepper

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// A snapshot is little-endian:
//
//	 0  4  "MFES"
//	 4  2  version of this layout, 1 to 3
//	 6  1  the caller's seat, 255 with AllSeats
//	 7  1  seats
//	 8  8  base seed
//	16  8  episode
//	24  4  opponents by seat
//	       versions 2 and 3:
//	28  1  1: the game has begun; 0: Reset must begin it
//	29  3  0
//	32  4  m, the size of the memory
//	36  m  memory of the game's rows (Vector.AppendMemory)
//	       version 3 only:
//	 …  4  s, the size of the states
//	 …  s  what the opponents remember of the game (rollout.States), by seat
//	       all versions:
//	 …  n  snapshot of the game (Vector.AppendSnapshot)
//	 …  4  CRC-32C of all bytes before
//
// Version 2 is written for games that have not begun and for games with memory, version 3 for games
// with an opponent that remembers the game.
const (
	snapshotMagic  = "MFES"
	snapshotHeader = 28
	snapshotMore   = 8 // additional bytes of version 2 after the header
	snapshotTail   = 4
	noSeat         = 255
)

// extras holds the parts of a snapshot that version 1 lacks, and the snapshot of
// the game.
type extras struct {
	begun  bool
	memory []byte
	states []byte
	game   []byte // snapshot of the game
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// at returns the part of a game and the game's index in it. It fails if the
// game does not exist or is in progress.
func (s *Stepper) at(what string, game int) (k *part, i int, err error) {
	if s.fault != nil {
		return nil, 0, s.fault
	}
	if uint(game) >= uint(s.spec.Games) {
		return nil, 0, fmt.Errorf("%s of game %d: there are %d, from 0", what, game, s.spec.Games)
	}
	b := &s.blocks[game/s.BlockGames()]
	if b.sent {
		return nil, 0, StateError(fmt.Sprintf("%s of game %d, whose block is under way: receive it first", what, game))
	}
	for _, k = range b.parts {
		if i = game - k.first; i < len(k.base) {
			break
		}
	}
	return k, i, nil
}

// AppendSnapshot appends the bytes of a game: its state, the memory of its rows
// (env.Settings.Memory), its seat and opponents, what they remember of it, and the
// base seed and episode number from which its later episodes follow.
func (s *Stepper) AppendSnapshot(dst []byte, game int) ([]byte, error) {
	k, i, err := s.at("AppendSnapshot", game)
	if err != nil {
		return dst, err
	}
	from, seat := len(dst), byte(noSeat)
	if k.seats != nil {
		seat = byte(k.seats[i])
	}
	version := uint16(1)
	if len(s.spec.Remembered) > 0 || !k.begun[i] {
		version = 2
	}
	states := k.appendStates(nil, i)
	if len(states) > 0 {
		version = 3
	}
	dst = appendHeader(dst, version, seat, k.base[i], k.auto.Episode(i), k.drawn[i*k.players:(i+1)*k.players])
	if version > 1 {
		begun := byte(0)
		if k.begun[i] {
			begun = 1
		}
		dst = append(dst, begun, 0, 0, 0, 0, 0, 0, 0)
		size := len(dst)
		dst = k.auto.AppendMemory(dst, i)
		binary.LittleEndian.PutUint32(dst[size-4:], uint32(len(dst)-size))
	}
	if version > 2 {
		dst = append(binary.LittleEndian.AppendUint32(dst, uint32(len(states))), states...)
	}
	dst = k.auto.AppendSnapshot(dst, i)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[from:], castagnoli)), nil
}

// appendHeader appends the fields that all versions share before those of the
// game. drawn are the opponents of all seats, by seat.
func appendHeader(dst []byte, version uint16, seat byte, base, episode uint64, drawn []uint8) []byte {
	dst = append(dst, snapshotMagic...)
	dst = binary.LittleEndian.AppendUint16(dst, version)
	dst = append(dst, seat, byte(len(drawn)))
	dst = binary.LittleEndian.AppendUint64(dst, base)
	dst = binary.LittleEndian.AppendUint64(dst, episode)
	var all [sim.MaxPlayers]byte
	copy(all[:], drawn)
	return append(dst, all[:]...)
}

// AppendSnapshotOf appends game 0 of a Vector as a snapshot of a Stepper with
// AllSeats, in episode 0 of the seed.
func AppendSnapshotOf(dst []byte, v env.Vector, seed uint64) []byte {
	from := len(dst)
	dst = appendHeader(dst, 1, noSeat, seed, 0, make([]uint8, v.Spec().Info.Players))
	dst = v.AppendSnapshot(dst, 0)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[from:], castagnoli))
}

// Load sets game 0 of a Vector to a snapshot of a Stepper.
func Load(v env.Vector, snapshot []byte) error {
	k := &part{inner: v, players: v.Spec().Info.Players, stepper: &Stepper{c: Setup{Seat: AllSeats}}}
	if err := k.checkSnapshot(snapshot); err != nil {
		return err
	}
	x, err := k.extrasOf(snapshot)
	if err != nil {
		return err
	}
	return v.Restore(0, x.game)
}

// Restore sets a game to a snapshot, which may be of another game of this or
// another Stepper, and writes its observations. The game gets the episode and
// the opponents of the snapshot, and the same later episodes. If the snapshot
// is for another seat than the caller's, or for all seats, the caller keeps its
// seat, and the opponents are drawn from the snapshot's seed as at the start of
// its episode. If the game has ended in the snapshot, Terminated and Truncated
// say so. Restore fails, and changes nothing, if the snapshot is damaged, of
// another game or rules, names an opponent that does not exist here, or lacks what
// an opponent that is rollout.Recurrent remembers. A game that had not begun when
// its snapshot was made must be Reset before the next step.
func (s *Stepper) Restore(game int, snapshot []byte) error {
	k, i, err := s.at("Restore", game)
	if err != nil {
		return err
	}
	if err := k.checkSnapshot(snapshot); err != nil {
		return err
	}
	x, err := k.extrasOf(snapshot)
	if err != nil {
		return err
	}
	if err := k.checkStates(snapshot, x.states); err != nil {
		return err
	}
	episode := binary.LittleEndian.Uint64(snapshot[16:])
	if err := k.auto.Continue(i, episode, x.game); err != nil {
		return err
	}
	if err := k.auto.RestoreMemory(i, x.memory); err != nil {
		return err
	}
	k.base[i] = binary.LittleEndian.Uint64(snapshot[8:])
	if k.fitsSeat(snapshot) {
		if k.seats != nil {
			k.seats[i] = sim.Player(snapshot[6])
		}
		copy(k.drawn[i*k.players:(i+1)*k.players], snapshot[24:])
		k.restoreStates(i, x.states)
	} else {
		k.draw(i, rollout.GameSeed(k.base[i], episode))
	}
	k.writeEpisode(i, episode)
	k.markBegun(i)
	if !x.begun {
		k.begun[i] = false
		k.fresh++
	}
	k.run(func(k *part) { k.observeGame(i) }, nil)
	return s.faults(s.parts)
}

// checkSnapshot returns an error if the header or the checksum of a snapshot is
// wrong.
func (k *part) checkSnapshot(b []byte) error {
	if len(b) < snapshotHeader+snapshotTail || string(b[:4]) != snapshotMagic {
		return fmt.Errorf("not a snapshot: %d bytes that do not begin with %q", len(b), snapshotMagic)
	}
	if n := binary.LittleEndian.Uint16(b[4:]); n < 1 || n > 3 {
		return fmt.Errorf("snapshot of version %d, expected 1 to 3", n)
	}
	end := len(b) - snapshotTail
	if want, got := binary.LittleEndian.Uint32(b[end:]), crc32.Checksum(b[:end], castagnoli); got != want {
		return fmt.Errorf("snapshot is damaged: checksum %08x, its bytes have %08x", want, got)
	}
	if int(b[7]) != k.players {
		return fmt.Errorf("snapshot of a game of %d seats, this one has %d", b[7], k.players)
	}
	if seat := int(b[6]); seat != noSeat && seat >= k.players {
		return fmt.Errorf("snapshot for seat %d, a game has %d, from 0", seat, k.players)
	}
	if !k.fitsSeat(b) || k.seats == nil {
		return nil
	}
	for p := range k.players {
		if p != int(b[6]) && int(b[24+p]) >= len(k.opponents) {
			return fmt.Errorf("snapshot with opponent %d at seat %d, there are %d here, from 0", b[24+p], p, len(k.opponents))
		}
	}
	return nil
}

// fitsSeat reports whether a snapshot is for a seat that the caller plays or
// may play.
func (k *part) fitsSeat(b []byte) bool {
	switch seat, mine := int(b[6]), k.stepper.c.Seat; mine {
	case AllSeats:
		return seat == noSeat
	case AnySeat:
		return seat != noSeat
	default:
		return seat == mine
	}
}

// extrasOf splits a snapshot that checkSnapshot accepted.
func (k *part) extrasOf(b []byte) (extras, error) {
	x := extras{begun: true, game: b[snapshotHeader : len(b)-snapshotTail]}
	version := binary.LittleEndian.Uint16(b[4:])
	if version == 1 {
		return x, nil
	}
	if len(x.game) < snapshotMore {
		return x, fmt.Errorf("snapshot of %d bytes is cut off", len(b))
	}
	x.begun = x.game[0] != 0
	var err error
	if x.memory, x.game, err = sized("memory", x.game[snapshotMore-4:]); err != nil {
		return x, err
	}
	if version > 2 {
		if x.states, x.game, err = sized("states", x.game); err != nil {
			return x, err
		}
	}
	want := len(k.inner.AppendMemory(nil, 0))
	if size := len(x.memory); size != 0 && want != 0 && size != want {
		return x, fmt.Errorf("snapshot with a memory of %d bytes, expected %d", size, want)
	}
	return x, nil
}

// sized returns a part of a snapshot whose size stands before it, and the rest.
func sized(what string, b []byte) (part, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, fmt.Errorf("snapshot is damaged: no size of the %s", what)
	}
	size, b := uint64(binary.LittleEndian.Uint32(b)), b[4:]
	if size > uint64(len(b)) {
		return nil, nil, fmt.Errorf("snapshot is damaged: %d bytes of %s, only %d are left", size, what, len(b))
	}
	return b[:size:size], b[size:], nil
}
