package farmtest

import (
	"testing"
	"time"
)

// Until waits until ok returns true, and fails the test after three minutes, because a loaded
// machine is slow. It calls ok in the test's goroutine, so ok may fail the test too.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	Within(t, 3*time.Minute, what, ok)
}

// Within is Until with another limit.
func Within(t testing.TB, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for begun := time.Now(); !ok(); <-look.C {
		if time.Since(begun) > limit {
			t.Fatalf("waited %v until %s", limit, what)
		}
	}
}
