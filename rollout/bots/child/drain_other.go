//go:build !unix

package child

// take waits for output, reads it, and writes it to the log.
func (p *Process) take(buffer []byte) (n int, err error) {
	n, err = p.log.Read(buffer)
	p.keep(buffer[:n])
	return n, err
}

// Settle is explained in drain_unix.go.
func (p *Process) Settle() {}
