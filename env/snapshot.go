package env

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"io"
	"reflect"
	"unsafe"

	"moonfarm/sim"
)

// A snapshot is little-endian, except for the state:
//
//	 0  4  "MFSN"
//	 4  2  version of this layout, 1
//	 6  1  status
//	 7  1  0
//	 8  8  fingerprint: game, rules and their values, seats, layout of the state
//	16  8  seed
//	24  4  turns played
//	28  4  n, the size of the state
//	32  n  the state as it lies in memory
//	 …     in a sequential form: the turns in the making (drafts.appendTo)
//	 …  4  CRC-32C of all bytes before
//
// The state depends on the byte order of the machine and on the layout of the
// Go type, so both are part of the fingerprint. The checksum detects accidental
// damage, not forgery.
const (
	snapshotMagic   = "MFSN"
	snapshotVersion = 1
	snapshotHeader  = 32
	snapshotTail    = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// fingerprint returns the same number for pools that can exchange snapshots.
// sequential names the form if it is sequential.
func fingerprint[S any](info sim.Info, sequential string) uint64 {
	probe := uint16(1)
	h := fnv.New64a()
	fmt.Fprintf(h, "%q %q %q %d %d ", info.Name, info.Rules, info.Config, info.Players,
		*(*byte)(unsafe.Pointer(&probe)))
	writeLayout(h, reflect.TypeFor[S]())
	if sequential != "" {
		fmt.Fprintf(h, "%q", sequential)
	}
	return h.Sum64()
}

// writeLayout writes the position and kind of every number in a value of type
// t.
func writeLayout(w io.Writer, t reflect.Type) {
	switch t.Kind() {
	case reflect.Struct:
		fmt.Fprintf(w, "{%d:", t.Size())
		for i := range t.NumField() {
			f := t.Field(i)
			fmt.Fprintf(w, "%s@%d ", f.Name, f.Offset)
			writeLayout(w, f.Type)
		}
		fmt.Fprint(w, "}")
	case reflect.Array:
		fmt.Fprintf(w, "[%d]", t.Len())
		writeLayout(w, t.Elem())
	default:
		fmt.Fprint(w, t.Kind())
	}
}

// bytesOf returns the memory of s, which is plain data, as sim.Game demands.
func bytesOf[S any](s *S) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(s)), unsafe.Sizeof(*s))
}

// snapshotStatus returns the status of the game in a snapshot that Restore
// accepted.
func snapshotStatus(snapshot []byte) sim.Status { return sim.Status(snapshot[6]) }

// AppendSnapshot implements Vector.
func (v *pool[S]) AppendSnapshot(dst []byte, i int) []byte {
	v.mustHave("AppendSnapshot", i)
	from := len(dst)
	state := bytesOf(&v.states[i])
	dst = append(dst, snapshotMagic...)
	dst = binary.LittleEndian.AppendUint16(dst, snapshotVersion)
	dst = append(dst, byte(v.status[i]), 0)
	dst = binary.LittleEndian.AppendUint64(dst, v.print)
	dst = binary.LittleEndian.AppendUint64(dst, v.seeds[i])
	dst = binary.LittleEndian.AppendUint32(dst, uint32(v.turns[i]))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(state)))
	dst = append(dst, state...)
	if n := v.sizes.players; v.drafts != nil {
		dst = v.drafts.appendTo(dst, i*n, n)
	}
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[from:], castagnoli))
}

// Restore implements Vector.
func (v *pool[S]) Restore(i int, snapshot []byte) error {
	v.mustHave("Restore", i)
	state := bytesOf(&v.states[i])
	if len(snapshot) < snapshotHeader || string(snapshot[:4]) != snapshotMagic {
		return fmt.Errorf("env: not a snapshot: %d bytes that do not begin with %q", len(snapshot), snapshotMagic)
	}
	if n := binary.LittleEndian.Uint16(snapshot[4:]); n != snapshotVersion {
		return fmt.Errorf("env: snapshot of version %d, this is version %d", n, snapshotVersion)
	}
	if n := binary.LittleEndian.Uint64(snapshot[8:]); n != v.print {
		return fmt.Errorf("env: snapshot of another game or other rules (fingerprint %016x, %s here has %016x)", n, v.spec.Info.Name, v.print)
	}
	want := snapshotHeader + len(state) + snapshotTail
	if v.drafts != nil && len(snapshot) >= want {
		n, err := v.drafts.size(snapshot[want-snapshotTail:len(snapshot)-snapshotTail], v.sizes.players)
		if err != nil {
			return err
		}
		want += n
	}
	if len(snapshot) != want {
		return fmt.Errorf("env: snapshot has %d bytes, expected %d", len(snapshot), want)
	}
	body, sum := snapshot[:want-snapshotTail], binary.LittleEndian.Uint32(snapshot[want-snapshotTail:])
	if got := crc32.Checksum(body, castagnoli); got != sum {
		return fmt.Errorf("env: snapshot is damaged: checksum %08x, its bytes have %08x", sum, got)
	}
	turns, status := binary.LittleEndian.Uint32(snapshot[24:]), sim.Status(snapshot[6])
	size := binary.LittleEndian.Uint32(snapshot[28:])
	if status > sim.Cut || snapshot[7] != 0 || turns > 1<<31-1 || int(size) != len(state) {
		return fmt.Errorf("env: snapshot is damaged: status %d, turn %d, state of %d bytes", status, turns, size)
	}
	copy(state, snapshot[snapshotHeader:snapshotHeader+len(state)])
	v.status[i], v.turns[i] = status, int32(turns)
	v.seeds[i] = binary.LittleEndian.Uint64(snapshot[16:])
	if v.drafts != nil {
		v.restoreDrafts(i, body[snapshotHeader+len(state):])
	}
	v.appraise(i)
	return nil
}
