package shortage

import (
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOf(t *testing.T) {
	for _, err := range []error{syscall.ENOSPC, syscall.EMFILE, syscall.ENOMEM} {
		assert.True(t, Of(fmt.Errorf("writing: %w", &fs.PathError{Op: "write", Path: "x", Err: err})), err)
	}
	for _, err := range []error{nil, syscall.ENOENT, syscall.EIO, fs.ErrPermission, fs.ErrExist} {
		assert.False(t, Of(err), err)
	}
}
