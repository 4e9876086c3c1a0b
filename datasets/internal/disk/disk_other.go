//go:build !unix

package disk

const noWait = 0
