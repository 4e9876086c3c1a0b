package s3

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/logging"
)

// settings holds the parameters of a URL's query.
type settings struct {
	load       []func(*config.LoadOptions) error
	client     []func(*sdk.Options)
	endpoint   string
	immutable  bool // the client does not change the host of the endpoint
	role       string
	limiter    retry.RateLimiter
	encryption types.ServerSideEncryption
	key        string
}

// loads adds an option for loading the configuration.
func (s *settings) loads(o config.LoadOptionsFunc) error {
	s.load = append(s.load, o)
	return nil
}

// does adds an option of the client.
func (s *settings) does(o func(*sdk.Options)) error {
	s.client = append(s.client, o)
	return nil
}

// read reads the query of a URL.
func read(q url.Values) (*settings, error) {
	// The client would warn of each file in a store that keeps no checksums. Datasets
	// have their own.
	s := &settings{endpoint: q.Get("endpoint"), key: q.Get("kmskeyid"), limiter: ratelimit.None, load: []func(*config.LoadOptions) error{
		config.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenRequired),
	}}
	for _, name := range slices.Sorted(maps.Keys(q)) {
		set := parameters[name]
		if set == nil {
			return nil, fmt.Errorf("unknown query parameter %q; there are: %s", name, strings.Join(slices.Sorted(maps.Keys(parameters)), ", "))
		}
		if err := set(s, q.Get(name)); err != nil {
			return nil, fmt.Errorf("query parameter %s=%s: %w", name, q.Get(name), err)
		}
	}
	return s, nil
}

// parameters maps the names of parameters to functions that set them.
var parameters = map[string]func(s *settings, text string) error{
	"region":  func(s *settings, text string) error { return s.loads(config.WithRegion(text)) },
	"profile": func(s *settings, text string) error { return s.loads(config.WithSharedConfigProfile(text)) },
	"role": func(s *settings, text string) error {
		if s.role = text; !strings.HasPrefix(text, "arn:") {
			return errors.New("expected the ARN of a role, such as arn:aws:iam::1:role/r")
		}
		return nil
	},
	"anonymous":          ifTrue(func(s *settings) error { return s.loads(config.WithCredentialsProvider(aws.AnonymousCredentials{})) }),
	"endpoint":           noted,
	"hostname_immutable": ifTrue(func(s *settings) error { s.immutable = true; return nil }),
	"use_path_style":     ifTrue(pathStyle),
	"s3ForcePathStyle":   ifTrue(pathStyle),
	"disable_https":      ifTrue(func(s *settings) error { return s.does(func(o *sdk.Options) { o.EndpointOptions.DisableHTTPS = true }) }),
	"accelerate":         ifTrue(func(s *settings) error { return s.does(func(o *sdk.Options) { o.UseAccelerate = true }) }),
	"dualstack": ifTrue(func(s *settings) error {
		return s.loads(config.WithUseDualStackEndpoint(aws.DualStackEndpointStateEnabled))
	}),
	"fips": ifTrue(func(s *settings) error { return s.loads(config.WithUseFIPSEndpoint(aws.FIPSEndpointStateEnabled)) }),
	"rate_limiter_capacity": func(s *settings, text string) error {
		n, err := strconv.ParseUint(text, 10, 31)
		if n > 0 {
			s.limiter = ratelimit.NewTokenRateLimit(uint(n))
		}
		return err
	},
	"ssetype": func(s *settings, text string) error {
		if s.encryption = encryption(text); s.encryption == "" {
			return fmt.Errorf("expected one of: %v", types.ServerSideEncryption("").Values())
		}
		return nil
	},
	"awssdk":   noted, // it once chose between versions of the client; ignored
	"kmskeyid": noted,
	"request_checksum_calculation": func(s *settings, text string) error {
		when, err := required(text)
		if when {
			return s.loads(config.WithRequestChecksumCalculation(aws.RequestChecksumCalculationWhenRequired))
		}
		return err
	},
	"response_checksum_validation": func(s *settings, text string) error {
		when, err := required(text)
		if !when && err == nil {
			return s.loads(config.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenSupported))
		}
		return err
	},
}

// noted does nothing: read takes the text of the parameter, or nobody does.
func noted(*settings, string) error { return nil }

func pathStyle(s *settings) error { return s.does(func(o *sdk.Options) { o.UsePathStyle = true }) }

// ifTrue returns the function of a parameter that is true or false.
func ifTrue(set func(s *settings) error) func(s *settings, text string) error {
	return func(s *settings, text string) error {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return errors.New("expected true or false")
		}
		if !on {
			return nil
		}
		return set(s)
	}
}

// required reads when checksums are computed or validated.
func required(text string) (bool, error) {
	when, supported := strings.EqualFold(text, "when_required"), strings.EqualFold(text, "when_supported")
	if !when && !supported {
		return false, errors.New("expected when_required or when_supported")
	}
	return when, nil
}

// encryption returns the type of encryption of that name, "" if it is not known.
func encryption(name string) types.ServerSideEncryption {
	for _, t := range types.ServerSideEncryption("").Values() {
		if strings.EqualFold(string(t), name) {
			return t
		}
	}
	return ""
}

// options returns the options of a client with the settings. The client prints nothing
// on standard error; it returns errors.
func (s *settings) options(ctx context.Context) (sdk.Options, error) {
	load := append(s.load, config.WithLogger(logging.Nop{}), config.WithRetryer(func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) { o.RateLimiter = s.limiter })
	}))
	c, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return sdk.Options{}, err
	}
	if s.role != "" {
		c.Credentials = aws.NewCredentialsCache(stscreds.NewAssumeRoleProvider(sts.NewFromConfig(c), s.role))
	}
	unsigned := func(o *sdk.Options) { o.HTTPSignerV4 = withoutEncoding{o.HTTPSignerV4} }
	o := sdk.NewFromConfig(c, append(s.client, unsigned)...).Options()
	if s.endpoint != "" {
		o.BaseEndpoint = &s.endpoint
		o.UsePathStyle = o.UsePathStyle || s.immutable
	}
	return o, nil
}

// withoutEncoding signs requests without their header Accept-Encoding, which Google's servers change before they compare
// the signature (https://github.com/aws/aws-sdk-go-v2/issues/1816).
type withoutEncoding struct{ sdk.HTTPSignerV4 }

// SignHTTP implements sdk.HTTPSignerV4.
func (w withoutEncoding) SignHTTP(ctx context.Context, c aws.Credentials, r *http.Request, hash, service, region string, at time.Time, o ...func(*signer.SignerOptions)) error {
	const name = "Accept-Encoding"
	accepted := r.Header.Get(name)
	r.Header.Del(name)
	defer r.Header.Set(name, accepted)
	return w.HTTPSignerV4.SignHTTP(ctx, c, r, hash, service, region, at, o...)
}
