// Package browsertest opens pages in a headless Chromium, for tests of pages.
package browsertest

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Limits of time. A busy machine takes long for simple things.
const (
	allLimit  = 9 * time.Minute // of all answers to one page
	waitLimit = 3 * time.Minute
)

// Browser is a page of a headless Chromium, which is driven over its pipe. It shares no cookies
// and no storage with other pages.
type Browser struct {
	t        testing.TB
	Context  string // the id of its cookies, storage and permissions
	session  string
	troubles []string
}

// chromium is the process of all pages of a test program, one at a time: its start takes longer
// than most tests.
var chromium struct {
	to    *os.File
	from  *os.File
	lines *bufio.Reader
	calls int
	end   func()
}

// Main runs the tests of a package and ends the browser that they started. It is for TestMain.
func Main(m *testing.M) {
	status := m.Run()
	if chromium.end != nil {
		chromium.end()
	}
	os.Exit(status)
}

// Open opens a page. It skips the test where no Chromium is installed. The page is closed at the
// end of the test. The tests of the package need Main.
func Open(t testing.TB, url string) *Browser {
	t.Helper()
	if chromium.end == nil {
		start(t)
	}
	_ = chromium.from.SetReadDeadline(time.Now().Add(allLimit))
	b := &Browser{t: t}
	var target struct{ BrowserContextID, TargetID, SessionID string }
	b.Call("Target.createBrowserContext", nil, &target)
	b.Call("Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": target.BrowserContextID}, &target)
	b.Call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	b.Context, b.session = target.BrowserContextID, target.SessionID
	t.Cleanup(func() {
		b.session = ""
		b.Call("Target.disposeBrowserContext", map[string]any{"browserContextId": b.Context}, &struct{}{})
	})
	for _, domain := range []string{"Runtime", "Log", "Page"} {
		b.Call(domain+".enable", nil, &struct{}{})
	}
	b.Navigate(url)
	return b
}

