package child

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// unixBot has the kinds of bot for this system.
func unixBot(kind string, args []string) int {
	switch kind {
	case "moonfarm": // takes the part of the program that plays a match
		means, _ := strconv.Atoi(os.Getenv(meansEnv))
		g, err := startWith(context.Background(), Limits{}, Box{}, Means(means))
		if err != nil {
			fmt.Println(err)
			return 1
		}
		p, err := g.Run(shell(family, parent))
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
