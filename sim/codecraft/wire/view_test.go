package wire

import (
	"bytes"
	"path/filepath"
	"testing"

	"moonfarm/sim/simtest"
)

// viewFiles lists the recordings of views.
func viewFiles(t testing.TB) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(simtest.Shared(t, "traces", "codecraft"), "view-*.jsonl.gz"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no views: %v", err)
	}
	for i := range all {
		all[i] = filepath.Base(all[i])
	}
	return all
}

// TestRecordedViews makes states of all recorded views and messages: their
// players see the same of them.
func TestRecordedViews(t *testing.T) {
	views, entities, messages := 0, 0, 0
	for _, file := range append(viewFiles(t), "raw-getaction-messages.jsonl.gz") {
		r, err := Verify(file, bytes.NewReader(unpack(t, file)), round1())
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
