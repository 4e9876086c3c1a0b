//go:build !unix

package towerdefence

// withoutWaiting is nothing: names in a folder are files here.
const withoutWaiting = 0
