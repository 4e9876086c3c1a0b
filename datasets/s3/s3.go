// Package s3 keeps datasets in buckets of Amazon S3 and of compatible stores. Package
// datasets uses it through a context:
//
//	ctx = datasets.WithStores(ctx, datasets.Stores{s3.Scheme: s3.Open})
//	d, err := datasets.OpenContext(ctx, "s3://bucket/data/td?region=eu-west-1")
//
// The query of a URL has the settings of the store:
//
//   - region, profile, anonymous and role (the ARN of a role that is assumed); the client of
//     AWS finds all other credentials in the environment;
//   - endpoint, the address of a compatible store, use_path_style (also called
//     s3ForcePathStyle) and hostname_immutable, for such a store, disable_https;
//   - dualstack, fips and accelerate for endpoints of Amazon;
//   - ssetype and kmskeyid: the encryption by the store;
//   - rate_limiter_capacity: a bound of retries;
//   - request_checksum_calculation and response_checksum_validation, when_supported or
//     when_required.
package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"moonfarm/datasets"
)

// Scheme is the scheme of URLs of S3.
const Scheme = "s3"

// Open is a datasets.Opener: it opens the bucket of a URL, and fails if the query has
// an unknown parameter. It sends no request.
func Open(ctx context.Context, u *url.URL) (datasets.Bucket, error) {
	s, err := read(u.Query())
	if err != nil {
		return nil, err
	}
	o, err := s.options(ctx)
	if err != nil {
		return nil, err
	}
	place := *u
	place.RawQuery = ""
	b := &objects{client: sdk.New(o), name: u.Host, place: place.String(), encryption: s.encryption}
	if s.key != "" {
		b.key = &s.key
	}
	b.plain.Store(o.RequestChecksumCalculation == aws.RequestChecksumCalculationWhenRequired)
	return b, nil
}

// objects implements datasets.Bucket.
type objects struct {
	client     *sdk.Client
	name       string
	place      string // for messages
	encryption types.ServerSideEncryption
	key        *string // of the encryption; nil: the default

	plain atomic.Bool // uploads have no checksums
}

// Size implements datasets.Bucket, as do the other methods.
func (b *objects) Size(ctx context.Context, key string) (int64, error) {
	o, err := b.client.HeadObject(ctx, &sdk.HeadObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		return 0, explained(err)
	}
	return aws.ToInt64(o.ContentLength), nil
}

func (b *objects) Read(ctx context.Context, key string, from int64) (io.ReadCloser, error) {
	in := &sdk.GetObjectInput{Bucket: &b.name, Key: &key}
	if from > 0 {
		in.Range = aws.String(fmt.Sprintf("bytes=%d-", from))
	}
	o, err := b.client.GetObject(ctx, in)
	if err != nil {
		return nil, explained(err)
	}
	return o.Body, nil
}

func (b *objects) List(ctx context.Context, prefix, token string) (keys []string, next string, err error) {
	in := &sdk.ListObjectsV2Input{Bucket: &b.name, Prefix: &prefix, Delimiter: aws.String("/")}
	if token != "" {
		in.ContinuationToken = &token
	}
	o, err := b.client.ListObjectsV2(ctx, in)
	if err != nil {
		return nil, "", explained(err)
	}
	for _, p := range o.CommonPrefixes {
		keys = append(keys, aws.ToString(p.Prefix))
	}
	for _, c := range o.Contents {
		keys = append(keys, aws.ToString(c.Key))
	}
	return keys, aws.ToString(o.NextContinuationToken), nil
}

func (b *objects) Copy(ctx context.Context, from, to string) error {
	_, err := b.client.CopyObject(ctx, &sdk.CopyObjectInput{
		Bucket: &b.name, CopySource: aws.String(url.QueryEscape(b.name + "/" + from)), Key: &to, ServerSideEncryption: b.encryption, SSEKMSKeyId: b.key,
	})
	return explained(err)
}

func (b *objects) Delete(ctx context.Context, key string) error {
	_, err := b.client.DeleteObject(ctx, &sdk.DeleteObjectInput{Bucket: &b.name, Key: &key})
	return explained(err)
}

// put uploads an object, with checksums or without.
func (b *objects) put(ctx context.Context, plain bool, key string, content io.ReadSeeker, fresh bool) error {
	in := &sdk.PutObjectInput{
		Bucket: &b.name, Key: &key, Body: content, ContentType: aws.String("application/octet-stream"), ServerSideEncryption: b.encryption, SSEKMSKeyId: b.key,
	}
	if fresh { // https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html
		in.IfNoneMatch = aws.String("*")
	}
	_, err := b.client.PutObject(ctx, in, func(o *sdk.Options) {
		if plain {
			o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		}
	})
	return explained(err)
}

// fault is an error of the client together with its meaning for package datasets.
type fault struct {
	error
	meaning error
}

// Unwrap returns both errors.
func (f fault) Unwrap() []error { return []error{f.error, f.meaning} }

// explained adds the meaning of an error of the client, if it has one.
func explained(err error) error {
	var answer interface{ HTTPStatusCode() int } // of the SDK
	status, code := 0, codeOf(err)
	if errors.As(err, &answer) {
		status = answer.HTTPStatusCode()
	}
	switch {
	case err == nil:
		return nil
	case slices.Contains([]string{"NoSuchBucket", "NoSuchKey", "NotFound", "ObjectNotInActiveTierError"}, code),
		code == "" && (status == http.StatusNotFound || status == http.StatusMovedPermanently):
		return fault{err, fs.ErrNotExist}
	case code == "AccessDenied" || code == "Forbidden", code == "" && (status == http.StatusUnauthorized || status == http.StatusForbidden):
		return fault{err, fs.ErrPermission}
	case slices.Contains(refusals, status):
		return fault{err, errors.ErrUnsupported}
	}
	return err
}

// codeOf returns the code in an answer of the store, "" if it has none.
func codeOf(err error) string {
	var answer interface{ ErrorCode() string } // of the SDK
	if errors.As(err, &answer) {
		return answer.ErrorCode()
	}
	return ""
}
