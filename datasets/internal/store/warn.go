package store

import (
	"context"
	"sync"
)

// warnings are those of a context.
type warnings struct {
	tell func(text string)
	mu   sync.Mutex
	said map[string]bool // what has been told, by its subject
}

type warningsKey struct{}

// WithWarn returns a context in which Warn tells what it is given.
func WithWarn(ctx context.Context, tell func(text string)) context.Context {
	return context.WithValue(ctx, warningsKey{}, &warnings{tell: tell, said: map[string]bool{}})
}

// Warn tells of something that is not as usual, once for each subject, which is a place
// and what is not usual there. In a context without WithWarn it tells nobody.
func Warn(ctx context.Context, subject, text string) {
	w, ok := ctx.Value(warningsKey{}).(*warnings)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.said[subject] {
		w.said[subject] = true
		w.tell(text)
	}
}
