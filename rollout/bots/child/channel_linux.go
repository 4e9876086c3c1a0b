package child

import (
	"bytes"
	"encoding/gob"
	"errors"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// channel is a connection between this program and a guard. Its messages may carry files.
type channel struct {
	*net.UnixConn
	decoder *gob.Decoder
	files   []int // descriptors that came with messages and were not taken
	control []byte

	encoder *gob.Encoder
	message bytes.Buffer
}

// newChannel makes a channel of a descriptor of a socket, which it owns from then on.
func newChannel(fd int) (*channel, error) {
	file := os.NewFile(uintptr(fd), "guard")
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, err
	}
	u, ok := conn.(*net.UnixConn)
	if !ok {
		conn.Close()
		return nil, errors.New("not a Unix socket")
	}
	c := &channel{UnixConn: u, control: make([]byte, unix.CmsgSpace(3*4))}
	c.encoder, c.decoder = gob.NewEncoder(&c.message), gob.NewDecoder(c)
	return c, nil
}

// channels makes a channel; theirs is its other side, for another process.
func channels() (ours *channel, theirs *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	theirs = os.NewFile(uintptr(pair[1]), "guard")
	if ours, err = newChannel(pair[0]); err != nil {
		theirs.Close()
	}
	return ours, theirs, err
}

// send sends a message with at most three files.
func (c *channel) send(message any, files []int) error {
	c.message.Reset()
	if err := c.encoder.Encode(message); err != nil {
		return err
	}
	var rights []byte
	if len(files) > 0 {
		rights = unix.UnixRights(files...)
	}
	n, _, err := c.WriteMsgUnix(c.message.Bytes(), rights, nil)
	if err == nil && n < c.message.Len() {
		_, err = c.Write(c.message.Bytes()[n:])
	}
	return err
}

// Read implements io.Reader for the decoder. It keeps the files that messages carry.
func (c *channel) Read(b []byte) (int, error) {
	n, controls, _, _, err := c.ReadMsgUnix(b, c.control)
	if err != nil || controls == 0 {
		return max(n, 0), err // n is −1 after a reset: the program was killed before it read a report
	}
	messages, err := unix.ParseSocketControlMessage(c.control[:controls])
	for i := range messages {
		if fds, e := unix.ParseUnixRights(&messages[i]); e == nil {
			for _, fd := range fds {
				syscall.CloseOnExec(fd)
			}
			c.files = append(c.files, fds...)
		}
	}
	return n, err
}

// take returns the files that came with messages.
func (c *channel) take() (files []int) {
	files, c.files = c.files, nil
	return files
}
