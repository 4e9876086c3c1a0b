package rowzstd

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim/prng"
)

// counters returns n numbers of a width, each larger than the one before by less than step.
func counters(seed uint64, n, width, step int) []byte {
	r := prng.New(seed)
	b, at := make([]byte, n*width), uint64(0)
	for i := range n {
		var x [8]byte
		binary.LittleEndian.PutUint64(x[:], at)
		copy(b[i*width:(i+1)*width], x[:])
		at += uint64(r.IntN(step))
	}
	return b
}

// checkRows compresses src on every path, and checks that the frames are equal and hold src. It
// returns a frame, nil if AppendRows made none.
func checkRows(t testing.TB, e *Encoder, src []byte, width, stride int, text string) (frame []byte) {
	t.Helper()
	first := true
	paths(func(name string) {
		got, ok := e.AppendRows([]byte("x"), src, width, stride)
		require.Equal(t, byte('x'), got[0], text)
		require.Equal(t, ok, len(got) > 1, text)
		if first {
			frame, first = got[1:], false
		}
		if !bytes.Equal(frame, got[1:]) {
			t.Fatalf("%s: another frame on %s", text, name)
		}
	})
	if len(frame) == 0 {
		return nil
	}
	if got := decode(t, frame); !bytes.Equal(src, got) {
		t.Fatalf("%s: %d bytes come back as %d others", text, len(src), len(got))
	}
	return frame
}

// TestRowsRoundTrip: frames of many kinds of rows hold the rows.
func TestRowsRoundTrip(t *testing.T) {
	var e Encoder
	made := 0
	for _, n := range []int{0, 1, 2, 15, 16, 17, 100, 300, 5000, 20000} {
		for _, width := range []int{1, 2, 4, 8, 12, 48, 76, ShortRow} {
			for _, stride := range []int{1, 2, 4} {
				for _, changes := range []int{0, 1, 100, 1000, 2000, 10000} {
					src := noise(uint64(n), min(n*width, 200_000), width*stride, changes, 1+changes%300)
					if checkRows(t, &e, src, width, stride, fmt.Sprint(n, width, stride, changes)) != nil {
						made++
					}
				}
			}
			checkRows(t, &e, counters(uint64(n), n, width, 1+width), width, 1, fmt.Sprint(n, " counters of ", width))
		}
	}
	require.Greater(t, made, 300)
}

// TestZstdTool decodes frames of both kinds with the tool of the reference implementation, if it is installed.
func TestZstdTool(t *testing.T) {
	tool, err := exec.LookPath("zstd")
	if err != nil {
		t.Skip("left out: there is no zstd tool")
	}
	r := prng.New(6)
	var e Encoder
	for i := range 40 {
		width := 1 << r.IntN(8)
		src := counters(r.Uint64(), r.IntN(100_000)/width, width, 1+r.IntN(300))
		if i%2 == 0 {
			src = noise(r.Uint64(), len(src), 2*width, r.IntN(2000), 1+r.IntN(256))
		}
		if frame := checkRows(t, &e, src, width, 2, fmt.Sprint(i)); frame != nil {
			checkTool(t, tool, frame, src)
		}
		stride, changes := 1+r.IntN(5000), 1e4*r.Float64()*r.Float64()*r.Float64()
		src = noise(r.Uint64(), r.IntN(600000), stride, int(changes), 1+r.IntN(256))
		checkTool(t, tool, e.AppendFrame(nil, src, stride), src)
	}
	src := observations(1, 1000, 9)
	checkTool(t, tool, e.AppendFrame(nil, src, 2*9*128), src)
}

func checkTool(t *testing.T, tool string, frame, src []byte) {
	cmd := exec.Command(tool, "-dc")
	cmd.Stdin = bytes.NewReader(frame)
	got, err := cmd.Output()
	require.NoError(t, err)
	require.True(t, bytes.Equal(src, got))
}

// plainFind finds the sequences and literals of a block byte by byte.
func plainFind(src []byte, at, end, distance int) (seqs []sequence, lits []byte) {
	from := at
	for i := max(at+1, distance); i < end; {
		k := i
		for k < end && src[k] == src[k-distance] {
			k++
		}
		if k-i >= shortMatch {
			seqs = append(seqs, sequence{literalCodes.code(uint32(i - from)), matchCodes.code(uint32(k - i))})
			lits = append(lits, src[from:i]...)
			from = k
		}
		i = k + 1
	}
	return seqs, append(lits, src[from:end]...)
}

