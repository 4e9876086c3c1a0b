//go:build !linux

package render

func largePages([]byte) {}
