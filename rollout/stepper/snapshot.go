package stepper

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"moonfarm/env"
	"moonfarm/sim"
)

// A snapshot is, little-endian:
//
//	 0  4  "MFES"
//	 4  2  version of this layout, 1
//	 6  1  the caller's seat, 255 with AllSeats
//	 7  1  seats
//	 8  8  base seed
//	16  8  episode
//	24  4  opponents by seat
//	28  n  snapshot of the game (env.Snapshotter)
//	 …  4  CRC-32C of all before
const (
	snapshotMagic   = "MFES"
	snapshotVersion = 1
	snapshotHeader  = 28
	snapshotTail    = 4
	noSeat          = 255
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// at finds a game for a snapshot.
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
	for _, k = range s.parts[b.first : b.first+b.n] {
		if i = game - k.first; i < len(k.base) {
			break
		}
	}
	return k, i, nil
}

// AppendSnapshot appends a game as bytes: its state, and what decides its seat,
// its opponents and the episodes that follow. See env.Snapshotter; a Vector that
// is none is an error.
func (s *Stepper) AppendSnapshot(dst []byte, game int) ([]byte, error) {
	k, i, err := s.at("AppendSnapshot", game)
	if err != nil {
		return dst, err
	}
	v, ok := env.Unwrap(k.auto).(env.Snapshotter)
	if !ok {
		return dst, fmt.Errorf("games of %s have no snapshots here", s.spec.Info.Name)
	}
	from, seat := len(dst), byte(noSeat)
	if k.seats != nil {
		seat = byte(k.seats[i])
	}
	dst = append(dst, snapshotMagic...)
	dst = binary.LittleEndian.AppendUint16(dst, snapshotVersion)
	dst = append(dst, seat, byte(k.players))
	dst = binary.LittleEndian.AppendUint64(dst, k.base[i])
	dst = binary.LittleEndian.AppendUint64(dst, k.auto.Episode(i))
	var drawn [sim.MaxPlayers]byte
	copy(drawn[:], k.drawn[i*k.players:(i+1)*k.players])
	dst = append(dst, drawn[:]...)
	dst = v.AppendSnapshot(dst, i)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[from:], castagnoli)), nil
}

// Restore makes a game what a snapshot holds, which may be of another game of
// this or another Stepper, and writes what its rows see. Episode and opponents
// are those of the snapshot, and so are the episodes that follow. A game that had
// ended has; Terminated and Truncated say so. Restore fails, and changes nothing,
// if the snapshot is damaged, of another game or rules, or of a seat or an
// opponent that is none here. Planes that Env.Memory fills in are not part of it.
func (s *Stepper) Restore(game int, snapshot []byte) error {
	k, i, err := s.at("Restore", game)
	if err != nil {
		return err
	}
	if err := k.checkSnapshot(snapshot); err != nil {
		return err
	}
	end := len(snapshot) - snapshotTail
	episode := binary.LittleEndian.Uint64(snapshot[16:])
	if err := k.auto.Restore(i, episode, snapshot[snapshotHeader:end]); err != nil {
		return err
	}
	k.base[i] = binary.LittleEndian.Uint64(snapshot[8:])
	if k.seats != nil {
		k.seats[i] = sim.Player(snapshot[6])
	}
	copy(k.drawn[i*k.players:(i+1)*k.players], snapshot[24:])
	k.tell(i, episode)
	k.goOn(i)
	k.run(func(k *part) { k.observeGame(i) })
	return s.faults(s.parts)
}

// checkSnapshot finds what is wrong with a snapshot before that of the game.
func (k *part) checkSnapshot(b []byte) error {
	if len(b) < snapshotHeader+snapshotTail || string(b[:4]) != snapshotMagic {
		return fmt.Errorf("not a snapshot: %d bytes that do not begin with %q", len(b), snapshotMagic)
	}
	if n := binary.LittleEndian.Uint16(b[4:]); n != snapshotVersion {
		return fmt.Errorf("snapshot of version %d, this is version %d", n, snapshotVersion)
	}
	end := len(b) - snapshotTail
	if want, got := binary.LittleEndian.Uint32(b[end:]), crc32.Checksum(b[:end], castagnoli); got != want {
		return fmt.Errorf("snapshot is damaged: checksum %08x, its bytes have %08x", want, got)
	}
	if int(b[7]) != k.players {
		return fmt.Errorf("snapshot of a game of %d seats, this one has %d", b[7], k.players)
	}
	seat, mine := int(b[6]), k.stepper.c.Seat
	if seat == noSeat {
		seat = AllSeats
	}
	if seat != mine && !(mine == AnySeat && seat >= 0 && seat < k.players) {
		return fmt.Errorf("snapshot for seat %d, this stepper plays seat %d (%d: all, %d: any)", seat, mine, AllSeats, AnySeat)
	}
	for p := range k.players {
		if p != seat && mine != AllSeats && int(b[24+p]) >= len(k.opponents) {
			return fmt.Errorf("snapshot with opponent %d at seat %d, there are %d here, from 0", b[24+p], p, len(k.opponents))
		}
	}
	return nil
}
