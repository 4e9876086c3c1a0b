package replay

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

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
	if k := recording.KindOf(log[:64]); k != recording.HoldsMessages {
		t.Fatalf("the kind is %q, want %q", k, recording.HoldsMessages)
	}
	r, err := Verify("x", bytes.NewReader(log), wiretest.Round1())
	if err != nil || r.First != nil || r.Messages != 5 || r.Views != 4 {
		t.Errorf("error %v, first %v, report %+v, want 5 messages with 4 views", err, r.First, r)
	}
	in := recording.NewMessageReader("x", bytes.NewReader(log))
	var m protocol.ServerMessage
	var again []byte
	for {
		if err := in.Next(&m); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		again = append(again, in.Bytes()...)
	}
	if !bytes.Equal(again, log) {
		t.Error("the bytes of the messages are not those of the file")
	}
	for cut, want := range map[int]string{len(log) - 2: "messages x: message 5: byte ", len(log) / 2: "messages x: message 3: byte "} {
		t.Run(fmt.Sprintf("cut at %d", cut), func(t *testing.T) {
			r, err := Verify("x", bytes.NewReader(log[:cut]), wiretest.Round1())
			if err == nil || !strings.Contains(err.Error(), want) || r.Messages == 0 {
				t.Errorf("cut at %d: error %v, %+v, want %q and the messages before", cut, err, r, want)
			}
		})
	}
}

// TestSharedRawMessages reads the recorded messages as raw files, one by one and concatenated.
func TestSharedRawMessages(t *testing.T) {
	var all []byte
	count := 0
	for line := range bytes.Lines(wiretest.Unpack(t, "raw-getaction-messages.jsonl.gz")) {
		var l struct{ Base64 string }
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		raw, err := base64.StdEncoding.DecodeString(l.Base64)
		if err != nil {
			t.Fatal(err)
		}
		if k := recording.KindOf(raw[:64]); k != recording.HoldsMessages {
			t.Errorf("message %d: the kind is %q", count, k)
		}
		all = append(all, raw...)
		count++
	}
	r, err := Verify("all", bytes.NewReader(all), wiretest.Round1())
	if err != nil || r.First != nil || r.Messages != count || r.Views != count {
		t.Errorf("error %v, first %v, report %+v, want %d messages", err, r.First, r, count)
	}
}

// TestRecordedViews verifies all recorded views and messages.
func TestRecordedViews(t *testing.T) {
	views, entities, messages := 0, 0, 0
	for _, file := range append(wiretest.ViewFiles(t), "raw-getaction-messages.jsonl.gz") {
		r, err := Verify(file, bytes.NewReader(wiretest.Unpack(t, file)), wiretest.Round1())
		if err != nil || r.First != nil {
			t.Errorf("%s: error %v, %d different, first %v", file, err, r.Different, r.First)
		}
		views, entities, messages = views+r.Views, entities+r.Entities, messages+r.Messages
	}
	t.Logf("%d views, %d entities; %d messages", views, entities, messages)
	if views != 92 || messages != 6 {
		t.Errorf("%d views and %d messages, want 92 and 6", views, messages)
	}
}
