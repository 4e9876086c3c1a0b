package web

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/access"
	"moonfarm/rollout/browsertest"
	"moonfarm/rollout/farm/farmtest"
)

// cell returns the expression for the text of a cell of a table's body.
func cell(table string, row, column int) string {
	return fmt.Sprintf(`document.getElementById(%q).tBodies[0].rows[%d]?.cells[%d]?.innerText`, table, row, column)
}

// TestPage: in a browser the figures appear, change with the farm, and continue after the server
// has restarted; markup from workers stays text.
func TestPage(t *testing.T) {
	f := example()
	s := serve(t, f, Options{})
	b := browsertest.Open(t, s.URL())
	b.Becomes(cell("runs", 0, 0), "towerdefence 01234567")
	b.Becomes(cell("runs", 0, 2), "25 %")
	b.Becomes(cell("runs", 0, 9), "5 min")
	b.Becomes(cell("runs", 1, 1), "done")
	b.Becomes(cell("workers", 0, 0), "mallory")
	b.Becomes(cell("workers", 0, 1), "quarantined: shard 7 of towerdefence is wrong")
	b.Becomes(cell("workers", 1, 3), evil)
	b.Becomes(cell("workers", 1, 4), "2 s ago")
	b.Becomes(cell("failures", 0, 0), "disk full: "+evil)
	b.Becomes(cell("audits", 0, 4), "steps row 12, column reward: 1, want 0")
	b.Becomes(`document.getElementById("sum-rows").innerText`, "4,321")
	b.Becomes(`document.getElementById("link").innerText`, "Live")
	b.Becomes(`document.title + document.images.length`, "moonfarm0")
	b.Becomes(`document.getElementById("line").getAttribute("d").split("L").length > 3`, "true")
	b.Picture("light")

	f.change(func(f *fake) {
		f.status.Runs = slices.Clone(f.status.Runs)
		f.status.Runs[0].Made, f.status.Runs[0].RowRate = 100, 9000
		f.status.Workers = f.status.Workers[:1]
	})
	b.Becomes(cell("runs", 0, 2), "50 %")
	b.Becomes(`document.getElementById("sum-rows").innerText`, "9,000")
	b.Becomes(cell("workers", 0, 0), "alpha")
	f.change(func(f *fake) { f.err = fmt.Errorf("no coordinator answers") })
	b.Becomes(`document.getElementById("link").innerText`, "No status: no coordinator answers")
	f.change(func(f *fake) { f.err = nil })
	b.Becomes(`document.getElementById("link").innerText`, "Live")

	address := s.listen.Addr().String()
	s.Close()
	b.Becomes(`document.getElementById("link").innerText`, "Connection lost; reconnecting …")
	f.change(func(f *fake) { f.status.Runs = slices.Clone(f.status.Runs); f.status.Runs[0].Made = 200 })
	farmtest.Until(t, "the port is free", func() bool {
		l, err := net.Listen("tcp", address)
		if err == nil {
			l.Close()
		}
		return err == nil
	})
	serve(t, f, Options{Listen: address, Control: access.Control{Token: s.o.Token}})
	b.Becomes(cell("runs", 0, 2), "100 %")
}

// TestPageByKeyboard: the Tab key reaches every control, the page can be paused and filtered,
// tables have headings, and only one region is announced.
func TestPageByKeyboard(t *testing.T) {
	f := example()
	b := browsertest.Open(t, serve(t, f, Options{}).URL())
	b.Becomes(cell("workers", 1, 0), "alpha")
	b.Becomes(`document.querySelectorAll("[role=status],[role=alert],[aria-live]").length`, "1")
	b.Becomes(`[...document.querySelectorAll("thead th:not([scope=col]), tbody tr > :first-child:not(th[scope=row])")].length`, "0")
	b.Becomes(`document.querySelector("progress").getAttribute("aria-label")`, "shards of towerdefence 01234567")
	var reached []string
	for range 12 {
		b.Press("Tab", "", 9, 0)
		reached = append(reached, b.Eval(`(document.activeElement.id || document.activeElement.getAttribute("aria-labelledby") || document.activeElement.textContent)`))
	}
	for _, want := range []string{"Skip to the runs", "pause", "h-runs", "filter", "h-workers", "h-failures", "h-audits", "status.json", "metrics"} {
		assert.Containsf(t, reached, want, "Tab reaches %q, want %s too", reached, want)
	}
	b.Eval(`document.getElementById("pause").focus()`)
	b.Press(" ", " ", 32, 0)
	b.Becomes(`document.getElementById("pause").getAttribute("aria-pressed")`, "true")
	b.Becomes(`document.getElementById("link").innerText`, "Paused")
	b.Press(" ", " ", 32, 0)
	b.Becomes(`document.getElementById("link").innerText`, "Live")
	b.Eval(`document.getElementById("filter").focus()`)
	for _, r := range "mal" {
		b.Press(string(r), string(r), int(strings.ToUpper(string(r))[0]), 0)
	}
	b.Becomes(`document.getElementById("workers").tBodies[0].rows.length`, "1")
	b.Becomes(cell("workers", 0, 0), "mallory")
	b.Press("x", "x", 'X', 0)
	b.Becomes(cell("workers", 0, 0), "No worker matches.")
	b.Call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": "dark"}}}, &struct{}{})
	b.Becomes(`getComputedStyle(document.body).backgroundColor`, "rgb(18, 22, 28)")
	b.Picture("dark")
}

func writePEM(t *testing.T, file, kind string, bytes []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600))
}

func pkcs8(t *testing.T, key any) []byte {
	t.Helper()
	bytes, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	return bytes
}
