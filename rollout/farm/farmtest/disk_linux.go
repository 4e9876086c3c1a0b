package farmtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// SmallDisk mounts a file system of a size such as 16m. It runs the test again in a process with
// its own mounts; here is false in the outer process, which is done then. It skips the test if such
// a process or mount is not possible.
func SmallDisk(t *testing.T, size string) (dir string, here bool) {
	t.Helper()
	const inside = "MOONFARM_MOUNTS"
	if os.Getenv(inside) != "" {
		dir = t.TempDir()
		if err := syscall.Mount("none", dir, "tmpfs", 0, "size="+size); err != nil {
			t.Skip("no file system can be mounted here: ", err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }) // also ends with the process
		return dir, true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil && cmd.ProcessState == nil:
		t.Skip("no process with mounts of its own can be started here: ", err)
	case err != nil:
		t.Fatalf("in a process with mounts of its own: %v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skip("no file system can be mounted here")
	case !strings.Contains(string(out), "--- PASS: "+t.Name()):
		t.Fatalf("in a process with mounts of its own it did not run:\n%s", out)
	}
	return "", false
}

// Fill writes a file until the disk is full, and returns its name.
func Fill(t *testing.T, dir string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err == nil {
			continue
		} else if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		size /= 2
	}
	return f.Name()
}
