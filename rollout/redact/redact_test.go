package redact_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/rollout/redact"
)

// TestText: Text hides every secret in URLs and leaves the rest of a text unchanged.
func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                                                     "",
		"no URL: a@b, c://":                                    "no URL: a@b, c://",
		"s3://bucket/td@2: no such file":                       "s3://bucket/td@2: no such file",
		"s3://KEY:hidden@bucket/td":                            "s3://xxxxx@bucket/td",
		"s3://hidden@bucket":                                   "s3://xxxxx@bucket",
		"s3://KEY:hid/den+hidden@bucket/td":                    "s3://xxxxx@bucket/td",
		"s3://KEY:hid?den@bucket/td":                           "s3://xxxxx@bucket/td",
		"s3://KEY:hid@hidden@bucket/td":                        "s3://xxxxx@bucket/td",
		"open s3://b/x?secret=hidden: failed":                  "open s3://b/x?secret=xxxxx: failed",
		"s3://b/x?region=eu;token=hidden":                      "s3://b/x?region=eu;token=xxxxx",
		"s3://b/x?region=eu&X-Amz-Signature=hidden&timeout=3s": "s3://b/x?region=eu&X-Amz-Signature=xxxxx&timeout=3s",
		`{"out":"s3://b?region=eu\u0026secret=hidden"}`:        `{"out":"s3://b?region=eu&secret=xxxxx"}`,
		"nats://u:hidden@one:4222,tls://v:hidden@two":          "nats://xxxxx@one:4222,tls://xxxxx@two",
		"nats://host:4222/: user@example":                      "nats://host:4222/: user@example",
		`"nats://host:4222": no server`:                        `"nats://host:4222": no server`,
		"tls://[::1]:4222/a@b":                                 "tls://[::1]:4222/a@b",
		"s3://b?endpoint=http://u:hidden@h:1/&secret=hidden":   "s3://b?endpoint=http://xxxxx@h:1/&secret=xxxxx",
		"s3://b?endpoint=http%3A%2F%2Fu%3Ahidden%40h&region=x": "s3://b?endpoint=http%3A%2F%2Fxxxxx%40h&region=x",
		"s3://b?endpoint=http%3A%2F%2Fh%3A80&region=x":         "s3://b?endpoint=http%3A%2F%2Fh%3A80&region=x",
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			require.Equal(t, want, redact.Text(text), text)
		})
	}
}

// TestCheck: Check refuses a place with a secret, and its error does not repeat the secret.
func TestCheck(t *testing.T) {
	for _, place := range []string{
		"data/a@b", "/data/my td", "s3://bucket/my td@2", "/data/td", "", "s3://bucket/td@2", "mem://a", "file:///data/x@y",
		"s3://b/p?region=eu-west-1&endpoint=https%3A%2F%2Fs3.example%3A9000&use_path_style=true&timeout=30s",
	} {
		t.Run(fmt.Sprintf("%q", place), func(t *testing.T) {
			require.NoError(t, redact.Check(place), place)
		})
	}
	for place, want := range map[string]string{
		"s3://KEY:hidden@bucket/td":                       "s3://xxxxx@bucket/td: a URL with a name or password",
		"s3://KEY:hid den hidden@bucket/td":               "s3://xxxxx@bucket/td: a URL with a name or password",
		"s3://KEY:'hidden\"<hidden>@bucket/td":            "s3://xxxxx@bucket/td: a URL with a name or password",
		"s3://b/td?secret=hid den hidden":                 "s3://b/td?secret=xxxxx: unknown query parameter",
		"s3://KEY:hid/hidden@bucket/td":                   "a URL with a name or password",
		"file://hidden@localhost/td":                      "a URL with a name or password",
		"s3://b?endpoint=http%3A%2F%2Fu%3Ahidden%40h":     "a URL with a name or password",
		"s3://b?endpoint=http://u:hidden@h":               "a URL with a name or password",
		"s3://b/td?secret=hidden":                         `unknown query parameter "secret"`,
		"s3://b/td?region=x&AWS_SECRET_ACCESS_KEY=hidden": `unknown query parameter "AWS_SECRET_ACCESS_KEY"`,
	} {
		t.Run(place, func(t *testing.T) {
			err := redact.Check(place)
			require.ErrorContains(t, err, want, place)
			require.NotContains(t, err.Error(), "hidden", place)
		})
	}
}
