//go:build !linux

package child

func unixBot(kind string, _ []string) int { panic("no such bot: " + kind) }
