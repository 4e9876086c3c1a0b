package browsertest

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// Firefox is a headless Firefox with one page, driven by its Marionette protocol. Scripts of a test see the document, not
// the variables of the page's scripts.
type Firefox struct {
	t     testing.TB
	conn  net.Conn
	from  *bufio.Reader
	calls int
}

// mostMessage bounds a message of Firefox, such as a screenshot.
const mostMessage = 64 << 20

// OpenFirefox opens a page. It skips the test where no Firefox is installed. The browser ends with the test.
func OpenFirefox(t testing.TB, url string) *Firefox {
	t.Helper()
	program := ""
	for _, name := range []string{"firefox", "firefox-esr"} {
		if p, err := exec.LookPath(name); err == nil && program == "" {
			program = p
		}
	}
	if program == "" {
		t.Skip("Firefox is not installed: the page is not tried in it")
	}
	dir := t.TempDir()
	port := freePort(t)
	prefs := fmt.Sprintf("user_pref(\"marionette.port\", %d);\nuser_pref(\"browser.shell.checkDefaultBrowser\", false);\nuser_pref(\"datareporting.policy.dataSubmissionEnabled\", false);\n", port)
	if err := os.WriteFile(filepath.Join(dir, "user.js"), []byte(prefs), 0o666); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, "--headless", "--marionette", "--no-remote", "--profile", dir, "--width", "1300", "--height", "900")
	c.Env = append(os.Environ(), "HOME="+dir, "MOZ_DISABLE_CONTENT_SANDBOX=1")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	f := &Firefox{t: t}
	t.Cleanup(func() { // before that of TempDir
		if f.conn != nil {
			_ = f.try("Marionette:Quit", map[string]any{"flags": []string{"eForceQuit"}}, nil) // it may close the connection first
			f.conn.Close()
		}
		timer := time.AfterFunc(10*time.Second, func() { c.Process.Kill() })
		_ = c.Wait()
		timer.Stop()
	})
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		conn, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			f.conn, f.from = conn, bufio.NewReader(conn)
			break
		}
		if time.Since(begun) > waitLimit {
			t.Fatalf("Firefox does not listen: %v", err)
		}
	}
	_ = f.conn.SetDeadline(time.Now().Add(allLimit))
	if _, err := f.read(); err != nil { // its greeting
		t.Fatal(err)
	}
	f.call("WebDriver:NewSession", map[string]any{}, nil)
	f.call("WebDriver:Navigate", map[string]any{"url": url}, nil)
	return f
}

// freePort returns a port of this machine that was free just now.
func freePort(t testing.TB) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// read reads a message: its length, a colon, and JSON.
func (f *Firefox) read() ([]byte, error) {
	length, err := f.from.ReadString(':')
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(length[:len(length)-1])
	if err != nil || n < 0 || n > mostMessage {
		return nil, fmt.Errorf("a message of length %q", length)
	}
	text := make([]byte, n)
	_, err = io.ReadFull(f.from, text)
	return text, err
}

// call is try with a check for errors.
func (f *Firefox) call(command string, params map[string]any, result any) {
	f.t.Helper()
	if err := f.try(command, params, result); err != nil {
		f.t.Fatalf("%s: %v", command, err)
	}
}

// try sends a command and decodes the answer into result.
func (f *Firefox) try(command string, params map[string]any, result any) error {
	f.calls++
	text, err := json.Marshal([]any{0, f.calls, command, params})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(f.conn, "%d:%s", len(text), text); err != nil {
		return err
	}
	for {
		text, err := f.read()
		if err != nil {
			return err
		}
		var a [4]json.RawMessage
		if err := json.Unmarshal(text, &a); err != nil {
			return err
		}
		if string(a[1]) != strconv.Itoa(f.calls) {
			continue
		}
		if string(a[2]) != "null" {
			return fmt.Errorf("%s", a[2])
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(a[3], result)
	}
}

// Eval returns the value of an expression as text, or the error.
func (f *Firefox) Eval(expression string) string {
	f.t.Helper()
	var r struct{ Value any }
	if err := f.try("WebDriver:ExecuteScript", map[string]any{"script": "return " + expression, "args": []any{}}, &r); err != nil {
		return err.Error()
	}
	return fmt.Sprint(r.Value)
}

// Becomes waits for the value of an expression.
func (f *Firefox) Becomes(expression, want string) {
	f.t.Helper()
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		got := f.Eval(expression)
		if got == want {
			return
		}
		if time.Since(begun) > waitLimit {
			f.t.Fatalf("%s is %q, want %q", expression, got, want)
		}
	}
}

// Press presses a key: a character, or one of WebDriver's private characters, such as U+E014 for the right arrow.
func (f *Firefox) Press(key string) {
	f.t.Helper()
	f.call("WebDriver:PerformActions", map[string]any{"actions": []any{map[string]any{"type": "key", "id": "keys", "actions": []any{
		map[string]any{"type": "keyDown", "value": key}, map[string]any{"type": "keyUp", "value": key},
	}}}}, nil)
}

// Click clicks at a point of the window.
func (f *Firefox) Click(x, y int) {
	f.t.Helper()
	f.call("WebDriver:PerformActions", map[string]any{"actions": []any{map[string]any{"type": "pointer", "id": "mouse", "actions": []any{
		map[string]any{"type": "pointerMove", "x": x, "y": y}, map[string]any{"type": "pointerDown", "button": 0}, map[string]any{"type": "pointerUp", "button": 0},
	}}}}, nil)
}

// Picture writes a screenshot to the folder in MOONFARM_PICTURES, if it is set.
func (f *Firefox) Picture(name string) {
	f.t.Helper()
	dir := os.Getenv("MOONFARM_PICTURES")
	if dir == "" {
		return
	}
	var r struct{ Value string }
	f.call("WebDriver:TakeScreenshot", map[string]any{"full": false}, &r)
	data, err := base64.StdEncoding.DecodeString(r.Value)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), data, 0o666)
	}
	if err != nil {
		f.t.Error(err)
	}
}
