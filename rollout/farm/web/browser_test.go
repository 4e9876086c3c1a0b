package web

import (
	"bufio"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/farm/farmtest"
)

// browser is a headless Chromium with one page, driven over its pipe.
type browser struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	session string
	calls   int
}

// openBrowser opens a page, or skips the test where no Chromium is installed.
func openBrowser(t *testing.T, url string) *browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil && program == "" {
			program = p
		}
	}
	if program == "" {
		t.Skip("Chromium is not installed: the page is not tried in a browser")
	}
	in, to, err := os.Pipe()
	require.NoError(t, err)
	from, out, err := os.Pipe()
	require.NoError(t, err)
	c := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--window-size=1300,1400", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	c.ExtraFiles = []*os.File{in, out} // 3 and 4
	require.NoError(t, c.Start())
	in.Close()
	out.Close()
	b := &browser{t: t, to: to, from: bufio.NewReader(from)}
	t.Cleanup(func() { // before that of TempDir
		fmt.Fprint(to, `{"id":1000000,"method":"Browser.close"}`+"\x00")
		timer := time.AfterFunc(10*time.Second, func() { c.Process.Kill() })
		_ = c.Wait()
		timer.Stop()
		to.Close()
		from.Close()
	})
	_ = from.SetReadDeadline(time.Now().Add(4 * time.Minute))
	var target struct{ TargetID, SessionID string }
	b.call("Target.createTarget", map[string]any{"url": url}, &target)
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	b.session = target.SessionID
	return b
}

// call is try with a check for errors.
func (b *browser) call(method string, params map[string]any, result any) {
	b.t.Helper()
	if err := b.try(method, params, result); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
}

// try sends a command to the browser and waits for its answer; it ignores other messages.
func (b *browser) try(method string, params map[string]any, result any) error {
	b.t.Helper()
	b.calls++
	ask := map[string]any{"id": b.calls, "method": method, "params": params}
	if b.session != "" {
		ask["sessionId"] = b.session
	}
	data, err := json.Marshal(ask)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(data, 0)); err != nil {
		b.t.Fatal(err)
	}
	for {
		data, err := b.from.ReadBytes(0)
		if err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
		var a struct {
			ID     int
			Result json.RawMessage
			Error  any
		}
		if err := json.Unmarshal(data[:len(data)-1], &a); err != nil {
			b.t.Fatal(err)
		}
		if a.ID != b.calls {
			continue
		}
		if a.Error != nil {
			return fmt.Errorf("%v", a.Error)
		}
		return json.Unmarshal(a.Result, result)
	}
}

// eval returns the value of an expression in the page as text, or the error if it has none, as
// while the page is loading.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails any
	}
	if err := b.try("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &r); err != nil {
		return err.Error()
	}
	if r.ExceptionDetails != nil {
		return fmt.Sprint("exception: ", r.ExceptionDetails)
	}
	return fmt.Sprint(r.Result.Value)
}

// becomes waits for the value of an expression.
func (b *browser) becomes(expression, want string) {
	b.t.Helper()
	got := ""
	ok := func() bool { got = b.eval(expression); return got == want }
	defer func() {
		if got != want {
			b.t.Logf("%s is %q, want %q", expression, got, want)
		}
	}()
	farmtest.Until(b.t, expression+" is "+want, ok)
}

// press presses a key.
func (b *browser) press(key, text string, code int) {
	for _, kind := range []string{"keyDown", "keyUp"} {
		b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "code": key, "text": text, "windowsVirtualKeyCode": code}, &struct{}{})
	}
}

// picture writes a screenshot to the folder in MOONFARM_PICTURES, if it is set.
func (b *browser) picture(name string) {
	dir := os.Getenv("MOONFARM_PICTURES")
	if dir == "" {
		return
	}
	var r struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &r)
	data, err := base64.StdEncoding.DecodeString(r.Data)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), data, 0o666)
	}
	if err != nil {
		b.t.Error(err)
	}
}

// cell returns the expression for the text of a cell of a table's body.
func cell(table string, row, column int) string {
	return fmt.Sprintf(`document.getElementById(%q).tBodies[0].rows[%d]?.cells[%d]?.innerText`, table, row, column)
}

