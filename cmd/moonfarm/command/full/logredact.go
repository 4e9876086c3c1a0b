package full

import (
	"fmt"
	"log/slog"

	"moonfarm/rollout/redact"
)

// withoutSecrets replaces the secrets of URLs in a log; it is a ReplaceAttr of
// slog.HandlerOptions.
func withoutSecrets(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case string:
		a.Value = slog.StringValue(redact.Text(v))
	case error:
		a.Value = slog.StringValue(redact.Text(v.Error()))
	case fmt.Stringer:
		if t := v.String(); redact.Text(t) != t {
			a.Value = slog.StringValue(redact.Text(t))
		}
	}
	return a
}
