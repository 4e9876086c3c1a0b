//go:build !cloud

package bucket

// cloud are the openers of a build with the tag cloud.
var cloud map[string]opener
