package bucket

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/logging"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"
	"gocloud.dev/gcerrors"
)

// Parameters of S3 in the query of an URL.
const (
	calculation  = "request_checksum_calculation"
	validation   = "response_checksum_validation"
	whenRequired = "when_required"
)

// openS3 opens a bucket of S3. The SDK would warn on standard error of each file of a
// store that keeps no checksums, and of other things that are no concern of the user: a
// dataset has sums of its own, and errors are returned.
func openS3(ctx context.Context, u *url.URL) (*blob.Bucket, error) {
	with, q := *u, u.Query()
	if !q.Has(validation) {
		q.Set(validation, whenRequired)
	}
	with.RawQuery = q.Encode()
	b, err := new(s3blob.URLOpener).OpenBucketURL(ctx, &with)
	if err != nil {
		return nil, err
	}
	var client *sdk.Client
	if !b.As(&client) {
		return b, nil
	}
	defer b.Close()
	o := client.Options()
	o.Logger = logging.Nop{}
	return s3blob.OpenBucket(ctx, sdk.New(o), u.Host, &s3blob.Options{
		EncryptionType: encryption(q.Get("ssetype")), KMSEncryptionID: q.Get("kmskeyid"), RequestChecksumCalculation: o.RequestChecksumCalculation,
	})
}

// encryption is a type of encryption by its name, which has been checked.
func encryption(name string) types.ServerSideEncryption {
	for _, t := range types.ServerSideEncryption("").Values() {
		if strings.EqualFold(string(t), name) {
			return t
		}
	}
	return ""
}

// simpler returns what opens the bucket of an URL without checksums in uploads; nil if
// it has none anyway.
func simpler(open opener, u *url.URL) func(context.Context) (*blob.Bucket, error) {
	q := u.Query()
	if u.Scheme != s3blob.Scheme || strings.EqualFold(q.Get(calculation), whenRequired) {
		return nil
	}
	q.Set(calculation, whenRequired)
	with := *u
	with.RawQuery = q.Encode()
	return func(ctx context.Context) (*blob.Bucket, error) { return open(ctx, &with) }
}

// refuses reports whether the error of a store says that it does not take the form of a
// request: it knows no header of that name, or not what it asks for.
func refuses(err error) bool {
	if code := gcerrors.Code(err); code == gcerrors.Unimplemented || code == gcerrors.InvalidArgument {
		return true
	}
	var answer interface{ HTTPStatusCode() int } // of the AWS SDK
	return errors.As(err, &answer) && slices.Contains(refusals, answer.HTTPStatusCode())
}

var refusals = []int{http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusLengthRequired, http.StatusUnsupportedMediaType, http.StatusNotImplemented}

// badSignature reports whether a store finds a signature wrong: one that does not know a
// body with a checksum behind it finds the sum of the body wrong, which is signed.
func badSignature(err error) bool {
	var answer interface{ ErrorCode() string } // of the AWS SDK
	return errors.As(err, &answer) && answer.ErrorCode() == "SignatureDoesNotMatch"
}
