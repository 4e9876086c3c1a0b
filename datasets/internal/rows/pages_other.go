//go:build !linux

package rows

func largePages([]byte) {}
