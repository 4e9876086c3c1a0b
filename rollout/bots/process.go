package bots

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// process is a client that was started. It and all that it starts are one group
// of processes.
type process struct {
	cmd   *exec.Cmd
	ended chan error // gets how it ended, once
	over  chan struct{}
}

// arguments fills in where a client is to connect: in place of {host}, {port}
// and {token}, or, if a command has none of these, as three more arguments,
// which is what the original clients take.
func arguments(command []string, at *net.TCPAddr, token string) []string {
	host, port := at.IP.String(), strconv.Itoa(at.Port)
	r := strings.NewReplacer("{host}", host, "{port}", port, "{token}", token)
	filled := make([]string, len(command))
	changed := false
	for i, word := range command {
		filled[i] = r.Replace(word)
		changed = changed || filled[i] != word
	}
	if !changed {
		filled = append(filled, host, port, token)
	}
	return filled
}

// start starts a client.
func start(words []string, output io.Writer) (*process, error) {
	p := &process{cmd: exec.Command(words[0], words[1:]...), ended: make(chan error, 1), over: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = output, output
	p.cmd.WaitDelay = time.Second // for its output, if others hold it open
	group(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		err := p.cmd.Wait()
		killGroup(p.cmd.Process.Pid) // what it may have left behind
		if err == nil {
			err = errors.New("exit status 0")
		}
		p.ended <- err
		close(p.over)
	}()
	return p, nil
}

// stop waits until the process has ended by itself, for the given time at most;
// then it is killed with its group.
func (p *process) stop(grace time.Duration) {
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-p.over:
		return
	case <-t.C:
	}
	killGroup(p.cmd.Process.Pid)
	p.cmd.Process.Kill()
	<-p.over
}

// own opens a port for one client that is to be started, with a token that
// nobody else knows.
func own() (*Port, string, error) {
	token := rand.Text()
	p, err := Listen("127.0.0.1:0", &token)
	if err != nil {
		return nil, "", fmt.Errorf("no port for a client: %w", err)
	}
	return p, token, nil
}

// SplitCommand splits a command line into words at blanks. Quotes, single or
// double, keep blanks and each other; there are no escapes and no shell.
func SplitCommand(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	begun := false
	for _, c := range line {
		switch {
		case c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, begun = c, true
		case c == ' ' || c == '\t':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("command %q: a quote %c is not closed", line, quote)
	case len(words) == 0 || words[0] == "":
		return nil, fmt.Errorf("command %q: want the name of a program", line)
	}
	return words, nil
}
