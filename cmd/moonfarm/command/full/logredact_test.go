package full

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWithoutSecrets: a log line lacks the secrets of URLs and has all other values.
func TestWithoutSecrets(t *testing.T) {
	for name, handler := range map[string]func(b *bytes.Buffer, o *slog.HandlerOptions) slog.Handler{
		"json": func(b *bytes.Buffer, o *slog.HandlerOptions) slog.Handler { return slog.NewJSONHandler(b, o) },
		"text": func(b *bytes.Buffer, o *slog.HandlerOptions) slog.Handler { return slog.NewTextHandler(b, o) },
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			log := slog.New(handler(&b, &slog.HandlerOptions{ReplaceAttr: withoutSecrets}))
			log.Warn("at tls://u:hidden@h", "url", "tls://u:hidden@h", "err", fmt.Errorf("tls://u:hidden@h"), "at", &url.URL{Scheme: "s3", Host: "b", RawQuery: "k=hidden"}, "n", 7)
			require.NotContains(t, b.String(), "hidden")
			require.Contains(t, b.String(), "tls://xxxxx@h")
			require.Contains(t, b.String(), "7")
		})
	}
}
