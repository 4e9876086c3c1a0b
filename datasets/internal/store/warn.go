package store

import (
	"context"
	"sync"
)

// warnings are the warnings of a context.
type warnings struct {
	tell func(text string)
	mu   sync.Mutex
	said map[string]bool // subjects of past warnings
}

type warningsKey struct{}

// WithWarn returns a context in which Warn calls tell.
func WithWarn(ctx context.Context, tell func(text string)) context.Context {
	return context.WithValue(ctx, warningsKey{}, &warnings{tell: tell, said: map[string]bool{}})
}

// Warn gives a warning, once for each subject: a place and what is unusual there.
// Without WithWarn it does nothing.
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
