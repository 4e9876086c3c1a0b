package child

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// unixBot has the kinds of bot for this system.
func unixBot(kind string, args []string) int {
	switch kind {
	case "family": // has descendants in groups and sessions of their own that ignore signals
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
		for _, attr := range []*syscall.SysProcAttr{{}, {Setpgid: true}, {Setsid: true}} {
			spawn(attr, "parent-of-daemon")
		}
		fmt.Println("ready")
		hang()
	case "parent-of-daemon": // its child's parent ends at once
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
		for _, attr := range []*syscall.SysProcAttr{{}, {Setsid: true}} {
			spawn(attr, "daemon").Wait()
		}
		fmt.Println("x")
		hang()
	case "daemon":
		c := exec.Command("/bin/sh", "-c", "trap '' TERM HUP INT; while :; do sleep 100; done")
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := c.Start(); err != nil {
			panic(err)
		}
		fmt.Println("x")
	case "leaves": // ends and leaves such descendants behind
		spawn(&syscall.SysProcAttr{Setsid: true}, "parent-of-daemon")
		fmt.Println("ready")
	case "grandchildren": // use the processor and end
		for {
			c := exec.Command(os.Args[0], "bot", "child-that-spins", args[0])
			if c.Run() != nil {
				return 1
			}
		}
	case "child-that-spins":
		exec.Command(os.Args[0], "bot", "spin", args[0]).Run()
	case "eat": // memory, in a number of processes
		n, _ := strconv.Atoi(args[0])
		if n > 1 {
			spawn(nil, "eat", strconv.Itoa(n-1))
		}
		kept := make([]byte, 64<<20)
		for i := 0; i < len(kept); i += 4096 {
			kept[i] = 1
		}
		fmt.Println("x")
		hang()
		fmt.Println(kept[0])
	case "inherits":
		self, _ := readProcess(os.Getpid())
		session, _ := unix.Getsid(0)
		var files []string
		entries, _ := os.ReadDir("/proc/self/fd")
		for _, e := range entries {
			name, err := os.Readlink("/proc/self/fd/" + e.Name())
			if fd, _ := strconv.Atoi(e.Name()); err == nil && fd > 2 && !strings.HasPrefix(name, "anon_inode:") && !strings.HasPrefix(name, "/sys/") {
				files = append(files, name) // files that the Go runtime has opened are left out
			}
		}
		fmt.Println(session == self.pid, syscall.Getpgrp() == self.pid, files)
	case "moonfarm": // takes the part of the program that plays a match
		means, _ := strconv.Atoi(os.Getenv(meansEnv))
		program := Program{Args: []string{os.Args[0], "bot", "family"}}
		g, err := startWith(context.Background(), Limits{}, Box{Program: program}, Means(means))
		if err != nil {
			fmt.Println(err)
			return 1
		}
		p, err := g.Run(Command{Program: program, Output: true})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		if len(args) == 0 { // another process keeps the guard's connection open
			file, err := g.starts.(*remote).conn.File()
			if err != nil {
				panic(err)
			}
			c := exec.Command("/bin/sleep", "3600")
			c.ExtraFiles = []*os.File{file}
			if err := c.Start(); err != nil {
				panic(err)
			}
			fmt.Println("holds", c.Process.Pid)
		}
		line, err := p.ReadLine(time.Time{})
		fmt.Println(string(line), err, g.starts.(*remote).cmd.Process.Pid)
		hang()
	default:
		panic("no such bot: " + kind)
	}
	return 0
}

// spawn starts this program as another bot and waits for its first line.
func spawn(attr *syscall.SysProcAttr, args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], append([]string{"bot"}, args...)...)
	c.SysProcAttr = attr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		panic(err)
	}
	bufio.NewReader(out).ReadString('\n')
	return c
}
