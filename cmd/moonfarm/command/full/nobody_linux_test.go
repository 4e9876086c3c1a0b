package full

import (
	"os/exec"
	"syscall"
)

// becomeNobody lets a command of the test's program run as another account, which may not enter the folder of the program.
func becomeNobody(c *exec.Cmd) {
	c.Path, c.Err = "/proc/self/exe", nil
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}
