package replay

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/internal/wiretest"
	"moonfarm/sim/codecraft/wire/protocol"
	"moonfarm/sim/codecraft/wire/recording"
)

// loggedMessages returns raw messages as a client of a game of two players with fog logs them:
// three GetAction with a DebugUpdate between them, then Finish.
func loggedMessages(t testing.TB) []byte {
	t.Helper()
	r, _ := codecraft.Preset("finals")
	r.Generator.MinShare, r.Generator.MaxShare = 1, 1 // a small map
	g, s := wiretest.NewGame(t, r), new(codecraft.State)
	g.Reset(s, 3)
	var m protocol.ServerMessage
	var log []byte
	for tick := range 3 {
		m.Kind = protocol.GetAction
		protocol.View(&m.View, g, s, 1)
		log = m.Append(log)
		if tick == 1 {
			m.Kind = protocol.DebugUpdate
			log = m.Append(log)
		}
		g.Step(s, new(sim.Turn))
	}
	return (&protocol.ServerMessage{Kind: protocol.Finish}).Append(log)
}

// TestRawMessages reads messages as bots log them: raw, one or several in a file.
func TestRawMessages(t *testing.T) {
	log := loggedMessages(t)
	require.Equal(t, recording.HoldsMessages, recording.KindOf(log[:64]), "the kind")
	r, err := Verify("x", bytes.NewReader(log), wiretest.Round1())
	require.NoError(t, err)
	assert.Truef(t, r.First == nil && r.Messages == 5 && r.Views == 4, "error, first %v, report %+v, want 5 messages with 4 views", r.First, r)
	in := recording.NewViewReader("x", bytes.NewReader(log))
	var again []byte
	for err = in.Next(); err == nil; err = in.Next() {
		again = append(again, in.Bytes...)
	}
	require.Equal(t, io.EOF, err)
	assert.True(t, bytes.Equal(again, log), "the bytes of the messages are not those of the file")
	for cut, want := range map[int]string{len(log) - 2: "messages x: message 5: byte ", len(log) / 2: "messages x: message 3: byte "} {
		t.Run(fmt.Sprintf("cut at %d", cut), func(t *testing.T) {
			r, err := Verify("x", bytes.NewReader(log[:cut]), wiretest.Round1())
			assert.Truef(t, err != nil && strings.Contains(err.Error(), want) && r.Messages != 0, "cut at %d: error %v, %+v, want %q and the messages before", cut, err, r, want)
		})
	}
}

// TestRecordedViews verifies all recorded views and messages.
func TestRecordedViews(t *testing.T) {
	views, entities, messages := 0, 0, 0
	for _, file := range append(wiretest.ViewFiles(t), "raw-getaction-messages.jsonl.gz") {
		r, err := Verify(file, bytes.NewReader(wiretest.Unpack(t, file)), wiretest.Round1())
		require.NoErrorf(t, err, "%s", file)
		assert.Nilf(t, r.First, "%s, %d different, first", file, r.Different)
		views, entities, messages = views+r.Views, entities+r.Entities, messages+r.Messages
	}
	t.Logf("%d views, %d entities; %d messages", views, entities, messages)
	assert.Truef(t, views == 92 && messages == 6, "%d views and %d messages, want 92 and 6", views, messages)
}
