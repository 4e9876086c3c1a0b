package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"moonfarm/datasets/internal/store"
)

// refusals lists the statuses with which a store refuses the form of a request: it does
// not know a header, or does not implement it.
var refusals = []int{http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusLengthRequired, http.StatusUnsupportedMediaType, http.StatusNotImplemented}

// refuses reports whether a store refuses the form of an upload. A store that does not
// know trailing checksums reports that the signed sum of the body is wrong.
func refuses(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || codeOf(err) == "SignatureDoesNotMatch"
}

// Write uploads with checksums. Not all stores know them: a refused upload is repeated
// once without checksums, and if that succeeds, all later uploads go without, with a
// warning.
func (b *objects) Write(ctx context.Context, key string, content io.ReadSeeker, fresh bool) error {
	plain := b.plain.Load()
	err := b.put(ctx, plain, key, content, fresh)
	if err == nil || plain || !refuses(err) {
		return err
	}
	if _, failed := content.Seek(0, io.SeekStart); failed != nil {
		return err
	}
	again := b.put(ctx, true, key, content, fresh)
	if again != nil && refuses(again) { // refused for another reason
		return err
	}
	if !b.plain.Swap(true) {
		store.Warn(ctx, "checksums "+b.place, fmt.Sprintf("%s: the store refuses the checksums of S3 in uploads, which go on without them; the dataset has sums of its own, which verify compares (%v)", b.place, err))
	}
	return again
}
