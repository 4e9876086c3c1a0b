//go:build !unix

package towerdefence

// withoutWaiting is no flag: names in a folder are always files on this system.
const withoutWaiting = 0