// TestPage: in a browser the figures appear, change with the farm, and continue after the server
// has restarted; markup from workers stays text.
func TestPage(t *testing.T) {
	f := example()
	s := serve(t, f, Options{})
	b := openBrowser(t, s.URL())
	b.becomes(cell("runs", 0, 0), "towerdefence 01234567")
	b.becomes(cell("runs", 0, 2), "25 %")
	b.becomes(cell("runs", 0, 9), "5 min")
	b.becomes(cell("runs", 1, 1), "done")
	b.becomes(cell("workers", 0, 0), "mallory")
	b.becomes(cell("workers", 0, 1), "quarantined: shard 7 of towerdefence is wrong")
	b.becomes(cell("workers", 1, 3), evil)
	b.becomes(cell("workers", 1, 4), "2 s ago")
	b.becomes(cell("failures", 0, 0), "disk full: "+evil)
	b.becomes(cell("audits", 0, 4), "steps row 12, column reward: 1, want 0")
	b.becomes(`document.getElementById("sum-rows").innerText`, "4,321")
	b.becomes(`document.getElementById("link").innerText`, "Live")
	b.becomes(`document.title + document.images.length`, "moonfarm0")
	b.becomes(`document.getElementById("line").getAttribute("d").split("L").length > 3`, "true")
	b.picture("light")

	f.change(func(f *fake) {
		f.status.Runs = slices.Clone(f.status.Runs)
		f.status.Runs[0].Made, f.status.Runs[0].RowRate = 100, 9000
		f.status.Workers = f.status.Workers[:1]
	})
	b.becomes(cell("runs", 0, 2), "50 %")
	b.becomes(`document.getElementById("sum-rows").innerText`, "9,000")
	b.becomes(cell("workers", 0, 0), "alpha")
	f.change(func(f *fake) { f.err = fmt.Errorf("no coordinator answers") })
	b.becomes(`document.getElementById("link").innerText`, "No status: no coordinator answers")
	f.change(func(f *fake) { f.err = nil })
	b.becomes(`document.getElementById("link").innerText`, "Live")

	address := s.listen.Addr().String()
	s.Close()
	b.becomes(`document.getElementById("link").innerText`, "Connection lost; reconnecting …")
	f.change(func(f *fake) { f.status.Runs = slices.Clone(f.status.Runs); f.status.Runs[0].Made = 200 })
	farmtest.Until(t, "the port is free", func() bool {
		l, err := net.Listen("tcp", address)
		if err == nil {
			l.Close()
		}
		return err == nil
	})
	serve(t, f, Options{Listen: address})
	b.becomes(cell("runs", 0, 2), "100 %")
}

// TestPageByKeyboard: the Tab key reaches every control, the page can be paused and filtered,
// tables have headings, and only one region is announced.
func TestPageByKeyboard(t *testing.T) {
	f := example()
	b := openBrowser(t, serve(t, f, Options{}).URL())
	b.becomes(cell("workers", 1, 0), "alpha")
	b.becomes(`document.querySelectorAll("[role=status],[role=alert],[aria-live]").length`, "1")
	b.becomes(`[...document.querySelectorAll("thead th:not([scope=col]), tbody tr > :first-child:not(th[scope=row])")].length`, "0")
	b.becomes(`document.querySelector("progress").getAttribute("aria-label")`, "shards of towerdefence 01234567")
	var reached []string
	for range 12 {
		b.press("Tab", "", 9)
		reached = append(reached, b.eval(`(document.activeElement.id || document.activeElement.getAttribute("aria-labelledby") || document.activeElement.textContent)`))
	}
	for _, want := range []string{"Skip to the runs", "pause", "h-runs", "filter", "h-workers", "h-failures", "h-audits", "status.json", "metrics"} {
		assert.Containsf(t, reached, want, "Tab reaches %q, want %s too", reached, want)
	}
	b.eval(`document.getElementById("pause").focus()`)
	b.press(" ", " ", 32)
	b.becomes(`document.getElementById("pause").getAttribute("aria-pressed")`, "true")
	b.becomes(`document.getElementById("link").innerText`, "Paused")
	b.press(" ", " ", 32)
	b.becomes(`document.getElementById("link").innerText`, "Live")
	b.eval(`document.getElementById("filter").focus()`)
	for _, r := range "mal" {
		b.press(string(r), string(r), int(strings.ToUpper(string(r))[0]))
	}
	b.becomes(`document.getElementById("workers").tBodies[0].rows.length`, "1")
	b.becomes(cell("workers", 0, 0), "mallory")
	b.press("x", "x", 'X')
	b.becomes(cell("workers", 0, 0), "No worker matches.")
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": "dark"}}}, &struct{}{})
	b.becomes(`getComputedStyle(document.body).backgroundColor`, "rgb(18, 22, 28)")
	b.picture("dark")
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