// start starts Chromium.
func start(t testing.TB) {
	t.Helper()
	program := ""
	for _, name := range []string{"google-chrome", "chromium-browser", "chromium"} {
		if p, err := exec.LookPath(name); err == nil {
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
	folder, err := os.MkdirTemp("", "chromium")
	require.NoError(t, err)
	c := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--window-size=1300,1400", "--remote-debugging-pipe", "--user-data-dir="+folder, "about:blank")
	c.ExtraFiles = []*os.File{in, out} // 3 and 4
	require.NoError(t, c.Start())
	in.Close()
	out.Close()
	chromium.to, chromium.from, chromium.lines = to, from, bufio.NewReader(from)
	chromium.end = func() {
		fmt.Fprint(to, `{"id":1000000,"method":"Browser.close"}`+"\x00")
		timer := time.AfterFunc(10*time.Second, func() { c.Process.Kill() })
		_ = c.Wait()
		timer.Stop()
		os.RemoveAll(folder)
	}
}

// Navigate opens another page.
func (b *Browser) Navigate(url string) {
	b.t.Helper()
	b.Call("Page.navigate", map[string]any{"url": url}, &struct{}{})
}

// Call sends a command and decodes its answer into result. The test fails if the command does.
func (b *Browser) Call(method string, params map[string]any, result any) {
	b.t.Helper()
	require.NoError(b.t, b.try(method, params, result), method)
}

// message is an answer to a command, or an event.
type message struct {
	ID      int
	Result  json.RawMessage
	Error   any
	Method  string
	Session string `json:"sessionId"`
	Params  struct {
		ExceptionDetails struct {
			Text      string
			Exception struct{ Description string }
		}
		Entry struct{ Source, Level, Text, URL string }
		Type  string // of a call of the console
		Args  []struct{ Value any }
	}
}

// try sends a command to the browser and waits for its answer. It collects the troubles that
// the browser reports meanwhile.
func (b *Browser) try(method string, params map[string]any, result any) error {
	b.t.Helper()
	chromium.calls++
	data, err := json.Marshal(struct {
		ID        int            `json:"id"`
		Method    string         `json:"method"`
		Params    map[string]any `json:"params,omitempty"`
		SessionID string         `json:"sessionId,omitempty"`
	}{chromium.calls, method, params, b.session})
	require.NoError(b.t, err)
	_, err = chromium.to.Write(append(data, 0))
	require.NoError(b.t, err)
	for {
		data, err := chromium.lines.ReadBytes(0)
		require.NoError(b.t, err, method)
		var m message
		require.NoError(b.t, json.Unmarshal(data[:len(data)-1], &m))
		switch {
		case m.ID != chromium.calls:
			if m.Session == b.session {
				b.note(&m)
			}
			continue
		case m.Error != nil:
			return fmt.Errorf("%v", m.Error)
		}
		return json.Unmarshal(m.Result, result)
	}
}

// note keeps an event that a page without errors does not cause.
func (b *Browser) note(m *message) {
	p := &m.Params
	switch {
	case m.Method == "Runtime.exceptionThrown":
		b.troubles = append(b.troubles, "exception: "+p.ExceptionDetails.Text+" "+p.ExceptionDetails.Exception.Description)
	case m.Method == "Log.entryAdded" && (p.Entry.Level == "error" || p.Entry.Level == "warning"):
		b.troubles = append(b.troubles, p.Entry.Source+": "+p.Entry.Text+" "+p.Entry.URL)
	case m.Method == "Runtime.consoleAPICalled" && (p.Type == "error" || p.Type == "warning" || p.Type == "assert"):
		b.troubles = append(b.troubles, fmt.Sprint("console: ", p.Args))
	}
}

// Troubles returns the exceptions, the violations of policies and the other errors and warnings
// of the browser's console since the last call.
func (b *Browser) Troubles() []string {
	b.t.Helper()
	b.Eval("0") // reads the events so far
	list := b.troubles
	b.troubles = nil
	return list
}

// Eval returns the value of an expression in the page as text, or the error if it has none, as
// while the page is loading. It waits for the value of a promise.
func (b *Browser) Eval(expression string) string {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails any
	}
	if err := b.try("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r); err != nil {
		return err.Error()
	}
	if r.ExceptionDetails != nil {
		return fmt.Sprint("exception: ", r.ExceptionDetails)
	}
	return fmt.Sprint(r.Result.Value)
}

// Becomes waits for the value of an expression.
func (b *Browser) Becomes(expression, want string) {
	b.t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for begun := time.Now(); ; <-look.C {
		got := b.Eval(expression)
		if got == want {
			return
		}
		require.Less(b.t, time.Since(begun), waitLimit, "%s is %q, expected %q", expression, got, want)
	}
}

// Press presses a key. modifiers: 1 Alt, 2 Control, 4 Meta, 8 Shift.
func (b *Browser) Press(key, text string, code, modifiers int) {
	b.t.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		b.Call("Input.dispatchKeyEvent", map[string]any{
			"type": kind, "key": key, "code": key, "text": text, "windowsVirtualKeyCode": code, "modifiers": modifiers,
		}, &struct{}{})
	}
}

// Mouse sends a mouse event ("mouseMoved", "mousePressed", "mouseReleased", "mouseWheel") at a
// point of the window. wheel is the vertical distance of a mouseWheel.
func (b *Browser) Mouse(kind string, x, y, wheel float64) {
	b.t.Helper()
	params := map[string]any{"type": kind, "x": x, "y": y}
	switch kind {
	case "mouseWheel":
		params["deltaX"], params["deltaY"] = 0, wheel
	case "mouseMoved":
	default:
		params["button"], params["buttons"], params["clickCount"] = "left", 1, 1
	}
	b.Call("Input.dispatchMouseEvent", params, &struct{}{})
}

// Click clicks at a point of the window.
func (b *Browser) Click(x, y float64) {
	b.t.Helper()
	b.Mouse("mouseMoved", x, y, 0)
	b.Mouse("mousePressed", x, y, 0)
	b.Mouse("mouseReleased", x, y, 0)
}

// Picture writes a screenshot to the folder in MOONFARM_PICTURES, if it is set.
func (b *Browser) Picture(name string) {
	b.t.Helper()
	dir := os.Getenv("MOONFARM_PICTURES")
	if dir == "" {
		return
	}
	var r struct{ Data string }
	b.Call("Page.captureScreenshot", map[string]any{"format": "png"}, &r)
	data, err := base64.StdEncoding.DecodeString(r.Data)
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(filepath.Join(dir, name+".png"), data, 0o666))
}
