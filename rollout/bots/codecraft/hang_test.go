package codecraft

import "time"

// The sleeps below are the behaviour of bots under test: they wait for nothing.

// hang never returns: the bot is killed.
func hang() { time.Sleep(time.Hour) }

// dawdle takes time, as a slow bot does.
func dawdle(d time.Duration) { time.Sleep(d) }
