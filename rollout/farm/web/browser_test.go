package web

import (
	"fmt"
	"net"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/rollout/access"
	"moonfarm/rollout/browsertest"
	"moonfarm/rollout/farm"
	"moonfarm/rollout/farm/farmtest"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// cell returns the expression for the text of a cell of a table's body.
func cell(table string, row, column int) string {
	return fmt.Sprintf(`document.getElementById(%q).tBodies[0].rows[%d]?.cells[%d]?.innerText`, table, row, column)
}

// TestPage: in a browser the figures appear in the viewer's style, change with the farm, and continue after the server has
// restarted; markup from workers stays text.
func TestPage(t *testing.T) {
	f := example()
	for i := range 300 {
		f.status.Failures = append(f.status.Failures, farm.Failure{Text: fmt.Sprint("failure ", i)})
	}
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
	b.Becomes(cell("failures", 200, 0), "101 more: status.json has all.")
	b.Becomes(cell("audits", 0, 4), "steps row 12, column reward: 1, want 0")
	b.Becomes(`document.getElementById("about").innerText`, "version v1.2.3, coordinating for 60 min: 4,321 rows/s, 1 running, 1 of 2 workers alive")
	b.Becomes(`document.getElementById("say").innerText`, "Live")
	b.Becomes(`document.title + document.images.length`, "moonfarm0")
	b.Becomes(`[...document.querySelectorAll("thead th:not([scope=col]), tbody tr > :first-child:not(th[scope=row])")].length`, "0")
	b.Becomes(`getComputedStyle(document.body).backgroundColor`, "rgb(247, 248, 250)")
	b.Picture("light")
	require.Empty(t, b.Troubles())
	b.Call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": "dark"}}}, &struct{}{})
	b.Becomes(`getComputedStyle(document.body).backgroundColor`, "rgb(18, 22, 28)")
	b.Picture("dark")

	f.change(func(f *fake) {
		f.status.Runs = slices.Clone(f.status.Runs)
		f.status.Runs[0].Made, f.status.Trouble = 100, "disk full"
		f.status.Workers, f.status.Failures = f.status.Workers[:1], nil
	})
	b.Becomes(cell("runs", 0, 2), "50 %")
	b.Becomes(cell("workers", 0, 0), "alpha")
	b.Becomes(`document.getElementById("failures").tBodies[0].childNodes.length`, "0")
	b.Becomes(`document.getElementById("say").innerText`, "In trouble: disk full")
	f.change(func(f *fake) { f.err = fmt.Errorf("no coordinator answers") })
	b.Becomes(`document.getElementById("say").innerText`, "No status: no coordinator answers")

	address := s.listen.Addr().String()
	s.Close()
	b.Becomes(`document.getElementById("say").innerText`, "Connection lost; trying again …")
	f.change(func(f *fake) { f.err, f.status.Runs[0].Made = nil, 200 })
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
