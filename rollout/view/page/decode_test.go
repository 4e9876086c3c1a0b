package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/rollout/browsertest"
)

// written returns the entities of a moment in words, as the expression of TestDecode does.
func written(f *film, m moment) string {
	var all []string
	for _, it := range m.entities {
		fields := []string{fmt.Sprint(f.kinds[it[0].(int)][0])}
		for _, v := range it[1:10] {
			fields = append(fields, fmt.Sprint(v))
		}
		all = append(all, strings.Join(fields, ","))
	}
	return strings.Join(all, ";")
}

// TestDecode: the page makes of lists that are coded as differences the lists that they stand for.
func TestDecode(t *testing.T) {
	for _, f := range []*film{arena(3, 20), craft(4, 70)} {
		b := browsertest.Open(t, serve(t, f).URL)
		opened(b)
		for turn := 0; turn < len(f.positions); turn += 3 {
			for k, m := range f.positions[turn] {
				got := b.Eval(fmt.Sprintf(`go(%d, %d).then(() => boards[0].frame.entities.map((e) => [e.kind, e.owner, e.x, e.y, e.width, e.height, e.health, e.number, e.flags, e.id].join()).join(";"))`, turn, k))
				if want := written(f, m); got != want {
					t.Fatalf("turn %d, frame %d: %s, want %s", turn, k, got, want)
				}
			}
		}
		assert.Empty(t, b.Troubles())
	}
}

// TestCache: the page keeps the last 64 chunks that it used, and asks again for others.
func TestCache(t *testing.T) {
	f := arena(3, 200)
	f.head["chunk"] = 2
	s := serve(t, f)
	b := browsertest.Open(t, s.URL)
	opened(b)
	b.Becomes(`(async () => { for (let turn = 0; turn <= 200; turn++) await go(turn); return chunks.size })()`, "64")
	before := len(s.requests())
	b.Becomes(`go(199).then(() => state.turn)`, "199")
	assert.Len(t, s.requests(), before)
	b.Becomes(`go(1).then(() => state.turn + " " + chunks.size)`, "1 64")
	assert.Len(t, s.requests(), before+1)
	assert.Empty(t, b.Troubles())
}
