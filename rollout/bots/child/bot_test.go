package child

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// bot is the main function of the test's program as a bot.
func bot(kind string, args []string) int {
	number := func() int {
		n, err := strconv.Atoi(args[0])
		if err != nil {
			panic(err)
		}
		return n
	}
	switch kind {
	case "echo":
		in := bufio.NewReader(os.Stdin)
		for {
			line, err := in.ReadString('\n')
			io.WriteString(os.Stdout, line)
			if err != nil {
				return 0
			}
		}
	case "notes": // for each line it reads, it prints some for the log before its answer
		in := bufio.NewScanner(os.Stdin)
		for n := 0; in.Scan(); n++ {
			for k := range 1 + n%40 {
				fmt.Fprintln(os.Stderr, in.Text(), k, strings.Repeat("z", 500))
			}
			fmt.Println(in.Text())
		}
	case "print":
		fmt.Println(strings.Join(args, " "))
		fmt.Fprintln(os.Stderr, "to the log")
	case "where":
		dir, _ := os.Getwd()
		fmt.Println(dir)
		fmt.Println(os.Getenv("CHILD_TEST"), os.Getenv("PWD") == dir)
	case "exit":
		return number()
	case "drip":
		for {
			fmt.Print("x")
			dawdle(time.Second)
		}
	case "flood":
		to := map[string]*os.File{"out": os.Stdout, "err": os.Stderr}[args[0]]
		lines := strings.Repeat(strings.Repeat("y", 99)+args[1], 1000)
		for {
			if _, err := io.WriteString(to, lines); err != nil {
				return 1
			}
		}
	case "close":
		map[string]*os.File{"in": os.Stdin, "out": os.Stdout}[args[0]].Close()
		fmt.Fprintln(os.Stderr, "closed")
		fmt.Println("closed")
		hang()
	case "sleep":
		fmt.Println("ready")
		hang()
	case "spin":
		for end := time.Now().Add(time.Duration(number()) * time.Millisecond); time.Now().Before(end); {
		}
	default:
		return unixBot(kind, args)
	}
	return 0
}

// self returns the command of the test's program as a bot.
func self(t testing.TB, args ...string) Command {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	return Command{Program: Program{Args: append([]string{path, "bot"}, args...)}}
}

// talks is self connected by standard input and output.
func talks(t testing.TB, args ...string) Command {
	c := self(t, args...)
	c.Input, c.Output = true, true
	return c
}

// The sleeps below are the behaviour of bots under test: they wait for nothing.

// hang never returns: the bot is killed.
func hang() { time.Sleep(time.Hour) }

// dawdle takes time, as a slow bot does.
func dawdle(d time.Duration) { time.Sleep(d) }