// checkFind compares findShort with plainFind, and the differences with those found one by one.
func checkFind(t testing.TB, e *Encoder, src []byte, at, end, distance int) {
	t.Helper()
	seqs, lits := plainFind(src, at, end, distance)
	differ := 0
	for i := max(at+1, distance); i < end; i++ {
		if src[i] != src[i-distance] {
			differ++
		}
	}
	paths(func(name string) {
		e.findShort(src, at, end, distance)
		if e.nSeqs != len(seqs) || !bytes.Equal(e.lits[:e.nLits], lits) || e.diff.count() != differ {
			t.Fatalf("%s, %d … %d of %d, distance %d: %d sequences, %d literals, %d bytes differ, want %d, %d, %d", name, at, end, len(src), distance,
				e.nSeqs, e.nLits, e.diff.count(), len(seqs), len(lits), differ)
		}
		for k, s := range seqs {
			if e.seqs[k] != s {
				t.Fatalf("%s, %d … %d, distance %d: sequence %d is %x, want %x", name, at, end, distance, k, e.seqs[k], s)
			}
		}
	})
}

// TestFindShort compares the sequences of random blocks with those found byte by byte.
func TestFindShort(t *testing.T) {
	r := prng.New(3)
	e := new(Encoder)
	n := 20_000
	if os.Getenv("MOONFARM_LONG") != "" {
		n = 1_000_000
	}
	slab := make([]byte, 1000)
	for range n {
		distance, chance := 1+r.IntN(70), 1+r.IntN(12)
		src := slab[:distance+2+r.IntN(500)]
		for i := range src {
			src[i] = 0
			if i >= distance {
				src[i] = src[i-distance]
			}
			if r.IntN(chance) == 0 {
				src[i]++
			}
		}
		at := 0
		if r.IntN(2) == 0 {
			at = r.IntN(len(src) - distance - 1)
		}
		end := max(at+1, distance) + 1 + r.IntN(len(src)-max(at+1, distance))
		checkFind(t, e, src, at, end, distance)
	}
	long := make([]byte, shortBlock)
	checkFind(t, e, long, 0, len(long), 8)
	checkFind(t, e, counters(1, shortBlock/4, 4, 2), 4, shortBlock, 4) // the most sequences
}

// FuzzRows makes frames of sources of the fuzzer, and compares blocks of them.
func FuzzRows(f *testing.F) {
	f.Add(make([]byte, 300), uint16(8), uint16(1))
	f.Add([]byte("abc abd abe abf abg abh abi abj abk abl abm abn abo abp abq abr abs abt abu abv "), uint16(4), uint16(2))
	f.Fuzz(func(t *testing.T, src []byte, width, stride uint16) {
		w, s := 1+int(width)%ShortRow, 1+int(stride)%4
		var e Encoder
		checkRows(t, &e, src, w, s, "fuzz")
		if len(src) > w+1 {
			checkFind(t, &e, src[:min(len(src), w+shortBlock)], 0, min(len(src), w+shortBlock), w)
		}
	})
}

// goldenRows holds the bytes and the beginning of the SHA-256 of frames of rows.
var goldenRows = map[int]string{
	1:   "72823 d7d55aefeb2ff68c",
	4:   "81801 cf8c86988c582b39",
	8:   "87837 c497e838b944c2b5",
	48:  "92386 d9cb5a022bb25cfb",
	304: "98652 624e2e0be7deee71",
	512: "100667 6da069c28401156a",
}

// TestGoldenRows: the same rows always have the same frame.
func TestGoldenRows(t *testing.T) {
	var e Encoder
	got := map[int]string{}
	for _, width := range []int{1, 4, 8, 48, 304, ShortRow} {
		var frames []byte
		for _, changes := range []int{0, 10, 500, 1500} {
			for _, stride := range []int{1, 2} {
				src := noise(uint64(width+changes), 100_000, width*stride, changes, 200)
				frames, _ = e.AppendRows(frames, src, width, 2)
			}
		}
		for _, step := range []int{2, 20, 2000} {
			frames, _ = e.AppendRows(frames, counters(uint64(width), 4096, width, step), width, 2)
		}
		got[width] = goldenSum(frames)
	}
	require.Equal(t, goldenRows, got)
}

// TestFewSequences: a block may have so few and so equal sequences that the table of frequencies and
// the bits behind it would be shorter than klauspost's decoder accepts. Offsets of lists are such
// content: numbers of which nearly all are one more than the number before.
func TestFewSequences(t *testing.T) {
	var e Encoder
	r := prng.New(3)
	tool, _ := exec.LookPath("zstd")
	for round := range 5_000 {
		numbers := make([]uint32, 20+r.IntN(200))
		for i := range numbers[1:] {
			numbers[i+1] = numbers[i] + 1
			if r.IntN(20) == 0 {
				numbers[i+1]--
			}
		}
		src, err := binary.Append(nil, binary.LittleEndian, numbers)
		require.NoError(t, err)
		frame := checkRows(t, &e, src, 4, 1, fmt.Sprint("round ", round))
		if tool != "" && frame != nil && round < 100 {
			checkTool(t, tool, frame, src)
		}
	}
}
