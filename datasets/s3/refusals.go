package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"moonfarm/datasets/internal/store"
)

// refusals are the statuses of a store that does not take the form of a request: it knows
// no header of that name, or not what it asks for.
var refusals = []int{http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusLengthRequired, http.StatusUnsupportedMediaType, http.StatusNotImplemented}

// refuses reports whether a store does not take the form of an upload. One that does not
// know a body with a checksum behind it finds the sum of the body wrong, which is signed.
func refuses(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || codeOf(err) == "SignatureDoesNotMatch"
}

// Write uploads with checksums. Stores that are like S3 do not know all of them: an upload
// that is refused is tried once without, and if that is not refused, all others go
// without, with a warning.
func (b *objects) Write(ctx context.Context, key string, content io.ReadSeeker, fresh bool) error {
	by := b.uploads.Load()
	err := b.put(ctx, by, key, content, fresh)
	if err == nil || by == b.plain || !refuses(err) {
		return err
	}
	if _, failed := content.Seek(0, io.SeekStart); failed != nil {
		return err
	}
	again := b.put(ctx, b.plain, key, content, fresh)
	if again != nil && refuses(again) { // for another reason
		return err
	}
	if b.uploads.Swap(b.plain) != b.plain {
		store.Warn(ctx, "checksums "+b.place, fmt.Sprintf("%s: the store refuses the checksums of S3 in uploads, which go on without them; the dataset has sums of its own, which verify compares (%v)", b.place, err))
	}
	return again
}
