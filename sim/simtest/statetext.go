package simtest

import (
	"strings"
	"testing"
)

// Refuses checks that read returns an error for each key of wants, and that
// found(error, value) is true; found is strings.Contains, strings.HasPrefix or
// the like.
func Refuses(t *testing.T, found func(fault, want string) bool, read func(text string) error, wants map[string]string) {
	t.Helper()
	for text, want := range wants {
		if err := read(text); err == nil || !found(err.Error(), want) {
			t.Errorf("%.80q: error\n %v, want\n %s", text, err, want)
		}
	}
}

// StateText reads and writes the states of a game as text.
type StateText[S comparable] struct {
	Parse  func(text string) (S, error)
	Append func(s *S) string
}

// Is checks that the text is read as the state.
func (x StateText[S]) Is(t *testing.T, text string, want S) {
	t.Helper()
	got, err := x.Parse(text)
	if err != nil || got != want {
		t.Fatalf("error %v; the text\n%s is read as\n%s", err, text, x.Append(&got))
	}
}

// Again checks that the text of the state is read as the state. It returns the
// text.
func (x StateText[S]) Again(t *testing.T, s S) string {
	t.Helper()
	text := x.Append(&s)
	x.Is(t, text, s)
	return text
}

// Fuzz checks that any text is refused, or that its state has a text that is
// read as the same state. more may check the state further.
func (x StateText[S]) Fuzz(f *testing.F, more func(s *S), seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := x.Parse(text)
		if err != nil {
			return
		}
		if x.Again(t, s); more != nil {
			more(&s)
		}
	})
}

// Hashes checks that hash is different for the state of the text and for the
// states of its changed texts. A change is a part of the text and its
// replacement.
func (x StateText[S]) Hashes(t *testing.T, hash func(s *S) uint64, text string, changes [][2]string) {
	t.Helper()
	texts := []string{text}
	for _, c := range changes {
		if !strings.Contains(text, c[0]) {
			t.Fatalf("%q does not stand in\n%s", c[0], text)
		}
		texts = append(texts, strings.ReplaceAll(text, c[0], c[1]))
	}
	seen := map[uint64]string{}
	for _, text := range texts {
		s, err := x.Parse(text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		h := hash(&s)
		if other, ok := seen[h]; ok {
			t.Errorf("%#x is the hash of two states:\n%s\n%s", h, text, other)
		}
		seen[h] = text
	}
}

// Spoil breaks a good state in each of the ways. It checks that fault returns
// the way's key and that check panics.
func Spoil[S any](t *testing.T, good *S, fault func(s *S) string, check func(s *S), ways map[string]func(s *S)) {
	t.Helper()
	check(good)
	for want, spoil := range ways {
		s := *good
		spoil(&s)
		if got := fault(&s); !strings.Contains(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: check does not panic", want)
				}
			}()
			check(&s)
		}()
	}
}
